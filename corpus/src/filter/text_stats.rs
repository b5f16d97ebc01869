//! The tokens, lines and counts of a document, computed once for all rules.

use crate::jsonl::DocumentFields;
use pith_notation::is_spaceless;

use crate::script::is_word_part;

/// Ends of sentences, in the scripts that have one; closing quotes count, as C4 counts them.
const TERMINAL: &[char] =
    &['.', '!', '?', '"', '\'', '…', '”', '’', '»', '。', '！', '？', '」', '』', '．', '｡', '؟', '۔', '।', '။', '።'];

/// A text and what the rules measure of it.
pub(super) struct TextStats<'t> {
    pub text: &'t str,
    pub language: &'t str,
    pub n_characters: u64,
    /// Lines with something on them, trimmed.
    pub lines: Vec<&'t str>,
    /// Words; in scripts without spaces, characters.
    pub tokens: Vec<Token<'t>>,
    n_spaceless: usize,
}

/// A word, or a character of a script without spaces.
#[derive(Clone, Copy)]
pub(super) struct Token<'t> {
    pub text: &'t str,
    pub n_characters: u32,
    pub is_spaceless: bool,
}

impl<'t> TextStats<'t> {
    pub(super) fn of(document: &'t DocumentFields) -> TextStats<'t> {
        TextStats::of_text(&document.text, &document.language)
    }

    pub(super) fn of_text(text: &'t str, language: &'t str) -> TextStats<'t> {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let mut tokens = Vec::new();
        let n_characters = tokenize(text, |token| tokens.push(token));
        let n_spaceless = tokens.iter().filter(|token| token.is_spaceless).count();
        TextStats { text, language, n_characters, lines, tokens, n_spaceless }
    }

    /// Words; where there are no spaces, three characters count as two.
    pub(super) fn n_words(&self) -> f64 {
        words(self.tokens.len() - self.n_spaceless, self.n_spaceless)
    }

    /// The part of the lines that pass a test.
    pub(super) fn share_of_lines(&self, test: impl Fn(&str) -> bool) -> f64 {
        self.lines.iter().filter(|line| test(line)).count() as f64 / self.lines.len().max(1) as f64
    }

    /// Whether most of the text is in a script without spaces.
    pub(super) fn is_spaceless(&self) -> bool {
        self.n_spaceless * 2 > self.tokens.len()
    }
}

/// The words of one line.
pub(super) fn count_words(line: &str) -> f64 {
    let (mut spaced, mut spaceless) = (0, 0);
    tokenize(line, |token| if token.is_spaceless { spaceless += 1 } else { spaced += 1 });
    words(spaced, spaceless)
}

fn words(spaced: usize, spaceless: usize) -> f64 {
    spaced as f64 + spaceless as f64 / 1.5
}

/// How wide a line looks: a character of a script without spaces takes two columns, as in print.
pub(super) fn width(line: &str) -> usize {
    line.chars().map(|character| 1 + usize::from(is_spaceless(character))).sum()
}

/// Whether a line ends as a sentence does.
pub(super) fn ends_sentence(line: &str) -> bool {
    line.ends_with(TERMINAL)
}

/// Sentences, counted by the marks that end them.
pub(super) fn n_sentences(text: &str) -> usize {
    let mut n_sentences = 0;
    let mut inside = false;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let next = characters.peek().copied();
        let ends = match character {
            // A full stop between letters or digits is an abbreviation, an address or a number.
            '.' => next.is_none_or(|next| !next.is_alphanumeric() && next != '.'),
            '!' | '?' | '…' | '。' | '！' | '？' | '｡' | '．' | '؟' | '۔' | '।' | '။' | '።' => true,
            '\n' => next == Some('\n'),
            _ => false,
        };
        if ends && inside {
            n_sentences += 1;
            inside = false;
        } else if character.is_alphanumeric() {
            inside = true;
        }
    }
    n_sentences + usize::from(inside)
}

/// Gives the words of a text and counts its characters.
fn tokenize<'t>(text: &'t str, mut visit: impl FnMut(Token<'t>)) -> u64 {
    let mut start = None;
    let (mut length, mut n_characters) = (0, 0);
    for (position, character) in text.char_indices() {
        n_characters += 1;
        let spaceless = !character.is_ascii() && is_spaceless(character);
        if !spaceless && (character.is_ascii_alphanumeric() || !character.is_ascii() && is_word_part(character)) {
            start.get_or_insert(position);
            length += 1;
            continue;
        }
        if let Some(start) = start.take() {
            let word = &text[start..position];
            visit(Token { text: word, n_characters: std::mem::take(&mut length), is_spaceless: false });
        }
        if spaceless && is_word_part(character) {
            let word = &text[position..position + character.len_utf8()];
            visit(Token { text: word, n_characters: 1, is_spaceless: true });
        }
    }
    if let Some(start) = start {
        visit(Token { text: &text[start..], n_characters: length, is_spaceless: false });
    }
    n_characters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_sentences(text: &str, expected: usize) {
        assert_eq!(n_sentences(text), expected, "{text:?}");
    }

    #[test]
    fn sentences_are_counted_in_several_scripts() {
        check_sentences("One. Two! Three?", 3);
        check_sentences("Version 2.5 of example.com is out... We like it.", 2);
        check_sentences("他說：「下雨了。」我走了。", 2);
        check_sentences("A heading\n\nA sentence.", 2);
        check_sentences("", 0);
    }

    #[test]
    fn three_characters_count_as_two_words() {
        assert_eq!(count_words("今天天氣很好"), 4.0);
        assert_eq!(count_words("Ação e reação"), 3.0);
    }
}

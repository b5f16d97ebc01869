//! Sentence splitting, in scripts with and without spaces.

use pith_notation::is_han;

use crate::language::Language;

mod abbreviations;

/// Cuts a text into its sentences. The pieces joined give the text back: each keeps its closing quotes and the
/// space behind it, and only a blank text gives a blank piece. Linear in the length of the text.
///
/// A line break ends a sentence unless the line was merely wrapped. The language is needed only for German, where
/// `3. Mai` is a date.
pub fn split_sentences(text: &str, language: Option<Language>) -> Sentences<'_> {
    Sentences { text, start: 0, first_word: 0, ordinals: language == Some(Language::GERMAN) }
}

/// An iterator over the sentences of a text.
#[derive(Clone, Debug)]
pub struct Sentences<'t> {
    text: &'t str,
    start: usize,
    /// Where the sentence begins behind the space before it.
    first_word: usize,
    /// Whether a number with a full stop may be an ordinal.
    ordinals: bool,
}

impl<'t> Iterator for Sentences<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        crate::cancel::check();
        let bytes = self.text.as_bytes();
        self.first_word = self.start + leading_space(&self.text[self.start..]);
        let mut at = self.first_word;
        let mut checked = at;
        while let Some(step) = bytes[at..].iter().position(|byte| MAY_END[usize::from(*byte)]) {
            at += step;
            if at - checked > BYTES_PER_CHECK {
                crate::cancel::check();
                checked = at;
            }
            let after = match self.boundary(at) {
                Boundary::End(end) => {
                    let sentence = &self.text[self.start..end];
                    self.start = end;
                    return Some(sentence);
                }
                Boundary::Continue(after) => after,
            };
            at = after;
        }
        let rest = &self.text[self.start..];
        self.start = self.text.len();
        (!rest.is_empty()).then_some(rest)
    }
}

/// The decision at a byte that may end a sentence.
enum Boundary {
    /// The sentence, with closing quotes and space, ends before this byte.
    End(usize),
    /// The sentence continues; the next byte to look at.
    Continue(usize),
}

/// The first bytes of all marks that may end a sentence.
const MAY_END: [bool; 256] = {
    let mut table = [false; 256];
    let first = [b'.', b'!', b'?', b'\n', 0xD6, 0xD8, 0xDB, 0xE0, 0xE1, 0xE2, 0xE3, 0xEF];
    let mut index = 0;
    while index < first.len() {
        table[first[index] as usize] = true;
        index += 1;
    }
    table
};

/// The kind of a mark that may end a sentence.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    /// `.`: the end, a part of a number or name, or an abbreviation.
    Period,
    /// `!`, `?`, `…`: the end of a sentence, or a pause within it.
    Exclamation,
    /// A mark of another script that always ends a sentence.
    Unambiguous,
    /// A line break.
    LineBreak,
}

fn mark(character: char) -> Option<Mark> {
    Some(match character {
        '.' => Mark::Period,
        '!' | '?' | '…' | '‼' | '⁇' | '⁈' | '⁉' => Mark::Exclamation,
        '。' | '！' | '？' | '｡' | '．' | '।' | '॥' | '؟' | '۔' | '։' | '።' | '។' | '။' => {
            Mark::Unambiguous
        }
        '\n' | '\u{2028}' | '\u{2029}' => Mark::LineBreak,
        _ => return None,
    })
}

fn is_closing(character: char) -> bool {
    matches!(
        character,
        '"' | '\''
            | ')'
            | ']'
            | '}'
            | '”'
            | '’'
            | '»'
            | '›'
            | '」'
            | '』'
            | '）'
            | '】'
            | '》'
            | '〉'
            | '〕'
            | '］'
            | '＂'
            | '＇'
    )
}

fn is_opening(character: char) -> bool {
    matches!(
        character,
        '"' | '\''
            | '('
            | '['
            | '“'
            | '‘'
            | '«'
            | '‹'
            | '¿'
            | '¡'
            | '—'
            | '–'
            | '-'
            | '「'
            | '『'
            | '（'
            | '【'
            | '《'
            | '*'
    )
}

/// Bytes of one sentence between two looks at whether the work was cancelled.
const BYTES_PER_CHECK: usize = 1 << 16;

/// Shorter lines were not wrapped: they are list items or headings.
const WRAPPED_LINE_BYTES: usize = 40;

impl Sentences<'_> {
    fn boundary(&self, at: usize) -> Boundary {
        let rest = &self.text[at..];
        let first = rest.chars().next().expect("a mark stands here");
        match mark(first) {
            None => Boundary::Continue(at + first.len_utf8()),
            Some(Mark::LineBreak) => self.boundary_at_line_break(at),
            Some(_) => self.boundary_at_mark(at),
        }
    }

    /// The decision at a line break, with all space around it.
    fn boundary_at_line_break(&self, at: usize) -> Boundary {
        let after = at + leading_space(&self.text[at..]);
        let line = last_line(self.text[self.start..at].trim_end());
        let breaks = self.text[at..after].chars().filter(|c| mark(*c) == Some(Mark::LineBreak)).count();
        let next = self.text[after..].chars().next();
        let wrapped = breaks == 1
            && line.len() >= WRAPPED_LINE_BYTES
            && !line.ends_with([':', ';', '：', '；'])
            && next.is_some_and(char::is_lowercase);
        if wrapped { Boundary::Continue(after) } else { Boundary::End(after) }
    }

    /// One or more marks, what is_closing behind them, and the space behind that.
    fn boundary_at_mark(&self, at: usize) -> Boundary {
        let mut end = at;
        let (mut unambiguous, mut periods, mut exclamations) = (false, 0, 0);
        for character in self.text[at..].chars() {
            match mark(character) {
                Some(Mark::Period) => periods += 1,
                Some(Mark::Exclamation) => exclamations += 1,
                Some(Mark::Unambiguous) => unambiguous = true,
                _ => break,
            }
            end += character.len_utf8();
        }
        let marks_end = end;
        end += prefix_length(&self.text[end..], is_closing);
        let after = end + leading_space(&self.text[end..]);
        let spaced = after > end || after == self.text.len();
        if unambiguous || self.text[end..after].contains('\n') {
            return Boundary::End(after);
        }
        let before = self.text[self.start..at].chars().next_back();
        let next = self.text[after..].chars().find(|c| !is_opening(*c)).unwrap_or('\n');
        let ends = if !spaced {
            self.ends_without_space(at, before, next, periods == 1 && exclamations == 0)
        } else if next.is_lowercase() {
            false
        } else if periods == 1 && exclamations == 0 && marks_end == end {
            !self.is_abbreviation(at, after)
        } else {
            true
        };
        if ends { Boundary::End(after) } else { Boundary::Continue(after.max(at + 1)) }
    }

    /// Chinese is often written with ASCII marks and no space behind them: `方法.仿真结果`.
    fn ends_without_space(&self, at: usize, before: Option<char>, next: char, single_period: bool) -> bool {
        let after_han = before.is_some_and(|c| is_han(c) || matches!(c, '）' | '」' | '』' | '”' | '》'));
        if !single_period {
            return is_han(next) && !self.text[at..].starts_with(['.', '…']);
        }
        match before {
            _ if after_han => is_han(next) || next.is_uppercase(),
            Some(c) if c.is_ascii_digit() => {
                is_han(next) && !self.text[self.first_word..at].bytes().all(|byte| byte.is_ascii_digit())
            }
            Some(_) => is_han(next),
            None => false,
        }
    }

    /// Whether the single period at `at`, with space after it, belongs to an abbreviation.
    fn is_abbreviation(&self, at: usize, after: usize) -> bool {
        let before = &self.text[self.first_word..at];
        let word = last_word(before);
        if word.is_empty() {
            return false;
        }
        if word.bytes().all(|byte| byte.is_ascii_digit()) {
            // The number of an item (`1. Introduction`), or a German date.
            return word.len() == before.len() || (self.ordinals && word.len() <= 2);
        }
        let next = &self.text[after..];
        let next = &next[prefix_length(next, is_opening)..];
        abbreviations::is_abbreviation(word, next)
    }
}

/// The end of the last line of a text: as much of it as tells whether it was wrapped.
fn last_line(text: &str) -> &str {
    let mut start = text.len().saturating_sub(WRAPPED_LINE_BYTES);
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let end = &text[start..];
    &end[end.rfind('\n').map_or(0, |end| end + 1)..]
}

/// The letters, digits and inner full periods at the end of a text, at most as long as an abbreviation.
fn last_word(text: &str) -> &str {
    let mut start = text.len();
    for (index, character) in text.char_indices().rev().take(abbreviations::LONGEST + 1) {
        if !character.is_alphanumeric() && character != '.' && character != 'º' && character != 'ª' {
            break;
        }
        start = index;
    }
    &text[start..]
}

/// How many bytes of space a text begins with.
fn leading_space(text: &str) -> usize {
    prefix_length(text, char::is_whitespace)
}

fn prefix_length(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|c| !belongs(c)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        check_in(None, text, expected);
    }

    #[track_caller]
    fn check_in(language: Option<Language>, text: &str, expected: &[&str]) {
        let pieces: Vec<&str> = split_sentences(text, language).collect();
        assert_eq!(pieces.concat(), text);
        assert_eq!(pieces.iter().map(|piece| piece.trim()).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn closing_quotes_stay_with_their_sentence() {
        check("他說：「下雨了。」我走了。", &["他說：「下雨了。」", "我走了。"]);
        check("“We lost.” He left. (Later.) Then", &["“We lost.”", "He left.", "(Later.)", "Then"]);
        check("\"Stop!\" she said. \"Go?\" Yes.", &["\"Stop!\" she said.", "\"Go?\"", "Yes."]);
    }

    #[test]
    fn abbreviations_do_not_end_a_sentence() {
        check("Mr. Smith met Dr. J. R. Jones. They left.", &["Mr. Smith met Dr. J. R. Jones.", "They left."]);
        check(
            "The U.S. Senate voted. In the U.S. The law holds.",
            &["The U.S. Senate voted.", "In the U.S.", "The law holds."],
        );
        check(
            "O Sr. Silva e a Dra. Costa vivem na Av. Paulista. Fim.",
            &["O Sr. Silva e a Dra. Costa vivem na Av. Paulista.", "Fim."],
        );
        check("Yukos Inc. said no. It was No. 5 of them.", &["Yukos Inc. said no.", "It was No. 5 of them."]);
        check("M. Dupont et Mme. Curie. Voilà.", &["M. Dupont et Mme. Curie.", "Voilà."]);
    }

    #[test]
    fn numbers_keep_their_stops() {
        check("It rose 3.5 per cent. 15 people came.", &["It rose 3.5 per cent.", "15 people came."]);
        check("1. Introduction to it. 2. The end.", &["1. Introduction to it.", "2. The end."]);
        check_in(Some(Language::GERMAN), "Am 3. Mai kam er. Er ging.", &["Am 3. Mai kam er.", "Er ging."]);
    }

    #[test]
    fn chinese_ends_with_and_without_its_own_marks() {
        check("今天下雨。明天呢？好！走", &["今天下雨。", "明天呢？", "好！", "走"]);
        check(
            "提出了新的设计方法.仿真结果表明,p<0.05.结论如下",
            &["提出了新的设计方法.", "仿真结果表明,p<0.05.", "结论如下"],
        );
        check("1.研究背景很好.结果", &["1.研究背景很好.", "结果"]);
        check("我……不知道。", &["我……不知道。"]);
    }

    #[test]
    fn lines_end_sentences_unless_they_were_wrapped() {
        check("Title\nThe text. More", &["Title", "The text.", "More"]);
        check(
            "a line that is long enough to have been wrapped\nby a mail program. End",
            &["a line that is long enough to have been wrapped\nby a mail program.", "End"],
        );
        check("one\n\ntwo", &["one", "two"]);
        check("apples\npears\n", &["apples", "pears"]);
    }

    #[test]
    fn marks_inside_words_are_no_ends() {
        check(
            "See example.com/a?b=c!d now. Yahoo! said so... and went",
            &["See example.com/a?b=c!d now.", "Yahoo! said so... and went"],
        );
    }

    #[test]
    fn blank_and_empty_texts_are_kept() {
        assert_eq!(split_sentences("", None).count(), 0);
        assert_eq!(split_sentences(" \n ", None).collect::<Vec<_>>(), [" \n "]);
        check(" \n Hello. ", &["Hello."]);
    }

    proptest! {
        #[test]
        fn sentences_joined_give_the_text_back(text in "(\\PC|[.!?。！？…\"」 \n\u{2028}A-Ca-c1-3中文]){0,120}") {
            let pieces: Vec<&str> = split_sentences(&text, None).collect();
            prop_assert_eq!(pieces.concat(), text.clone());
            prop_assert!(pieces.iter().all(|piece| !piece.is_empty()));
            prop_assert!(text.trim().is_empty() || pieces.iter().all(|piece| !piece.trim().is_empty()));
        }
    }
}

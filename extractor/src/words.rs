//! Word segmentation: a dictionary for Chinese, Unicode's word boundaries everywhere else.

use pith_notation::is_han;
use unicode_segmentation::UnicodeSegmentation;

use crate::language::Language;

pub(crate) mod chinese;

pub use chinese::seed_words;

/// Calls `take` with every word of a text, in order; punctuation and space are no words.
///
/// Chinese characters are joined to words by jieba's dictionary, Traditional ones by way of their Simplified forms;
/// in Japanese every such character is a word. All else follows Unicode's word boundaries (UAX 29).
pub fn for_each_word<'t>(text: &'t str, language: Option<Language>, mut take: impl FnMut(&'t str)) {
    // A space always ends a word, and most pieces between spaces are ASCII: those need no Unicode tables.
    for piece in text.split(|c: char| c.is_ascii_whitespace()) {
        if piece.is_ascii() {
            ascii_words(piece, &mut take);
        } else if language == Some(Language::JAPANESE) || !piece.chars().any(is_han) {
            piece.unicode_words().for_each(&mut take);
        } else {
            mixed_words(piece, &mut take);
        }
    }
}

/// All words of a text, as [`for_each_word`] gives them.
pub fn words(text: &str, language: Option<Language>) -> Vec<&str> {
    let mut words = Vec::new();
    for_each_word(text, language, |word| words.push(word));
    words
}

/// How many words a text has; in scripts without spaces every character counts as one.
pub fn count_words(text: &str) -> usize {
    let bytes = text.as_bytes();
    // The end of the text is a space.
    let kind = |at: usize| bytes.get(at).map_or(Kind::Space, |byte| KINDS[usize::from(*byte)]);
    let mut count = 0;
    let mut start = 0;
    while start < bytes.len() {
        let mut end = start;
        while kind(end) == Kind::Letter {
            end += 1;
        }
        // Most pieces between spaces are letters and perhaps a punctuation mark after them: one word, without any tables.
        let n_letters = end - start;
        end += usize::from(n_letters > 0 && kind(end) == Kind::Punctuation);
        if kind(end) == Kind::Space {
            count += usize::from(n_letters > 0);
            start = end + 1;
            continue;
        }
        while kind(end) != Kind::Space {
            end += 1;
        }
        let piece = &text[start..end];
        if piece.is_ascii() {
            ascii_words(piece, &mut |_| count += 1);
        } else {
            count += count_non_ascii_words(piece);
        }
        start = end;
    }
    count
}

/// The class of a byte of text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// An ASCII letter or digit.
    Letter,
    /// Any other ASCII character.
    Punctuation,
    Space,
    /// A part of a character beyond ASCII.
    NonAscii,
}

const KINDS: [Kind; 256] = {
    let mut kinds = [Kind::NonAscii; 256];
    let mut byte = 0;
    while byte < 128 {
        kinds[byte] = match byte as u8 {
            byte if byte.is_ascii_alphanumeric() => Kind::Letter,
            byte if byte.is_ascii_whitespace() => Kind::Space,
            _ => Kind::Punctuation,
        };
        byte += 1;
    }
    kinds
};

/// The words of a piece with characters beyond ASCII: a Chinese character is always a word.
fn count_non_ascii_words(piece: &str) -> usize {
    // The iteration mark joins the letters before it.
    let is_word = |character: char| is_han(character) && character != '々';
    let mut count = 0;
    let mut rest = piece;
    while let Some(first) = rest.chars().next() {
        let alone = is_word(first);
        let end = rest.find(|character| is_word(character) != alone).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        count += if alone { run.chars().count() } else { run.unicode_words().count() };
        rest = after;
    }
    count
}

/// A piece with both Chinese and other characters.
fn mixed_words<'t>(piece: &'t str, take: &mut impl FnMut(&'t str)) {
    let mut rest = piece;
    while let Some(first) = rest.chars().next() {
        let han = is_han(first);
        let end = rest.find(|c| is_han(c) != han).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        if han {
            chinese::segment(run, take);
        } else {
            run.unicode_words().for_each(&mut *take);
        }
        rest = after;
    }
}

/// The word-break class of an ASCII byte in UAX 29.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WordBreak {
    Letter,
    Digit,
    /// `_`: joins letters and digits on both sides.
    Joiner,
    /// `.` and `'`: join letters to letters and digits to digits.
    MidBoth,
    /// `:`: joins letters to letters.
    MidLetter,
    /// `,` and `;`: join digits to digits.
    MidDigit,
    Other,
}

const WORD_BREAKS: [WordBreak; 128] = {
    let mut word_breaks = [WordBreak::Other; 128];
    let mut byte = 0;
    while byte < 128 {
        word_breaks[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' => WordBreak::Letter,
            b'0'..=b'9' => WordBreak::Digit,
            b'_' => WordBreak::Joiner,
            b'.' | b'\'' => WordBreak::MidBoth,
            b':' => WordBreak::MidLetter,
            b',' | b';' => WordBreak::MidDigit,
            _ => WordBreak::Other,
        };
        byte += 1;
    }
    word_breaks
};

/// The words of an ASCII piece, exactly as UAX 29 finds them, several times faster.
fn ascii_words<'t>(piece: &'t str, take: &mut impl FnMut(&'t str)) {
    let bytes = piece.as_bytes();
    let word_break = |at: usize| bytes.get(at).map_or(WordBreak::Other, |byte| WORD_BREAKS[usize::from(*byte & 0x7F)]);
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        let mut alphanumeric = false;
        loop {
            match word_break(at) {
                WordBreak::Letter | WordBreak::Digit => alphanumeric = true,
                WordBreak::Joiner => {}
                mid => {
                    let (before, after) =
                        (if at > start { word_break(at - 1) } else { WordBreak::Other }, word_break(at + 1));
                    let letters = before == WordBreak::Letter && after == WordBreak::Letter;
                    let digits = before == WordBreak::Digit && after == WordBreak::Digit;
                    let joins = match mid {
                        WordBreak::MidBoth => letters || digits,
                        WordBreak::MidLetter => letters,
                        WordBreak::MidDigit => digits,
                        _ => false,
                    };
                    if !joins {
                        break;
                    }
                }
            }
            at += 1;
        }
        if alphanumeric {
            take(&piece[start..at]);
        }
        if at == start {
            at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn latin_words_keep_apostrophes_and_decimals() {
        assert_eq!(words("Don't pay $3.50, Mr. O'Neil!", None), ["Don't", "pay", "3.50", "Mr", "O'Neil"]);
        assert_eq!(words("decepções à (José)", None), ["decepções", "à", "José"]);
    }

    #[test]
    fn chinese_and_latin_stand_side_by_side() {
        assert_eq!(words("我们用PC玩游戏2022年。", None), ["我们", "用", "PC", "玩游戏", "2022", "年"]);
    }

    #[test]
    fn traditional_words_are_found_like_simplified_ones() {
        assert_eq!(words("註冊登入", None), ["註冊", "登入"]);
        assert_eq!(words("他們還在睡覺", None), ["他們", "還", "在", "睡覺"]);
    }

    #[test]
    fn words_are_counted_by_character_where_there_are_no_spaces() {
        for text in [
            "two words",
            "a1, b_ _ c. d-e f.g 3.5; x,",
            "né 中文a, 'tis it's a' Ω. ½",
            "_a a_ a_b _",
            "x\u{300} y\u{ad}",
        ] {
            assert_eq!(count_words(text), words(text, Some(Language::JAPANESE)).len(), "{text}");
        }
        assert_eq!(count_words("兩個字 PC"), 4);
    }

    proptest! {
        #[test]
        fn ascii_words_are_those_of_unicode(text in "[ -~\\n]{0,60}") {
            prop_assert_eq!(words(&text, None), text.unicode_words().collect::<Vec<_>>());
        }

        #[test]
        fn mixed_text_without_han_gives_the_words_of_unicode(text in "[a-c1.,':_ é\u{301}\u{200d}か\u{e01}😀\n\u{a0}]{0,40}") {
            prop_assert_eq!(words(&text, None), text.unicode_words().collect::<Vec<_>>());
        }

        #[test]
        fn as_many_words_are_counted_as_unicode_finds(text in "[a1.,' é\u{301}\u{200d}か丁國々〇。😀\n]{0,40}") {
            prop_assert_eq!(count_words(&text), text.unicode_words().count());
        }

        #[test]
        fn words_stand_in_the_text_in_order(text in "\\PC{0,80}|[一-三丁-丙國語a1。 ]{0,40}") {
            let mut at = 0;
            for word in words(&text, None) {
                let found = text[at..].find(word);
                prop_assert!(found.is_some());
                at += found.unwrap_or(0) + word.len();
            }
        }
    }
}

//! Chinese words. jieba's dictionary is Simplified; Traditional text is looked up by its Simplified forms,
//! character by character, and the boundaries are carried back, so that one dictionary serves both.

use std::sync::LazyLock;

use jieba_rs::Jieba;

use crate::language::Language;

/// Loaded at the first Chinese word and kept.
static JIEBA: LazyLock<Jieba> = LazyLock::new(|| {
    Jieba::with_dict(&mut DICTIONARY.as_bytes()).expect("every line of the dictionary is a word and a number")
});

/// Words of Simplified Chinese with their frequencies: see `README.md` beside it.
static DICTIONARY: &str = include_str!("dictionary.txt");

/// Pairs of a Traditional character and its Simplified form: Unicode's `kSimplifiedVariant` where it names one form,
/// and common variants that it leaves out. 乾 and 著 are missing because both forms are used in Simplified text.
static PAIRS: &str = include_str!("simplified.txt");

const FIRST: u32 = 0x4E00;
const LAST: u32 = 0x9FFF;

/// The Simplified form of every character of the main block; itself where it has no other.
static SIMPLIFIED: LazyLock<Box<[u16]>> = LazyLock::new(|| {
    let mut table: Box<[u16]> = (FIRST..=LAST).map(|code| code as u16).collect();
    for (traditional, simplified) in pairs() {
        table[(traditional as u32 - FIRST) as usize] = simplified as u32 as u16;
    }
    table
});

/// 1 for a Traditional character of the main block, -1 for a Simplified one, 0 for one of both: the votes that tell the
/// two scripts apart.
static SCRIPT_VOTES: LazyLock<Box<[i8]>> = LazyLock::new(|| {
    let mut votes = vec![0; (LAST - FIRST + 1) as usize].into_boxed_slice();
    for (traditional, simplified) in pairs() {
        votes[(traditional as u32 - FIRST) as usize] = 1;
        // Some simplified forms are older characters that Traditional text uses as well.
        if !IN_BOTH.contains(simplified) {
            votes[(simplified as u32 - FIRST) as usize] = -1;
        }
    }
    votes
});

/// Common characters of Traditional text that are the Simplified form of another.
const IN_BOTH: &str = "你他它里后面台只干于几斗丑出千秋布占局幸念向志表板谷松致胡姜范余郁升烟周回游克采折卷托注布松征系合家制准別冲曲朴云伙了借累才";

/// The longest run that is segmented at once: the segmenter's tables grow with it, and no phrase is longer.
const RUN_CHARACTERS: usize = 1_024;

/// The longest text that is given to jieba at once when its own words are wanted.
const PIECE_BYTES: usize = 1 << 18;

/// Simplified or Traditional Chinese, by the majority of the characters that only one of them has.
pub(crate) fn script_of(text: &str) -> Language {
    let vote = |character: char| match character as u32 {
        code @ FIRST..=LAST => i64::from(SCRIPT_VOTES[(code - FIRST) as usize]),
        _ => 0,
    };
    match text.chars().map(vote).sum::<i64>() {
        1.. => Language::CHINESE_TRADITIONAL,
        _ => Language::CHINESE_SIMPLIFIED,
    }
}

/// The Simplified form of a character; itself where it has no other.
pub(crate) fn simplify(character: char) -> char {
    match character as u32 {
        code @ FIRST..=LAST => {
            char::from_u32(u32::from(SIMPLIFIED[(code - FIRST) as usize])).expect("the table holds characters")
        }
        _ => character,
    }
}

/// Calls `take` with the words of a run of Chinese characters.
pub(crate) fn segment<'t>(run: &'t str, take: &mut impl FnMut(&'t str)) {
    let mut simplified = String::with_capacity(run.len().min(3 * RUN_CHARACTERS));
    let mut rest = run;
    while !rest.is_empty() {
        crate::cancel::check();
        let end = rest.char_indices().nth(RUN_CHARACTERS).map_or(rest.len(), |(at, _)| at);
        let (head, tail) = rest.split_at(end);
        simplified.clear();
        simplified.extend(head.chars().map(simplify));
        let mut characters = head.char_indices().map(|(at, _)| at).skip(1).chain([head.len()]);
        let mut start = 0;
        for token in JIEBA.cut(&simplified, true) {
            let length = token.word.chars().count();
            let end = characters.nth(length - 1).expect("both forms have as many characters");
            take(&head[start..end]);
            start = end;
        }
        rest = tail;
    }
}

/// The words of a text exactly as jieba's precise mode gives them, space and punctuation among them: the seed's words.
pub fn seed_words<'t>(text: &'t str, mut take: impl FnMut(&'t str)) {
    let mut rest = text;
    while !rest.is_empty() {
        let mut end = rest.len().min(PIECE_BYTES);
        while !rest.is_char_boundary(end) {
            end += 1;
        }
        let (head, tail) = rest.split_at(end);
        JIEBA.cut(head, true).into_iter().for_each(|token| split_as_python(token.word, &mut take));
        rest = tail;
    }
}

/// Python's jieba cuts unknown words such as `ptt.cc` or `k-means` into runs of letters and digits, each with its
/// decimals and a percent sign, and the characters between them; jieba-rs leaves them whole. This is the only difference
/// between the two on the seed's pages.
fn split_as_python<'t>(word: &'t str, take: &mut impl FnMut(&'t str)) {
    let joined = word.len() > 1
        && word.is_ascii()
        && word.bytes().any(|byte| matches!(byte, b'.' | b'-' | b'_' | b'+' | b'#' | b'&' | b'%'));
    if !joined || JIEBA.has_word(word) {
        return take(word);
    }
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let mut rest = word;
    while !rest.is_empty() {
        let mut end = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
        if end == 0 {
            end = rest.bytes().take_while(|byte| !byte.is_ascii_alphanumeric()).count();
        } else {
            if let Some(decimals) = rest[end..].strip_prefix('.').map(digits).filter(|n| *n > 0) {
                end += 1 + decimals;
            }
            end += usize::from(rest[end..].starts_with('%'));
        }
        let (head, tail) = rest.split_at(end);
        take(head);
        rest = tail;
    }
}

fn pairs() -> impl Iterator<Item = (char, char)> {
    PAIRS.lines().flat_map(|line| {
        let mut characters = line.chars();
        std::iter::from_fn(move || Some((characters.next()?, characters.next()?)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_leads_to_a_character_that_stays() {
        assert!(pairs().count() > 2_800);
        for (traditional, simplified) in pairs() {
            assert!((FIRST..=LAST).contains(&(traditional as u32)), "{traditional}");
            assert!((FIRST..=LAST).contains(&(simplified as u32)), "{simplified}");
            assert_eq!(simplify(traditional), simplified);
            assert_eq!(simplify(simplified), simplified, "{traditional}{simplified}");
        }
    }

    #[test]
    fn long_runs_are_segmented_piece_by_piece_and_nothing_is_lost() {
        let run = "中文𠮷国".repeat(1_500);
        let mut joined = String::new();
        segment(&run, &mut |word| joined.push_str(word));
        assert_eq!(joined, run);
    }

    #[test]
    fn unknown_words_with_joints_are_cut_as_python_does() {
        let words = |text| {
            let mut words = Vec::new();
            seed_words(text, |word| words.push(word));
            words
        };
        assert_eq!(words("36.236.15.247"), ["36.236", ".", "15.247"]);
        assert_eq!(words("M.1654.A"), ["M.1654", ".", "A"]);
        assert_eq!(words("k-means 12.5% HI_BYE_"), ["k", "-", "means", " ", "12.5%", " ", "HI", "_", "BYE", "_"]);
    }

    #[test]
    fn seed_words_join_to_the_text() {
        let text = "男友只要發脾氣 就會亂摔東西!! App 3.5%";
        let mut joined = String::new();
        seed_words(text, |word| joined.push_str(word));
        assert_eq!(joined, text);
    }
}

//! [`Language`]: a BCP 47 tag, detected from text or parsed from what a page declares.

mod declared;

use std::borrow::Cow;
use std::fmt;

use pith_notation::is_han;

use crate::words::chinese;
use declared::UNDETECTED;

/// A language that a text can be in, by its BCP 47 tag: `en`, `pt`, `zh-Hant`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Language(&'static str);

/// How many bytes of a text are looked at: more does not change the answer, and whole books cost time.
const SAMPLE_BYTES: usize = 2_048;

/// How many bytes the general detector gets: it takes most of the time, and more do not change its answer.
const DETECTION_BYTES: usize = 1_024;

impl Language {
    /// Chinese in Simplified characters.
    pub const CHINESE_SIMPLIFIED: Language = Language("zh-Hans");
    /// Chinese in Traditional characters.
    pub const CHINESE_TRADITIONAL: Language = Language("zh-Hant");
    /// Japanese.
    pub const JAPANESE: Language = Language("ja");
    /// English.
    pub const ENGLISH: Language = Language("en");
    /// Portuguese.
    pub const PORTUGUESE: Language = Language("pt");
    /// German.
    pub const GERMAN: Language = Language("de");

    /// The BCP 47 tag.
    pub fn tag(self) -> &'static str {
        self.0
    }

    /// Whether the text is Chinese, in either kind of characters.
    pub fn is_chinese(self) -> bool {
        self.0.starts_with("zh")
    }

    /// Reads a tag as pages write them: `pt-BR`, `zh_TW`, `EN`. Regions are dropped, except that for Chinese they
    /// tell the characters. Nothing where the language is not a known one.
    pub fn from_tag(tag: &str) -> Option<Language> {
        let lower = tag.trim().to_ascii_lowercase().replace('_', "-");
        let mut parts = lower.split('-');
        let primary = parts.next()?;
        if matches!(primary, "zh" | "cmn" | "yue" | "chi" | "zho") {
            let traditional = parts.any(|part| matches!(part, "hant" | "tw" | "hk" | "mo" | "cht"));
            return Some(if traditional { Self::CHINESE_TRADITIONAL } else { Self::CHINESE_SIMPLIFIED });
        }
        let primary = if matches!(primary, "no" | "nn") { "nb" } else { primary };
        let known = TAGS.iter().map(|(_, tag)| tag).chain(UNDETECTED.iter().map(|(tag, _)| tag));
        known.copied().find(|tag| *tag == primary).map(Language)
    }

    /// The language that a text is most likely in, by 2 KB from its beginning, middle and end; nothing for a text
    /// without letters.
    pub fn of(text: &str) -> Option<Language> {
        let sample = &*sample(text);
        let scripts = Scripts::of(sample);
        if scripts.letters == 0 {
            return None;
        }
        if scripts.kana * 10 > scripts.letters {
            return Some(Self::JAPANESE);
        }
        // A page in Chinese may hold many Latin names and numbers, and one character counts as much as
        // four letters.
        if scripts.han * 4 > scripts.letters - scripts.han {
            return Some(chinese::script_of(sample));
        }
        if is_english(sample) {
            return Some(Self::ENGLISH);
        }
        let detected = whatlang::detect_lang(head(sample, DETECTION_BYTES))?;
        TAGS.iter().find(|(lang, _)| *lang == detected).map(|(_, tag)| Language(tag))
    }
}

/// Whether a text is certainly English, a thousand times faster than the general detector.
///
/// These words are in no other language that is written much, and about every fourth word of English is one.
fn is_english(sample: &str) -> bool {
    const WORDS: [u32; 12] = [
        packed(b"the"),
        packed(b"of"),
        packed(b"and"),
        packed(b"to"),
        packed(b"that"),
        packed(b"for"),
        packed(b"with"),
        packed(b"this"),
        packed(b"from"),
        packed(b"are"),
        packed(b"have"),
        packed(b"you"),
    ];
    const MIN_WORDS: usize = 40;
    let (mut n_words, mut n_english) = (0, 0);
    let (mut word, mut length) = (0, 0);
    for byte in sample.bytes().chain([b' ']) {
        let lower = LOWERCASE[usize::from(byte)];
        if lower != 0 {
            word = (word << 8) | u32::from(lower);
            length += 1;
        } else if length > 0 {
            n_words += 1;
            n_english += usize::from(length <= 4 && WORDS.contains(&word));
            (word, length) = (0, 0);
        }
    }
    n_words >= MIN_WORDS && n_english * 8 >= n_words
}

/// The lower case of each byte that belongs to a word, 0 for all others.
const LOWERCASE: [u8; 256] = {
    let mut lower = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let letter = byte as u8;
        if letter.is_ascii_alphanumeric() || !letter.is_ascii() {
            lower[byte] = letter.to_ascii_lowercase();
        }
        byte += 1;
    }
    lower
};

/// A word of at most four letters as a number, whatever the case of its letters.
const fn packed(word: &[u8]) -> u32 {
    let mut number = 0;
    let mut at = 0;
    while at < word.len() {
        number = (number << 8) | word[at].to_ascii_lowercase() as u32;
        at += 1;
    }
    number
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// A short text whole; of a long one its beginning, middle and end, so that a menu before it does not decide.
fn sample(text: &str) -> Cow<'_, str> {
    const N_PIECES: usize = 3;
    let text = text.trim_start();
    if text.len() <= N_PIECES * SAMPLE_BYTES {
        return Cow::Borrowed(head(text, SAMPLE_BYTES));
    }
    let pieces = (0..N_PIECES).map(|piece| {
        let mut start = piece * (text.len() - SAMPLE_BYTES) / (N_PIECES - 1);
        while !text.is_char_boundary(start) {
            start += 1;
        }
        head(&text[start..], SAMPLE_BYTES / N_PIECES)
    });
    // The detector reads less than the sample and should see the middle of the text.
    let mut pieces: Vec<&str> = pieces.collect();
    pieces.rotate_left(1);
    Cow::Owned(pieces.join(" "))
}

/// At most so many bytes of a text, cut at a character.
pub(crate) fn head(text: &str, n_bytes: usize) -> &str {
    let mut end = text.len().min(n_bytes);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[derive(Default)]
struct Scripts {
    letters: usize,
    han: usize,
    kana: usize,
}

impl Scripts {
    fn of(text: &str) -> Scripts {
        if text.is_ascii() {
            let letters = text.bytes().filter(u8::is_ascii_alphabetic).count();
            return Scripts { letters, ..Scripts::default() };
        }
        let mut scripts = Scripts::default();
        for character in text.chars() {
            if character.is_ascii() {
                scripts.letters += usize::from(character.is_ascii_alphabetic());
                continue;
            }
            // The ranges of Chinese characters have gaps, which are no letters.
            let is_letter = character.is_alphabetic();
            scripts.letters += usize::from(is_letter);
            scripts.han += usize::from(is_letter && is_han(character));
            scripts.kana += usize::from(matches!(character, '\u{3041}'..='\u{30FF}'));
        }
        scripts
    }
}

/// What whatlang calls a language, and its tag.
const TAGS: &[(whatlang::Lang, &str)] = {
    use whatlang::Lang::*;
    &[
        (Eng, "en"),
        (Por, "pt"),
        (Spa, "es"),
        (Fra, "fr"),
        (Deu, "de"),
        (Ita, "it"),
        (Nld, "nl"),
        (Swe, "sv"),
        (Dan, "da"),
        (Nob, "nb"),
        (Fin, "fi"),
        (Pol, "pl"),
        (Ces, "cs"),
        (Slk, "sk"),
        (Ron, "ro"),
        (Hun, "hu"),
        (Cat, "ca"),
        (Rus, "ru"),
        (Ukr, "uk"),
        (Bel, "be"),
        (Bul, "bg"),
        (Srp, "sr"),
        (Mkd, "mk"),
        (Hrv, "hr"),
        (Slv, "sl"),
        (Ell, "el"),
        (Tur, "tr"),
        (Aze, "az"),
        (Ara, "ar"),
        (Heb, "he"),
        (Yid, "yi"),
        (Pes, "fa"),
        (Urd, "ur"),
        (Hin, "hi"),
        (Ben, "bn"),
        (Mar, "mr"),
        (Nep, "ne"),
        (Guj, "gu"),
        (Pan, "pa"),
        (Ori, "or"),
        (Tam, "ta"),
        (Tel, "te"),
        (Kan, "kn"),
        (Mal, "ml"),
        (Sin, "si"),
        (Tha, "th"),
        (Mya, "my"),
        (Khm, "km"),
        (Jpn, "ja"),
        (Kor, "ko"),
        (Vie, "vi"),
        (Ind, "id"),
        (Jav, "jv"),
        (Tgl, "tl"),
        (Est, "et"),
        (Lav, "lv"),
        (Lit, "lt"),
        (Lat, "la"),
        (Epo, "eo"),
        (Afr, "af"),
        (Zul, "zu"),
        (Sna, "sn"),
        (Aka, "ak"),
        (Amh, "am"),
        (Kat, "ka"),
        (Hye, "hy"),
        (Tuk, "tk"),
        (Uzb, "uz"),
        (Cym, "cy"),
    ]
};

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, tag: &str) {
        assert_eq!(Language::of(text).map(Language::tag), Some(tag), "{text}");
    }

    #[test]
    fn common_languages_are_told_apart() {
        check("The owners of the embattled oil giant are to ask the buyer of its unit to pay back a loan.", "en");
        check(
            "A empresa não é direcionada à satisfação total dos clientes, e é difícil encontrar o responsável.",
            "pt",
        );
        check(
            "La empresa no está orientada a la satisfacción de los clientes y es difícil encontrar al culpable.",
            "es",
        );
        check(
            "Die Eigentümer des Konzerns wollen den Käufer bitten, den Kredit noch in diesem Jahr zu bezahlen.",
            "de",
        );
        check("その会社の所有者は、買い手に融資の返済を求めると述べた。", "ja");
    }

    #[test]
    fn chinese_is_told_by_its_characters() {
        check("其實一直知道男友有發洩情緒在外物上的個性", "zh-Hant");
        check("采用修正的参数建立了飞行器姿态控制系统的数学模型", "zh-Hans");
        check("這可以稍微解釋 Draymond Green 的表現 Roll in 的時候", "zh-Hant");
    }

    #[test]
    fn a_text_without_letters_has_no_language() {
        assert_eq!(Language::of(" 12 % … 😀"), None);
        assert_eq!(Language::of(""), None);
        // Not assigned, in the middle of Chinese characters.
        assert_eq!(Language::of("\u{FAFF}\u{2A6E0}\u{FAFF}"), None);
        check(&["the house", &"\u{FAFF}".repeat(12)].concat(), "en");
    }

    #[test]
    fn tags_of_pages_are_understood() {
        for (tag, expected) in
            [("pt-BR", "pt"), ("zh_TW", "zh-Hant"), ("zh-CN", "zh-Hans"), ("EN", "en"), ("nn", "nb"), (" de-AT ", "de")]
        {
            assert_eq!(Language::from_tag(tag).map(Language::tag), Some(expected));
        }
        assert_eq!(Language::from_tag("x-klingon"), None);
        assert_eq!(Language::from_tag(""), None);
    }
}

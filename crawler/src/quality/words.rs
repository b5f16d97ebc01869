//! The words and the template of a page, in one pass over its bytes.

use std::collections::HashSet;

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// Words that are looked at; the rest of a longer page is like its beginning.
const MAX_WORDS: u32 = 3_000;
/// Words of a phrase.
const PHRASE: usize = 5;
/// Different tags and classes that make a template.
const MAX_TEMPLATE_PARTS: usize = 256;

/// The most frequent function words of languages in Latin script, sorted.
const STOP_WORDS: &[&str] = &[
    "a", "ab", "al", "ale", "als", "am", "an", "and", "are", "as", "at", "att", "au", "auf", "av", "az", "be", "bir",
    "but", "by", "că", "che", "com", "como", "con", "cu", "da", "dan", "dans", "das", "de", "dei", "del", "della",
    "den", "der", "des", "det", "di", "die", "din", "do", "dos", "du", "e", "ed", "een", "egy", "ein", "eine", "el",
    "em", "en", "er", "es", "et", "for", "från", "från", "het", "hogy", "i", "ich", "il", "ili", "in", "is", "ist",
    "it", "ja", "je", "jest", "jo", "că", "kan", "la", "las", "le", "les", "los", "med", "mit", "na", "nao", "ne",
    "nem", "nicht", "nie", "no", "não", "o", "och", "of", "og", "om", "on", "op", "or", "os", "ou", "para", "par",
    "pas", "per", "po", "por", "pour", "qu", "que", "qui", "que", "se", "sich", "sie", "som", "su", "sur", "te",
    "that", "the", "til", "to", "u", "um", "uma", "un", "una", "und", "une", "van", "ve", "von", "was", "w", "with",
    "y", "yang", "z", "za", "zu", "à", "är", "és", "że",
];

/// Phrases of parked domains.
const PARKED: &[&[u8]] = &[
    b"domain is for sale",
    b"domain may be for sale",
    b"buy this domain",
    b"domain is parked",
    b"parked domain",
    b"diese domain steht zum verkauf",
    b"este dominio esta a venda",
    b"este dominio esta en venta",
    b"ce nom de domaine est",
];

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TextMeasures {
    /// Words in Latin letters: others have no function words that are known here.
    pub(super) n_words: u32,
    /// Words of any script, and numbers.
    pub(super) n_all_words: u32,
    pub(super) n_stop_words: u32,
    pub(super) n_distinct: u32,
    /// Words that end a phrase which stood before.
    pub(super) n_repeated: u32,
    /// A fingerprint of its tags and their classes, whatever stands between them.
    pub(super) template: u64,
    /// Whether it has a phrase of parked domains.
    pub(super) is_parked: bool,
}

/// Counts the words of a page, and takes the fingerprint of its template.
pub(super) fn measure(html: &[u8]) -> TextMeasures {
    let mut counter = Counter::default();
    let mut at = 0;
    while at < html.len() {
        match html[at] {
            b'<' => at = counter.tag(html, at),
            byte if is_word_byte(byte) => {
                let length = html[at..].iter().take_while(|byte| is_word_byte(**byte)).count();
                counter.word(&html[at..at + length]);
                at += length;
            }
            _ => at += 1,
        }
    }
    counter.finish()
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80 || byte == b'\''
}

#[derive(Default)]
struct Counter {
    measures: TextMeasures,
    distinct: HashSet<u64>,
    phrases: HashSet<u64>,
    /// The hashes of the last words.
    last: [u64; PHRASE],
    template: HashSet<u64>,
    /// The last words in small letters, with blanks between them, for phrases that are looked for.
    text: Vec<u8>,
}

impl Counter {
    /// Reads the tag at an offset; gives the offset behind it, and behind the content of a script or style.
    fn tag(&mut self, html: &[u8], at: usize) -> usize {
        let rest = &html[at..];
        if rest.starts_with(b"<!--") {
            return memchr::memmem::find(rest, b"-->").map_or(html.len(), |end| at + end + 3);
        }
        let Some(end) = memchr::memchr(b'>', rest) else { return html.len() };
        let tag = &rest[1..end];
        let name_length = tag.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        let name = tag[..name_length].to_ascii_lowercase();
        if name_length > 0 && self.template.len() < MAX_TEMPLATE_PARTS {
            self.template.insert(xxh3_64_with_seed(&name, xxh3_64(class_of(tag))));
        }
        match name.as_slice() {
            b"script" => skip_to(html, at + end + 1, b"</script"),
            b"style" => skip_to(html, at + end + 1, b"</style"),
            _ => at + end + 1,
        }
    }

    fn word(&mut self, word: &[u8]) {
        if self.measures.n_all_words >= MAX_WORDS {
            return;
        }
        self.measures.n_all_words += 1;
        let word = String::from_utf8_lossy(word).to_lowercase();
        self.text.extend_from_slice(word.as_bytes());
        self.text.push(b' ');
        let is_latin = |letter: char| letter == '\'' || (letter.is_alphabetic() && letter < '\u{250}');
        if !word.chars().all(is_latin) {
            return;
        }
        self.measures.n_words += 1;
        self.measures.n_stop_words += u32::from(STOP_WORDS.contains(&word.as_str()));
        let hash = xxh3_64(word.as_bytes());
        self.distinct.insert(hash);
        self.last.rotate_left(1);
        self.last[PHRASE - 1] = hash;
        let phrase = self.last.iter().fold(0_u64, |all, word| all.rotate_left(11) ^ word);
        let is_whole = self.measures.n_words as usize >= PHRASE;
        self.measures.n_repeated += u32::from(is_whole && !self.phrases.insert(phrase));
    }

    fn finish(self) -> TextMeasures {
        let mut parts: Vec<u64> = self.template.into_iter().collect();
        parts.sort_unstable();
        TextMeasures {
            n_distinct: self.distinct.len() as u32,
            template: parts.iter().fold(0, |all, part| xxh3_64_with_seed(&part.to_le_bytes(), all)),
            is_parked: PARKED.iter().any(|phrase| memchr::memmem::find(&self.text, phrase).is_some()),
            ..self.measures
        }
    }
}

/// The offset of an end tag, or the end of the page.
fn skip_to(html: &[u8], from: usize, end_tag: &[u8]) -> usize {
    let is_it = |at: &usize| html[*at..].get(..end_tag.len()).is_some_and(|tag| tag.eq_ignore_ascii_case(end_tag));
    memchr::memchr_iter(b'<', &html[from..]).map(|at| from + at).find(is_it).unwrap_or(html.len())
}

/// The value of the attribute `class` in a tag; empty without one.
fn class_of(tag: &[u8]) -> &[u8] {
    let Some(at) = memchr::memmem::find(tag, b"class=") else { return &[] };
    let value = &tag[at + 6..];
    match value.first() {
        Some(quote @ (b'"' | b'\'')) => value[1..].split(|byte| byte == quote).next().unwrap_or_default(),
        _ => value.split(|byte| byte.is_ascii_whitespace()).next().unwrap_or_default(),
    }
}

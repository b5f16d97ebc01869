//! Names of people as bylines write them: without the words before a name, and without what follows it.

use super::date::is_month;

/// Longer texts are not names.
const MAX_NAME_BYTES: usize = 120;

/// Words that say that a name follows.
const BY: [&str; 16] = [
    "by",
    "von",
    "por",
    "par",
    "di",
    "af",
    "av",
    "door",
    "author",
    "authors",
    "autor",
    "autorin",
    "auteur",
    "autore",
    "writer",
    "redakteur",
];

/// Words that may stand before those.
const BEFORE_BY: [&str; 22] = [
    "article",
    "story",
    "words",
    "text",
    "posted",
    "post",
    "written",
    "published",
    "reviewed",
    "authored",
    "created",
    "started",
    "edited",
    "recipe",
    "submitted",
    "asked",
    "added",
    "and",
    "guest",
    "blog",
    "publicado",
    "escrito",
];

/// What stands before a name in Chinese and Japanese.
const BY_UNSPACED: [&str; 8] = ["作者", "文／", "文/", "記者", "记者", "撰文", "編輯：", "编辑："];

/// Marks after which no name goes on.
const ENDS: [char; 8] = ['|', '•', '·', '»', '(', '—', '–', '→'];

/// Words after which no name goes on: dates, roles, what somebody did.
const END_WORDS: [&str; 14] = [
    "updated",
    "published",
    "posted",
    "reviewed",
    "last",
    "written",
    "edited",
    "on",
    "is",
    "view",
    "follow",
    "min",
    "share",
    "says",
];

/// A name as a byline gives it: without "Written by" before it and without dates, roles and marks after it.
pub(super) fn clean_name(text: &str) -> &str {
    cut(strip_by(text)).trim_matches(|c: char| c.is_whitespace() || ",;:-/~•·|»«–—".contains(c))
}

/// The text behind the words that say that a name follows; the whole text where there are none.
pub(super) fn strip_by(text: &str) -> &str {
    let mut text = text.trim();
    // `Written by: Author: Ana Lima`; a text of nothing but such words is no byline, however long it is.
    for _ in 0..4 {
        let Some(rest) = without_by(text) else { break };
        text = rest;
    }
    text
}

fn without_by(text: &str) -> Option<&str> {
    if let Some(rest) = BY_UNSPACED.iter().find_map(|by| text.strip_prefix(by)) {
        return Some(rest.trim_start_matches(|c: char| c.is_whitespace() || ":：/／".contains(c)));
    }
    let mut rest = text;
    for _ in 0..4 {
        let end = rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        // A label ends with a colon or a space; `Byron` and `by-law` are other words.
        let follows = after.trim_start_matches(['\u{a0}', ' ', ':', '：', '\t', '\n', '|', '/']);
        if word.is_empty() || (follows.len() == after.len() && !after.is_empty()) {
            return None;
        }
        let is = |words: &[&str]| words.iter().any(|known| word.eq_ignore_ascii_case(known));
        if is(&BY) {
            return Some(follows);
        }
        if !is(&BEFORE_BY) {
            return None;
        }
        if after.trim_start().starts_with(':') {
            return Some(follows);
        }
        rest = follows;
    }
    None
}

/// The beginning of a text up to what no name holds: marks, dates, certain words.
fn cut(text: &str) -> &str {
    let text = text.find(ENDS).map_or(text, |at| &text[..at]);
    let mut end = text.len();
    let mut start = 0;
    let mut number_before = None;
    for word in text.split(char::is_whitespace) {
        let at = start;
        start += word.len() + text[at + word.len()..].chars().next().map_or(0, char::len_utf8);
        let plain = word.trim_matches(|c: char| !c.is_alphanumeric());
        let is_number = plain.starts_with(|c: char| c.is_ascii_digit());
        let is_end = END_WORDS.iter().any(|known| plain.eq_ignore_ascii_case(known));
        if at > 0 && (word == "-" || is_end || is_date(word)) {
            end = at;
            break;
        }
        let next_is_number = text[start..].trim_start().starts_with(|c: char| c.is_ascii_digit());
        if (at > 0 || next_is_number) && is_month(plain) && (next_is_number || number_before.is_some()) {
            end = number_before.unwrap_or(at);
            break;
        }
        number_before = is_number.then_some(at);
    }
    &text[..end]
}

/// Whether a word is a date in figures or a year.
fn is_date(word: &str) -> bool {
    let n_digits = word.bytes().filter(u8::is_ascii_digit).count();
    let marks = word.bytes().filter(|byte| b"/-.:".contains(byte)).count();
    (n_digits >= 3 && marks >= 1 && !word.contains(|c: char| c.is_alphabetic()))
        || (n_digits == 4 && word.trim_matches(|c: char| !c.is_alphanumeric()).len() == 4)
}

/// What links and labels around a byline say.
const NO_NAMES: &str = "|log in|login|sign in|sign up|register|members|member|follow|share|author|authors|topic author|home|\
    contact|original poster|user|guest|subscribe|by|posted|written by|team|our team|more|op|website|date|new contributor|\
    x|facebook|twitter|linkedin|instagram|youtube|email|published|updated|reply|profile|blog|news|posts|articles|all|\
    search|menu|comments|offline|online|bio|full bio|contributor|contributors|writer|editor|editors|staff writer|undefined|\
    null|none|n a|name|username|unknown|about|authors and affiliations|profile picture|video library|create account|この記事を書いた人|";

/// First words of sentences and of links that lead elsewhere.
const NO_FIRST_WORDS: &str = "|view|read|follow|see|about|more|log|sign|share|all|leave|click|show|get|how|what|why|submitting|clicking|using|\
    signing|subscribing|create|join|visit|meet|browse|learn|default|the|this|continuing|accessing|";

/// Whether a text reads like the name of a person or a team; `Handle` takes what people call themselves in forums.
pub(super) fn is_name(text: &str, kind: NameKind) -> bool {
    if text.is_empty() || text.len() > MAX_NAME_BYTES || text.contains("://") || !text.contains(char::is_alphabetic) {
        return false;
    }
    let lower = text.to_lowercase();
    let first = lower.split_whitespace().next().unwrap_or_default();
    let holds = |list: &str, word: &str| list.contains(&format!("|{word}|"));
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_the_team = first == "the" && words.len() <= 4;
    if holds(NO_NAMES, &lower) || (holds(NO_FIRST_WORDS, first) && !is_the_team) {
        return false;
    }
    if text.contains(['!', '?', '。', '？', '！', '…', '{', '<', '[', '=']) {
        return false;
    }
    match kind {
        NameKind::Handle => words.len() <= 4,
        NameKind::Person => {
            !text.contains(|c: char| c == '@' || c.is_ascii_digit())
                && people_of(text).all(|part| part.split_whitespace().count() <= 6)
                && has_capitals(&words)
        }
    }
}

/// What a name may look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameKind {
    /// A person's or a team's: words with capital letters, no figures.
    Person,
    /// Also what somebody calls themselves: `rain_42`.
    Handle,
}

/// The names in a list of names.
fn people_of(text: &str) -> impl Iterator<Item = &str> {
    text.split([';', ',', '&', '/']).flat_map(|part| part.split(" and ")).filter(|part| !part.trim().is_empty())
}

/// Whether at least half of the words begin with something else than a small letter.
fn has_capitals(words: &[&str]) -> bool {
    let letters: Vec<char> =
        words.iter().filter_map(|word| word.chars().next()).filter(|c| c.is_alphabetic()).collect();
    let n_capitals = letters.iter().filter(|letter| !letter.is_lowercase()).count();
    !letters.is_empty() && n_capitals * 2 >= letters.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bylines_lose_what_surrounds_the_name() {
        for (text, name) in [
            ("By Ana Lima", "Ana Lima"),
            ("Written By: Celeste Longacre", "Celeste Longacre"),
            ("Article by: Cara Dumaplin", "Cara Dumaplin"),
            ("Von Max Muster", "Max Muster"),
            ("作者：王小明", "王小明"),
            ("Bye Bye", "Bye Bye"),
            ("Byron Bay", "Byron Bay"),
            ("b", "b"),
            ("Ana Lima | Apr 21, 2025", "Ana Lima"),
            ("Ana Lima November 20, 2007", "Ana Lima"),
            ("Ana Lima 20 November 2007", "Ana Lima"),
            ("Ana Lima • March 12, 2025", "Ana Lima"),
            ("Ana Lima, Updated 12.03.2025", "Ana Lima"),
            ("Ana Lima on 2025-03-12", "Ana Lima"),
            ("by Ana May and April Stone", "Ana May and April Stone"),
            ("Article by: Author: by Ana Lima", "Ana Lima"),
            ("Post by rain_42 » Sat Feb 24, 2024", "rain_42"),
            ("", ""),
        ] {
            assert_eq!(clean_name(text), name, "{text}");
        }
    }

    #[test]
    fn a_text_of_labels_alone_ends() {
        for label in ["by ", "by/", "Author: ", "作者", "written by "] {
            let text = label.repeat(1_000_000);
            assert!(strip_by(&text).len() < text.len(), "{label}");
        }
    }

    #[test]
    fn labels_and_sentences_are_no_names() {
        for text in ["Log in", "View all posts", "By submitting this form", "about the author", "12", "What is rain?"] {
            assert!(!is_name(clean_name(text), NameKind::Person), "{text}");
        }
        for text in ["Ana Lima", "EDB Team", "王小明", "The Upwork Team", "Chengcheng Pei and Yuan Lin"] {
            assert!(is_name(text, NameKind::Person), "{text}");
        }
        assert!(is_name("rain_42", NameKind::Handle) && !is_name("rain_42", NameKind::Person));
    }
}

//! Stop words: a list per language, looked up in lower case.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::language::Language;

/// The stop words of one language.
#[derive(Clone, Copy, Debug)]
pub struct StopWords(Option<&'static HashSet<&'static str>>);

impl StopWords {
    /// The list of a language; an empty one where there is none. Chinese has one list in Simplified characters,
    /// and Traditional words are looked up by their Simplified forms.
    pub fn of(language: Option<Language>) -> StopWords {
        let key = language.map_or("", |language| if language.is_chinese() { "zh" } else { language.tag() });
        StopWords(LISTS.iter().find(|(tag, _)| *tag == key).map(|(_, list)| &**list))
    }

    /// Whether a word in lower case, and in Simplified characters where it is Chinese, is on the list.
    pub fn contains(self, word: &str) -> bool {
        self.0.is_some_and(|list| list.contains(word))
    }
}

type List = LazyLock<HashSet<&'static str>>;

macro_rules! lists {
    ($($tag:literal),*) => {
        [$((
            $tag,
            LazyLock::new(|| include_str!(concat!("stopwords/", $tag, ".txt")).split_whitespace().collect()),
        )),*]
    };
}

static LISTS: [(&str, List); 19] = lists!(
    "en", "zh", "pt", "es", "fr", "de", "it", "nl", "sv", "da", "nb", "fi", "pl", "cs", "ro", "hu", "tr", "ru", "uk"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_is_in_lower_case_and_of_a_known_language() {
        for (tag, list) in &LISTS {
            assert!(Language::from_tag(tag).is_some(), "{tag}");
            assert!(list.len() > 100, "{tag}");
            for word in list.iter() {
                assert_eq!(*word, word.to_lowercase(), "{tag}");
            }
        }
    }

    #[test]
    fn lists_belong_to_their_language() {
        assert!(StopWords::of(Some(Language::ENGLISH)).contains("the"));
        assert!(!StopWords::of(Some(Language::PORTUGUESE)).contains("the"));
        assert!(StopWords::of(Some(Language::CHINESE_TRADITIONAL)).contains("我们"));
        assert!(!StopWords::of(None).contains("the"));
    }
}

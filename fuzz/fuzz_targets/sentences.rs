//! Any text splits into sentences that give the text back.

#![no_main]

use libfuzzer_sys::fuzz_target;
use pith_extractor::{Language, split_sentences};

fuzz_target!(|text: &str| {
    for language in [None, Some(Language::GERMAN)] {
        let joined: String = split_sentences(text, language).collect();
        assert_eq!(joined, text);
        let blank = |sentence: &str| sentence.trim().is_empty();
        assert!(text.trim().is_empty() || !split_sentences(text, language).any(blank), "a sentence without a word");
    }
});

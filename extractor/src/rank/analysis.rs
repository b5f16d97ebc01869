//! [`Analysis`]: the sentences of a text as numbered words, which every ranking reads.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::cancel;
use crate::language::Language;
use crate::stopwords::StopWords;
use crate::words::{chinese, for_each_word, seed_words};

/// Words between two looks at whether the work was cancelled.
const WORDS_PER_CHECK: usize = 1 << 12;

/// The sentences of a text, their words as numbers from 0, and what is known about each word.
#[derive(Debug)]
pub struct Analysis<'t> {
    sentences: Vec<&'t str>,
    tokens: Vec<u32>,
    /// Where in `tokens` each sentence ends.
    ends: Vec<usize>,
    words: Vocabulary,
    /// The content words of the title that the text has, without repeats.
    title: Vec<u32>,
    /// How many content words the title has, without repeats.
    title_length: usize,
}

impl<'t> Analysis<'t> {
    /// Sentences in a language, with the title of the text where there is one. Words are compared in lower case and,
    /// in Chinese, by their Simplified forms; punctuation is left out.
    pub fn of(sentences: Vec<&'t str>, title: Option<&str>, language: Option<Language>) -> Analysis<'t> {
        let bytes: usize = sentences.iter().map(|sentence| sentence.len()).sum();
        let mut words = Vocabulary::new(StopWords::of(language), bytes);
        let mut tokens = Vec::with_capacity(bytes / 5);
        let mut ends = Vec::with_capacity(sentences.len());
        for sentence in &sentences {
            cancel::check();
            for_each_word(sentence, language, |word| {
                let number = words.number(word);
                words.entries[number as usize].count += 1;
                tokens.push(number);
                // A text may be a single sentence.
                if tokens.len().is_multiple_of(WORDS_PER_CHECK) {
                    cancel::check();
                }
            });
            ends.push(tokens.len());
        }
        let n_text_words = words.entries.len();
        let mut title_words = Vec::new();
        for_each_word(title.unwrap_or(""), language, |word| title_words.push(words.number(word)));
        title_words.retain(|number| !words.entries[*number as usize].stop);
        title_words.sort_unstable();
        title_words.dedup();
        let title_length = title_words.len();
        title_words.retain(|number| (*number as usize) < n_text_words);
        words.entries.truncate(n_text_words);
        Analysis { sentences, tokens, ends, words, title: title_words, title_length }
    }

    /// Units of a page with the seed's words: jieba's, unchanged, with space and punctuation among them.
    pub fn of_units(units: Vec<&'t str>) -> Analysis<'t> {
        Analysis::of_tokens(units, |unit, take| seed_words(unit, take))
    }

    /// Sentences with words cut by the caller, which are used unchanged.
    pub fn of_tokens(sentences: Vec<&'t str>, cut: impl Fn(&'t str, &mut dyn FnMut(&str))) -> Analysis<'t> {
        let mut words = Vocabulary::new(StopWords::of(None), sentences.iter().map(|sentence| sentence.len()).sum());
        let mut tokens = Vec::new();
        let mut ends = Vec::with_capacity(sentences.len());
        for sentence in &sentences {
            cancel::check();
            cut(sentence, &mut |word| {
                let number = words.number_of_key(word);
                words.entries[number as usize].count += 1;
                tokens.push(number);
            });
            ends.push(tokens.len());
        }
        Analysis { sentences, tokens, ends, words, title: Vec::new(), title_length: 0 }
    }

    /// The sentences as they are in the text.
    pub fn sentences(&self) -> &[&'t str] {
        &self.sentences
    }

    /// How many sentences there are.
    pub fn n_sentences(&self) -> usize {
        self.sentences.len()
    }

    /// The words of one sentence, by number.
    pub fn tokens(&self, sentence: usize) -> &[u32] {
        let start = if sentence == 0 { 0 } else { self.ends[sentence - 1] };
        &self.tokens[start..self.ends[sentence]]
    }

    /// The words of every sentence in turn.
    pub fn token_lists(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.n_sentences()).map(|sentence| self.tokens(sentence))
    }

    /// All words of the text in order.
    pub fn all_tokens(&self) -> &[u32] {
        &self.tokens
    }

    /// How many different words there are.
    pub fn n_words(&self) -> usize {
        self.words.entries.len()
    }

    /// How often a word occurs in the text.
    pub fn count(&self, word: u32) -> u32 {
        self.words.entries[word as usize].count
    }

    /// Whether a word is a stop word.
    pub fn is_stop(&self, word: u32) -> bool {
        self.words.entries[word as usize].stop
    }

    /// A word as it is compared.
    pub fn word(&self, word: u32) -> &str {
        self.words.key(word)
    }

    /// The content words of the title that occur in the text, without repeats.
    pub fn title(&self) -> &[u32] {
        &self.title
    }

    /// How many content words the title has, also those that are not in the text.
    pub fn title_length(&self) -> usize {
        self.title_length
    }
}

/// One word of the text.
#[derive(Clone, Copy, Debug)]
struct WordEntry {
    start: u32,
    end: u32,
    count: u32,
    stop: bool,
}

/// The vocabulary of a text. The seeds of the hash table differ from run to run, so that no page can force collisions;
/// numbers go by first appearance and do not depend on them.
#[derive(Debug)]
struct Vocabulary {
    keys: String,
    entries: Vec<WordEntry>,
    table: HashTable<u32>,
    hasher: DefaultHashBuilder,
    stop_words: StopWords,
    /// The word at hand as it is compared.
    key: String,
}

impl Vocabulary {
    fn new(stop_words: StopWords, text_bytes: usize) -> Vocabulary {
        let expected = (text_bytes / 12).min(4_096);
        Vocabulary {
            keys: String::with_capacity(expected * 8),
            entries: Vec::with_capacity(expected),
            table: HashTable::with_capacity(expected),
            hasher: DefaultHashBuilder::default(),
            stop_words,
            key: String::new(),
        }
    }

    fn key(&self, number: u32) -> &str {
        let entry = self.entries[number as usize];
        &self.keys[entry.start as usize..entry.end as usize]
    }

    /// The number of a word as it is written in the text.
    fn number(&mut self, word: &str) -> u32 {
        let mut key = std::mem::take(&mut self.key);
        key.clear();
        if word.is_ascii() {
            key.push_str(word);
            key.make_ascii_lowercase();
        } else {
            key.extend(word.chars().flat_map(char::to_lowercase).map(chinese::simplify));
        }
        let number = self.number_of_key(&key);
        self.key = key;
        number
    }

    fn number_of_key(&mut self, key: &str) -> u32 {
        let hash = self.hasher.hash_one(key.as_bytes());
        let (keys, entries) = (&self.keys, &self.entries);
        let same = |number: &u32| {
            let entry = entries[*number as usize];
            &keys.as_bytes()[entry.start as usize..entry.end as usize] == key.as_bytes()
        };
        if let Some(number) = self.table.find(hash, same) {
            return *number;
        }
        let number = self.entries.len() as u32;
        let start = self.keys.len() as u32;
        self.keys.push_str(key);
        let stop = self.stop_words.contains(key);
        self.entries.push(WordEntry { start, end: self.keys.len() as u32, count: 0, stop });
        let (keys, entries, hasher) = (&self.keys, &self.entries, &self.hasher);
        self.table.insert_unique(hash, number, |number| {
            let entry = entries[*number as usize];
            hasher.hash_one(&keys.as_bytes()[entry.start as usize..entry.end as usize])
        });
        number
    }
}

//! Documents with reference summaries: the rows of a set, or web pages with their own descriptions.

use std::collections::BTreeMap;
use std::path::Path;

use pith_extractor::{
    Analysis, Budget, Language, Method, Options, Picks, count_words, extract, for_each_word, sentences_of,
};
use serde::{Deserialize, Serialize};

use super::{Length, MIN_SENTENCES};
use crate::data;
use crate::error::Error;
use crate::gold::{GoldPage, GoldSet, Truth};

/// A row of a set as it lies on disk.
#[derive(Deserialize)]
struct Row {
    id: String,
    lang: String,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    sentences: Option<Vec<String>>,
    #[serde(default)]
    summary: Option<String>,
    #[serde(default)]
    summaries: Vec<String>,
}

/// A document with its references.
pub(super) struct Item {
    pub id: String,
    pub tag: String,
    pub language: Option<Language>,
    pub title: Option<String>,
    /// The text where the set gives one, to be split.
    text: Option<String>,
    pub sentences: Vec<String>,
    pub references: Vec<String>,
}

/// Documents that are not scored, for one reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// How many.
    pub documents: usize,
    /// The first of them, by id.
    pub first: Vec<String>,
}

/// So many documents that are left out are named.
const NAMED: usize = 5;

/// Documents that are left out, by reason.
pub(super) type LeftOutByReason = BTreeMap<&'static str, LeftOut>;

/// A set that can be scored.
pub(super) struct LoadedSet {
    pub name: String,
    pub items: Vec<Item>,
    pub left_out: LeftOutByReason,
}

impl LoadedSet {
    /// Keeps the documents that say something about a ranking; `needs_reference` says that a reference is part of that.
    pub(super) fn of(name: String, items: Vec<Item>, needs_reference: bool) -> LoadedSet {
        let mut set = LoadedSet { name, items: Vec::new(), left_out: BTreeMap::new() };
        for item in items {
            match item.reason_to_leave_out(needs_reference) {
                None => set.items.push(item),
                Some(reason) => {
                    let left_out = set.left_out.entry(reason).or_default();
                    left_out.documents += 1;
                    left_out.first.extend((left_out.documents <= NAMED).then_some(item.id));
                }
            }
        }
        set
    }
}

/// The documents of every set in a folder, and of the web pages, that say something about a ranking.
pub(super) fn load(folder: &Path, pages: Option<&Path>, limit: Option<usize>) -> Result<Vec<LoadedSet>, Error> {
    let mut sets = Vec::new();
    for set in data::sets(folder)? {
        let mut items = Vec::new();
        for row in data::rows::<Row>(&set.path)? {
            items.push(Item::from_row(row?));
            if limit == Some(items.len()) {
                break;
            }
        }
        sets.push(LoadedSet::of(set.name, items, true));
    }
    if let Some(pages) = pages {
        sets.push(LoadedSet::of("descriptions".to_owned(), described(pages, limit)?, true));
    }
    if sets.iter().all(|set| set.items.is_empty()) {
        let problem = format!("no document with {MIN_SENTENCES} sentences and a reference");
        return Err(Error::Data { path: folder.to_owned(), problem });
    }
    Ok(sets)
}

/// The articles among gold pages with a written description, which is their reference.
fn described(folder: &Path, limit: Option<usize>) -> Result<Vec<Item>, Error> {
    let mut items = Vec::new();
    for set in GoldSet::all(folder)? {
        for pair in set.pairs()? {
            let (page, truth) = pair?;
            items.extend(Item::from_page(&set.name, &page, truth));
            if limit == Some(items.len()) {
                return Ok(items);
            }
        }
    }
    Ok(items)
}

/// The words that a description of a page may have: a few are a slogan, many are the text.
const DESCRIPTION_WORDS: std::ops::RangeInclusive<usize> = 12..=120;
/// An article with fewer words needs no summary.
const MIN_ARTICLE_WORDS: usize = 200;

impl Item {
    fn reason_to_leave_out(&self, needs_reference: bool) -> Option<&'static str> {
        if needs_reference && self.references.is_empty() {
            return Some("no reference");
        }
        (self.sentences.len() < MIN_SENTENCES).then_some("fewer than 4 sentences")
    }

    /// A document without a reference.
    pub(super) fn unreferenced(id: String, language: Option<Language>, title: Option<String>, text: String) -> Item {
        Item {
            id,
            tag: language.map_or("und", Language::tag).to_owned(),
            language,
            title: title.filter(|title| !title.trim().is_empty()),
            sentences: sentences_of(&text, language).into_iter().map(str::to_owned).collect(),
            text: Some(text),
            references: Vec::new(),
        }
    }

    /// The gold text of an article, with the description of the page as its reference. Descriptions that a program cut
    /// from the text, or that are about the site, are none.
    fn from_page(set: &str, page: &GoldPage, truth: Truth) -> Option<Item> {
        let text = truth.text?;
        let is_article = truth.page_type.is_none_or(|kind| kind == "article" || kind.is_empty());
        if !is_article || count_words(&text) < MIN_ARTICLE_WORDS {
            return None;
        }
        let document = extract(page.html.as_bytes(), None, &Options::default());
        let description = document.description?;
        if !DESCRIPTION_WORDS.contains(&count_words(&description)) || description.ends_with(['…', ']']) {
            return None;
        }
        let letters = |text: &str| -> Vec<char> {
            text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
        };
        let (of_text, of_description) = (letters(&text), letters(&description));
        let end = of_description.len().min(40);
        let holds = |piece: &[char]| of_text.windows(piece.len().max(1)).any(|window| window == piece);
        if description.ends_with("...")
            || holds(&of_description[..end])
            || holds(&of_description[of_description.len() - end..])
        {
            return None;
        }
        let language = Language::of(&text);
        let about = Analysis::of(vec![&text], Some(&description), language);
        if 2 * about.title().len() < about.title_length() {
            return None;
        }
        let sentences = sentences_of(&text, language).into_iter().map(str::to_owned).collect();
        Some(Item {
            id: format!("{set}/{}", page.id),
            tag: language.map_or("und", Language::tag).to_owned(),
            language,
            title: document.title.filter(|title| !title.trim().is_empty()),
            text: None,
            sentences,
            references: vec![description],
        })
    }

    fn from_row(row: Row) -> Item {
        let language = Language::from_tag(&row.lang);
        let sentences = match (&row.sentences, &row.text) {
            (Some(sentences), _) => sentences.iter().map(|s| s.trim().to_owned()).filter(|s| !s.is_empty()).collect(),
            (None, Some(text)) => sentences_of(text, language).into_iter().map(str::to_owned).collect(),
            (None, None) => Vec::new(),
        };
        let references = if row.summaries.is_empty() { row.summary.into_iter().collect() } else { row.summaries };
        let title = row.title.filter(|title| !title.trim().is_empty());
        let text = if row.sentences.is_some() { None } else { row.text };
        Item { id: row.id, tag: row.lang, language, title, text, sentences, references }
    }

    pub(super) fn spaceless(&self) -> bool {
        self.language.is_some_and(|language| language.is_chinese() || language == Language::JAPANESE)
    }

    /// What one ranking orders, with splitting and counting, as a user's call would do it.
    pub(super) fn order(&self, method: Method, length: Length) -> Vec<usize> {
        let sentences = match &self.text {
            Some(text) => sentences_of(text, self.language),
            None => self.sentences.iter().map(String::as_str).collect(),
        };
        let analysis = Analysis::of(sentences, self.title.as_deref(), self.language);
        let mut picks = Picks::overrunning(&analysis, length.budget(self.spaceless()));
        method.ranking().rank(&analysis, &mut picks);
        picks.best_first()
    }

    /// The summary that an order gives: whole sentences in the order of the text, the last one taken cut to fit.
    pub(super) fn summary(&self, order: &[usize], length: Length) -> Summary {
        let mut parts: Vec<(usize, &str)> = Vec::new();
        match length.budget(self.spaceless()) {
            Budget::Words(n) => {
                let mut left = n;
                for &index in order {
                    let words = count_words(&self.sentences[index]);
                    parts.push((index, first_words(&self.sentences[index], words.min(left))));
                    left = left.saturating_sub(words);
                    if left == 0 {
                        break;
                    }
                }
            }
            Budget::Sentences(n) => parts.extend(order.iter().take(n).map(|&index| (index, &*self.sentences[index]))),
            Budget::Characters(_) | Budget::Share(_) => unreachable!("no length of the evaluation counts characters"),
        }
        parts.sort_unstable();
        let sentences: Vec<String> = parts.iter().map(|part| part.1.to_owned()).collect();
        Summary { picks: Some(parts.iter().map(|part| part.0).collect()), sentences }
    }

    /// A summary that is not made of the sentences of the text.
    pub(super) fn written(&self, text: &str) -> Summary {
        let sentences = sentences_of(text, self.language).into_iter().map(str::to_owned).collect();
        Summary { picks: None, sentences }
    }
}

/// A summary of one document.
#[derive(Clone, Debug, Default)]
pub(super) struct Summary {
    /// The sentences taken, by number; nothing where it was written anew.
    pub picks: Option<Vec<usize>>,
    pub sentences: Vec<String>,
}

impl Summary {
    pub(super) fn text(&self) -> String {
        self.sentences.join(" ")
    }
}

/// The beginning of a sentence with so many words.
fn first_words(sentence: &str, n: usize) -> &str {
    let (mut seen, mut end) = (0, 0);
    // As Japanese, so that every Chinese character is a word, as `count_words` has it.
    for_each_word(sentence, Some(Language::JAPANESE), |word| {
        seen += 1;
        if seen == n {
            end = word.as_ptr() as usize - sentence.as_ptr() as usize + word.len();
        }
    });
    if n >= seen { sentence } else { &sentence[..end] }
}

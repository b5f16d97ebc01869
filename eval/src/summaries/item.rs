//! Documents with reference summaries: the rows of a set, or web pages with their own descriptions.

use std::path::Path;

use pith_extractor::{
    Analysis, Budget, Language, Method, Options, Picks, count_words, extract, for_each_word, sentences_of,
};
use serde::Deserialize;

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

/// The documents of every set in a folder, and of the web pages, that say something about a ranking.
pub(super) fn load(
    folder: &Path,
    pages: Option<&Path>,
    limit: Option<usize>,
) -> Result<Vec<(String, Vec<Item>)>, Error> {
    let mut sets = Vec::new();
    for set in data::sets(folder)? {
        let mut items = Vec::new();
        for row in data::rows::<Row>(&set.path)? {
            items.push(Item::from_row(row?));
            if limit == Some(items.len()) {
                break;
            }
        }
        sets.push((set.name, items));
    }
    if let Some(pages) = pages {
        sets.push(("descriptions".to_owned(), described(pages, limit)?));
    }
    sets.iter_mut().for_each(|(_, items)| items.retain(Item::can_be_scored));
    sets.retain(|(_, items)| !items.is_empty());
    if sets.is_empty() {
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
    fn can_be_scored(&self) -> bool {
        self.sentences.len() >= MIN_SENTENCES && !self.references.is_empty()
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
    pub(super) fn summary(&self, order: &[usize], length: Length) -> (Vec<usize>, String) {
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
        let text: Vec<&str> = parts.iter().map(|part| part.1).collect();
        (parts.iter().map(|part| part.0).collect(), text.join(" "))
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

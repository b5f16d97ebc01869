//! Titles, authors, dates and what products cost, against gold: exact answers as a share of the pages whose gold has one.

use std::collections::{BTreeMap, BTreeSet};

use pith_extractor::Document;
use serde::Serialize;
use unicode_normalization::UnicodeNormalization;

use crate::gold::Truth;

/// The fields that are compared, in the order of the table.
pub const FIELDS: [&str; 6] = ["title", "author", "date", "price", "brand", "sku"];

/// Sets with fewer answers in their gold say nothing.
const MIN_PAGES: usize = 5;

/// How one field of a set compares with its gold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct FieldScore {
    /// Pages whose gold has the field.
    pub pages: usize,
    /// The share of them for which an answer was given.
    pub found: f64,
    /// The share of them for which the answer is the gold's.
    pub exact: f64,
    /// Pages whose gold has no such field, but for which an answer was given.
    pub given_though_none: usize,
}

/// Sums over the pages of a set.
#[derive(Clone, Debug, Default)]
pub struct MetadataScore {
    counts: BTreeMap<&'static str, Counts>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    pages: usize,
    found: usize,
    exact: usize,
    given_though_none: usize,
}

impl MetadataScore {
    /// Counts one page.
    pub fn add(&mut self, truth: &Truth, document: &Document) {
        for field in FIELDS {
            let gold = gold(truth, field);
            let answer = answer(document, field).unwrap_or_default();
            let counts = self.counts.entry(field).or_default();
            if gold.is_empty() {
                counts.given_though_none += usize::from(!answer.is_empty());
                continue;
            }
            counts.pages += 1;
            counts.found += usize::from(!answer.is_empty());
            counts.exact += usize::from(gold.iter().any(|gold| is_exact(field, gold, answer)));
        }
    }

    /// The shares of every field that enough gold has.
    pub fn fields(&self) -> BTreeMap<String, FieldScore> {
        let enough = self.counts.iter().filter(|(_, counts)| counts.pages >= MIN_PAGES);
        enough
            .map(|(field, counts)| {
                let share = |count: usize| count as f64 / counts.pages as f64;
                let score = FieldScore {
                    pages: counts.pages,
                    found: share(counts.found),
                    exact: share(counts.exact),
                    given_though_none: counts.given_though_none,
                };
                ((*field).to_owned(), score)
            })
            .collect()
    }
}

fn gold<'t>(truth: &'t Truth, field: &str) -> Vec<&'t str> {
    let one = |value: &'t Option<String>| value.as_deref().filter(|value| !value.is_empty()).into_iter().collect();
    match field {
        "title" => one(&truth.title),
        "author" => one(&truth.author),
        "date" => one(&truth.date),
        _ => truth.fields.get(field).into_iter().flatten().map(String::as_str).collect(),
    }
}

fn answer<'d>(document: &'d Document, field: &str) -> Option<&'d str> {
    match field {
        "title" => document.title.as_deref(),
        "author" => document.author.as_deref(),
        "date" => document.published.as_deref(),
        "price" => document.price.as_deref(),
        "brand" => document.brand.as_deref(),
        _ => document.sku.as_deref(),
    }
}

fn is_exact(field: &str, gold: &str, answer: &str) -> bool {
    match field {
        "date" => beginning(gold) == beginning(answer),
        "author" => people(gold) == people(answer),
        "price" => number(gold).zip(number(answer)).is_some_and(|(gold, answer)| (gold - answer).abs() < 0.005),
        _ => normalized(gold) == normalized(answer),
    }
}

/// The day of a date.
fn beginning(date: &str) -> &str {
    date.get(..10).unwrap_or(date)
}

/// A price as a number; three figures behind a single mark are thousands.
fn number(price: &str) -> Option<f64> {
    let price: String = price.trim().chars().filter(|character| !character.is_whitespace()).collect();
    match price.rsplit_once(['.', ',']) {
        Some((whole, rest)) if rest.len() == 3 && !whole.contains(['.', ',']) => format!("{whole}{rest}").parse().ok(),
        _ => price.replace(',', ".").parse().ok(),
    }
}

/// Letters and figures in small letters, one space between words, references resolved.
fn normalized(text: &str) -> String {
    let decoded = unescape(text);
    let mut out = String::with_capacity(decoded.len());
    for character in decoded.nfkc().flat_map(char::to_lowercase) {
        if character.is_alphanumeric() {
            out.push(character);
        } else if !out.is_empty() && !out.ends_with(' ') {
            out.push(' ');
        }
    }
    out.trim_end().to_owned()
}

/// Resolves character references as a page would.
fn unescape(text: &str) -> String {
    if !text.contains('&') {
        return text.to_owned();
    }
    // A `<` of the text must stay one.
    let page = format!("<p>{}", text.replace('<', "&lt;"));
    let tree = pith_extractor::tree::Tree::parse(&page);
    tree.text_content(pith_extractor::tree::NodeId::DOCUMENT)
}

/// The people that a byline names.
fn people(text: &str) -> BTreeSet<String> {
    const JOINTS: [&str; 5] = [" and ", " und ", " y ", " et ", " & "];
    const BY: [&str; 7] = ["by", "von", "par", "por", "di", "von:", "text:"];
    let mut parts: Vec<&str> = text.split([';', ',', '|', '/']).collect();
    for joint in JOINTS {
        parts = parts.into_iter().flat_map(|part| part.split(joint)).collect();
    }
    let without_by = |part: &str| {
        let part = part.trim();
        let rest =
            part.split_once(char::is_whitespace).filter(|(first, _)| BY.contains(&first.to_lowercase().as_str()));
        normalized(rest.map_or(part, |(_, rest)| rest))
    };
    parts.into_iter().map(without_by).filter(|name| !name.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(field: &str, gold: &str, answer: &str, expected: bool) {
        assert_eq!(is_exact(field, gold, answer), expected, "{field}: {gold} / {answer}");
    }

    #[test]
    fn answers_are_compared_as_readers_would() {
        check("title", "Rain &amp; sun – May", "rain & sun: may", true);
        check("title", "Rain", "Rain in May", false);
        check("author", "By Ana Lima and Bea Sun", "Bea Sun, Ana Lima", true);
        check("author", "Ana Lima", "Ana Lima, Bea Sun", false);
        check("date", "2022-06-10T08:00", "2022-06-10", true);
        check("date", "2022-06-10", "2022-06-11", false);
        check("price", "119.00", "119", true);
        check("price", "2.449", "2449.00", true);
        check("price", "131990 ", "131990", true);
        check("price", "13.40", "13.90", false);
        check("brand", "KÄRCHER", "Kärcher", true);
    }

    #[test]
    fn shares_are_of_the_pages_whose_gold_has_the_field() {
        let mut score = MetadataScore::default();
        let document = |title: &str| Document { title: Some(title.into()), ..Document::default() };
        for title in ["a", "a", "a", "b", "c"] {
            score.add(&Truth { title: Some("a".into()), ..Truth::default() }, &document(title));
        }
        score.add(&Truth::default(), &document("d"));
        let fields = score.fields();
        assert_eq!(fields.len(), 1);
        let expected = FieldScore { pages: 5, found: 1.0, exact: 0.6, given_though_none: 1 };
        assert_eq!(fields["title"], expected);
    }
}

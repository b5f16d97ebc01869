//! The worst pages side by side: the gold, ours and every peer's, with what is missing and what is too much in colour.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::compare::{Line, lines};
use super::{MethodScore, OURS, ScoredPage};
use crate::report::escape;
use crate::score::PageScore;

/// The pages that our extractor reads worst, a few of each set.
#[derive(Debug)]
pub struct WorstPages {
    per_set: usize,
    sets: BTreeMap<String, Vec<WorstPage>>,
}

/// What is kept of a page until the end.
#[derive(Debug)]
struct WorstPage {
    ours: f64,
    id: String,
    url: String,
    kind: String,
    lang: String,
    gold: Option<String>,
    with: Vec<String>,
    without: Vec<String>,
    texts: Vec<(f64, String)>,
}

/// Longer texts are cut here.
const MAX_SHOWN_CHARACTERS: usize = 6_000;

impl WorstPages {
    /// Keeps so many pages of each set.
    pub fn new(per_set: usize) -> WorstPages {
        WorstPages { per_set, sets: BTreeMap::new() }
    }

    /// Keeps a page if it is among the worst of its set so far.
    pub fn add(&mut self, set: &str, scored: &ScoredPage) {
        let ours = f1(&scored.scores[0]);
        let pages = self.sets.entry(set.to_owned()).or_default();
        let rank = pages.partition_point(|page| page.ours <= ours);
        if rank >= self.per_set {
            return;
        }
        let texts = scored.scores.iter().map(f1).zip(scored.texts.iter().map(|text| shorten(text)));
        let shown = WorstPage {
            ours,
            id: scored.page.id.clone(),
            url: scored.page.url.clone().unwrap_or_default(),
            kind: scored.truth.page_type.clone().unwrap_or_default(),
            lang: scored.truth.lang.clone().unwrap_or_default(),
            gold: scored.truth.text.as_deref().map(shorten),
            with: scored.truth.with.clone(),
            without: scored.truth.without.clone(),
            texts: texts.collect(),
        };
        pages.insert(rank, shown);
        pages.truncate(self.per_set);
    }
}

/// Bag-of-words F1, or the snippets' where there is no text.
fn f1(score: &PageScore) -> f64 {
    match (&score.text, &score.snippets) {
        (Some(text), _) => text.bag.f1,
        (None, Some(snippets)) => snippets.precision_recall().f1,
        (None, None) => 1.0,
    }
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN_CHARACTERS) {
        Some((end, _)) => format!("{}\n[…]", &text[..end]),
        None => text.to_owned(),
    }
}

/// One file without scripts: the scores, then the worst pages of each set.
pub fn page(methods: &[MethodScore], worst: &WorstPages) -> String {
    let mut out = String::from(HEAD);
    scores(&mut out, methods);
    for (set, pages) in &worst.sets {
        let _ = write!(out, "<h2>{}: the worst pages</h2>", escape(set));
        for page in pages {
            let about = [&page.id, &page.kind, &page.lang].map(|part| escape(part)).join(", ");
            let _ = write!(out, "<details><summary>{:.3} · {about} · {}</summary>", page.ours, escape(&page.url));
            side_by_side(&mut out, page, methods);
            out.push_str("</details>");
        }
    }
    out.push_str("</body></html>\n");
    out
}

fn scores(out: &mut String, methods: &[MethodScore]) {
    out.push_str(
        "<h1>Main content</h1><p>Bag-of-words F1 (shingles, ROUGE-L, snippets).</p><table><tr><th>set<th>pages",
    );
    for method in methods {
        let _ = write!(out, "<th>{}", escape(&method.name));
    }
    let Some(ours) = methods.first() else { return };
    for (set, score) in &ours.sets {
        let _ = write!(out, "<tr><td>{}<td>{}", escape(set), score.all.pages);
        for method in methods {
            let number = |value: Option<f64>| value.map_or("–".into(), |value| format!("{value:.3}"));
            let group = &method.sets[set].all;
            let others = [group.shingle_f1, group.rouge_l, group.snippet_f1].map(number).join(", ");
            let _ = write!(out, "<td><b>{}</b> ({others})", number(group.bow_f1));
        }
    }
    out.push_str("</table>");
}

fn side_by_side(out: &mut String, page: &WorstPage, methods: &[MethodScore]) {
    out.push_str("<div class=side>");
    let ours = &page.texts[0].1;
    match &page.gold {
        Some(gold) => column(out, "gold (missing from ours)", &lines(gold, ours, &page.lang), "missing"),
        None => {
            out.push_str("<div><b>snippets</b>");
            for (snippets, wanted) in [(&page.with, true), (&page.without, false)] {
                for snippet in snippets {
                    let class = if ours.contains(snippet.as_str()) == wanted { "" } else { "missing" };
                    let sign = if wanted { '+' } else { '−' };
                    let _ = write!(out, "<p class='{class}'>{sign} {}", escape(snippet));
                }
            }
            out.push_str("</div>");
        }
    }
    for (method, (score, text)) in methods.iter().zip(&page.texts) {
        let title = format!("{} {score:.3}", if method.name == OURS { "ours" } else { &method.name });
        column(out, &title, &lines(text, page.gold.as_deref().unwrap_or(text), &page.lang), "surplus");
    }
    out.push_str("</div>");
}

fn column(out: &mut String, title: &str, lines: &[Line<'_>], class: &str) {
    let _ = write!(out, "<div><b>{}</b>", escape(title));
    for line in lines {
        let class = if line.shared { "" } else { class };
        let _ = write!(out, "<p class='{class}'>{}", escape(line.text));
    }
    out.push_str("</div>");
}

const HEAD: &str = "<!doctype html><html lang=en><head><meta charset=utf-8><title>pith: main content</title><style>\
body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:90rem;padding:0 1rem;color:#222}\
table{border-collapse:collapse;font-size:13px}td,th{padding:.15rem .6rem;border-bottom:1px solid #ddd;text-align:left}\
.side{display:grid;grid-template-columns:repeat(auto-fit,minmax(20rem,1fr));gap:1rem;font-size:13px}\
.side div{background:#f6f6f4;padding:.6rem .8rem;overflow-wrap:anywhere}.side p{margin:.3rem 0}\
.missing{background:#f6c9bd}.surplus{background:#cfdcf2}summary{cursor:pointer;overflow-wrap:anywhere}\
</style></head><body>";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gold::{GoldPage, Truth};
    use crate::score::score;

    fn scored(id: &str, gold: &str, text: &str) -> ScoredPage {
        let truth = Truth { id: id.into(), text: Some(gold.into()), ..Truth::default() };
        let page = GoldPage { id: id.into(), url: None, html: String::new() };
        ScoredPage { page, scores: vec![score(&truth, text)], truth, texts: vec![text.into()], fidelity: Vec::new() }
    }

    #[test]
    fn the_worst_pages_come_first_and_are_escaped() {
        let mut worst = WorstPages::new(2);
        worst.add("set", &scored("good", "a b c", "a b c"));
        worst.add("set", &scored("bad", "a b c", "<script>x"));
        worst.add("set", &scored("half", "a b c d", "a b"));
        let methods = [MethodScore { name: OURS.into(), sets: BTreeMap::new() }];
        let html = page(&methods, &worst);
        assert!(html.find("bad").unwrap() < html.find("half").unwrap());
        assert!(!html.contains("good") && !html.contains("<script>"), "{html}");
        assert!(html.contains("<p class='surplus'>&lt;script&gt;x") && html.contains("<p class='missing'>a b c"));
    }
}

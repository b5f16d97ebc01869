//! No part of a page, and no part followed by another, takes more than linear time, however often it is repeated.
//!
//! Parts are tried alone in every run, and in all pairs with `PITH_FULL=1`.

mod shared;

use std::env;
use std::hint::black_box;

use pith_extractor::{
    Budget, Language, Method, Options, PageFormat, Scope, SummaryOptions, TextFormat, charset, extract, extract_page,
    split_sentences, summarize, words,
};
use shared::growth::{Case, repeated};

/// Parts of texts: marks, spaces, abbreviations, scripts. `#` is the number of the copy.
const TEXTS: &[&str] = &[
    "\n",
    "\u{2028}",
    "x",
    "It rained # times. ",
    " ",
    "Mr. A. B. e.g. U.S. ",
    "a.b",
    "3.中",
    ". ",
    "……",
    "!?",
    "“(«‘[",
    "”)»’]",
    "a line that is long enough to have been wrapped\n",
    "中国人民",
    "中国。",
    "の",
    "ภาษาไ",
    "\u{301}",
    "\u{200d}",
    "Ã©",
    "\t",
    "- ",
    "# ",
    "==\n",
];

/// Parts of pages.
const PAGES: &[&str] = &[
    "rain ",
    "<p>It rained # times in the town, and nobody went out.",
    "<div>",
    "</div>",
    "<b>",
    "</b>",
    "<b class='c#'>",
    "<a href=/#>rain</a>",
    "<p>",
    "<br>",
    "<pre>",
    "</pre>",
    "<code>`",
    "<table><tr><td>",
    "<tr><th>rain<td>sun",
    "<td colspan=1000 rowspan=9>",
    "<ul><li>",
    "<li>rain",
    "<blockquote>",
    "<h1>Rain in May #</h1>",
    "<h1><div>",
    "<figure><img src=/#>",
    "<p class='byline author date price signature comment'>By Ana Lima #, 3/4/2024",
    "<span itemprop=price class=price>13,40 €</span>",
    "<meta name=m# content=#>",
    "<meta property=og:title content='Rain | May - #'>",
    "<time datetime=2024-01-0#>",
    "<script type=application/ld+json>{\"@type\":\"NewsArticle\",\"headline\":\"Rain #\"}</script>",
    "<script>__NEXT_DATA__={\"a\":\"rain\"}</script>",
    "<script type=application/json>[\"rain\"]</script>",
    "<math><mi>x</mi>",
    "<span class=katex>x",
    "<sup>1</sup>",
    "<div class='highlight fragment'><div class=line>",
    "<form><input><textarea readonly>",
    "<svg>",
    "<template>",
    "&amp;&#39;",
    "<!--",
    "-->",
    "<",
    "中国人民",
    "*_[](#)<>~|\\",
];

fn page(bytes: &[u8]) {
    let url = url::Url::parse("https://example.com/a/").expect("an address");
    let options = Options { markdown: true, sentences: 3, ..Options::default() };
    black_box(extract(bytes, Some(&url), &options));
}

fn whole_page(bytes: &[u8]) {
    let options = Options { scope: Scope::Page, method: Method::Naive, sentences: 3, ..Options::default() };
    black_box(extract(bytes, None, &options));
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("the parts are text")
}

fn sentences(bytes: &[u8]) {
    black_box(split_sentences(text(bytes), Some(Language::GERMAN)).count());
}

fn text_file(bytes: &[u8]) {
    let options = Options { sentences: 3, ..Options::default() };
    black_box(extract_page(bytes, PageFormat::File(TextFormat::Markdown), None, &options));
}

fn words_and_charset(bytes: &[u8]) {
    black_box(words(text(bytes), None).len());
    black_box(charset::decode(bytes, Some("text/html; charset=big5")).text.len());
}

/// Checks every reader on every part, repeated, and with `PITH_FULL` on one part after another.
fn check_all(parts: &[&str], readers: &[(&str, fn(&[u8]))]) {
    let is_full = env::var_os("PITH_FULL").is_some();
    for first in parts {
        for second in parts.iter().filter(|second| is_full || *second == first) {
            let input = |n_bytes| [repeated(first, n_bytes / 2), repeated(second, n_bytes / 2)].concat();
            for (name, read) in readers {
                Case { name: format!("{name} of {first:?} and then {second:?}"), input: &input, read }.check();
            }
        }
    }
}

#[test]
fn pages_are_extracted_in_linear_time() {
    check_all(PAGES, &[("the document", page), ("the whole page", whole_page)]);
}

#[test]
fn texts_are_read_in_linear_time() {
    check_all(TEXTS, &[("sentences", sentences), ("a text file", text_file), ("words", words_and_charset)]);
}

#[test]
fn every_summary_takes_linear_time() {
    for method in Method::ALL {
        for part in ["It rained # times in the town. ", "Rain. ", "rain # ", "中国人民#。", "x"] {
            let input = |n_bytes| repeated(part, n_bytes);
            let read = |bytes: &[u8]| {
                for budget in [Budget::Sentences(3), Budget::Share(0.5)] {
                    black_box(summarize(text(bytes), &SummaryOptions { method, budget, ..SummaryOptions::default() }));
                }
            };
            Case { name: format!("{method} of {part:?}"), input: &input, read: &read }.check();
        }
    }
}

#[test]
fn quadratic_work_is_noticed_and_linear_work_passes() {
    let input = |n_bytes: usize| vec![b'x'; n_bytes / 16];
    let case = |read: &dyn Fn(&[u8])| Case { name: String::new(), input: &input, read }.excess();
    assert_eq!(case(&|input| drop(black_box(input.to_vec()))), None);
    let sum = |bytes: &[u8]| black_box(bytes).iter().map(|byte| usize::from(*byte)).sum::<usize>();
    let quadratic = |input: &[u8]| drop(black_box((0..input.len()).map(|end| sum(&input[..end])).sum::<usize>()));
    assert!(case(&quadratic).is_some());
}

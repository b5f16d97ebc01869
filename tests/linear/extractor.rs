//! Pages, texts, charsets, rules and summaries.

use std::hint::black_box;

use pith_extractor::{
    Budget, Language, Method, Options, PageFormat, Rules, Scope, SummaryOptions, TextFormat, charset, count_words,
    extract, extract_page, split_sentences, summarize, words,
};
use url::Url;

use crate::growth::{Case, check_all, repeated};

/// Parts of texts: marks, spaces, abbreviations, scripts.
const TEXTS: &[&str] = &[
    "\n",
    "\u{2028}",
    "x",
    "rain ",
    "It rained # times. ",
    " ",
    "Mr. A. B. e.g. U.S. ",
    "a.b",
    "1.",
    "3.中",
    ". ",
    "...",
    "……",
    "!?",
    "“(«‘[",
    "”)»’]",
    "a line that is long enough to have been wrapped\n",
    "a line that is long enough to have been wrapped\u{2028}",
    "中国人民",
    "中国。",
    "の",
    "ภาษาไ",
    "\u{301}",
    "\u{200d}",
    "Ã©",
    "\u{fffd}",
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

fn address() -> Url {
    Url::parse("https://example.com/a/").expect("an address")
}

fn page(bytes: &[u8]) {
    let options = Options { markdown: true, sentences: 3, ..Options::default() };
    black_box(extract(bytes, Some(&address()), &options));
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("the pieces are text")
}

#[test]
fn pages_are_extracted_in_linear_time() {
    let rules = "[\"example.com\"]\ncontent = [\"div p, td\", \"p:nth-child(2) ~ *\"]\ndrop = [\"b\", \"p:empty\"]\n\
                 title = \"h1\"\nauthor = \"[class]\"\ndate = \"time\"\n";
    let rules = Rules::parse(rules).expect("the rules are good");
    let ruled = Options { rules: Some(rules.into()), ..Options::default() };
    let by_rules = |bytes: &[u8]| drop(black_box(extract(bytes, Some(&address()), &ruled)));
    let seed = Options { scope: Scope::Page, method: Method::Naive, sentences: 3, ..Options::default() };
    let whole = |bytes: &[u8]| drop(black_box(extract(bytes, None, &seed)));
    check_all(PAGES, &[("the document", &page), ("the document by rules", &by_rules), ("the whole page", &whole)]);
}

#[test]
fn texts_are_read_in_linear_time() {
    let sentences = |bytes: &[u8]| {
        black_box(split_sentences(text(bytes), Some(Language::GERMAN)).count());
    };
    let file = |bytes: &[u8]| {
        let options = Options { sentences: 3, ..Options::default() };
        black_box(extract_page(bytes, PageFormat::File(TextFormat::Markdown), None, &options));
    };
    let counted = |bytes: &[u8]| {
        black_box((count_words(text(bytes)), words(text(bytes), None).len()));
    };
    let decoded = |bytes: &[u8]| {
        black_box(charset::decode(bytes, Some("text/html; charset=big5")).text.len());
    };
    check_all(TEXTS, &[("sentences", &sentences), ("a text file", &file), ("words", &counted), ("decoding", &decoded)]);
}

#[test]
fn every_summary_takes_linear_time() {
    for method in Method::ALL {
        for piece in ["It rained # times in the town. ", "Rain. ", "rain # ", "中国人民#。", "x"] {
            let input = |n_bytes| repeated(piece, n_bytes);
            let work = |bytes: &[u8]| {
                for budget in [Budget::Sentences(3), Budget::Share(0.5)] {
                    black_box(summarize(text(bytes), &SummaryOptions { method, budget, ..SummaryOptions::default() }));
                }
            };
            Case { name: format!("{method} of {piece:?}"), input: &input, work: &work }.check();
        }
    }
}

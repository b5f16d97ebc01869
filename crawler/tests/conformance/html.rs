//! Base and refresh, as w3lib's tests have them.

use pith_crawler::{AnchorText, LinkScanner};
use serde_json::Value;
use url::Url;

use super::suite::{Tally, own_and, text_or_hex};

#[test]
fn base_and_refresh() {
    let cases = own_and("base_and_refresh", "html_w3lib_base_meta_refresh");
    let mut tally = Tally::new("html_w3lib_base_meta_refresh");
    for case in &cases {
        let html = text_or_hex(&case["args"][0]).unwrap();
        // Text is UTF-8 by now, whatever the test says it was; bytes are in the encoding it names.
        let is_bytes = case["args"][0].is_object();
        let charset = case["args"][2].as_str().or(case["kwargs"]["encoding"].as_str()).filter(|_| is_bytes);
        let url = case["args"][1].as_str().and_then(|url| Url::parse(url).ok());
        let none_given = Url::parse("http://none.invalid/").unwrap();
        let mut scanner = LinkScanner::new(charset, "pith", AnchorText::Skip);
        scanner.feed(&html);
        let page = scanner.finish(url.as_ref().unwrap_or(&none_given));
        let parsed = |text: &str| Url::parse(text).unwrap_or_else(|_| none_given.clone());
        let passed = if case["fn"] == "get_base_url" {
            page.base == parsed(case["expected"].as_str().unwrap())
        } else {
            let got = page.refresh.as_ref().map(|(after, url)| (after.as_secs_f64(), url.clone()));
            got == case["expected"][0].as_f64().map(|after| (after, parsed(case["expected"][1].as_str().unwrap())))
        };
        let what = || {
            let start: String = String::from_utf8_lossy(&html).chars().take(300).collect();
            format!("{} {start:?} expected {} got {} {:?}", case["id"], case["expected"], page.base, page.refresh)
        };
        tally.count(passed, || reason(case), what);
    }
    tally.finish();
}

fn reason(case: &Value) -> Option<&'static str> {
    if case["args"][0].as_str().is_some_and(|html| html.find('>').unwrap_or(html.len()) > 64 << 10) {
        return Some("a tag of more than 64 KiB is not read");
    }
    let ignores_nothing = case["kwargs"]["ignore_tags"].as_array().is_some_and(Vec::is_empty);
    ignores_nothing.then_some("an option of the library: a refresh within <noscript> is not for us")
}

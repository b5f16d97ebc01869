//! Sitemaps and feeds: single files, and whole trees of them.

use std::collections::HashMap;

use pith_crawler::{Robots, SitemapKind, canonicalize, read_sitemap, resolve};
use serde_json::Value;
use url::Url;

use super::suite::{Tally, bytes, own_and, text_or_hex};

#[test]
fn crawler_commons_files() {
    let cases = own_and("sitemap_files", "sitemap_crawler_commons");
    let mut tally = Tally::new("sitemap_crawler_commons");
    for case in &cases {
        let url = Url::parse(case["url"].as_str().unwrap()).unwrap();
        let sitemap = read_sitemap(&bytes(case, "content"), &url);
        let kind = match sitemap.kind {
            SitemapKind::Index => Some("INDEX"),
            SitemapKind::Pages => Some("XML"),
            SitemapKind::Text => Some("TEXT"),
            SitemapKind::Rss => Some("RSS"),
            SitemapKind::Atom => Some("ATOM"),
            SitemapKind::Unknown => None,
        };
        let passed = kind == case["type"].as_str() && sitemap.urls == urls(&case["urls"]);
        let what = || {
            let got: Vec<&str> = sitemap.urls.iter().map(Url::as_str).collect();
            format!("{} {} {kind:?} {got:?}", case["id"], case["test"])
        };
        tally.count(passed, || file_reason(case), what);
    }
    tally.finish();
}

/// The expected addresses in our spelling.
fn urls(list: &Value) -> Vec<Url> {
    let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().filter_map(|url| canonicalize(Url::parse(url.as_str()?).ok()?)).collect()
}

fn file_reason(case: &Value) -> Option<&'static str> {
    if case["strict_namespace"] == true {
        return Some("an option of the library refuses a namespace that is not the protocol's");
    }
    if case["error"] == "UnknownFormatException" {
        return Some("the library refuses a file that is not well-formed; we take what can be read");
    }
    let strict = case["strict"] == true && case["urls"].as_array().is_some_and(Vec::is_empty);
    strict.then_some("an option of the library drops pages above the sitemap's folder; scope rules decide here")
}

#[test]
fn trees() {
    let cases = own_and("sitemap_trees", "sitemap_usp_tree");
    let mut tally = Tally::new("sitemap_usp_tree");
    for case in &cases {
        let (expected, got) = if case["kind"] == "from_str" {
            let url = Url::parse("http://test.invalid/sitemap.xml").unwrap();
            let sitemap = read_sitemap(&bytes(case, "content"), &url);
            let pages = if sitemap.kind == SitemapKind::Index { Vec::new() } else { sitemap.urls };
            (distinct(urls(&case["out"]["pages"])), distinct(pages))
        } else {
            (distinct(urls(&case["out"]["pages"])), distinct(walk(case)))
        };
        let what = || format!("{} {} expected {} got {}", case["id"], case["test"], expected.len(), got.len());
        tally.count(expected == got, || tree_reason(case), what);
    }
    tally.finish();
}

fn distinct(mut urls: Vec<Url>) -> Vec<Url> {
    urls.sort();
    urls.dedup();
    urls
}

/// Reads robots.txt and every sitemap it leads to, each once, as a crawl would.
fn walk(case: &Value) -> Vec<Url> {
    let home = Url::parse(case["homepage"].as_str().unwrap()).unwrap();
    let mut answers: HashMap<String, &Value> = HashMap::new();
    for response in case["responses"].as_array().unwrap() {
        let status = response["status_code"].as_u64().or(response["status"].as_u64()).unwrap_or(200);
        if let Some(url) = resolve(&home, response["url"].as_str().unwrap()).filter(|_| status == 200) {
            answers.insert(url.into(), response);
        }
    }
    let body = |url: &Url| answers.get(url.as_str()).map(|response| content(response));
    let Some(robots) = body(&home.join("/robots.txt").unwrap()) else { return Vec::new() };
    let robots = Robots::parse(&robots, "pith");
    let mut waiting: Vec<Url> = robots.sitemaps().iter().filter_map(|map| resolve(&home, map)).collect();
    let mut known = waiting.clone();
    let mut pages = Vec::new();
    while let Some(url) = waiting.pop() {
        let Some(bytes) = body(&url) else { continue };
        let sitemap = read_sitemap(&bytes, &url);
        if sitemap.kind == SitemapKind::Index {
            let new: Vec<Url> = sitemap.urls.into_iter().filter(|url| !known.contains(url)).collect();
            known.extend(new.iter().cloned());
            waiting.extend(new);
        } else {
            pages.extend(sitemap.urls);
        }
    }
    pages
}

fn content(response: &Value) -> Vec<u8> {
    text_or_hex(&response["text"]).or_else(|| text_or_hex(&response["content"])).unwrap_or_default()
}

fn tree_reason(case: &Value) -> Option<&'static str> {
    if case["test"] == "test_billion_laughs_attack" {
        return Some("the library gives the file up; we skip the declarations and read the URLs without entities");
    }
    let mocked = case["responses"].as_array().is_some_and(Vec::is_empty);
    mocked.then_some("the test replaces the fetcher and has no responses")
}

//! Any bytes make a document, the same one each time, with and without the rules of a site.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use pith_extractor::{Options, Rules, extract};
use url::Url;

static RULED: LazyLock<(Url, Options)> = LazyLock::new(|| {
    let rules = "[\"a.com\"]\ncontent = [\"div p, td\", \"p:nth-child(2) ~ *\"]\ndrop = [\"b\", \"p:empty\"]\n\
                 title = \"h1\"\nauthor = \"[class]\"\ndate = \"time\"\n";
    let rules = Rules::parse(rules).expect("the rules are good");
    let options = Options { rules: Some(rules.into()), markdown: true, ..Options::default() };
    (Url::parse("https://a.com/2020/01/02/x").expect("an address"), options)
});

fuzz_target!(|bytes: &[u8]| {
    let options = Options::default();
    let document = extract(bytes, None, &options);
    assert_eq!(document, extract(bytes, None, &options));
    assert_eq!(document.counts.characters, document.text.chars().count());
    let (url, options) = &*RULED;
    let ruled = extract(bytes, Some(url), options);
    assert!(ruled.links.iter().all(|link| link.url.starts_with("http")));
});

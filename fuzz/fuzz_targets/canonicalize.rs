//! Canonicalizing twice changes nothing, whatever the reference.

#![no_main]

use libfuzzer_sys::fuzz_target;
use pith_crawler::{canonicalize, parse_seed, resolve};
use url::Url;

fuzz_target!(|text: &str| {
    let base = Url::parse("http://example.org/a/b.html?c=d").expect("an address");
    for url in [resolve(&base, text), parse_seed(text)].into_iter().flatten() {
        assert!(matches!(url.scheme(), "http" | "https") && url.has_host());
        assert!(url.fragment().is_none() && url.username().is_empty());
        assert_eq!(canonicalize(url.clone()), Some(url.clone()));
        assert_eq!(Url::parse(url.as_str()).as_ref(), Ok(&url));
    }
});

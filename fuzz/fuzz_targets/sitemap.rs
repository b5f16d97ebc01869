//! Any bytes are a sitemap, the same one however they arrive.

#![no_main]

use libfuzzer_sys::fuzz_target;
use pith_crawler::{MAX_SITEMAP_ENTRIES, SitemapReader, canonicalize, read_sitemap};
use url::Url;

fuzz_target!(|bytes: &[u8]| {
    let url = Url::parse("http://example.org/sitemap.xml").expect("an address");
    let sitemap = read_sitemap(bytes, &url);
    assert!(sitemap.urls.len() <= MAX_SITEMAP_ENTRIES);
    for url in &sitemap.urls {
        assert_eq!(canonicalize(url.clone()).as_ref(), Some(url));
    }
    if bytes.first() == Some(&0x1F) {
        return;
    }
    for size in [1, 7] {
        let mut reader = SitemapReader::new(url.clone());
        bytes.chunks(size).for_each(|piece| reader.feed(piece));
        let torn = reader.finish();
        assert_eq!((torn.kind, &torn.urls), (sitemap.kind, &sitemap.urls));
    }
});

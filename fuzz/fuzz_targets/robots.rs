//! Any bytes are a robots.txt, and any text a URL; a NUL stands between the two.

#![no_main]

use libfuzzer_sys::fuzz_target;
use pith_crawler::Robots;

fuzz_target!(|input: &[u8]| {
    let mut parts = input.splitn(2, |byte| *byte == 0);
    let text = parts.next().unwrap_or_default();
    let url = String::from_utf8_lossy(parts.next().unwrap_or_default());
    let robots = Robots::parse(text, "pith");
    // The canonical form is at least as strict.
    assert!(!robots.allows_canonical(&url) || robots.allows(&url));
    assert!(robots.sitemaps().len() <= 1000);
    assert!(robots.heap_bytes() <= 64 * text.len() + 4096);
    let open = Robots::allow_all();
    assert!(open.allows(&url) && !Robots::disallow_all().allows(&url));
});

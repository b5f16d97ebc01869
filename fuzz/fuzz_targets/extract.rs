//! Any bytes make a document, the same one each time.

#![no_main]

use libfuzzer_sys::fuzz_target;
use pith_extractor::{Options, extract};

fuzz_target!(|bytes: &[u8]| {
    let options = Options::default();
    let document = extract(bytes, None, &options);
    assert_eq!(document.text, extract(bytes, None, &options).text);
    assert_eq!(document.counts.characters, document.text.chars().count());
});

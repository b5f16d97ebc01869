//! Any bytes under any encodings decode to a bounded body, the same however they arrive.

#![no_main]

use libfuzzer_sys::fuzz_target;
use pith_crawler::fuzzing::decode;

const ENCODINGS: &[&str] = &["", "gzip", "deflate", "br", "zstd", "gzip, br", "br, gzip", "zstd, gzip", "deflate, zstd"];
const MAX_BYTES: usize = 1 << 20;

fuzz_target!(|input: &[u8]| {
    let [choice, size, wire @ ..] = input else { return };
    let encodings = ENCODINGS[usize::from(*choice) % ENCODINGS.len()];
    let is_file = choice & 0x80 != 0;
    let whole = decode(encodings, is_file, wire, wire.len().max(1), MAX_BYTES);
    let torn = decode(encodings, is_file, wire, usize::from(*size) + 1, MAX_BYTES);
    if let (Some(whole), Some(torn)) = (&whole, &torn) {
        assert!(whole.len() <= MAX_BYTES);
        assert_eq!(whole, torn);
    }
    assert_eq!(whole.is_some(), torn.is_some());
});

//! Any bytes under any encodings decode to a bounded body, the same however they arrive.

#![no_main]

use libfuzzer_sys::fuzz_target;
use pith_notation::{Body, Fed};

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
    // A layer that meets damage does not tell what it gave just before: between two layers that may be all of the body.
    let is_stacked = encodings.contains(',') || (is_file && !encodings.is_empty());
    assert!(is_stacked || whole.is_some() == torn.is_some());
});

/// Decodes a whole body in pieces of this size; `None` when it is not what the encodings say.
fn decode(encodings: &str, is_gzip_file: bool, wire: &[u8], size: usize, max_bytes: usize) -> Option<Vec<u8>> {
    let mut body = Body::new(encodings, max_bytes, 0)?;
    if is_gzip_file {
        body = body.or_gzip_file();
    }
    for piece in wire.chunks(size) {
        body.feed(piece.to_vec().into());
        let fed = loop {
            match body.step() {
                Ok(Fed::Busy) => {}
                fed => break fed.ok()?,
            }
        };
        if fed != Fed::More {
            break;
        }
    }
    Some(body.finish())
}

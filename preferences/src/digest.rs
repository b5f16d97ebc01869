//! The digest of a robots.txt, spelled as WARC records spell that of their payload.

use sha2::Digest as _;

/// The digest of a file that was in force: SHA-256 in base 32.
pub fn digest(bytes: &[u8]) -> String {
    format!("sha256:{}", data_encoding::BASE32.encode(&sha2::Sha256::digest(bytes)))
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_is_spelled_as_in_records() {
        let empty = "sha256:4OYMIQUY7QOBJGX36TEJS35ZEQT24QPEMSNZGTFESWMRW6CSXBKQ====";
        assert_eq!(super::digest(b""), empty);
    }
}

//! Digests as WARC spells them: an algorithm, a colon, and a value in base 32, hex or base 64.

use sha1::Digest as _;

/// The payload digest that pith writes: SHA-256, because two pages with one SHA-1 can be made on purpose.
pub(super) fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = sha2::Sha256::new();
    parts.iter().for_each(|part| hasher.update(part));
    hasher.finalize().into()
}

/// `sha256:` and the value in base 32, as most archives write digests.
pub(super) fn encode(digest: &[u8; 32], out: &mut Vec<u8>) {
    out.extend_from_slice(b"sha256:");
    base32(digest, out);
}

fn base32(bytes: &[u8], out: &mut Vec<u8>) {
    const ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    let start = out.len();
    for chunk in bytes.chunks(5) {
        let mut group = [0u8; 8];
        group[3..3 + chunk.len()].copy_from_slice(chunk);
        let value = u64::from_be_bytes(group);
        let letters = (chunk.len() * 8).div_ceil(5);
        out.extend((0..letters).map(|letter| ALPHABET[(value >> (35 - 5 * letter) & 31) as usize]));
    }
    while !(out.len() - start).is_multiple_of(8) {
        out.push(b'=');
    }
}

/// The value of a digest that [`encode`] has encoded.
pub(super) fn parse_sha256(encoded: &[u8]) -> Option<[u8; 32]> {
    let value = encoded.strip_prefix(b"sha256:")?;
    let mut digest = [0; 32];
    let (mut bits, mut held, mut at) = (0u32, 0u32, 0);
    for letter in value.iter().take_while(|letter| **letter != b'=') {
        let five = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'2'..=b'7' => letter - b'2' + 26,
            _ => return None,
        };
        bits = bits << 5 & 0xFFF | u32::from(five);
        held += 5;
        if held >= 8 {
            held -= 8;
            *digest.get_mut(at)? = (bits >> held) as u8;
            at += 1;
        }
    }
    (at == 32).then_some(digest)
}

/// Compares bytes with a digest from a header. `None` if the spelling or the algorithm is unknown.
pub(super) fn matches(encoded: &[u8], bytes: &[u8]) -> Option<bool> {
    let colon = memchr::memchr(b':', encoded)?;
    let (algorithm, value) = (&encoded[..colon], &encoded[colon + 1..]);
    let actual = match algorithm.to_ascii_lowercase().as_slice() {
        b"sha1" | b"sha-1" => sha1::Sha1::digest(bytes).to_vec(),
        b"sha256" | b"sha-256" => sha2::Sha256::digest(bytes).to_vec(),
        _ => return None,
    };
    let mut in_base32 = Vec::new();
    base32(&actual, &mut in_base32);
    let unpadded = |value: &[u8]| value.iter().rposition(|byte| *byte != b'=').map_or(0, |last| last + 1);
    if unpadded(value) == unpadded(&in_base32) {
        return Some(value[..unpadded(value)].eq_ignore_ascii_case(&in_base32[..unpadded(&in_base32)]));
    }
    if value.len() == 2 * actual.len() {
        let hex = actual.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        return Some(hex.zip(value).all(|(nibble, digit)| char::from(*digit).to_digit(16) == Some(u32::from(nibble))));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_digest_is_understood() {
        let empty_sha1: &[&str] = &[
            "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
            "SHA-1:3i42h3s6nnfq2msvx7xzkyayscx5qbyj",
            "sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709",
        ];
        for encoded in empty_sha1 {
            assert_eq!(matches(encoded.as_bytes(), b""), Some(true), "{encoded}");
            assert_eq!(matches(encoded.as_bytes(), b"x"), Some(false), "{encoded}");
        }
        let mut ours = Vec::new();
        encode(&sha256(&[b"he", b"llo"]), &mut ours);
        assert_eq!(matches(&ours, b"hello"), Some(true));
        assert_eq!(parse_sha256(&ours), Some(sha256(&[b"hello"])));
        assert_eq!(matches(b"sha1:2jmj7l5rSw0yVb/vlWAYkK/YBwk=", b""), None, "base 64 is left alone");
        assert_eq!(matches(b"blake3:00", b""), None);
    }
}

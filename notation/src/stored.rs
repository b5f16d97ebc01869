//! Bodies as archives hold them: still chunked or compressed, and not always what their headers say.

use std::borrow::Cow;

use crate::content::decode_whole;
use crate::head::HttpHead;

/// More encodings of one body are those of a server that wants to keep its readers busy.
const MAX_ENCODINGS: usize = 8;

impl HttpHead<'_> {
    /// The body with chunks joined and compression undone, at most `max_bytes` of it. Says whether all of it came out.
    /// A body that is not what the headers say is taken as it is.
    pub fn decode<'b>(&self, body: &'b [u8], max_bytes: usize) -> (Cow<'b, [u8]>, bool) {
        let has = |name: &str, word: &str| {
            self.headers.iter().any(|(found, value)| {
                found.eq_ignore_ascii_case(name.as_bytes())
                    && value
                        .split(|byte| *byte == b',')
                        .any(|part| part.trim_ascii().eq_ignore_ascii_case(word.as_bytes()))
            })
        };
        let mut whole = true;
        let mut decoded = Cow::Borrowed(body);
        if has("Transfer-Encoding", "chunked")
            && let Some((joined, ended)) = join_chunks(body)
        {
            decoded = Cow::Owned(joined);
            whole = ended;
        }
        let encodings = self.header("Content-Encoding").unwrap_or_default();
        for encoding in encodings.rsplit(|byte| *byte == b',').take(MAX_ENCODINGS) {
            let Some((unpacked, ended)) = decode_whole(encoding.trim_ascii(), &decoded, max_bytes) else { continue };
            decoded = Cow::Owned(unpacked);
            whole &= ended;
        }
        if decoded.len() > max_bytes {
            whole = false;
            match &mut decoded {
                Cow::Borrowed(bytes) => *bytes = &bytes[..max_bytes],
                Cow::Owned(bytes) => bytes.truncate(max_bytes),
            }
        }
        (decoded, whole)
    }
}

/// Joins the chunks of a body and says whether the last one was there; `None` if it is not chunked at all.
fn join_chunks(body: &[u8]) -> Option<(Vec<u8>, bool)> {
    let mut joined = Vec::with_capacity(body.len());
    let mut rest = body;
    while let Some(line) = memchr::memchr(b'\n', &rest[..rest.len().min(256)]) {
        let size = rest[..line].split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
        let Some(size) = std::str::from_utf8(size).ok().and_then(|digits| usize::from_str_radix(digits, 16).ok())
        else {
            break;
        };
        if size == 0 {
            return Some((joined, true));
        }
        rest = &rest[line + 1..];
        let count = size.min(rest.len());
        joined.extend_from_slice(&rest[..count]);
        rest = &rest[count..];
        rest = rest.strip_prefix(b"\r\n").or_else(|| rest.strip_prefix(b"\n")).unwrap_or(rest);
    }
    (!joined.is_empty()).then_some((joined, false))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        out.write_all(bytes).unwrap();
        out.finish().unwrap()
    }

    #[track_caller]
    fn check(headers: &str, body: &[u8], max_bytes: usize, expected: &[u8], is_whole: bool) {
        let head = format!("HTTP/1.1 200 OK\r\n{headers}\r\n\r\n");
        let (head, _) = HttpHead::parse(head.as_bytes()).unwrap();
        let (decoded, whole) = head.decode(body, max_bytes);
        assert!(*decoded == *expected, "{headers}: {}", decoded.escape_ascii());
        assert_eq!(whole, is_whole, "{headers}");
    }

    #[test]
    fn chunks_are_joined_and_encodings_undone() {
        let text = b"some rain, some more rain".repeat(100);
        let chunked = |bytes: &[u8]| [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n0\r\n\r\n"].concat();
        check("Transfer-Encoding: chunked", &chunked(&text), 1 << 20, &text, true);
        check("transfer-encoding: chunked\r\nContent-Encoding: gzip", &chunked(&gzip(&text)), 1 << 20, &text, true);
        check("Content-Encoding: gzip, br", &gzip(&text), 1 << 20, &text, true);
        check("Content-Encoding: zstd", &zstd::encode_all(&text[..], 3).unwrap(), 1 << 20, &text, true);
        check("Content-Encoding: gzip", &gzip(b""), 1 << 20, b"", true);
    }

    #[test]
    fn a_body_that_is_not_what_its_headers_say_is_taken_as_it_is() {
        for encoding in ["gzip", "deflate", "br", "zstd", "identity", "rot13"] {
            check(&format!("Content-Encoding: {encoding}"), b"<p>plain", 1 << 20, b"<p>plain", true);
        }
        check("Transfer-Encoding: chunked", b"<p>plain", 1 << 20, b"<p>plain", true);
    }

    #[test]
    fn a_body_that_is_cut_says_so() {
        let text: Vec<u8> =
            (0..40_000u32).flat_map(|number| (number.wrapping_mul(2_654_435_761)).to_le_bytes()).collect();
        let packed = gzip(&text);
        check("Content-Encoding: gzip", &packed, text.len(), &text, true);
        check("Content-Encoding: gzip", &packed, 1000, &text[..1000], false);
        let (head, _) = HttpHead::parse(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n").unwrap();
        let (decoded, whole) = head.decode(&packed[..packed.len() / 2], 1 << 20);
        assert!(!whole && decoded.len() > 1000 && text.starts_with(&decoded));
    }
}

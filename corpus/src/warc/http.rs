//! HTTP messages as archives hold them: heads that are not quite right, bodies still chunked or compressed.

use std::borrow::Cow;
use std::io::Read;

/// The head of an HTTP answer, borrowed from a block.
#[derive(Clone, Debug)]
pub struct HttpHead<'a> {
    /// The status line without its end, such as `HTTP/1.1 200 OK`.
    pub status_line: &'a [u8],
    /// The status code, if the line has one.
    pub status: Option<u16>,
    /// Names and values in order, trimmed.
    pub headers: Vec<(&'a [u8], &'a [u8])>,
}

impl<'a> HttpHead<'a> {
    /// Splits a block into head and body; `None` if it does not begin like an HTTP answer.
    pub fn parse(block: &'a [u8]) -> Option<(HttpHead<'a>, &'a [u8])> {
        if !block.starts_with(b"HTTP/") {
            return None;
        }
        let mut rest = block;
        let mut lines = std::iter::from_fn(|| {
            let end = memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
            let (line, behind) = rest.split_at(end);
            let ends = line.trim_ascii_end().is_empty();
            rest = behind;
            (!ends).then_some(line)
        });
        let status_line = lines.next()?.trim_ascii_end();
        let mut headers: Vec<(&[u8], &[u8])> = Vec::new();
        for line in lines {
            if let Some(colon) = memchr::memchr(b':', line) {
                headers.push((line[..colon].trim_ascii(), line[colon + 1..].trim_ascii()));
            }
        }
        let status = status_line.split(|byte| *byte == b' ').filter(|word| !word.is_empty()).nth(1);
        let status = status.and_then(|word| std::str::from_utf8(word).ok()?.parse().ok());
        Some((HttpHead { status_line, status, headers }, rest))
    }

    /// The first header of this name, whatever its case.
    pub fn header(&self, name: &str) -> Option<&'a [u8]> {
        self.headers.iter().find(|(found, _)| found.eq_ignore_ascii_case(name.as_bytes())).map(|(_, value)| *value)
    }

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
            let Some((unpacked, ended)) = unpack(encoding.trim_ascii(), &decoded, max_bytes) else { continue };
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

/// More encodings of one body are those of a server that wants to keep its readers busy.
const MAX_ENCODINGS: usize = 8;

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

/// Undoes one content encoding and says whether its end was reached; `None` if it is unknown or nothing comes out.
fn unpack(encoding: &[u8], body: &[u8], max_bytes: usize) -> Option<(Vec<u8>, bool)> {
    let mut out = Vec::new();
    let limit = (max_bytes as u64).saturating_add(1);
    let ended = match encoding.to_ascii_lowercase().as_slice() {
        b"gzip" | b"x-gzip" => flate2::read::MultiGzDecoder::new(body).take(limit).read_to_end(&mut out).is_ok(),
        b"deflate" => {
            let zlib = flate2::read::ZlibDecoder::new(body).take(limit).read_to_end(&mut out).is_ok();
            if !zlib && out.is_empty() {
                flate2::read::DeflateDecoder::new(body).take(limit).read_to_end(&mut out).is_ok()
            } else {
                zlib
            }
        }
        b"br" => brotli::Decompressor::new(body, 64 * 1024).take(limit).read_to_end(&mut out).is_ok(),
        b"zstd" => {
            let mut decoder = zstd::stream::read::Decoder::new(body).ok()?;
            decoder.window_log_max(23).ok()?;
            decoder.take(limit).read_to_end(&mut out).is_ok()
        }
        _ => return None,
    };
    let is_packed = !out.is_empty() || (ended && !body.is_empty());
    is_packed.then_some((out, ended))
}

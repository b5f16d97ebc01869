//! The head of an HTTP answer, as servers and archives give it: not quite right.

use crate::headers::split_line;

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
        let headers = lines.filter_map(split_line).collect();
        let status = status_line.split(|byte| *byte == b' ').filter(|word| !word.is_empty()).nth(1);
        let status = status.and_then(|word| std::str::from_utf8(word).ok()?.parse().ok());
        Some((HttpHead { status_line, status, headers }, rest))
    }

    /// The first header of this name, whatever its case.
    pub fn header(&self, name: &str) -> Option<&'a [u8]> {
        self.headers.iter().find(|(found, _)| found.eq_ignore_ascii_case(name.as_bytes())).map(|(_, value)| *value)
    }
}

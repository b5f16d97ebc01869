//! One WARC record, borrowed from the reader's buffer.

use std::borrow::Cow;
use std::ops::Range;

use jiff::Timestamp;

/// What a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum RecordType {
    /// About the file itself.
    Warcinfo,
    /// A server response with its headers.
    Response,
    /// A body without HTTP headers.
    Resource,
    /// A request to a server.
    Request,
    /// About another record.
    Metadata,
    /// A repeat of a stored response: perhaps its headers, and a reference to the body.
    Revisit,
    /// Another form of a record, such as the text in WET files.
    Conversion,
    /// The rest of a record that was split.
    Continuation,
    /// A type this crate has no name for.
    Other,
}

impl RecordType {
    /// The name as it stands in `WARC-Type`; `other` for types without a name here.
    pub fn name(self) -> &'static str {
        match self {
            RecordType::Warcinfo => "warcinfo",
            RecordType::Response => "response",
            RecordType::Resource => "resource",
            RecordType::Request => "request",
            RecordType::Metadata => "metadata",
            RecordType::Revisit => "revisit",
            RecordType::Conversion => "conversion",
            RecordType::Continuation => "continuation",
            RecordType::Other => "other",
        }
    }

    fn parse(name: &[u8]) -> RecordType {
        use RecordType::*;
        [Warcinfo, Response, Resource, Request, Metadata, Revisit, Conversion, Continuation]
            .into_iter()
            .find(|kind| name.eq_ignore_ascii_case(kind.name().as_bytes()))
            .unwrap_or(Other)
    }
}

/// One record: its header fields and its block.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// What it is.
    pub kind: RecordType,
    /// Where it begins in the file, or where the frame or member that holds it begins.
    pub offset: u64,
    /// The header as it stands in the file, with the version line and the empty line at the end.
    pub header: &'a [u8],
    /// The block: for a `response`, the HTTP head and body.
    pub block: &'a [u8],
    /// How long the block says it is. More than `block` holds where the reader's limit cut it.
    pub length: u64,
}

impl<'a> Record<'a> {
    /// The fields of the header in order, names and values trimmed.
    pub fn fields(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        Fields { rest: after_line(self.header) }
    }

    /// The first field of this name, whatever its case.
    pub fn field(&self, name: &str) -> Option<&'a [u8]> {
        self.fields().find(|(found, _)| found.eq_ignore_ascii_case(name.as_bytes())).map(|(_, value)| value)
    }

    /// The same as text; bytes that are not UTF-8 are replaced.
    pub fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        self.field(name).map(String::from_utf8_lossy)
    }

    /// The address of the page, without the angle brackets that some writers put around it.
    pub fn url(&self) -> Option<Cow<'a, str>> {
        let value = self.field("WARC-Target-URI")?;
        let value = value.strip_prefix(b"<").and_then(|inner| inner.strip_suffix(b">")).unwrap_or(value);
        (!value.is_empty()).then(|| String::from_utf8_lossy(value))
    }

    /// When it was captured; `None` if the field is missing or no date.
    pub fn date(&self) -> Option<Timestamp> {
        parse_date(self.field("WARC-Date")?)
    }

    /// True if the reader's limit cut the block.
    pub fn is_cut(&self) -> bool {
        self.length > self.block.len() as u64
    }
}

/// Reads a W3CDTF date with a zone, or fourteen digits as in ARC and CDX files.
pub(super) fn parse_date(value: &[u8]) -> Option<Timestamp> {
    let text = std::str::from_utf8(value).ok()?;
    if text.len() == 14 && text.bytes().all(|byte| byte.is_ascii_digit()) {
        let (date, time) = text.split_at(8);
        let encoded =
            format!("{}-{}-{}T{}:{}:{}Z", &date[..4], &date[4..6], &date[6..], &time[..2], &time[2..4], &time[4..]);
        return encoded.parse().ok();
    }
    text.parse().ok()
}

struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Fields<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let mut end = line_end(self.rest)?;
            // A line that begins with a blank goes on with the field before it.
            while matches!(self.rest.get(end), Some(b' ' | b'\t')) {
                end += line_end(&self.rest[end..]).unwrap_or(self.rest.len() - end);
            }
            let (line, rest) = self.rest.split_at(end);
            self.rest = rest;
            if let Some(colon) = memchr::memchr(b':', line) {
                return Some((line[..colon].trim_ascii(), line[colon + 1..].trim_ascii()));
            }
        }
    }
}

fn line_end(bytes: &[u8]) -> Option<usize> {
    memchr::memchr(b'\n', bytes).map(|at| at + 1)
}

fn after_line(bytes: &[u8]) -> &[u8] {
    &bytes[line_end(bytes).unwrap_or(bytes.len())..]
}

/// What the reader must know of a header to find the end of its record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) kind: RecordType,
    pub(super) header_bytes: usize,
    pub(super) content_bytes: u64,
    /// Where the block digest stands in the header.
    pub(super) block_digest: Option<Range<usize>>,
}

/// The outcome of looking for a header.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum HeaderParse {
    Complete(Head),
    /// It may be one, but its end is not in sight.
    Incomplete,
    Invalid,
}

/// Longer headers are treated as invalid.
pub(super) const HEADER_MAX: usize = 256 * 1024;

/// Reads the header at the start of `bytes`.
pub(super) fn head(bytes: &[u8]) -> HeaderParse {
    const START: &[u8] = b"WARC/";
    let known = bytes.len().min(START.len());
    if bytes[..known] != START[..known] {
        return HeaderParse::Invalid;
    }
    let (mut kind, mut content_bytes, mut block_digest) = (None, None, None);
    let mut at = 0;
    while let Some(length) = line_end(&bytes[at..]) {
        let line = &bytes[at..at + length];
        let start = at;
        at += length;
        // A header has one version line: a second one begins another record, and this one has no end.
        if start > 0 && is_version_line(line) {
            return HeaderParse::Invalid;
        }
        if at > HEADER_MAX {
            return HeaderParse::Invalid;
        }
        if line.len() <= 2 && line.trim_ascii().is_empty() {
            let (Some(kind), Some(content_bytes)) = (kind, content_bytes) else { return HeaderParse::Invalid };
            return HeaderParse::Complete(Head { kind, header_bytes: at, content_bytes, block_digest });
        }
        // Only three fields matter here; the first letter tells most others apart.
        match line[0] {
            b'W' | b'w' => {
                if let Some(value) = value_of(line, b"WARC-Type:") {
                    kind.get_or_insert(RecordType::parse(value));
                } else if let Some(value) = value_of(line, b"WARC-Block-Digest:") {
                    let from = start + (value.as_ptr() as usize - line.as_ptr() as usize);
                    block_digest.get_or_insert(from..from + value.len());
                }
            }
            b'C' | b'c' => {
                if let Some(value) = value_of(line, b"Content-Length:") {
                    let Some(value) = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok()) else {
                        return HeaderParse::Invalid;
                    };
                    content_bytes.get_or_insert(value);
                }
            }
            _ => {}
        }
    }
    if bytes.len() > HEADER_MAX { HeaderParse::Invalid } else { HeaderParse::Incomplete }
}

/// True if a line begins as the first line of a record does.
pub(super) fn is_version_line(line: &[u8]) -> bool {
    line.starts_with(b"WARC/") && line.get(5).is_none_or(u8::is_ascii_digit)
}

/// True if the bytes from `seen` on can change what [`head`] says of `bytes`, of which it said that they are
/// incomplete. A header that comes in small pieces is so not read again with every piece.
pub(super) fn may_complete_head(bytes: &[u8], seen: usize) -> bool {
    let tail = &bytes[seen.saturating_sub(8)..];
    bytes.len() > HEADER_MAX
        || memchr::memchr_iter(b'\n', tail).any(|at| match &tail[at + 1..] {
            [b'\n', ..] => true,
            [blank, b'\n', ..] if blank.is_ascii_whitespace() => true,
            line => line.len() > 5 && is_version_line(line),
        })
}

fn value_of<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let (start, value) = line.split_at_checked(name.len())?;
    start.eq_ignore_ascii_case(name).then(|| value.trim_ascii())
}

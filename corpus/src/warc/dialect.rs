//! WARC and its ancestor ARC: how a record begins, and where it ends.

use super::record::{Found, HEADER_MAX, Head, RecordType, head};

/// The grammar of a file's records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    Warc,
    /// A line `URL IP date type length`, then the block and an empty line.
    Arc,
}

impl Dialect {
    /// Tells by the first bytes of a file.
    pub(super) fn of(bytes: &[u8]) -> Dialect {
        if bytes.starts_with(b"filedesc:") { Dialect::Arc } else { Dialect::Warc }
    }

    /// Reads the header at the start of `bytes`.
    pub(super) fn head(self, bytes: &[u8]) -> Found {
        match self {
            Dialect::Warc => head(bytes),
            Dialect::Arc => arc_head(bytes),
        }
    }

    /// True if a record begins here, false if none can; `None` if there are too few bytes to tell.
    pub(super) fn starts(self, bytes: &[u8]) -> Option<bool> {
        match self {
            Dialect::Warc => {
                let known = bytes.len().min(5);
                if bytes[..known] != b"WARC/"[..known] {
                    return Some(false);
                }
                (known == 5).then_some(true)
            }
            Dialect::Arc => match arc_head(bytes) {
                Found::Whole(_) => Some(true),
                Found::Short => None,
                Found::Bad => Some(false),
            },
        }
    }
}

fn arc_head(bytes: &[u8]) -> Found {
    const LINE_MAX: usize = 64 * 1024;
    let Some(end) = memchr::memchr(b'\n', &bytes[..bytes.len().min(LINE_MAX)]) else {
        return if bytes.len() >= LINE_MAX.min(HEADER_MAX) { Found::Bad } else { Found::Short };
    };
    let line = &bytes[..end];
    let Some(fields) = arc_fields(line) else { return Found::Bad };
    let kind = match fields.url {
        url if url.starts_with(b"filedesc:") => RecordType::Warcinfo,
        url if url.starts_with(b"http:") || url.starts_with(b"https:") => RecordType::Response,
        _ => RecordType::Resource,
    };
    Found::Whole(Head { kind, header_bytes: end + 1, content_bytes: fields.length, block_digest: None })
}

struct ArcFields<'a> {
    url: &'a [u8],
    address: &'a [u8],
    date: &'a [u8],
    media_type: &'a [u8],
    length: u64,
}

/// Five fields in version 1, ten in version 2; the URL may hold blanks, so the date is looked for from behind.
fn arc_fields(line: &[u8]) -> Option<ArcFields<'_>> {
    let line = line.trim_ascii();
    let words: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
    let is_date = |word: &&[u8]| word.len() == 14 && word.iter().all(u8::is_ascii_digit);
    let date_at = words.iter().rposition(is_date).filter(|at| *at >= 2)?;
    let length = std::str::from_utf8(words.last()?).ok()?.parse().ok().filter(|_| words.len() > date_at + 1)?;
    let url_bytes = words[..date_at - 1].iter().map(|word| word.len() + 1).sum::<usize>() - 1;
    let url = &line[..url_bytes];
    memchr::memchr(b':', url)?;
    Some(ArcFields { url, address: words[date_at - 1], date: words[date_at], media_type: words[date_at + 1], length })
}

/// Spells the header line of an ARC record as a WARC header.
pub(super) fn spell_arc(line: &[u8], kind: RecordType, out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(b"WARC/1.0\r\nWARC-Type: ");
    out.extend_from_slice(kind.name().as_bytes());
    let Some(fields) = arc_fields(line.trim_ascii_end()) else { return };
    let mut field = |name: &str, value: &[u8]| {
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b": ");
        out.extend_from_slice(value);
    };
    field("WARC-Target-URI", fields.url);
    field("WARC-IP-Address", fields.address);
    field("WARC-Date", fields.date);
    let media_type =
        if kind == RecordType::Response { b"application/http; msgtype=response" } else { fields.media_type };
    field("Content-Type", media_type);
    field("Content-Length", fields.length.to_string().as_bytes());
    out.extend_from_slice(b"\r\n\r\n");
}

//! WARC and its ancestor ARC: how a record begins, and where it ends.

use super::record::{HEADER_MAX, Head, HeaderParse, RecordType, head, may_complete_head};

/// The grammar of a file's records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordFormat {
    Warc,
    /// A line `URL IP date type length`, then the block and an empty line.
    Arc,
}

impl RecordFormat {
    /// Tells by the first bytes of a file.
    pub(super) fn of(bytes: &[u8]) -> RecordFormat {
        if bytes.starts_with(b"filedesc:") { RecordFormat::Arc } else { RecordFormat::Warc }
    }

    /// Reads the header at the start of `bytes`.
    pub(super) fn head(self, bytes: &[u8]) -> HeaderParse {
        match self {
            RecordFormat::Warc => head(bytes),
            RecordFormat::Arc => arc_head(bytes),
        }
    }

    /// True if the bytes from `seen` on can complete a header of which the bytes before are the beginning.
    pub(super) fn may_complete(self, bytes: &[u8], seen: usize) -> bool {
        match self {
            RecordFormat::Warc => may_complete_head(bytes, seen),
            RecordFormat::Arc => bytes.len() >= ARC_LINE_MAX || memchr::memchr(b'\n', &bytes[seen..]).is_some(),
        }
    }

    /// True if a record begins at the start of a unit. Only the bytes of the unit itself count, so that the answer is
    /// known as soon as the unit is decoded.
    pub(super) fn starts_unit(self, unit: &[u8]) -> bool {
        match self {
            RecordFormat::Warc => unit.starts_with(b"WARC/"),
            RecordFormat::Arc => matches!(arc_head(unit.trim_ascii_start()), HeaderParse::Complete(_)),
        }
    }

    /// True if a record begins here, false if none can; `None` if there are too few bytes to tell.
    pub(super) fn starts(self, bytes: &[u8]) -> Option<bool> {
        match self {
            RecordFormat::Warc => {
                let known = bytes.len().min(5);
                if bytes[..known] != b"WARC/"[..known] {
                    return Some(false);
                }
                (known == 5).then_some(true)
            }
            RecordFormat::Arc => match arc_head(bytes) {
                HeaderParse::Complete(_) => Some(true),
                HeaderParse::Incomplete => None,
                HeaderParse::Invalid => Some(false),
            },
        }
    }
}

/// Longer header lines are treated as invalid.
const ARC_LINE_MAX: usize = 64 * 1024;
const _: () = assert!(ARC_LINE_MAX <= HEADER_MAX);

fn arc_head(bytes: &[u8]) -> HeaderParse {
    let Some(end) = memchr::memchr(b'\n', &bytes[..bytes.len().min(ARC_LINE_MAX)]) else {
        return if bytes.len() >= ARC_LINE_MAX { HeaderParse::Invalid } else { HeaderParse::Incomplete };
    };
    let line = &bytes[..end];
    let Some(fields) = arc_fields(line) else { return HeaderParse::Invalid };
    let kind = match fields.url {
        url if url.starts_with(b"filedesc:") => RecordType::Warcinfo,
        url if url.starts_with(b"http:") || url.starts_with(b"https:") => RecordType::Response,
        _ => RecordType::Resource,
    };
    HeaderParse::Complete(Head { kind, header_bytes: end + 1, content_bytes: fields.length, block_digest: None })
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
pub(super) fn encode_arc_header(line: &[u8], kind: RecordType, out: &mut Vec<u8>) {
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

//! What a writer is given, and how it becomes a record.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::net::IpAddr;

use jiff::Timestamp;

use super::digest;
use super::draft::Draft;

/// A server response to be stored.
#[derive(Clone, Copy, Debug)]
pub struct Response<'a> {
    /// The URL that was requested.
    pub url: &'a str,
    /// When the request began.
    pub fetched_at: Timestamp,
    /// The IP address that was connected to, where known.
    pub ip: Option<IpAddr>,
    /// The status line as received, such as `HTTP/1.1 200 OK`.
    pub status_line: &'a str,
    /// The headers as received, names and values, in order.
    pub headers: &'a [(&'a str, &'a [u8])],
    /// The body, with transfer and content encoding undone.
    pub body: &'a [u8],
    /// Why the body is not whole, if it is not.
    pub truncated: Option<Truncated>,
    /// How a repeat of a stored response is recognised.
    pub revisit: Revisit<'a>,
}

/// Why a body is not whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truncated {
    /// It was longer than the limit.
    Length,
    /// It took longer than the limit.
    Time,
    /// The connection broke.
    Disconnect,
    /// For another reason.
    Unspecified,
}

impl Truncated {
    fn name(self) -> &'static str {
        match self {
            Truncated::Length => "length",
            Truncated::Time => "time",
            Truncated::Disconnect => "disconnect",
            Truncated::Unspecified => "unspecified",
        }
    }
}

/// How a repeat of a stored response is recognised; it is stored as a `revisit` record without a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Revisit<'a> {
    /// By the writer, from the payload digests it keeps.
    Detect,
    /// The server answered 304: the response of this date is still current.
    NotModified {
        /// The date of that response.
        since: Timestamp,
    },
    /// The caller knows: this URL gave the same body at that date.
    Of {
        /// The URL of that response.
        url: &'a str,
        /// The date of that response.
        date: Timestamp,
    },
    /// Always store the body.
    Never,
}

/// The profiles that `revisit` records name.
const IDENTICAL: &str = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest";
const NOT_MODIFIED: &str = "http://netpreserve.org/warc/1.1/revisit/server-not-modified";

/// What a `revisit` record points to.
pub(super) enum RevisitTarget<'a> {
    Same { url: &'a str, date: Timestamp },
    NotModified { since: Timestamp },
}

/// Writes the record of a response into `out`: header, block, and the empty lines behind it.
pub(super) fn encode(draft: &Draft, payload_digest: &[u8; 32], original: Option<RevisitTarget<'_>>, out: &mut Vec<u8>) {
    let body = if original.is_some() { &[][..] } else { &draft.body };
    let mut header = Header::new(out, if original.is_some() { "revisit" } else { "response" });
    header.field("WARC-Record-ID", &response_id(draft, payload_digest));
    header.date("WARC-Date", draft.fetched_at);
    header.field("WARC-Target-URI", &clean_url(&draft.url));
    if let Some(ip) = draft.ip {
        header.field("WARC-IP-Address", &ip.to_string());
    }
    header.digest("WARC-Payload-Digest", payload_digest);
    // The checksum of the record's frame or member covers the block, and hashing every body twice was a tenth of what a
    // crawl costs.
    match original {
        Some(RevisitTarget::Same { url, date }) => {
            header.field("WARC-Profile", IDENTICAL);
            header.field("WARC-Refers-To-Target-URI", &clean_url(url));
            header.date("WARC-Refers-To-Date", date);
            header.field("WARC-Truncated", "length");
        }
        Some(RevisitTarget::NotModified { since }) => {
            header.field("WARC-Profile", NOT_MODIFIED);
            header.field("WARC-Refers-To-Target-URI", &clean_url(&draft.url));
            header.date("WARC-Refers-To-Date", since);
        }
        None => {
            if let Some(reason) = draft.truncated {
                header.field("WARC-Truncated", reason.name());
            }
        }
    }
    header.field("Content-Type", "application/http; msgtype=response");
    header.end(&draft.http_head, body);
}

/// Writes the record of the request that a response answers.
pub(super) fn encode_request(draft: &Draft, payload_digest: &[u8; 32], out: &mut Vec<u8>) {
    let response = response_id(draft, payload_digest);
    let mut header = Header::new(out, "request");
    header.record_id(&[response.as_bytes(), b"request"]);
    header.date("WARC-Date", draft.fetched_at);
    header.field("WARC-Target-URI", &clean_url(&draft.url));
    if let Some(ip) = draft.ip {
        header.field("WARC-IP-Address", &ip.to_string());
    }
    header.field("WARC-Concurrent-To", &response);
    header.field("Content-Type", "application/http; msgtype=request");
    header.end(&draft.request, b"\r\n");
}

/// The identity of the record of a response.
fn response_id(draft: &Draft, payload_digest: &[u8; 32]) -> String {
    let moment = draft.fetched_at.as_nanosecond().to_le_bytes();
    record_id(&[&draft.serial.to_le_bytes(), &moment, draft.url.as_bytes(), payload_digest])
}

/// Writes the `warcinfo` record, which describes the file.
pub(super) fn encode_warcinfo(file_name: &str, date: Timestamp, fields: &[(String, String)], out: &mut Vec<u8>) {
    let mut block = Vec::new();
    for (name, value) in fields {
        block.extend_from_slice(clean_line(name).as_bytes());
        block.extend_from_slice(b": ");
        block.extend_from_slice(clean_line(value).as_bytes());
        block.extend_from_slice(b"\r\n");
    }
    let mut header = Header::new(out, "warcinfo");
    header.record_id(&[file_name.as_bytes(), &date.as_nanosecond().to_le_bytes(), &block]);
    header.date("WARC-Date", date);
    header.field("WARC-Filename", file_name);
    header.digest("WARC-Block-Digest", &digest::sha256(&[&block]));
    header.field("Content-Type", "application/warc-fields");
    header.end(&block, &[]);
}

/// Writes the fields of a record header, then its block.
struct Header<'o> {
    out: &'o mut Vec<u8>,
}

impl<'o> Header<'o> {
    fn new(out: &'o mut Vec<u8>, kind: &str) -> Header<'o> {
        out.extend_from_slice(b"WARC/1.1\r\nWARC-Type: ");
        out.extend_from_slice(kind.as_bytes());
        out.extend_from_slice(b"\r\n");
        Header { out }
    }

    fn field(&mut self, name: &str, value: &str) {
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b": ");
        self.out.extend_from_slice(value.as_bytes());
        self.out.extend_from_slice(b"\r\n");
    }

    fn date(&mut self, name: &str, date: Timestamp) {
        self.field(name, &date.to_string());
    }

    fn digest(&mut self, name: &str, value: &[u8; 32]) {
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b": ");
        digest::encode(value, self.out);
        self.out.extend_from_slice(b"\r\n");
    }

    fn record_id(&mut self, parts: &[&[u8]]) {
        self.field("WARC-Record-ID", &record_id(parts));
    }

    fn end(mut self, head: &[u8], body: &[u8]) {
        self.field("Content-Length", &(head.len() + body.len()).to_string());
        self.out.extend_from_slice(b"\r\n");
        self.out.extend_from_slice(head);
        self.out.extend_from_slice(body);
        self.out.extend_from_slice(b"\r\n\r\n");
    }
}

/// An identity made from what the record is, so that the same pages give the same file.
fn record_id(parts: &[&[u8]]) -> String {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest::sha256(parts)[..16]);
    bytes[6] = bytes[6] & 0x0F | 0x80;
    bytes[8] = bytes[8] & 0x3F | 0x80;
    let mut id = String::with_capacity(47);
    id.push_str("<urn:uuid:");
    for (index, byte) in bytes.iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            id.push('-');
        }
        write!(id, "{byte:02x}").expect("writing to a string does not fail");
    }
    id.push('>');
    id
}

/// Headers that tell how the body travelled. It is stored decoded, so they are renamed, as Common Crawl does.
const RENAMED: [&str; 3] = ["Content-Encoding", "Transfer-Encoding", "Content-Length"];

/// Writes the status line and the headers as they are stored.
pub(super) fn encode_http_head(response: &Response<'_>, out: &mut Vec<u8>) {
    out.extend(response.status_line.bytes().map(clean_byte));
    out.extend_from_slice(b"\r\n");
    for (name, value) in response.headers {
        if RENAMED.iter().any(|renamed| name.eq_ignore_ascii_case(renamed)) {
            out.extend_from_slice(b"X-Crawl-");
        }
        out.extend(name.bytes().map(clean_byte));
        out.extend_from_slice(b": ");
        out.extend(value.iter().copied().map(clean_byte));
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"Content-Length: ");
    out.extend_from_slice(response.body.len().to_string().as_bytes());
    out.extend_from_slice(b"\r\n\r\n");
}

/// A line end inside a header would begin a header of the page's choice.
fn clean_byte(byte: u8) -> u8 {
    if matches!(byte, b'\r' | b'\n' | 0) { b' ' } else { byte }
}

fn clean_line(text: &str) -> Cow<'_, str> {
    if text.contains(['\r', '\n']) { Cow::Owned(text.replace(['\r', '\n'], " ")) } else { Cow::Borrowed(text) }
}

/// Blanks and control characters in a URL are percent-encoded.
fn clean_url(url: &str) -> Cow<'_, str> {
    let is_bad = |letter: char| letter.is_control() || letter.is_whitespace() || matches!(letter, '<' | '>');
    if !url.contains(is_bad) {
        return Cow::Borrowed(url);
    }
    let mut clean = String::with_capacity(url.len() + 8);
    let mut bytes = [0; 4];
    for letter in url.chars() {
        if is_bad(letter) {
            for byte in letter.encode_utf8(&mut bytes).bytes() {
                write!(clean, "%{byte:02X}").expect("writing to a string does not fail");
            }
        } else {
            clean.push(letter);
        }
    }
    Cow::Owned(clean)
}

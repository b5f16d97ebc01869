//! The events of the journal, and how each is spelt in bytes.

use std::time::{Duration, UNIX_EPOCH};

use super::super::records::Record;
use super::super::visits::VisitRecord;
use super::super::{FetchRecord, Kind, Link};
use crate::order::Priority;
use crate::outcome::Outcome;
use crate::validators::Validators;

/// How much of a link's text is kept, for policies that read it.
const MAX_ANCHOR_BYTES: usize = 160;
const MAX_CONTEXT_BYTES: usize = 320;

/// What makes the type of a record a small letter.
const FOUND: u8 = b'a' - b'A';

/// One change of the frontier.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::frontier) enum Event {
    /// A new host; it gets the smallest number that is free.
    Host { name: String },
    /// A host was forgotten, and its number is free.
    Forgotten { host: u32 },
    /// A link to a host for which there was no room.
    Postponed { link: Link },
    /// A new URL; URLs are numbered in the order of these records.
    New { host: u32, url: u32, priority: Priority, link: Link },
    /// A waiting URL moved to a smaller priority.
    Promoted { host: u32, offset: u64, priority: Priority },
    /// A better claim about a known URL, which replaces its record; a URL that was done waits again.
    Improved { host: u32, url: u32, priority: Priority, link: Link },
    /// A URL is done.
    Done { host: u32, url: u32, record: FetchRecord },
    /// A URL is queued again after a failed attempt.
    Retry { host: u32, url: u32, offset: u64, attempts: u8, priority: Priority },
    /// The validators of a stored page; none when the server sent none.
    Validators { url: u32, validators: Option<Validators> },
    /// The visit history of a page.
    Visited { url: u32, visit: VisitRecord },
    /// The rest of a host between a response and the next request.
    Rest { host: u32, milliseconds: u32 },
    /// A seed was redirected to this URL.
    ScopeExtended { url: String },
    /// The sink position when the events before this one were settled.
    SinkPosition { sink_position: Vec<u8> },
}

/// Encodes a link: `types` are the types of record without and with its text. Where it is known on which page the link
/// was found, the type is a small letter.
pub(super) fn encode_link(types: [u8; 2], host: u32, url: u32, priority: Priority, link: &Link, out: &mut Vec<u8>) {
    let has_text = !link.anchor.is_empty() || !link.context.is_empty();
    let is_found = link.found_on != 0;
    out.push(types[usize::from(has_text)] | if is_found { FOUND } else { 0 });
    out.extend(host.to_le_bytes());
    out.extend(url.to_le_bytes());
    out.extend([priority.0, link.hops, link.kind.code()]);
    out.extend(link.depth.to_le_bytes());
    if is_found {
        out.extend(link.found_on.to_le_bytes());
    }
    put_text(link.url.as_str().as_bytes(), out);
    if has_text {
        put_text(truncated(&link.anchor, MAX_ANCHOR_BYTES).as_bytes(), out);
        put_text(truncated(&link.context, MAX_CONTEXT_BYTES).as_bytes(), out);
    }
}

/// The longest prefix of a text that fits, cut at a character boundary.
fn truncated(text: &str, max_bytes: usize) -> &str {
    let end = (0..=max_bytes.min(text.len())).rev().find(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or(0)]
}

pub(super) fn encode(event: &Event, out: &mut Vec<u8>) {
    match event {
        Event::Host { name } => {
            out.push(b'H');
            put_text(name.as_bytes(), out);
        }
        Event::Forgotten { host } => {
            out.push(b'F');
            out.extend(host.to_le_bytes());
        }
        Event::Postponed { link } => encode_link(*b"LK", 0, 0, Priority::FIRST, link, out),
        Event::New { host, url, priority, link } => encode_link(*b"UT", *host, *url, *priority, link, out),
        Event::Improved { host, url, priority, link } => encode_link(*b"IJ", *host, *url, *priority, link, out),
        Event::Promoted { host, offset, priority } => {
            out.push(b'R');
            out.extend(host.to_le_bytes());
            out.extend(offset.to_le_bytes());
            out.push(priority.0);
        }
        Event::Done { host, url, record } => {
            out.push(b'D');
            out.extend(host.to_le_bytes());
            out.extend(url.to_le_bytes());
            out.push(record.outcome.code());
            out.extend(record.bytes.to_le_bytes());
            out.extend(record.milliseconds.to_le_bytes());
            out.extend(record.digest.to_le_bytes());
        }
        Event::Retry { host, url, offset, attempts, priority } => {
            out.push(b'A');
            out.extend(host.to_le_bytes());
            out.extend(url.to_le_bytes());
            out.extend(offset.to_le_bytes());
            out.extend([*attempts, priority.0]);
        }
        Event::Validators { url, validators } => {
            out.push(b'V');
            out.extend(url.to_le_bytes());
            let kept_at = validators.as_ref().and_then(|known| known.kept_at.duration_since(UNIX_EPOCH).ok());
            out.extend((kept_at.unwrap_or_default().as_millis() as u64).to_le_bytes());
            let etag = validators.as_ref().and_then(|known| known.etag.as_deref());
            let last_modified = validators.as_ref().and_then(|known| known.last_modified.as_deref());
            put_text(etag.unwrap_or("").as_bytes(), out);
            put_text(last_modified.unwrap_or("").as_bytes(), out);
        }
        Event::Visited { url, visit } => {
            out.push(b'W');
            out.extend(url.to_le_bytes());
            out.extend(visit.to_bytes());
        }
        Event::Rest { host, milliseconds } => {
            out.push(b'P');
            out.extend(host.to_le_bytes());
            out.extend(milliseconds.to_le_bytes());
        }
        Event::ScopeExtended { url } => {
            out.push(b'S');
            put_text(url.as_bytes(), out);
        }
        Event::SinkPosition { sink_position } => {
            out.push(b'M');
            put_text(sink_position, out);
        }
    }
}

fn put_text(text: &[u8], out: &mut Vec<u8>) {
    out.extend((text.len() as u32).to_le_bytes());
    out.extend(text);
}

/// The event at the start of some bytes and the length of its record; nothing when the record is incomplete or unknown.
pub(super) fn decode(bytes: &[u8]) -> Option<(Event, usize)> {
    let mut fields = Fields { bytes, at: 0 };
    let event = match fields.byte()? {
        b'H' => Event::Host { name: fields.text()? },
        b'F' => Event::Forgotten { host: fields.u32()? },
        record if is_link(record) || is_postponed(record) => {
            let has_text = matches!(record & !FOUND, b'T' | b'J' | b'K');
            let host = fields.u32()?;
            let number = fields.u32()?;
            let priority = Priority(fields.byte()?);
            let hops = fields.byte()?;
            let kind = Kind::from_code(fields.byte()?)?;
            let depth = fields.u32()?;
            let found_on = if record & FOUND == 0 { 0 } else { fields.u64()? };
            let url = fields.text()?.parse().ok()?;
            let (anchor, context) = if has_text { (fields.text()?, fields.text()?) } else { Default::default() };
            let link = Link { url, depth, hops, kind, anchor, context, found_on };
            match record & !FOUND {
                b'U' | b'T' => Event::New { host, url: number, priority, link },
                b'L' | b'K' => Event::Postponed { link },
                _ => Event::Improved { host, url: number, priority, link },
            }
        }
        b'R' => Event::Promoted { host: fields.u32()?, offset: fields.u64()?, priority: Priority(fields.byte()?) },
        b'D' => Event::Done {
            host: fields.u32()?,
            url: fields.u32()?,
            record: FetchRecord {
                outcome: Outcome::from_code(fields.byte()?)?,
                bytes: fields.u32()?,
                milliseconds: fields.u32()?,
                digest: fields.u64()?,
            },
        },
        b'A' => Event::Retry {
            host: fields.u32()?,
            url: fields.u32()?,
            offset: fields.u64()?,
            attempts: fields.byte()?,
            priority: Priority(fields.byte()?),
        },
        b'V' => {
            let url = fields.u32()?;
            let kept_at = UNIX_EPOCH.checked_add(Duration::from_millis(fields.u64()?))?;
            let filled = |text: String| (!text.is_empty()).then_some(text);
            let (etag, last_modified) = (filled(fields.text()?), filled(fields.text()?));
            let is_any = etag.is_some() || last_modified.is_some();
            Event::Validators { url, validators: is_any.then_some(Validators { etag, last_modified, kept_at }) }
        }
        b'W' => Event::Visited { url: fields.u32()?, visit: VisitRecord::from_bytes(&fields.take()?)? },
        b'P' => Event::Rest { host: fields.u32()?, milliseconds: fields.u32()? },
        b'S' => Event::ScopeExtended { url: fields.text()? },
        b'M' => Event::SinkPosition { sink_position: fields.slice()?.to_vec() },
        _ => return None,
    };
    Some((event, fields.at))
}

/// Whether a type of record is that of a URL.
pub(super) fn is_link(record: u8) -> bool {
    matches!(record & !FOUND, b'U' | b'T' | b'I' | b'J')
}

fn is_postponed(record: u8) -> bool {
    matches!(record & !FOUND, b'L' | b'K')
}

/// Reads fixed-size and length-prefixed fields one after the other, with bounds checks.
pub(in crate::frontier) struct Fields<'b> {
    pub(in crate::frontier) bytes: &'b [u8],
    pub(in crate::frontier) at: usize,
}

impl<'b> Fields<'b> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(N)?)?;
        self.at += N;
        taken.try_into().ok()
    }

    pub(in crate::frontier) fn byte(&mut self) -> Option<u8> {
        self.take::<1>().map(|[byte]| byte)
    }

    pub(in crate::frontier) fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    pub(in crate::frontier) fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    pub(in crate::frontier) fn slice(&mut self) -> Option<&'b [u8]> {
        let length = self.u32()? as usize;
        let slice = self.bytes.get(self.at..self.at.checked_add(length)?)?;
        self.at += length;
        Some(slice)
    }

    pub(in crate::frontier) fn text(&mut self) -> Option<String> {
        String::from_utf8(self.slice()?.to_vec()).ok()
    }
}

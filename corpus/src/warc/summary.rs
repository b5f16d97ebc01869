//! What is in archives, in numbers.

use std::collections::BTreeMap;

use hashbrown::{HashMap, HashSet};
use jiff::Timestamp;
use pith_notation::HttpHead;
use xxhash_rust::xxh3::xxh3_64;

use super::damage::Damage;
use super::record::{Record, RecordType};

/// Hosts and media types beyond this many names are counted together, so that memory stays bounded.
const NAMES_MAX: usize = 1_000_000;
/// What they are counted under.
const OTHERS: &str = "(others)";

/// Counts over records.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Records of all types.
    pub records: u64,
    /// Records by type.
    pub types: BTreeMap<&'static str, u64>,
    /// Records that hold what an `http` or `https` URL gave: `response`, `resource`, `conversion` and `revisit`.
    pub pages: u64,
    /// Pages by host.
    pub hosts: HashMap<String, u64>,
    /// Pages by HTTP status.
    pub statuses: BTreeMap<u16, u64>,
    /// Pages by media type, revisits left out.
    pub media_types: HashMap<String, u64>,
    /// Pages that say they were cut.
    pub truncated: u64,
    /// Bytes of all blocks.
    pub block_bytes: u64,
    /// The time of the first page and of the last.
    pub span: Option<(Timestamp, Timestamp)>,
    /// What was damaged.
    pub damage: Damage,
    urls: HashSet<u64>,
}

impl Summary {
    /// Counts a record.
    pub fn count(&mut self, record: &Record<'_>) {
        self.records += 1;
        *self.types.entry(record.kind.name()).or_default() += 1;
        self.block_bytes += record.length;
        let has_page = [RecordType::Response, RecordType::Resource, RecordType::Conversion, RecordType::Revisit]
            .contains(&record.kind);
        let Some(url) = record.url().filter(|_| has_page) else { return };
        let Some(host) = host(&url) else { return };
        self.pages += 1;
        self.urls.insert(xxh3_64(url.as_bytes()));
        add(&mut self.hosts, &host.to_ascii_lowercase(), 1);
        self.truncated += u64::from(record.kind != RecordType::Revisit && record.field("WARC-Truncated").is_some());
        if let Some(date) = record.date() {
            let (first, last) = self.span.unwrap_or((date, date));
            self.span = Some((first.min(date), last.max(date)));
        }
        let head = HttpHead::parse(record.block).map(|(head, _)| head);
        if let Some(status) = head.as_ref().and_then(|head| head.status) {
            *self.statuses.entry(status).or_default() += 1;
        }
        if record.kind != RecordType::Revisit {
            let value = match &head {
                Some(head) => head.header("Content-Type"),
                None => record.field("Content-Type"),
            };
            let value = value.unwrap_or(b"(none)").split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
            add(&mut self.media_types, &String::from_utf8_lossy(value).to_ascii_lowercase(), 1);
        }
    }

    /// How many different URLs the pages have.
    pub fn distinct_urls(&self) -> u64 {
        self.urls.len() as u64
    }

    /// Adds the counts of other records.
    pub fn add(&mut self, other: Summary) {
        self.records += other.records;
        self.pages += other.pages;
        self.truncated += other.truncated;
        self.block_bytes += other.block_bytes;
        other.types.into_iter().for_each(|(name, count)| *self.types.entry(name).or_default() += count);
        other.statuses.into_iter().for_each(|(status, count)| *self.statuses.entry(status).or_default() += count);
        other.hosts.iter().for_each(|(name, count)| add(&mut self.hosts, name, *count));
        other.media_types.iter().for_each(|(name, count)| add(&mut self.media_types, name, *count));
        self.urls.extend(other.urls);
        self.span = match (self.span, other.span) {
            (Some(ours), Some(theirs)) => Some((ours.0.min(theirs.0), ours.1.max(theirs.1))),
            (ours, theirs) => ours.or(theirs),
        };
        self.damage.add(&other.damage);
    }
}

fn add(counts: &mut HashMap<String, u64>, name: &str, count: u64) {
    let name = if counts.len() >= NAMES_MAX && !counts.contains_key(name) { OTHERS } else { name };
    *counts.entry_ref(name).or_default() += count;
}

/// The host of an `http` or `https` URL.
fn host(url: &str) -> Option<&str> {
    let (scheme, rest) = url.split_once("://")?;
    if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
        return None;
    }
    let authority = rest.split(['/', '?', '#']).next()?;
    let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => Some(host),
        _ => Some(authority),
    }
}

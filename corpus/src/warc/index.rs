//! The CDXJ index beside each shard: one line per page, sorted by address and time, with the place of its record.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::fmt::strtime;
use pith_notation::HttpHead;
use serde_json::{Value, json};

use super::digest;
use super::draft::Draft;
use super::record::{Record, RecordType};
use crate::error::{Error, Result};

/// What the index says about one page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) url: String,
    pub(super) digest: Option<[u8; 32]>,
    date: String,
    media_type: String,
    status: Option<u16>,
    offset: u64,
    length: u64,
}

impl Entry {
    pub(super) fn of(draft: &Draft, digest: [u8; 32], is_revisit: bool, offset: u64, length: u64) -> Entry {
        Entry {
            url: draft.url.clone(),
            digest: Some(digest),
            date: digits(draft.fetched_at),
            media_type: media_type(draft.content_type.as_deref(), is_revisit),
            status: draft.status,
            offset,
            length,
        }
    }

    /// The entry of a record that was read back; `None` for records that are no pages.
    pub(super) fn of_record(record: &Record<'_>) -> Option<Entry> {
        let is_revisit = match record.kind {
            RecordType::Response => false,
            RecordType::Revisit => true,
            _ => return None,
        };
        let (head, _) = HttpHead::parse(record.block)?;
        Some(Entry {
            url: record.url()?.into_owned(),
            digest: record.field("WARC-Payload-Digest").and_then(digest::parse_sha256),
            date: record.date().map(digits).unwrap_or_default(),
            media_type: media_type(head.header("Content-Type"), is_revisit),
            status: head.status,
            offset: record.offset,
            length: 0,
        })
    }

    /// Gives the length by the place where the record's frame or member ends.
    pub(super) fn set_end(&mut self, end: u64) {
        self.length = end.saturating_sub(self.offset);
    }

    fn line(&self, file_name: &str) -> String {
        let mut line = sort_key(&self.url);
        let mut fields = serde_json::Map::new();
        fields.insert("url".into(), json!(self.url));
        fields.insert("mime".into(), json!(self.media_type));
        fields.insert("status".into(), json!(self.status.map(|status| status.to_string()).unwrap_or_default()));
        if let Some(digest) = &self.digest {
            let mut encoded = Vec::new();
            digest::encode(digest, &mut encoded);
            fields.insert("digest".into(), json!(String::from_utf8_lossy(&encoded)));
        }
        fields.insert("length".into(), json!(self.length.to_string()));
        fields.insert("offset".into(), json!(self.offset.to_string()));
        fields.insert("filename".into(), json!(file_name));
        writeln!(line, " {} {}", self.date, Value::Object(fields)).expect("writing to a string does not fail");
        line
    }
}

fn media_type(value: Option<&[u8]>, is_revisit: bool) -> String {
    if is_revisit {
        return "warc/revisit".to_owned();
    }
    let value = value.unwrap_or_default().split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
    if value.is_empty() { "unk".to_owned() } else { String::from_utf8_lossy(value).to_ascii_lowercase() }
}

fn digits(date: Timestamp) -> String {
    strtime::format("%Y%m%d%H%M%S", date).unwrap_or_default()
}

/// The address turned round, `com,example)/path`, so that the pages of a domain stand together.
fn sort_key(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let (host, path) = rest.find(['/', '?', '#']).map_or((rest, "/"), |at| rest.split_at(at));
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host).to_ascii_lowercase();
    let host = host.strip_prefix("www.").unwrap_or(&host);
    let (host, port) = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (name, port),
        _ => (host, ""),
    };
    let mut key = host.split('.').rev().collect::<Vec<_>>().join(",");
    if !port.is_empty() && port != "80" && port != "443" {
        key.push(':');
        key.push_str(port);
    }
    key.push(')');
    if !path.starts_with('/') {
        key.push('/');
    }
    key.extend(path.split('#').next().unwrap_or_default().chars().map(|letter| match letter {
        letter if letter.is_whitespace() || letter.is_control() => '+',
        letter => letter.to_ascii_lowercase(),
    }));
    key
}

/// The name of the index of a shard.
pub(super) fn path_of(shard: &Path) -> PathBuf {
    let name = shard.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.strip_suffix(".open").unwrap_or(&name);
    let stem = stem.split_once(".warc").map_or(stem, |(stem, _)| stem);
    shard.with_file_name(format!("{stem}.cdxj"))
}

/// Writes the index of a shard under a temporary name, makes it durable, and gives it its name.
pub(super) fn write(folder: &Path, shard_name: &str, entries: &[Entry]) -> Result<()> {
    let mut lines: Vec<String> = entries.iter().map(|entry| entry.line(shard_name)).collect();
    lines.sort_unstable();
    let path = path_of(&folder.join(shard_name));
    let temporary = path.with_extension("cdxj.tmp");
    let mut file = BufWriter::new(File::create(&temporary).map_err(Error::io(&temporary, "create"))?);
    let written = lines.iter().try_for_each(|line| file.write_all(line.as_bytes()));
    written.and_then(|()| file.flush()).map_err(Error::io(&temporary, "write"))?;
    file.get_ref().sync_all().map_err(Error::io(&temporary, "sync"))?;
    fs::rename(&temporary, &path).map_err(Error::io(&path, "rename to"))
}

/// The pages of a shard that its index knows by their digests: URL, digest of the payload, and date to the second. None
/// without an index.
///
/// # Errors
///
/// If there is an index that cannot be read.
pub(super) fn pages(shard: &Path) -> Result<Vec<(String, [u8; 32], Timestamp)>> {
    let page = |line: &str| {
        let fields = fields(line)?;
        let text = |name: &str| fields.get(name).and_then(Value::as_str);
        let date = strtime::parse("%Y%m%d%H%M%S", line.split(' ').nth(1)?).ok()?.to_datetime().ok()?;
        let date = date.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp();
        let digest = digest::parse_sha256(text("digest")?.as_bytes())?;
        (text("mime")? != "warc/revisit").then_some((text("url")?.to_owned(), digest, date))
    };
    Ok(read(shard)?.map_or_else(Vec::new, |lines| lines.lines().filter_map(page).collect()))
}

/// How many pages the index of a shard lists; `None` without an index.
pub(super) fn n_pages(shard: &Path) -> Option<u64> {
    Some(read(shard).ok()??.lines().count() as u64)
}

/// Where the last record of a shard ends by its index; `None` without one.
pub(super) fn end(shard: &Path) -> Option<u64> {
    let lines = read(shard).ok()??;
    let ends = lines
        .lines()
        .filter_map(fields)
        .filter_map(|fields| number(&fields, "offset")?.checked_add(number(&fields, "length")?));
    ends.max()
}

/// Where the record of a URL lies, from the index beside the file; `None` without an index or without the URL in it.
///
/// # Errors
///
/// If there is an index that cannot be read.
pub fn find(file: &Path, url: &str) -> Result<Option<u64>> {
    let Some(lines) = read(file)? else { return Ok(None) };
    let key = sort_key(url);
    for line in lines.lines() {
        if line.split(' ').next() == Some(&key)
            && let Some(fields) = fields(line)
            && fields.get("url").and_then(Value::as_str) == Some(url)
        {
            return Ok(number(&fields, "offset"));
        }
    }
    Ok(None)
}

/// Splits a file into at most `count` ranges of about equal size, each beginning at a record, by the index beside it.
/// Without an index the whole file is one range. [`super::Reader::open_part`] reads one of them.
///
/// # Errors
///
/// If there is an index that cannot be read.
pub fn parts(file: &Path, count: usize) -> Result<Vec<Range<u64>>> {
    let whole = || std::iter::once(0..u64::MAX).collect();
    let Some(lines) = read(file)? else { return Ok(whole()) };
    let size = fs::metadata(file).map_err(Error::io(file, "read"))?.len();
    let offset = |line: &str| number(&fields(line)?, "offset").filter(|offset| *offset < size);
    let mut offsets: Vec<u64> = lines.lines().filter_map(offset).collect();
    offsets.sort_unstable();
    offsets.dedup();
    let mut starts = vec![0];
    for part in 1..count as u64 {
        let wanted = size / count as u64 * part;
        let at = offsets.partition_point(|offset| *offset < wanted);
        if let Some(offset) = offsets.get(at).filter(|offset| Some(*offset) > starts.last()) {
            starts.push(*offset);
        }
    }
    if starts.len() == 1 {
        return Ok(whole());
    }
    let ends = starts.iter().skip(1).copied().chain([u64::MAX]);
    Ok(starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect())
}

fn read(file: &Path) -> Result<Option<String>> {
    let path = path_of(file);
    match fs::read_to_string(&path) {
        Ok(lines) => Ok(Some(lines)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io(&path, "read")(error)),
    }
}

fn fields(line: &str) -> Option<serde_json::Map<String, Value>> {
    serde_json::from_str(&line[line.find('{')?..]).ok()
}

fn number(fields: &serde_json::Map<String, Value>, name: &str) -> Option<u64> {
    match fields.get(name)? {
        Value::String(digits) => digits.parse().ok(),
        value => value.as_u64(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(url: &str, expected: &str) {
        assert_eq!(sort_key(url), expected);
    }

    #[test]
    fn addresses_are_turned_round() {
        check("http://www.Example.com/Path?q=A", "com,example)/path?q=a");
        check("https://a.b.example.co.uk:8080", "uk,co,example,b,a:8080)/");
        check("http://example.com:80?x=1#top", "com,example)/?x=1");
        check("http://user@example.com/a b", "com,example)/a+b");
    }
}

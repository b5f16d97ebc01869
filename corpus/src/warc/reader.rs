//! Records out of a file or a pipe, one after the other, whatever is wrong with some of them.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

use memchr::memmem;

use super::container::{Lz4, Wacz};
use super::damage::{Damage, Reason};
use super::decoder::{Gzip, Zstd};
use super::digest;
use super::record::{HEADER_MAX, Head, HeaderParse, Record};
use super::record_format::RecordFormat;
use super::source::{Peek, Source};
use super::stream::{Compression, Pull, Stream};
use crate::error::{Error, Result};

/// How a file is read.
#[derive(Clone, Debug)]
pub struct ReaderOptions {
    /// Blocks are cut at this many bytes, so that memory stays bounded; the rest is stepped over.
    pub max_block_bytes: usize,
    /// Which block digests are compared.
    pub verify: Verify,
}

impl Default for ReaderOptions {
    fn default() -> Self {
        ReaderOptions { max_block_bytes: 64 * 1024 * 1024, verify: Verify::Unchecked }
    }
}

/// Which block digests are compared with their blocks. A record whose digest differs is counted as damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verify {
    /// Those of records that no compression checksum stands for.
    Unchecked,
    /// All.
    Always,
    /// None, for files by writers that computed them wrongly.
    Never,
}

/// Reads records in order. Damage is stepped over and counted, never an error.
pub struct Reader {
    path: PathBuf,
    stream: Stream,
    options: ReaderOptions,
    /// Bytes of the record that was given out last.
    record_bytes: usize,
    /// Bytes of its block that the limit cut off and that must be stepped over.
    unread_block_bytes: u64,
    /// That block is known to end where it says.
    is_length_proven: bool,
    /// Bytes that were hashed and whose digest differed.
    hashed_in_vain: u64,
    /// The last record came from a damaged unit and was proven by itself.
    salvaged: bool,
    /// Between damage and the next good record: what lies there was counted already.
    lost: bool,
    /// The header of an ARC record, encoded as WARC.
    encoded: Vec<u8>,
}

/// Opens a file: `.warc`, `.warc.gz`, `.warc.zst`, `.warc.lz4`, WET, WAT, ARC or WACZ, told apart by content.
///
/// # Errors
///
/// If the file cannot be opened or is nothing of these.
pub fn read(path: impl AsRef<Path>) -> Result<Reader> {
    Reader::open(path.as_ref(), ReaderOptions::default())
}

/// Where a record lies: what [`Reader::advance`] found, relative to the first byte that was not consumed.
struct RecordPosition {
    head: Head,
    offset: u64,
    block: Range<usize>,
}

impl Reader {
    /// Opens a file with settings.
    ///
    /// # Errors
    ///
    /// If the file cannot be opened or is no archive.
    pub fn open(path: &Path, options: ReaderOptions) -> Result<Reader> {
        Reader::open_part(path, 0..u64::MAX, options)
    }

    /// Opens a part of a file: the records that begin in this range of bytes. Both ends must be places where a record
    /// begins, as an index gives them; [`super::parts`] makes such ranges.
    ///
    /// # Errors
    ///
    /// If the file cannot be opened or is no archive.
    pub fn open_part(path: &Path, range: Range<u64>, options: ReaderOptions) -> Result<Reader> {
        let open = || File::open(path).map_err(Error::io(path, "open"));
        let front = Source::file(open()?, 0, u64::MAX).map_err(Error::io(path, "read"))?;
        let (front, mut compression) = unwrap(front, path)?;
        if range == (0..u64::MAX) {
            return Ok(Reader::new(path, Stream::new(front, compression), options));
        }
        if let Compression::Zstd(_) = compression {
            let mut stream = Stream::new(front, compression);
            stream.pull_dictionary().map_err(Error::io(path, "read"))?;
            compression = stream.into_compression();
        }
        let part = Source::file(open()?, range.start, range.end).map_err(Error::io(path, "read"))?;
        Ok(Reader::new(path, Stream::new(part, compression), options))
    }

    /// Reads from a pipe or any other stream of bytes; `name` stands for it in errors.
    ///
    /// # Errors
    ///
    /// If the stream cannot be read or is no archive.
    pub fn from_stream(input: Box<dyn Read + Send>, name: &str, options: ReaderOptions) -> Result<Reader> {
        let path = Path::new(name);
        let (source, compression) = unwrap(Source::stream(input), path)?;
        Ok(Reader::new(path, Stream::new(source, compression), options))
    }

    fn new(path: &Path, stream: Stream, options: ReaderOptions) -> Reader {
        let path = path.to_owned();
        Reader {
            path,
            stream,
            options,
            record_bytes: 0,
            unread_block_bytes: 0,
            is_length_proven: false,
            hashed_in_vain: 0,
            salvaged: false,
            lost: false,
            encoded: Vec::new(),
        }
    }

    /// What was damaged so far.
    pub fn damage(&self) -> &Damage {
        &self.stream.damage
    }

    /// Where the frame or member of the last record ends in the file; `None` if it is damaged and only the record in it
    /// is whole.
    pub(super) fn unit_end(&self) -> Option<u64> {
        (!self.salvaged).then(|| self.stream.source_offset())
    }

    pub(super) fn max_block_bytes(&self) -> usize {
        self.options.max_block_bytes
    }

    /// The file that is read.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The next record, borrowed until the next call; `None` at the end.
    ///
    /// # Errors
    ///
    /// Only if the system cannot read on.
    #[expect(
        clippy::should_implement_trait,
        reason = "the record borrows from the reader, which `Iterator` cannot say"
    )]
    pub fn next(&mut self) -> Result<Option<Record<'_>>> {
        let position = match self.advance() {
            Ok(Some(position)) => position,
            Ok(None) => return Ok(None),
            Err(source) => return Err(Error::Io { path: self.path.clone(), action: "read", source }),
        };
        let bytes = self.stream.bytes();
        let mut header = &bytes[..position.head.header_bytes];
        if self.stream.record_format == Some(RecordFormat::Arc) {
            super::record_format::encode_arc_header(header, position.head.kind, &mut self.encoded);
            header = &self.encoded;
        }
        let block = &bytes[position.block];
        Ok(Some(Record {
            kind: position.head.kind,
            offset: position.offset,
            header,
            block,
            length: position.head.content_bytes,
        }))
    }

    /// Moves to the next record.
    fn advance(&mut self) -> io::Result<Option<RecordPosition>> {
        self.stream.consume(self.record_bytes);
        self.stream.earn(self.record_bytes);
        self.record_bytes = 0;
        if self.unread_block_bytes > 0 {
            self.skip_rest_of_block()?;
        }
        loop {
            let blank = self.stream.bytes().iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            self.stream.consume(blank);
            if self.stream.bytes().is_empty() {
                match self.stream.pull()? {
                    Pull::End => return Ok(None),
                    Pull::Damaged => self.lost = true,
                    Pull::Bytes => {}
                }
                continue;
            }
            let offset = self.stream.offset(self.stream.at());
            let record_format = match self.stream.record_format {
                Some(record_format) => record_format,
                None => {
                    let found = RecordFormat::of(self.stream.bytes());
                    *self.stream.record_format.insert(found)
                }
            };
            match record_format.head(&self.stream.bytes()[..self.limit()]) {
                HeaderParse::Complete(head) => {
                    if let Some(position) = self.take(head, offset)? {
                        self.lost = false;
                        self.salvaged = self.stream.unverified.is_some();
                        self.record_bytes = position.block.end;
                        self.unread_block_bytes = position.head.content_bytes - position.block.len() as u64;
                        return Ok(Some(position));
                    }
                }
                HeaderParse::Incomplete => self.pull_header(record_format, offset)?,
                HeaderParse::Invalid => {
                    let is_record = record_format.starts(self.stream.bytes()) == Some(true);
                    self.count(offset, if is_record { Reason::Header } else { Reason::Junk });
                    self.find_next(1)?;
                }
            }
        }
    }

    /// Gets more bytes for a header whose end is not in sight, until it is worth reading again or lost.
    fn pull_header(&mut self, record_format: RecordFormat, offset: u64) -> io::Result<()> {
        let mut seen = self.limit();
        loop {
            match self.more()? {
                More::Bytes => {}
                More::Dropped => return Ok(()),
                More::Short => return self.find_next(1),
                More::Ended => {
                    self.count(offset, Reason::Torn);
                    return self.find_next(1);
                }
            }
            let limit = self.limit();
            if record_format.may_complete(&self.stream.bytes()[..limit], seen.min(limit)) {
                return Ok(());
            }
            seen = limit;
        }
    }

    /// Brings the block of the record at hand into the buffer and decides whether it can be given out. If not, the
    /// stream stands behind what was lost.
    fn take(&mut self, head: Head, offset: u64) -> io::Result<Option<RecordPosition>> {
        let kept = usize::try_from(head.content_bytes).unwrap_or(usize::MAX).min(self.options.max_block_bytes);
        let end = head.header_bytes + kept;
        while self.limit() < end {
            match self.more()? {
                More::Bytes => {}
                More::Dropped => return Ok(None),
                More::Short => {
                    self.find_next(head.header_bytes)?;
                    return Ok(None);
                }
                More::Ended => {
                    // The length may be damaged, and further records may begin inside of this one.
                    self.count(offset, Reason::Torn);
                    self.find_next(head.header_bytes)?;
                    return Ok(None);
                }
            }
        }
        let position = RecordPosition { block: head.header_bytes..end, offset, head };
        if position.head.content_bytes > kept as u64 {
            let head = &position.head;
            let lie = self.doubt_length(head, end)?;
            let Some(reason) = lie else { return Ok(Some(position)) };
            self.count(offset, reason);
            self.find_next(head.header_bytes)?;
            return Ok(None);
        }
        if self.options.verify == Verify::Never {
            return Ok(Some(position));
        }
        let has_valid_end = self.has_valid_end(end)?;
        let unverified = self.stream.unverified;
        let unproven = !has_valid_end || unverified.is_some() || !self.stream.is_checked(self.stream.at());
        let proof = match &position.head.block_digest {
            Some(place)
                if (unproven || self.options.verify == Verify::Always) && self.may_hash(position.block.len()) =>
            {
                let bytes = self.stream.bytes();
                let matches = digest::matches(&bytes[place.clone()], &bytes[position.block.clone()]);
                if matches == Some(false) {
                    self.hashed_in_vain += position.block.len() as u64;
                }
                matches
            }
            _ => None,
        };
        let good = match unverified {
            None => proof.unwrap_or(has_valid_end),
            Some(_) if !has_valid_end => false,
            // What was cut off is missing, but what is there is right, down to the empty lines behind the block.
            Some(unverified) if unverified.torn => proof.unwrap_or(unverified.end - self.stream.at() >= end + 4),
            // No digest covers the header; a record that follows shows that the decoder was still in sync.
            Some(_) => proof == Some(true) && self.is_followed(end),
        };
        if good {
            return Ok(Some(position));
        }
        if unverified.is_none() {
            self.count(offset, if has_valid_end { Reason::Digest } else { Reason::Length });
        }
        if has_valid_end {
            self.stream.consume(end);
            self.lost = true;
        } else {
            self.find_next(position.head.header_bytes)?;
        }
        Ok(None)
    }

    /// Why the length of a block beyond the limit is not believed, `end` being where the kept part of it ends; `None` if
    /// it is.
    fn doubt_length(&mut self, head: &Head, end: usize) -> io::Result<Option<Reason>> {
        self.is_length_proven = false;
        let block_end = (head.header_bytes as u64).saturating_add(head.content_bytes);
        if let Ok(block_end) = usize::try_from(block_end)
            && block_end <= self.limit()
        {
            self.is_length_proven = self.has_valid_end(block_end)?;
            return Ok((!self.is_length_proven).then_some(Reason::Length));
        }
        let record_format = self.record_format();
        match self.stream.peek(block_end)? {
            Peek::Bytes(behind) => {
                // A bad byte in the next record must not cost this one, so the empty lines between them are enough.
                let rest = behind.trim_ascii_start();
                let starts = rest.is_empty() || record_format.starts(rest) != Some(false);
                self.is_length_proven = starts || behind.starts_with(b"\r\n\r\n");
                Ok((!self.is_length_proven).then_some(Reason::Length))
            }
            Peek::Beyond => Ok(Some(Reason::Torn)),
            Peek::Unknown => {
                let found = find_embedded(record_format, &self.stream.bytes()[..end], head.header_bytes);
                Ok(matches!(found, Embedded::At(_)).then_some(Reason::Length))
            }
        }
    }

    /// Records that overlap could have the same bytes hashed once for each of them: what is hashed in vain is paid for
    /// by what was decoded.
    fn may_hash(&self, bytes: usize) -> bool {
        const FREE_BYTES: u64 = 256 * 1024 * 1024;
        self.hashed_in_vain + bytes as u64 <= FREE_BYTES.saturating_add(4 * self.stream.decoded())
    }

    fn record_format(&self) -> RecordFormat {
        self.stream.record_format.unwrap_or(RecordFormat::Warc)
    }

    /// True if what stands behind a record may stand there: empty lines, and then the end or another record.
    fn has_valid_end(&mut self, end: usize) -> io::Result<bool> {
        /// So many empty lines end a record, whatever comes behind them.
        const BLANK_MAX: usize = 64 * 1024;
        let record_format = self.record_format();
        let mut blank = 0;
        loop {
            let limit = self.limit();
            let rest = &self.stream.bytes()[end..limit];
            blank += rest[blank..].iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            if blank >= BLANK_MAX {
                return Ok(true);
            }
            let rest = &rest[blank..];
            let at_boundary = limit < self.stream.bytes().len() || self.stream.unverified.is_some();
            if rest.is_empty() && (at_boundary || self.stream.is_unit_whole()) {
                return Ok(true);
            }
            if let Some(answer) = record_format.starts(rest) {
                return Ok(answer);
            }
            let nothing_left = rest.is_empty();
            if at_boundary || self.stream.pull()? == Pull::End {
                return Ok(nothing_left);
            }
        }
    }

    /// True if another record begins behind this one in the same unit.
    fn is_followed(&self, end: usize) -> bool {
        let rest = self.stream.bytes()[end..self.limit()].trim_ascii_start();
        matches!(self.record_format().head(rest), HeaderParse::Complete(_))
    }

    /// How many of the buffered bytes can belong to the record at hand: it does not reach into a unit that begins with
    /// a record of its own, nor out of unverified bytes.
    fn limit(&self) -> usize {
        self.stream.next_record_start().unwrap_or_else(|| {
            self.stream.unverified.map_or(self.stream.bytes().len(), |unverified| unverified.end - self.stream.at())
        })
    }

    /// Gets more bytes for the record at hand, or tells that there are none.
    fn more(&mut self) -> io::Result<More> {
        let limit = self.limit();
        if limit < self.stream.bytes().len() || self.stream.unverified.is_some() {
            if self.stream.unverified.is_none() {
                let offset = self.stream.offset(self.stream.at());
                self.count(offset, Reason::Length);
            }
            self.lost = true;
            return Ok(More::Short);
        }
        match self.stream.pull()? {
            Pull::Bytes => Ok(More::Bytes),
            Pull::End => Ok(More::Ended),
            Pull::Damaged => {
                let at = self.stream.at();
                let unverified_from =
                    self.stream.unverified.and_then(|_| self.stream.last_boundary()).filter(|from| *from > at);
                let is_open = self.stream.unverified.is_some() && unverified_from.is_none();
                if let Some(unverified_from) = unverified_from {
                    self.stream.consume(unverified_from - at);
                    self.lost = true;
                    return Ok(More::Dropped);
                }
                if !is_open {
                    self.lost = true;
                    return Ok(More::Short);
                }
                // The unit at hand itself broke off: what came of it may still hold the whole record.
                Ok(More::Bytes)
            }
        }
    }

    /// Looks for the next record, at least `skip` bytes further on.
    fn find_next(&mut self, skip: usize) -> io::Result<()> {
        self.lost = true;
        let mut skip = skip.min(self.stream.bytes().len());
        loop {
            let unit = self.stream.next_record_start();
            let before = &self.stream.bytes()[..unit.unwrap_or(self.stream.bytes().len())];
            let start = find_start(before, skip.min(before.len()));
            if let Some(found) = start.or(unit) {
                self.stream.consume(found);
                return Ok(());
            }
            let keep = (self.stream.bytes().len() - skip).min(8);
            self.stream.consume(self.stream.bytes().len() - keep);
            skip = 0;
            if self.stream.is_unit_whole() || self.stream.pull()? == Pull::End {
                self.stream.consume(self.stream.bytes().len());
                return Ok(());
            }
        }
    }

    /// Steps over the part of a block that was beyond the limit. Where its length could not be proven, a record that
    /// begins inside of it ends it: one false length must not hide the rest of the file.
    fn skip_rest_of_block(&mut self) -> io::Result<()> {
        let offset = self.stream.offset(self.stream.at());
        loop {
            let limit = self.limit();
            let count = usize::try_from(self.unread_block_bytes).unwrap_or(usize::MAX).min(limit);
            let is_all = count as u64 == self.unread_block_bytes || limit < self.stream.bytes().len();
            let searched = if self.is_length_proven { 0 } else { count };
            let (skipped, wanted) = match find_embedded(self.record_format(), &self.stream.bytes()[..searched], 0) {
                _ if self.is_length_proven => (count, 1),
                Embedded::At(start) => {
                    self.stream.consume(start);
                    self.end_skip(offset, Reason::Length);
                    return Ok(());
                }
                _ if is_all => (count, 1),
                Embedded::Perhaps(start) => (start, HEADER_MAX + EMBEDDED_START_BYTES),
                Embedded::No => {
                    let kept = count.min(EMBEDDED_START_BYTES);
                    (count - kept, kept + 1)
                }
            };
            self.stream.consume(skipped);
            self.unread_block_bytes -= skipped as u64;
            if self.unread_block_bytes == 0 {
                return Ok(());
            }
            if is_all && !self.stream.bytes().is_empty() {
                // Another record begins before this one should end.
                self.end_skip(offset, Reason::Length);
                return Ok(());
            }
            while self.limit() < wanted && self.limit() == self.stream.bytes().len() {
                if self.stream.pull()? != Pull::Bytes {
                    self.end_skip(offset, Reason::Torn);
                    return Ok(());
                }
            }
        }
    }

    fn end_skip(&mut self, offset: u64, reason: Reason) {
        self.unread_block_bytes = 0;
        self.count(offset, reason);
    }

    fn count(&mut self, offset: u64, reason: Reason) {
        if !self.lost {
            self.stream.damage.count(offset, reason);
        }
        self.lost = true;
    }
}

#[derive(PartialEq, Eq)]
enum More {
    Bytes,
    /// What there was of the record was stepped over.
    Dropped,
    /// The record cannot go on, but others may begin inside of what it claims.
    Short,
    Ended,
}

/// The first place from `from` on where a line begins with a WARC version.
fn find_start(bytes: &[u8], from: usize) -> Option<usize> {
    memmem::find_iter(&bytes[from..], b"WARC/")
        .map(|at| from + at)
        .find(|at| (*at == 0 || bytes[at - 1] == b'\n') && bytes.get(at + 5).is_none_or(u8::is_ascii_digit))
}

/// How many bytes show that a record may begin: the empty line before it, and its version.
const EMBEDDED_START_BYTES: usize = 12;

/// What a block holds that cannot be checked by its length.
enum Embedded {
    /// The header of a record, behind an empty line, begins here.
    At(usize),
    /// A header may begin here, but its end is not in sight.
    Perhaps(usize),
    No,
}

fn find_embedded(record_format: RecordFormat, bytes: &[u8], from: usize) -> Embedded {
    if record_format == RecordFormat::Arc {
        return Embedded::No;
    }
    let mut from = from;
    while let Some(start) = find_start(bytes, from) {
        from = start + 1;
        let before = &bytes[..start];
        if !before.ends_with(b"\n\r\n") && !before.ends_with(b"\n\n") {
            continue;
        }
        match record_format.head(&bytes[start..]) {
            HeaderParse::Complete(_) => return Embedded::At(start),
            HeaderParse::Incomplete => return Embedded::Perhaps(start.saturating_sub(4)),
            HeaderParse::Invalid => {}
        }
    }
    Embedded::No
}

/// What lies around the records.
enum Container {
    None(Compression),
    Lz4,
    Wacz,
}

/// Tells by its first bytes how a file is packed.
fn detect(source: &mut Source, path: &Path) -> Result<Container> {
    const SEARCHED: usize = 64 * 1024;
    let window = source.fill(SEARCHED).map_err(Error::io(path, "read"))?;
    let gzip = || Container::None(Compression::Gzip(Box::new(Gzip::new())));
    let zstd = || Container::None(Compression::Zstd(Box::new(Zstd::new())));
    let plain = || Container::None(Compression::Plain);
    let name = path.to_string_lossy();
    let name = name.strip_suffix(".open").unwrap_or(&name);
    Ok(match window {
        [0x1F, 0x8B, 0x08, ..] => gzip(),
        [0x28, 0xB5, 0x2F, 0xFD, ..] => zstd(),
        [low, 0x2A, 0x4D, 0x18, ..] if low & 0xF0 == 0x50 => zstd(),
        [0x04, 0x22, 0x4D, 0x18, ..] => Container::Lz4,
        [b'P', b'K', 3, 4, ..] => Container::Wacz,
        _ if window.starts_with(b"WARC/") || window.starts_with(b"filedesc:") || window.is_empty() => plain(),
        // The first bytes may be the damaged ones.
        _ if name.ends_with(".gz") => gzip(),
        _ if name.ends_with(".zst") => zstd(),
        _ if find_start(window, 0).is_some() => plain(),
        _ => {
            let what =
                "neither a WARC nor an ARC file, plain or compressed with gzip, zstd or lz4, nor WACZ".to_owned();
            return Err(Error::Archive { path: path.to_owned(), what });
        }
    })
}

/// Takes off what lies around the records.
fn unwrap(mut source: Source, path: &Path) -> Result<(Source, Compression)> {
    let wrapped: Box<dyn Read + Send> = match detect(&mut source, path)? {
        Container::None(compression) => return Ok((source, compression)),
        Container::Lz4 => Box::new(Lz4::new(Box::new(source))),
        Container::Wacz => Box::new(Wacz::open(path)?),
    };
    let mut source = Source::stream(wrapped);
    match detect(&mut source, path)? {
        Container::None(compression) => Ok((source, compression)),
        Container::Lz4 | Container::Wacz => {
            let what = "one container inside another: unpack it first".to_owned();
            Err(Error::Archive { path: path.to_owned(), what })
        }
    }
}

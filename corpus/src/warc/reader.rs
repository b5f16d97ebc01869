//! Records out of a file or a pipe, one after the other, whatever is wrong with some of them.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

use memchr::memmem;

use super::damage::{Damage, Reason};
use super::decoder::{Gzip, Zstd};
use super::dialect::Dialect;
use super::digest;
use super::record::{Found, Head, Record};
use super::source::Source;
use super::stream::{Form, Pull, Stream};
use super::wrapping::{Lz4, Wacz};
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
    dialect: Option<Dialect>,
    /// Bytes of the record that was given out last.
    taken: usize,
    /// Bytes of its block that the limit cut off and that must be stepped over.
    behind: u64,
    /// The last record came from a damaged unit and was proven by itself.
    salvaged: bool,
    /// Between damage and the next good record: what lies there was counted already.
    lost: bool,
    /// The header of an ARC record, spelled as WARC.
    spelled: Vec<u8>,
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
struct Spot {
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
        let (front, mut form) = unwrap(front, path)?;
        if range == (0..u64::MAX) {
            return Ok(Reader::new(path, Stream::new(front, form), options));
        }
        if let Form::Zstd(_) = form {
            let mut stream = Stream::new(front, form);
            stream.pull_dictionary().map_err(Error::io(path, "read"))?;
            form = stream.into_form();
        }
        let part = Source::file(open()?, range.start, range.end).map_err(Error::io(path, "read"))?;
        Ok(Reader::new(path, Stream::new(part, form), options))
    }

    /// Reads from a pipe or any other stream of bytes; `name` stands for it in errors.
    ///
    /// # Errors
    ///
    /// If the stream cannot be read or is no archive.
    pub fn from_stream(input: Box<dyn Read + Send>, name: &str, options: ReaderOptions) -> Result<Reader> {
        let path = Path::new(name);
        let (source, form) = unwrap(Source::stream(input), path)?;
        Ok(Reader::new(path, Stream::new(source, form), options))
    }

    fn new(path: &Path, stream: Stream, options: ReaderOptions) -> Reader {
        let path = path.to_owned();
        Reader {
            path,
            stream,
            options,
            dialect: None,
            taken: 0,
            behind: 0,
            salvaged: false,
            lost: false,
            spelled: Vec::new(),
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
        let spot = match self.advance() {
            Ok(Some(spot)) => spot,
            Ok(None) => return Ok(None),
            Err(source) => return Err(Error::Io { path: self.path.clone(), action: "read", source }),
        };
        let bytes = self.stream.bytes();
        let mut header = &bytes[..spot.head.header_bytes];
        if self.dialect == Some(Dialect::Arc) {
            super::dialect::spell_arc(header, spot.head.kind, &mut self.spelled);
            header = &self.spelled;
        }
        let block = &bytes[spot.block];
        Ok(Some(Record { kind: spot.head.kind, offset: spot.offset, header, block, length: spot.head.content_bytes }))
    }

    /// Moves to the next record.
    fn advance(&mut self) -> io::Result<Option<Spot>> {
        self.stream.consume(self.taken);
        self.taken = 0;
        if self.behind > 0 {
            self.step_over()?;
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
            let dialect = match self.dialect {
                Some(dialect) => dialect,
                None => *self.dialect.insert(Dialect::of(self.stream.bytes())),
            };
            match dialect.head(&self.stream.bytes()[..self.limit()]) {
                Found::Whole(head) => {
                    if let Some(spot) = self.take(head, offset)? {
                        self.lost = false;
                        self.salvaged = self.stream.suspect.is_some();
                        self.taken = spot.block.end;
                        self.behind = spot.head.content_bytes - spot.block.len() as u64;
                        return Ok(Some(spot));
                    }
                }
                Found::Short => {
                    if self.more()? == More::Ended {
                        self.count(offset, Reason::Torn);
                        self.stream.consume(self.stream.bytes().len());
                    }
                }
                Found::Bad => {
                    let is_record = dialect.starts(self.stream.bytes()) == Some(true);
                    self.count(offset, if is_record { Reason::Header } else { Reason::Junk });
                    self.find_next(1)?;
                }
            }
        }
    }

    /// Brings the block of the record at hand into the buffer and decides whether it can be given out. If not, the
    /// stream stands behind what was lost.
    fn take(&mut self, head: Head, offset: u64) -> io::Result<Option<Spot>> {
        let kept = usize::try_from(head.content_bytes).unwrap_or(usize::MAX).min(self.options.max_block_bytes);
        let end = head.header_bytes + kept;
        while self.limit() < end {
            match self.more()? {
                More::Bytes => {}
                More::Dropped => return Ok(None),
                More::Ended => {
                    // A length that was damaged may have swallowed the records behind it.
                    self.count(offset, Reason::Torn);
                    self.find_next(head.header_bytes)?;
                    return Ok(None);
                }
            }
        }
        let spot = Spot { block: head.header_bytes..end, offset, head };
        if spot.head.content_bytes > kept as u64 || self.options.verify == Verify::Never {
            return Ok(Some(spot));
        }
        let ends_well = self.ends_well(end)?;
        let suspect = self.stream.suspect;
        let unproven = !ends_well || suspect.is_some() || !self.stream.is_checked(self.stream.at());
        let proof = match &spot.head.block_digest {
            Some(place) if unproven || self.options.verify == Verify::Always => {
                let bytes = self.stream.bytes();
                digest::matches(&bytes[place.clone()], &bytes[spot.block.clone()])
            }
            _ => None,
        };
        let good = match suspect {
            None => proof.unwrap_or(ends_well),
            Some(_) if !ends_well => false,
            // What was cut off is missing, but what is there is right, down to the empty lines behind the block.
            Some(suspect) if suspect.torn => proof.unwrap_or(suspect.end - self.stream.at() >= end + 4),
            // No digest stands for the header. That another record follows shows that decoding had not yet gone astray.
            Some(_) => proof == Some(true) && self.is_followed(end),
        };
        if good {
            return Ok(Some(spot));
        }
        if suspect.is_none() {
            self.count(offset, if ends_well { Reason::Digest } else { Reason::Length });
        }
        if ends_well {
            self.stream.consume(end);
            self.lost = true;
        } else {
            self.find_next(spot.head.header_bytes)?;
        }
        Ok(None)
    }

    /// True if what stands behind a record may stand there: empty lines, and then the end or another record.
    fn ends_well(&mut self, end: usize) -> io::Result<bool> {
        let dialect = self.dialect.expect("known since the first record");
        loop {
            let limit = self.limit();
            let rest = &self.stream.bytes()[end..limit];
            let blank = rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            let rest = &rest[blank..];
            let at_boundary = limit < self.stream.bytes().len() || self.stream.suspect.is_some();
            if rest.is_empty() && (at_boundary || self.stream.is_unit_whole()) {
                return Ok(true);
            }
            if let Some(answer) = dialect.starts(rest) {
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
        self.dialect.is_some_and(|dialect| matches!(dialect.head(rest), Found::Whole(_)))
    }

    /// How many of the buffered bytes can belong to the record at hand: it does not reach into a unit that begins with
    /// a record of its own, nor out of suspect bytes.
    fn limit(&self) -> usize {
        let at = self.stream.at();
        let dialect = self.dialect.unwrap_or(Dialect::Warc);
        let mut from = at;
        while let Some(boundary) = self.stream.boundary_after(from) {
            if dialect.starts(&self.stream.buffer()[boundary..]) == Some(true) {
                return boundary - at;
            }
            from = boundary;
        }
        self.stream.suspect.map_or(self.stream.bytes().len(), |suspect| suspect.end - at)
    }

    /// Gets more bytes for the record at hand, or drops the record because there are none.
    fn more(&mut self) -> io::Result<More> {
        let limit = self.limit();
        if limit < self.stream.bytes().len() || self.stream.suspect.is_some() {
            if self.stream.suspect.is_none() {
                let offset = self.stream.offset(self.stream.at());
                self.count(offset, Reason::Length);
            }
            self.stream.consume(limit);
            self.lost = true;
            return Ok(More::Dropped);
        }
        match self.stream.pull()? {
            Pull::Bytes => Ok(More::Bytes),
            Pull::End => Ok(More::Ended),
            Pull::Damaged => {
                let at = self.stream.at();
                let suspect_from =
                    self.stream.suspect.and_then(|_| self.stream.last_boundary()).filter(|from| *from > at);
                let is_open = self.stream.suspect.is_some() && suspect_from.is_none();
                if !is_open {
                    let lost = suspect_from.unwrap_or(at + self.stream.bytes().len()) - at;
                    self.stream.consume(lost);
                    self.lost = true;
                    return Ok(More::Dropped);
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
            let at = self.stream.at();
            let boundary = self.stream.boundary_after(at).map(|boundary| boundary - at);
            let start = find_start(self.stream.bytes(), skip);
            if let Some(found) = [boundary, start].into_iter().flatten().min() {
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

    /// Steps over the part of a block that was beyond the limit.
    fn step_over(&mut self) -> io::Result<()> {
        let offset = self.stream.offset(self.stream.at());
        loop {
            let count = usize::try_from(self.behind).unwrap_or(usize::MAX).min(self.limit());
            self.stream.consume(count);
            self.behind -= count as u64;
            if self.behind == 0 {
                return Ok(());
            }
            if !self.stream.bytes().is_empty() {
                // Another record begins before this one should end.
                self.behind = 0;
                self.count(offset, Reason::Length);
                return Ok(());
            }
            match self.stream.pull()? {
                Pull::Bytes => {}
                Pull::Damaged | Pull::End => {
                    self.behind = 0;
                    self.count(offset, Reason::Torn);
                    return Ok(());
                }
            }
        }
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
    Dropped,
    Ended,
}

/// The first place from `from` on where a line begins with a WARC version.
fn find_start(bytes: &[u8], from: usize) -> Option<usize> {
    memmem::find_iter(&bytes[from..], b"WARC/")
        .map(|at| from + at)
        .find(|at| (*at == 0 || bytes[at - 1] == b'\n') && bytes.get(at + 5).is_none_or(u8::is_ascii_digit))
}

/// What lies around the records.
enum Wrapping {
    None(Form),
    Lz4,
    Wacz,
}

/// Tells by its first bytes how a file is packed.
fn detect(source: &mut Source, path: &Path) -> Result<Wrapping> {
    const SEARCHED: usize = 64 * 1024;
    let window = source.fill(SEARCHED).map_err(Error::io(path, "read"))?;
    let gzip = || Wrapping::None(Form::Gzip(Box::new(Gzip::new())));
    let zstd = || Wrapping::None(Form::Zstd(Box::new(Zstd::new())));
    let plain = || Wrapping::None(Form::Plain);
    let name = path.to_string_lossy();
    let name = name.strip_suffix(".open").unwrap_or(&name);
    Ok(match window {
        [0x1F, 0x8B, 0x08, ..] => gzip(),
        [0x28, 0xB5, 0x2F, 0xFD, ..] => zstd(),
        [low, 0x2A, 0x4D, 0x18, ..] if low & 0xF0 == 0x50 => zstd(),
        [0x04, 0x22, 0x4D, 0x18, ..] => Wrapping::Lz4,
        [b'P', b'K', 3, 4, ..] => Wrapping::Wacz,
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
fn unwrap(mut source: Source, path: &Path) -> Result<(Source, Form)> {
    let wrapped: Box<dyn Read + Send> = match detect(&mut source, path)? {
        Wrapping::None(form) => return Ok((source, form)),
        Wrapping::Lz4 => Box::new(Lz4::new(Box::new(source))),
        Wrapping::Wacz => Box::new(Wacz::open(path)?),
    };
    let mut source = Source::stream(wrapped);
    match detect(&mut source, path)? {
        Wrapping::None(form) => Ok((source, form)),
        Wrapping::Lz4 | Wrapping::Wacz => {
            let what = "one wrapping inside another: unpack it first".to_owned();
            Err(Error::Archive { path: path.to_owned(), what })
        }
    }
}

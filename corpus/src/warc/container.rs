//! Containers around an archive: LZ4 frames, and the zip file of a WACZ collection.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use lz4_flex::frame::FrameDecoder;

use crate::error::{Error, Result};

/// The decoded bytes of LZ4 frames, one after the other. What does not decode is `InvalidData`.
pub(super) struct Lz4 {
    decoder: FrameDecoder<BufReader<Box<dyn Read + Send>>>,
}

impl Lz4 {
    pub(super) fn new(input: Box<dyn Read + Send>) -> Lz4 {
        Lz4 { decoder: FrameDecoder::new(BufReader::new(input)) }
    }
}

impl Read for Lz4 {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.decoder.read(target) {
                // A frame has ended; another may follow.
                Ok(0) if !target.is_empty() && !self.decoder.get_mut().fill_buf()?.is_empty() => continue,
                Err(error) => return Err(io::Error::new(io::ErrorKind::InvalidData, error)),
                other => return other,
            }
        }
    }
}

/// The archives in a WACZ file, read as if they were one. Offsets count from the beginning of the first.
pub(super) struct Wacz {
    file: File,
    /// Where each archive lies that was not begun, last first.
    archive_ranges: Vec<(u64, u64)>,
    left: u64,
}

impl Wacz {
    pub(super) fn open(path: &Path) -> Result<Wacz> {
        let refuse = |what: &str| Error::Archive { path: path.to_owned(), what: what.to_owned() };
        let mut file = File::open(path).map_err(Error::io(path, "open"))?;
        let entries = entries(&mut file)
            .map_err(Error::io(path, "read"))?
            .ok_or_else(|| refuse("a zip file without a table of contents: damaged or cut short"))?;
        let mut archives: Vec<Entry> = entries.into_iter().filter(|entry| entry.name.starts_with("archive/")).collect();
        archives.retain(|entry| entry.name.contains(".warc") || entry.name.contains(".arc"));
        if archives.is_empty() {
            return Err(refuse("a zip file without WARC files in `archive/`"));
        }
        let packing = |entry: &Entry| entry.name.rsplit('.').next() == Some("gz");
        if archives.iter().any(|entry| entry.is_deflated)
            || archives.iter().any(|entry| packing(entry) != packing(&archives[0]))
        {
            return Err(refuse(
                "a WACZ file whose archives are packed in different ways: unpack it and read `archive/`",
            ));
        }
        let mut archive_ranges = Vec::new();
        for archive in archives.iter().rev() {
            let start = data_start(&mut file, archive.offset).map_err(Error::io(path, "read"))?;
            archive_ranges
                .push((start.ok_or_else(|| refuse("a zip file whose table of contents is wrong"))?, archive.bytes));
        }
        Ok(Wacz { file, archive_ranges, left: 0 })
    }
}

impl Read for Wacz {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        while self.left == 0 {
            let Some((start, bytes)) = self.archive_ranges.pop() else { return Ok(0) };
            self.file.seek(SeekFrom::Start(start))?;
            self.left = bytes;
        }
        let output_buffer = target.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let read = self.file.read(&mut target[..output_buffer])?;
        self.left = if read == 0 { 0 } else { self.left - read as u64 };
        Ok(read)
    }
}

/// One line of a zip file's table of contents.
struct Entry {
    name: String,
    is_deflated: bool,
    offset: u64,
    bytes: u64,
}

fn number(bytes: &[u8], at: usize, width: usize) -> Option<u64> {
    Some(bytes.get(at..at + width)?.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
}

/// The table of contents, which stands at the end of a zip file; `None` if it is not there.
fn entries(file: &mut File) -> io::Result<Option<Vec<Entry>>> {
    /// Larger tables are treated as invalid: no real collection needs one.
    const TABLE_MAX: u64 = 64 * 1024 * 1024;
    let size = file.seek(SeekFrom::End(0))?;
    let tail_start = size.saturating_sub(66_000);
    file.seek(SeekFrom::Start(tail_start))?;
    let mut tail = Vec::new();
    file.take(66_000).read_to_end(&mut tail)?;
    let Some(end) = memchr::memmem::rfind(&tail, b"PK\x05\x06") else { return Ok(None) };
    let (mut start, mut length) = (number(&tail, end + 16, 4), number(&tail, end + 12, 4));
    if start == Some(0xFFFF_FFFF)
        && let Some(large) = memchr::memmem::rfind(&tail[..end], b"PK\x06\x06")
    {
        (start, length) = (number(&tail, large + 48, 8), number(&tail, large + 40, 8));
    }
    let (Some(start), Some(length)) = (start, length) else { return Ok(None) };
    if length > TABLE_MAX || start.checked_add(length).is_none_or(|end| end > size) {
        return Ok(None);
    }
    file.seek(SeekFrom::Start(start))?;
    let mut table = Vec::new();
    file.take(length).read_to_end(&mut table)?;
    let mut entries = Vec::new();
    let mut rest = &table[..];
    while rest.starts_with(b"PK\x01\x02") {
        let Some((entry, length)) = entry(rest) else { return Ok(None) };
        entries.push(entry);
        rest = &rest[length..];
    }
    Ok(Some(entries))
}

/// Reads one line of the table and says how long it is.
fn entry(bytes: &[u8]) -> Option<(Entry, usize)> {
    let [name_bytes, extra_bytes, comment_bytes] = [28, 30, 32].map(|at| number(bytes, at, 2));
    let (name_bytes, extra_bytes) = (name_bytes? as usize, extra_bytes? as usize);
    let name = bytes.get(46..46 + name_bytes)?;
    let mut extra = bytes.get(46 + name_bytes..46 + name_bytes + extra_bytes)?;
    let (mut stored, unpacked, mut offset) = (number(bytes, 20, 4)?, number(bytes, 24, 4)?, number(bytes, 42, 4)?);
    // Sizes that do not fit stand in an extra field, in this order and only if they do not fit.
    while let (Some(id), Some(length)) = (number(extra, 0, 2), number(extra, 2, 2)) {
        if id == 1 {
            let mut at = if unpacked == 0xFFFF_FFFF { 12 } else { 4 };
            if stored == 0xFFFF_FFFF {
                stored = number(extra, at, 8)?;
                at += 8;
            }
            if offset == 0xFFFF_FFFF {
                offset = number(extra, at, 8)?;
            }
        }
        extra = extra.get(4 + length as usize..)?;
    }
    let is_deflated = number(bytes, 10, 2)? != 0;
    let length = 46 + name_bytes + extra_bytes + comment_bytes? as usize;
    (length <= bytes.len()).then_some(())?;
    Some((Entry { name: String::from_utf8_lossy(name).into_owned(), is_deflated, offset, bytes: stored }, length))
}

/// Where the bytes of a file begin, behind its own header.
fn data_start(file: &mut File, offset: u64) -> io::Result<Option<u64>> {
    let mut header = Vec::new();
    file.seek(SeekFrom::Start(offset))?;
    file.take(30).read_to_end(&mut header)?;
    let lengths = number(&header, 26, 2).zip(number(&header, 28, 2)).filter(|_| header.starts_with(b"PK\x03\x04"));
    Ok(lengths.and_then(|(name, extra)| offset.checked_add(30 + name + extra)))
}

//! Decoded bytes of a file, unit by unit, with the place each came from.
//!
//! A unit is a zstd frame, a gzip member, or a stretch of a plain file. A unit of ordinary size is decoded whole and its
//! checksum compared before a byte of it is given out. After damage the next unit that looks like one is tried.

use std::collections::VecDeque;
use std::io;

use memchr::memmem;

use super::budget::Budget;
use super::damage::{Damage, Reason};
use super::decoder::{FrameLength, Gzip, Step, Zstd, measure_frame};
use super::dictionary;
use super::frame::{
    self, COPY_MAGIC, COPY_TAG, DICTIONARY_MAGIC, FRAME_HEADER_MAX, FrameHeader, GZIP_HEADER_MAX, GZIP_MAGIC,
    GzipHeader, ZSTD_MAGIC,
};
use super::record_format::RecordFormat;
use super::source::{Peek, Source};

/// Units up to this many decoded bytes are held back until their checksum is known to be right.
pub(super) const UNIT_MAX: usize = 16 * 1024 * 1024;
/// How much of a larger unit is decoded at a time.
pub(super) const STEP: usize = 256 * 1024;
/// The largest window a frame may ask for, as the format's draft says.
pub(super) const WINDOW_LOG_MAX: u32 = 23;

/// What reading a dictionary costs besides its own bytes: a decoder of its own.
const DICTIONARY_COST: usize = 256 * 1024;
/// What it costs to look at another place of the file.
const PEEK_COST: usize = 4096;

/// How the bytes of a file are packed.
pub(super) enum Compression {
    Plain,
    Gzip(Box<Gzip>),
    Zstd(Box<Zstd>),
}

/// What came of asking for more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pull {
    /// Bytes were added, perhaps of a new unit.
    Bytes,
    /// A unit was damaged and counted. What could be decoded of it may have been added as unverified.
    Damaged,
    /// There is no more.
    End,
}

/// Decoded bytes of a unit that failed: records in it need a proof of their own.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnverifiedBytes {
    /// Where these bytes end in the buffer.
    pub(super) end: usize,
    /// The unit is cut short but nothing in it was found to be wrong.
    pub(super) torn: bool,
}

/// Where a unit begins in the buffer, and in the file.
struct Unit {
    at: usize,
    offset: u64,
    checked: bool,
}

pub(super) struct Stream {
    source: Source,
    compression: Compression,
    out: Vec<u8>,
    start: usize,
    /// The place in the file of `out[0]`, for plain files.
    plain_offset: u64,
    /// The units in the buffer, in order; none but the last is empty.
    units: VecDeque<Unit>,
    /// Where those of them begin that begin with a record.
    record_starts: VecDeque<usize>,
    /// The grammar of the records, once it is known.
    pub(super) record_format: Option<RecordFormat>,
    budget: Budget,
    /// Where in the file reading began.
    file_start: u64,
    /// A unit too large to be held back is being decoded.
    open: bool,
    /// The last unit failed and none has been right since.
    lost: bool,
    pub(super) unverified: Option<UnverifiedBytes>,
    pub(super) damage: Damage,
}

impl Stream {
    pub(super) fn new(source: Source, compression: Compression) -> Stream {
        Stream {
            plain_offset: source.offset(),
            file_start: source.offset(),
            source,
            compression,
            out: Vec::new(),
            start: 0,
            units: VecDeque::new(),
            record_starts: VecDeque::new(),
            record_format: None,
            budget: Budget::default(),
            open: false,
            lost: false,
            unverified: None,
            damage: Damage::default(),
        }
    }

    /// The decoded bytes that were not consumed.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.out[self.start..]
    }

    /// The index in the buffer of the first byte that was not consumed.
    pub(super) fn at(&self) -> usize {
        self.start
    }

    pub(super) fn consume(&mut self, count: usize) {
        self.start += count;
        debug_assert!(self.start <= self.out.len());
        while self.units.len() > 1 && self.units[1].at <= self.start {
            self.units.pop_front();
        }
        while self.record_starts.front().is_some_and(|start| *start <= self.start) {
            self.record_starts.pop_front();
        }
        if self.unverified.is_some_and(|unverified| unverified.end <= self.start) {
            self.unverified = None;
        }
    }

    /// The place in the file of a byte in the buffer: exact in plain files, else where its unit begins.
    pub(super) fn offset(&self, at: usize) -> u64 {
        match self.compression {
            Compression::Plain => self.plain_offset + at as u64,
            _ => self.unit(at).map_or(self.source.offset(), |unit| unit.offset),
        }
    }

    /// True if a checksum stands for the unit that this byte is in.
    pub(super) fn is_checked(&self, at: usize) -> bool {
        self.unit(at).is_some_and(|unit| unit.checked)
    }

    fn unit(&self, at: usize) -> Option<&Unit> {
        let behind = self.units.partition_point(|unit| unit.at <= at);
        self.units.get(behind.checked_sub(1)?)
    }

    /// How many bytes lie before the next unit that begins with a record.
    pub(super) fn next_record_start(&self) -> Option<usize> {
        let behind = self.record_starts.partition_point(|start| *start <= self.start);
        self.record_starts.get(behind).map(|start| start - self.start)
    }

    /// What lies `ahead` bytes behind the first byte that was not consumed, if that can be told without reading on.
    pub(super) fn peek(&mut self, ahead: u64) -> io::Result<Peek> {
        match self.compression {
            Compression::Plain => self.source.peek((self.plain_offset + self.start as u64).saturating_add(ahead)),
            _ => Ok(Peek::Unknown),
        }
    }

    /// Counts bytes of a record that was given out, which [`Budget`] does not hold against the file.
    pub(super) fn earn(&mut self, bytes: usize) {
        self.budget.earn(bytes);
    }

    /// How many bytes were decoded so far.
    pub(super) fn decoded(&self) -> u64 {
        self.budget.decoded()
    }

    fn is_spent(&self) -> bool {
        self.budget.is_spent(self.source.offset() - self.file_start, self.bytes().len())
    }

    /// Where the last unit in the buffer begins.
    pub(super) fn last_boundary(&self) -> Option<usize> {
        self.units.back().map(|unit| unit.at)
    }

    /// Reads the dictionary at the front, if there is one.
    pub(super) fn pull_dictionary(&mut self) -> io::Result<()> {
        while self.out.is_empty() && self.pull()? != Pull::End {}
        Ok(())
    }

    /// How far the file has been decoded.
    pub(super) fn source_offset(&self) -> u64 {
        self.source.offset()
    }

    pub(super) fn into_compression(self) -> Compression {
        self.compression
    }

    /// True if every byte of the last unit in the buffer is there.
    pub(super) fn is_unit_whole(&self) -> bool {
        !self.open && !matches!(self.compression, Compression::Plain)
    }

    /// Decodes more and adds it to the buffer. Indices into the buffer change: what was consumed is dropped.
    pub(super) fn pull(&mut self) -> io::Result<Pull> {
        self.drop_consumed();
        let before = self.out.len();
        let pulled = match self.compression {
            Compression::Plain => self.pull_plain(),
            _ if self.is_spent() && self.open => self.fail_open(Reason::TooLarge),
            _ if self.is_spent() && self.source.fill(1)?.is_empty() => Ok(Pull::End),
            _ if self.is_spent() => self.fail(Reason::TooLarge, self.out.len(), false),
            _ if self.open => self.go_on(),
            Compression::Gzip(_) => self.open_member(),
            Compression::Zstd(_) => self.open_frame(),
        }?;
        self.budget.spend(self.out.len().saturating_sub(before));
        Ok(pulled)
    }

    fn drop_consumed(&mut self) {
        let count = self.start;
        // What is left is moved to the front only when it is less than what goes, so that no byte is moved again and
        // again.
        if count == 0 || count < self.out.len() - count {
            return;
        }
        self.out.drain(..count);
        self.start = 0;
        self.plain_offset += count as u64;
        if self.out.is_empty() && !self.open {
            self.units.clear();
        }
        self.units.iter_mut().for_each(|unit| unit.at = unit.at.saturating_sub(count));
        self.record_starts.iter_mut().for_each(|start| *start = start.saturating_sub(count));
        if let Some(unverified) = &mut self.unverified {
            unverified.end -= count;
        }
    }

    fn pull_plain(&mut self) -> io::Result<Pull> {
        match self.source.fill(1) {
            Ok([]) => return Ok(Pull::End),
            Ok(_) => {}
            // A decoder below this stream found its input corrupt; nothing behind that place can be had.
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                self.damage.count(self.plain_offset + self.out.len() as u64, Reason::Corrupt);
                return Ok(Pull::End);
            }
            Err(error) => return Err(error),
        }
        self.out.extend_from_slice(self.source.window());
        self.source.consume(self.source.window().len());
        Ok(Pull::Bytes)
    }

    fn push_unit(&mut self, offset: u64, checked: bool) {
        self.push_unit_at(self.out.len(), offset, checked);
    }

    fn push_unit_at(&mut self, at: usize, offset: u64, checked: bool) {
        while self.units.back().is_some_and(|unit| unit.at >= at) {
            self.units.pop_back();
        }
        self.units.push_back(Unit { at, offset, checked });
    }

    /// Notes whether the unit that begins at index `at` begins with a record, as soon as it is decoded.
    fn note_record_start(&mut self, at: usize) {
        if self.record_format.unwrap_or(RecordFormat::Warc).starts_unit(&self.out[at..]) {
            self.record_starts.push_back(at);
        }
    }

    // ---- gzip ----

    fn open_member(&mut self) -> io::Result<Pull> {
        let mut wanted = 10;
        let header_bytes = loop {
            let window = self.source.fill(wanted)?;
            match frame::gzip_header(window) {
                _ if window.is_empty() => return Ok(Pull::End),
                GzipHeader::Whole(length) => break length,
                GzipHeader::Short if window.len() >= wanted => wanted = window.len() + 1024,
                GzipHeader::Short => return self.fail(Reason::Torn, self.out.len(), true),
                // Some writers pad the end of a file with zeros.
                GzipHeader::Bad if window[0] == 0 => {
                    let zeros = window.iter().take_while(|byte| **byte == 0).count();
                    self.source.consume(zeros);
                    wanted = 10;
                }
                GzipHeader::Bad => {
                    let searched = window.len().min(GZIP_HEADER_MAX);
                    if window.starts_with(&GZIP_MAGIC) {
                        self.budget.spend(searched);
                    }
                    return self.fail(Reason::Junk, self.out.len(), false);
                }
            }
        };
        let at = self.out.len();
        self.push_unit(self.source.offset(), true);
        if let Compression::Gzip(gzip) = &mut self.compression {
            let window = self.source.fill(gzip.wanted())?;
            if let Some(length) = gzip.decode(window, &mut self.out) {
                self.source.consume(length);
                self.lost = false;
                self.note_record_start(at);
                return Ok(Pull::Bytes);
            }
            gzip.begin();
        }
        self.decode_whole(header_bytes)
    }

    // ---- zstd ----

    fn open_frame(&mut self) -> io::Result<Pull> {
        let Compression::Zstd(zstd) = &mut self.compression else { unreachable!("only called for zstd") };
        let offset = self.source.offset();
        let window = self.source.fill(FRAME_HEADER_MAX)?;
        if window.is_empty() {
            return Ok(Pull::End);
        }
        if frame::is_skippable(window) {
            return self.skip_frame();
        }
        let Some(header) = FrameHeader::parse(window) else {
            let torn = window.len() < FRAME_HEADER_MAX && window.starts_with(&ZSTD_MAGIC[..window.len().min(4)]);
            return self.fail(if torn { Reason::Torn } else { Reason::Junk }, self.out.len(), torn);
        };
        if header.dictionary_id != 0 && header.dictionary_id != zstd.dictionary_id {
            return self.fail(Reason::Dictionary, self.out.len(), false);
        }
        let checked = header.has_checksum;
        match header.content_bytes {
            Some(size) if size <= UNIT_MAX as u64 => {
                let length = match measure_frame(&mut self.source, 0, header)? {
                    FrameLength::Length(length) => length,
                    FrameLength::Torn(walked) => {
                        self.budget.spend(walked);
                        return self.fail_frame(offset, Reason::Torn, checked);
                    }
                    FrameLength::Bad(walked) => {
                        self.budget.spend(walked);
                        return self.fail_frame(offset, Reason::Corrupt, checked);
                    }
                };
                let at = self.out.len();
                if !zstd.decode(&self.source.window()[..length], size as usize, &mut self.out) {
                    self.budget.spend(size as usize);
                    return self.fail_frame(offset, Reason::Corrupt, checked);
                }
                self.push_unit_at(at, offset, checked);
                self.note_record_start(at);
                self.source.consume(length);
                self.lost = false;
                Ok(Pull::Bytes)
            }
            None if header.window_bytes > 1 << WINDOW_LOG_MAX => self.fail(Reason::TooLarge, self.out.len(), false),
            Some(_) | None => {
                zstd.begin();
                self.push_unit(offset, checked);
                self.decode_whole(0)
            }
        }
    }

    /// The frame at the source failed. Decodes it step by step to keep what came before the bad place, because a frame
    /// may hold many records.
    fn fail_frame(&mut self, offset: u64, reason: Reason, checked: bool) -> io::Result<Pull> {
        let at = self.out.len();
        self.push_unit(offset, checked);
        if let Compression::Zstd(zstd) = &mut self.compression {
            zstd.begin();
            let mut input = self.source.window();
            while let Ok(step) = zstd.step(input, &mut self.out) {
                input = &input[step.consumed..];
                if step.finished || input.is_empty() || self.out.len() - at > UNIT_MAX {
                    break;
                }
            }
        }
        self.fail(reason, at, reason == Reason::Torn)
    }

    /// Steps over a skippable frame; reads it if it holds a dictionary.
    fn skip_frame(&mut self) -> io::Result<Pull> {
        let Compression::Zstd(zstd) = &mut self.compression else { unreachable!("only called for zstd") };
        let offset = self.source.offset();
        let window = self.source.fill(8 + COPY_TAG.len())?;
        let Some(size) = window.get(4..8) else { return self.fail(Reason::Torn, self.out.len(), true) };
        let size = u32::from_le_bytes(size.try_into().expect("four bytes")) as usize;
        let is_dictionary = offset == 0 && window.starts_with(&DICTIONARY_MAGIC);
        let is_copy = window.starts_with(&COPY_MAGIC) && window[8..].starts_with(COPY_TAG);
        if is_dictionary || is_copy {
            let tag = if is_copy { COPY_TAG.len() } else { 0 };
            let Some(found) = dictionary::read(&mut self.source, 8 + tag, size.saturating_sub(tag))? else {
                self.budget.spend(DICTIONARY_COST);
                return self.fail(Reason::Dictionary, self.out.len(), false);
            };
            self.budget.spend(DICTIONARY_COST + found.content.len());
            if found.id != zstd.dictionary_id || zstd.dictionary_id == 0 {
                zstd.load(&found);
            }
            if found.bytes_on_disk + tag != size {
                self.damage.count(offset, Reason::Dictionary);
            }
            self.source.consume(8 + tag + found.bytes_on_disk);
            return Ok(Pull::Bytes);
        }
        // An extension frame of another program. Its size is trusted only if a valid frame start follows.
        let mut left = 8 + size;
        if let Some(reason) = self.doubt_skippable(left)? {
            return self.fail(reason, self.out.len(), reason == Reason::Torn);
        }
        while left > 0 {
            let count = self.source.fill(1)?.len().min(left);
            if count == 0 {
                return self.fail(Reason::Torn, self.out.len(), true);
            }
            self.source.consume(count);
            left -= count;
        }
        Ok(Pull::Bytes)
    }

    /// Why a skippable frame of this length is not believed; `None` if it is: a frame or the end follows it.
    fn doubt_skippable(&mut self, length: usize) -> io::Result<Option<Reason>> {
        let valid = |behind: &[u8]| behind.is_empty() || behind.starts_with(&ZSTD_MAGIC) || frame::is_skippable(behind);
        if length <= UNIT_MAX {
            return Ok(match self.source.fill(length + 4)?.get(length..) {
                None => Some(Reason::Torn),
                Some(behind) if valid(behind) => None,
                Some(_) => Some(Reason::Junk),
            });
        }
        self.budget.spend(PEEK_COST);
        Ok(match self.source.peek(self.source.offset() + length as u64)? {
            Peek::Bytes(behind) if valid(&behind) => None,
            Peek::Beyond => Some(Reason::Torn),
            // Where the input cannot go back, what the frame hides could not be searched afterwards.
            Peek::Bytes(_) | Peek::Unknown => Some(Reason::Junk),
        })
    }

    // ---- both ----

    /// Decodes the unit that was opened, from `header_bytes` on, and holds its input until it is known to be right.
    fn decode_whole(&mut self, header_bytes: usize) -> io::Result<Pull> {
        let at = self.out.len();
        let mut held = header_bytes;
        loop {
            if self.source.window().len() == held && !self.source.read_more()? {
                self.budget.spend(held + self.out.len() - at);
                return self.fail(Reason::Torn, at, true);
            }
            let input = &self.source.window()[held..];
            match self.compression.step(input, &mut self.out) {
                Ok(step) => {
                    held += step.consumed;
                    if step.finished {
                        self.source.consume(held);
                        self.lost = false;
                        self.note_record_start(at);
                        return Ok(Pull::Bytes);
                    }
                    if self.out.len() - at > UNIT_MAX {
                        self.source.consume(held);
                        self.open = true;
                        self.note_record_start(at);
                        return Ok(Pull::Bytes);
                    }
                }
                Err(reason) => {
                    self.budget.spend(held + self.out.len() - at);
                    return self.fail(reason, at, false);
                }
            }
        }
    }

    /// Decodes another step of a unit that is too large to be held back.
    fn go_on(&mut self) -> io::Result<Pull> {
        let at = self.out.len();
        while self.out.len() - at < STEP {
            if self.source.fill(1)?.is_empty() {
                return self.fail_open(Reason::Torn);
            }
            match self.compression.step(self.source.window(), &mut self.out) {
                Ok(step) => {
                    self.source.consume(step.consumed);
                    if step.finished {
                        self.open = false;
                        self.lost = false;
                        break;
                    }
                }
                Err(reason) => return self.fail_open(reason),
            }
        }
        Ok(Pull::Bytes)
    }

    /// A unit whose beginning was already given out failed: what is left of it in the buffer is unverified.
    fn fail_open(&mut self, reason: Reason) -> io::Result<Pull> {
        self.open = false;
        self.lost = true;
        self.damage.count(self.source.offset(), reason);
        self.unverified = Some(UnverifiedBytes { end: self.out.len(), torn: reason == Reason::Torn });
        self.find_next()?;
        Ok(Pull::Damaged)
    }

    /// Counts the damage, marks what was decoded from index `at` on as unverified, and moves the source to the next place
    /// that looks like a unit.
    fn fail(&mut self, reason: Reason, at: usize, torn: bool) -> io::Result<Pull> {
        let starts_record = self.out[at..].starts_with(b"WARC/");
        // Compressed data may hold a magic by chance: what follows damage and is no record belongs to the same damage.
        if !self.lost || starts_record || matches!(reason, Reason::Dictionary) {
            self.damage.count(self.source.offset(), reason);
        }
        self.lost = true;
        if starts_record {
            self.record_starts.push_back(at);
            self.unverified = Some(UnverifiedBytes { end: self.out.len(), torn });
        } else {
            self.out.truncate(at);
            while self.units.back().is_some_and(|unit| unit.at >= at) {
                self.units.pop_back();
            }
        }
        self.find_next()?;
        Ok(Pull::Damaged)
    }

    /// Moves the source to the next place where a unit may begin, and which the budget still allows to try.
    fn find_next(&mut self) -> io::Result<()> {
        let skip = self.source.fill(1)?.len().min(1);
        self.source.consume(skip);
        loop {
            let window = self.source.window();
            let found = match self.compression {
                Compression::Plain => Some(0),
                Compression::Gzip(_) => memmem::find(window, &GZIP_MAGIC),
                // Both at once: a search for one of them alone would run past many of the other, again and again.
                Compression::Zstd(_) => memchr::memchr2_iter(ZSTD_MAGIC[0], COPY_MAGIC[0], window)
                    .find(|at| window[*at..].starts_with(&ZSTD_MAGIC) || window[*at..].starts_with(&COPY_MAGIC)),
            };
            if let Some(found) = found {
                self.source.consume(found);
                if !self.is_spent() {
                    return Ok(());
                }
                self.source.consume(1);
                continue;
            }
            let keep = window.len().min(3);
            self.source.consume(window.len() - keep);
            if !self.source.read_more()? {
                self.source.consume(keep);
                return Ok(());
            }
        }
    }
}

impl Compression {
    fn step(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<Step, Reason> {
        match self {
            Compression::Plain => unreachable!("plain files are not decoded"),
            Compression::Gzip(gzip) => gzip.step(input, out),
            Compression::Zstd(zstd) => zstd.step(input, out),
        }
    }
}

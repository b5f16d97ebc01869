//! Decoded bytes of a file, unit by unit, with the place each came from.
//!
//! A unit is a zstd frame, a gzip member, or a stretch of a plain file. A unit of ordinary size is decoded whole and its
//! checksum compared before a byte of it is given out. After damage the next unit that looks like one is tried.

use std::collections::VecDeque;
use std::io;

use memchr::memmem;

use super::damage::{Damage, Reason};
use super::decoder::{Gzip, Step, Walk, Zstd, walk};
use super::dictionary;
use super::frame::{
    self, COPY_MAGIC, COPY_TAG, DICTIONARY_MAGIC, FRAME_HEADER_MAX, FrameHeader, GZIP_MAGIC, GzipHeader, ZSTD_MAGIC,
};
use super::source::Source;

/// Units up to this many decoded bytes are held back until their checksum is known to be right.
pub(super) const UNIT_MAX: usize = 16 * 1024 * 1024;
/// How much of a larger unit is decoded at a time.
pub(super) const STEP: usize = 256 * 1024;
/// The largest window a frame may ask for, as the format's draft says.
pub(super) const WINDOW_LOG_MAX: u32 = 23;

/// How the bytes of a file are packed.
pub(super) enum Form {
    Plain,
    Gzip(Box<Gzip>),
    Zstd(Box<Zstd>),
}

/// What came of asking for more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pull {
    /// Bytes were added, perhaps of a new unit.
    Bytes,
    /// A unit was damaged and counted. What could be decoded of it may have been added as suspect.
    Damaged,
    /// There is no more.
    End,
}

/// Decoded bytes of a unit that failed: records in it need a proof of their own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Suspect {
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
    form: Form,
    out: Vec<u8>,
    start: usize,
    /// The place in the file of `out[0]`, for plain files.
    plain_offset: u64,
    units: VecDeque<Unit>,
    /// A unit too large to be held back is being decoded.
    open: bool,
    /// The last unit failed and none has been right since.
    lost: bool,
    pub(super) suspect: Option<Suspect>,
    pub(super) damage: Damage,
}

impl Stream {
    pub(super) fn new(source: Source, form: Form) -> Stream {
        Stream {
            plain_offset: source.offset(),
            source,
            form,
            out: Vec::new(),
            start: 0,
            units: VecDeque::new(),
            open: false,
            lost: false,
            suspect: None,
            damage: Damage::default(),
        }
    }

    /// The decoded bytes that were not consumed.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.out[self.start..]
    }

    /// All decoded bytes in the buffer, for the indices that [`Stream::at`] gives.
    pub(super) fn buffer(&self) -> &[u8] {
        &self.out
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
        if self.suspect.is_some_and(|suspect| suspect.end <= self.start) {
            self.suspect = None;
        }
    }

    /// The place in the file of a byte in the buffer: exact in plain files, else where its unit begins.
    pub(super) fn offset(&self, at: usize) -> u64 {
        match self.form {
            Form::Plain => self.plain_offset + at as u64,
            _ => self.unit(at).map_or(self.source.offset(), |unit| unit.offset),
        }
    }

    /// True if a checksum stands for the unit that this byte is in.
    pub(super) fn is_checked(&self, at: usize) -> bool {
        self.unit(at).is_some_and(|unit| unit.checked)
    }

    fn unit(&self, at: usize) -> Option<&Unit> {
        self.units.iter().rev().find(|unit| unit.at <= at)
    }

    /// The first unit boundary after `at`, as an index into the buffer.
    pub(super) fn boundary_after(&self, at: usize) -> Option<usize> {
        self.units.iter().map(|unit| unit.at).find(|start| *start > at)
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

    pub(super) fn into_form(self) -> Form {
        self.form
    }

    /// True if every byte of the last unit in the buffer is there.
    pub(super) fn is_unit_whole(&self) -> bool {
        !self.open && !matches!(self.form, Form::Plain)
    }

    /// Decodes more and adds it to the buffer. Indices into the buffer change: what was consumed is dropped.
    pub(super) fn pull(&mut self) -> io::Result<Pull> {
        self.drop_consumed();
        match self.form {
            Form::Plain => self.pull_plain(),
            _ if self.open => self.go_on(),
            Form::Gzip(_) => self.open_member(),
            Form::Zstd(_) => self.open_frame(),
        }
    }

    fn drop_consumed(&mut self) {
        let count = self.start;
        if count == 0 {
            return;
        }
        self.out.drain(..count);
        self.start = 0;
        self.plain_offset += count as u64;
        if self.out.is_empty() && !self.open {
            self.units.clear();
        }
        self.units.iter_mut().for_each(|unit| unit.at = unit.at.saturating_sub(count));
        if let Some(suspect) = &mut self.suspect {
            suspect.end -= count;
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
        self.units.push_back(Unit { at: self.out.len(), offset, checked });
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
                GzipHeader::Bad => return self.fail(Reason::Junk, self.out.len(), false),
            }
        };
        self.push_unit(self.source.offset(), true);
        if let Form::Gzip(gzip) = &mut self.form {
            let window = self.source.fill(gzip.wanted())?;
            if let Some(length) = gzip.decode(window, &mut self.out) {
                self.source.consume(length);
                self.lost = false;
                return Ok(Pull::Bytes);
            }
            gzip.begin();
        }
        self.decode_whole(header_bytes)
    }

    // ---- zstd ----

    fn open_frame(&mut self) -> io::Result<Pull> {
        let Form::Zstd(zstd) = &mut self.form else { unreachable!("only called for zstd") };
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
                let length = match walk(&mut self.source, 0, header)? {
                    Walk::Length(length) => length,
                    Walk::Torn => return self.fail_frame(offset, Reason::Torn, checked),
                    Walk::Bad => return self.fail_frame(offset, Reason::Corrupt, checked),
                };
                let at = self.out.len();
                if !zstd.decode(&self.source.window()[..length], size as usize, &mut self.out) {
                    return self.fail_frame(offset, Reason::Corrupt, checked);
                }
                self.units.push_back(Unit { at, offset, checked });
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
        self.units.push_back(Unit { at, offset, checked });
        if let Form::Zstd(zstd) = &mut self.form {
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
        let Form::Zstd(zstd) = &mut self.form else { unreachable!("only called for zstd") };
        let offset = self.source.offset();
        let window = self.source.fill(8 + COPY_TAG.len())?;
        let Some(size) = window.get(4..8) else { return self.fail(Reason::Torn, self.out.len(), true) };
        let size = u32::from_le_bytes(size.try_into().expect("four bytes")) as usize;
        let is_dictionary = offset == 0 && window.starts_with(&DICTIONARY_MAGIC);
        let is_copy = window.starts_with(&COPY_MAGIC) && window[8..].starts_with(COPY_TAG);
        if is_dictionary || is_copy {
            let tag = if is_copy { COPY_TAG.len() } else { 0 };
            let Some(found) = dictionary::read(&mut self.source, 8 + tag, size.saturating_sub(tag))? else {
                return self.fail(Reason::Dictionary, self.out.len(), false);
            };
            if found.id != zstd.dictionary_id || zstd.dictionary_id == 0 {
                zstd.load(&found);
            }
            if found.bytes_on_disk + tag != size {
                self.damage.count(offset, Reason::Dictionary);
            }
            self.source.consume(8 + tag + found.bytes_on_disk);
            return Ok(Pull::Bytes);
        }
        // Somebody's extension. Its size is only believed if something that can follow a frame stands behind it.
        let mut left = 8 + size;
        if left <= UNIT_MAX {
            let window = self.source.fill(left + 4)?;
            let behind = window.get(left..).unwrap_or_default();
            let torn = window.len() < left;
            if torn || !(behind.is_empty() || behind.starts_with(&ZSTD_MAGIC) || frame::is_skippable(behind)) {
                return self.fail(if torn { Reason::Torn } else { Reason::Junk }, self.out.len(), torn);
            }
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

    // ---- both ----

    /// Decodes the unit that was opened, from `header_bytes` on, and holds its input until it is known to be right.
    fn decode_whole(&mut self, header_bytes: usize) -> io::Result<Pull> {
        let at = self.out.len();
        let mut held = header_bytes;
        loop {
            if self.source.window().len() == held && !self.source.read_more()? {
                return self.fail(Reason::Torn, at, true);
            }
            let input = &self.source.window()[held..];
            match self.form.step(input, &mut self.out) {
                Ok(step) => {
                    held += step.consumed;
                    if step.finished {
                        self.source.consume(held);
                        self.lost = false;
                        return Ok(Pull::Bytes);
                    }
                    if self.out.len() - at > UNIT_MAX {
                        self.source.consume(held);
                        self.open = true;
                        return Ok(Pull::Bytes);
                    }
                }
                Err(reason) => return self.fail(reason, at, false),
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
            match self.form.step(self.source.window(), &mut self.out) {
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

    /// A unit whose beginning was already given out failed: what is left of it in the buffer is suspect.
    fn fail_open(&mut self, reason: Reason) -> io::Result<Pull> {
        self.open = false;
        self.lost = true;
        self.damage.count(self.source.offset(), reason);
        self.suspect = Some(Suspect { end: self.out.len(), torn: reason == Reason::Torn });
        self.find_next()?;
        Ok(Pull::Damaged)
    }

    /// Counts the damage, marks what was decoded from index `at` on as suspect, and moves the source to the next place
    /// that looks like a unit.
    fn fail(&mut self, reason: Reason, at: usize, torn: bool) -> io::Result<Pull> {
        let starts_record = self.out[at..].starts_with(b"WARC/");
        // Compressed data may hold a magic by chance: what follows damage and is no record belongs to the same damage.
        if !self.lost || starts_record || matches!(reason, Reason::Dictionary) {
            self.damage.count(self.source.offset(), reason);
        }
        self.lost = true;
        if starts_record {
            self.suspect = Some(Suspect { end: self.out.len(), torn });
        } else {
            self.out.truncate(at);
            while self.units.back().is_some_and(|unit| unit.at >= at) {
                self.units.pop_back();
            }
        }
        self.find_next()?;
        Ok(Pull::Damaged)
    }

    /// Moves the source to the next place where a unit may begin.
    fn find_next(&mut self) -> io::Result<()> {
        let skip = self.source.fill(1)?.len().min(1);
        self.source.consume(skip);
        loop {
            let window = self.source.window();
            let found = match self.form {
                Form::Plain => Some(0),
                Form::Gzip(_) => memmem::find(window, &GZIP_MAGIC),
                Form::Zstd(_) => {
                    let record = memmem::find(window, &ZSTD_MAGIC);
                    let before = &window[..record.unwrap_or(window.len())];
                    let copy = memmem::find(before, &COPY_MAGIC);
                    copy.or(record)
                }
            };
            if let Some(found) = found {
                self.source.consume(found);
                return Ok(());
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

impl Form {
    fn step(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<Step, Reason> {
        match self {
            Form::Plain => unreachable!("plain files are not decoded"),
            Form::Gzip(gzip) => gzip.step(input, out),
            Form::Zstd(zstd) => zstd.step(input, out),
        }
    }
}

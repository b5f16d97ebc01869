//! Decoded bytes of a file, unit by unit, with the place each came from.
//!
//! A unit is a zstd frame, a gzip member, or a stretch of a plain file. A unit of ordinary size is decoded whole and its
//! checksum compared before a byte of it is given out. After damage the next unit that looks like one is tried.

use std::collections::VecDeque;
use std::io;

use flate2::{Crc, Decompress, FlushDecompress, Status};
use memchr::memmem;
use zstd::zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer, ResetDirective};

use super::damage::{Damage, Reason};
use super::dictionary;
use super::frame::{
    self, Block, COPY_MAGIC, COPY_TAG, DICTIONARY_MAGIC, FRAME_HEADER_MAX, FrameHeader, GZIP_MAGIC, GzipHeader,
    ZSTD_MAGIC,
};
use super::source::Source;

/// Units up to this many decoded bytes are held back until their checksum is known to be right.
const UNIT_MAX: usize = 16 * 1024 * 1024;
/// How much of a larger unit is decoded at a time.
const STEP: usize = 256 * 1024;
/// Room for a gzip member, so that most are decoded in one go.
const MEMBER_ROOM: usize = 1024 * 1024;
/// The largest window a frame may ask for, as the format's draft says.
const WINDOW_LOG_MAX: u32 = 23;

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

/// One step of a decoder.
struct Step {
    consumed: usize,
    finished: bool,
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

/// The gzip decoder: raw deflate, with the checksum and length at the end compared here.
pub(super) struct Gzip {
    inflate: Decompress,
    crc: Crc,
    trailer: Option<Vec<u8>>,
    room: Vec<u8>,
}

impl Gzip {
    pub(super) fn new() -> Gzip {
        Gzip { inflate: Decompress::new(false), crc: Crc::new(), trailer: None, room: vec![0; MEMBER_ROOM] }
    }

    fn begin(&mut self) {
        self.inflate.reset(false);
        self.crc.reset();
        self.trailer = None;
    }

    fn step(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<Step, Reason> {
        if self.trailer.is_some() {
            return self.finish(input, 0);
        }
        let (before, produced_before) = (self.inflate.total_in(), self.inflate.total_out());
        // Asked to finish, inflate does not copy its window aside if it comes to the end, as it mostly does. The room is
        // made once: handed a vector, the library would clear all that is free in it every time.
        let status = self.inflate.decompress(input, &mut self.room, FlushDecompress::Finish);
        let produced = (self.inflate.total_out() - produced_before) as usize;
        self.crc.update(&self.room[..produced]);
        out.extend_from_slice(&self.room[..produced]);
        let consumed = (self.inflate.total_in() - before) as usize;
        match status.map_err(|_| Reason::Corrupt)? {
            Status::StreamEnd => {
                self.trailer = Some(Vec::with_capacity(8));
                self.finish(&input[consumed..], consumed)
            }
            _ if consumed == 0 && produced == 0 => Err(Reason::Corrupt),
            _ => Ok(Step { consumed, finished: false }),
        }
    }

    fn finish(&mut self, input: &[u8], consumed: usize) -> Result<Step, Reason> {
        let trailer = self.trailer.as_mut().expect("the data has ended");
        let count = input.len().min(8 - trailer.len());
        trailer.extend_from_slice(&input[..count]);
        let consumed = consumed + count;
        let Ok(whole) = <[u8; 8]>::try_from(trailer.as_slice()) else { return Ok(Step { consumed, finished: false }) };
        let sum = u32::from_le_bytes([whole[0], whole[1], whole[2], whole[3]]);
        let amount = u32::from_le_bytes([whole[4], whole[5], whole[6], whole[7]]);
        if sum != self.crc.sum() || amount != self.crc.amount() {
            return Err(Reason::Corrupt);
        }
        Ok(Step { consumed, finished: true })
    }
}

/// The zstd decoder: one context for all frames, the dictionary digested once.
pub(super) struct Zstd {
    context: DCtx<'static>,
    dictionary_id: u32,
    scratch: Vec<u8>,
}

impl Zstd {
    pub(super) fn new() -> Zstd {
        let mut context = DCtx::create();
        context.set_parameter(DParameter::WindowLogMax(WINDOW_LOG_MAX)).expect("within the range that zstd accepts");
        Zstd { context, dictionary_id: 0, scratch: Vec::new() }
    }

    pub(super) fn load(&mut self, dictionary: &dictionary::Dictionary) {
        // A frame that broke off leaves the context in the middle of it, where no dictionary can be taken.
        self.begin();
        if self.context.load_dictionary(&dictionary.content).is_ok() {
            self.dictionary_id = dictionary.id;
        }
    }

    /// Decodes one whole frame of a known size onto the end of `out`; false if it is damaged.
    fn decode(&mut self, input: &[u8], size: usize, out: &mut Vec<u8>) -> bool {
        if out.is_empty() {
            out.reserve(size);
            let whole = self.context.decompress(out, input) == Ok(size);
            if !whole {
                out.clear();
            }
            return whole;
        }
        self.scratch.clear();
        self.scratch.reserve(size);
        if self.context.decompress(&mut self.scratch, input) != Ok(size) {
            return false;
        }
        out.extend_from_slice(&self.scratch);
        true
    }

    fn begin(&mut self) {
        let _ = self.context.reset(ResetDirective::SessionOnly);
    }

    fn step(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<Step, Reason> {
        self.scratch.clear();
        self.scratch.reserve(STEP);
        let mut source = InBuffer::around(input);
        let mut target = OutBuffer::around(&mut self.scratch);
        let hint = self.context.decompress_stream(&mut target, &mut source);
        let produced = target.pos();
        let consumed = source.pos();
        out.extend_from_slice(&self.scratch[..produced]);
        match hint {
            Ok(0) => Ok(Step { consumed, finished: true }),
            Ok(_) if consumed == 0 && produced == 0 => Err(Reason::Corrupt),
            Ok(_) => Ok(Step { consumed, finished: false }),
            Err(_) => Err(Reason::Corrupt),
        }
    }
}

/// How long a frame is.
pub(super) enum Walk {
    Length(usize),
    Torn,
    Bad,
}

/// Walks along the blocks of the frame that begins `from` bytes into the source, bringing all of it into the window.
pub(super) fn walk(source: &mut Source, from: usize, header: FrameHeader) -> io::Result<Walk> {
    let mut at = from + header.header_bytes;
    // Every block but the last holds something, so a frame cannot be much longer than what it holds.
    let most = from + header.content_bytes.unwrap_or(UNIT_MAX as u64) as usize * 2 + 64 * 1024;
    loop {
        let window = source.fill(at + 3)?;
        let Some(block_header) = window.get(at..at + 3) else { return Ok(Walk::Torn) };
        let step = frame::block([block_header[0], block_header[1], block_header[2]]);
        match step {
            Some(Block::Next(length)) if at + length <= most => at += length,
            Some(Block::Last(length)) => {
                at += length + if header.has_checksum { 4 } else { 0 };
                break;
            }
            _ => return Ok(Walk::Bad),
        }
    }
    let whole = source.fill(at)?.len() >= at;
    Ok(if whole { Walk::Length(at - from) } else { Walk::Torn })
}

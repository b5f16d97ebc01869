//! Decoders of units: gzip members and zstd frames, whole where they fit and step by step where they do not.

use std::io;

use flate2::{Crc, Decompress, FlushDecompress, Status};
use zstd::zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer, ResetDirective};

use super::damage::Reason;
use super::dictionary;
use super::frame::{self, Block, FrameHeader};
use super::member::{Inflater, Outcome};
use super::source::Source;
use super::stream::{STEP, UNIT_MAX, WINDOW_LOG_MAX};

/// Room for a gzip member, so that most are decoded in one go.
const OUTPUT_BUFFER_BYTES: usize = 1024 * 1024;

/// One step of a decoder.
pub(super) struct Step {
    pub(super) consumed: usize,
    pub(super) finished: bool,
}

/// The gzip decoder: raw deflate, with the checksum and length at the end compared here.
///
/// A member that lies whole in the window and fits is decoded at once by another, faster decoder; everything else, damage
/// too, goes step by step.
pub(super) struct Gzip {
    whole: Inflater,
    /// The longest member so far, packed.
    longest: usize,
    inflate: Decompress,
    crc: Crc,
    trailer: Option<Vec<u8>>,
    output_buffer: Vec<u8>,
}

impl Gzip {
    pub(super) fn new() -> Gzip {
        let output_buffer = vec![0; OUTPUT_BUFFER_BYTES];
        let inflate = Decompress::new(false);
        Gzip { whole: Inflater::new(), longest: 0, inflate, crc: Crc::new(), trailer: None, output_buffer }
    }

    /// How much of the input should be at hand for most members to be whole in it.
    pub(super) fn wanted(&self) -> usize {
        (2 * self.longest).clamp(64 * 1024, UNIT_MAX)
    }

    /// Decodes the member at the front of `input` onto the end of `out` and says how long it was; `None` if it is not
    /// whole, not right, or larger than a unit, without telling which.
    pub(super) fn decode(&mut self, input: &[u8], out: &mut Vec<u8>) -> Option<usize> {
        loop {
            match self.whole.inflate(input, &mut self.output_buffer) {
                Outcome::Whole { consumed, produced } => {
                    self.longest = self.longest.max(consumed);
                    out.extend_from_slice(&self.output_buffer[..produced]);
                    return Some(consumed);
                }
                Outcome::TooLarge if self.output_buffer.len() < UNIT_MAX => {
                    self.output_buffer.resize(self.output_buffer.len() * 4, 0)
                }
                Outcome::TooLarge | Outcome::Bad => return None,
            }
        }
    }

    pub(super) fn begin(&mut self) {
        self.inflate.reset(false);
        self.crc.reset();
        self.trailer = None;
    }

    pub(super) fn step(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<Step, Reason> {
        if self.trailer.is_some() {
            return self.finish(input, 0);
        }
        let (before, produced_before) = (self.inflate.total_in(), self.inflate.total_out());
        // Asked to finish, inflate does not copy its window aside if it comes to the end, as it mostly does. The output buffer is
        // made once: handed a vector, the library would clear all that is free in it every time.
        let status = self.inflate.decompress(input, &mut self.output_buffer, FlushDecompress::Finish);
        let produced = (self.inflate.total_out() - produced_before) as usize;
        self.crc.update(&self.output_buffer[..produced]);
        out.extend_from_slice(&self.output_buffer[..produced]);
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
    pub(super) dictionary_id: u32,
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
    pub(super) fn decode(&mut self, input: &[u8], size: usize, out: &mut Vec<u8>) -> bool {
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

    pub(super) fn begin(&mut self) {
        let _ = self.context.reset(ResetDirective::SessionOnly);
    }

    pub(super) fn step(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<Step, Reason> {
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
pub(super) enum FrameLength {
    Length(usize),
    /// The input ends inside it, after this many bytes were walked along.
    Torn(usize),
    /// It cannot be a frame, as was seen after this many bytes.
    Bad(usize),
}

/// Walks along the blocks of the frame that begins `from` bytes into the source, bringing all of it into the window.
pub(super) fn measure_frame(source: &mut Source, from: usize, header: FrameHeader) -> io::Result<FrameLength> {
    let mut at = from + header.header_bytes;
    // Every block but the last holds something, so a frame cannot be much longer than what it holds.
    let most = from + header.content_bytes.unwrap_or(UNIT_MAX as u64) as usize * 2 + 64 * 1024;
    loop {
        let window = source.fill(at + 3)?;
        let Some(block_header) = window.get(at..at + 3) else { return Ok(FrameLength::Torn(at - from)) };
        let step = frame::block([block_header[0], block_header[1], block_header[2]]);
        match step {
            Some(Block::Next(length)) if at + length <= most => at += length,
            Some(Block::Last(length)) => {
                at += length + if header.has_checksum { 4 } else { 0 };
                break;
            }
            _ => return Ok(FrameLength::Bad(at - from)),
        }
    }
    let whole = source.fill(at)?.len() >= at;
    Ok(if whole { FrameLength::Length(at - from) } else { FrameLength::Torn(at - from) })
}

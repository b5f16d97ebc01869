//! One content encoding, undone call by call between two buffers.

use std::io;

use brotli::enc::StandardAlloc;
use brotli::{BrotliDecompressStream, BrotliResult, BrotliState};
use flate2::{Decompress, FlushDecompress, Status};
use zstd::stream::raw::{DParameter, Decoder, Operation};

use super::invalid;

/// The largest window that a zstd frame may ask for, as RFC 9659 says.
const MAX_ZSTD_WINDOW_LOG: u32 = 23;
/// The window of gzip, which every decoder must have.
const GZIP_WINDOW_LOG: u8 = 15;
/// The first byte of a gzip member.
const GZIP_MARK: u8 = 0x1F;

/// What one call did.
pub(super) struct Ran {
    pub(super) n_read: usize,
    pub(super) n_written: usize,
    /// It began a member or frame, which takes time to prepare however little is in it.
    pub(super) is_new: bool,
    /// The encoding says that nothing follows.
    pub(super) has_ended: bool,
}

impl Ran {
    const NOTHING: Ran = Ran { n_read: 0, n_written: 0, is_new: false, has_ended: false };
    const END: Ran = Ran { has_ended: true, ..Ran::NOTHING };
}

pub(super) enum Layer {
    Gzip(Gzip),
    Inflate(Box<Decompress>),
    /// `deflate` means zlib, but some servers send raw deflate: the first byte decides.
    UnknownDeflate,
    /// A gzip file or none: the first byte decides.
    PerhapsGzip,
    Identity,
    Brotli(Box<Brotli>),
    Zstd(Zstd),
}

/// Gzip members, one after the other.
pub(super) struct Gzip {
    inflate: Box<Decompress>,
    is_between: bool,
}

type Brotli = BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>;

/// Zstd frames, one after the other.
pub(super) struct Zstd {
    decoder: Box<Decoder<'static>>,
    is_between: bool,
}

impl Layer {
    /// The layer of a name in `Content-Encoding`, in lower case.
    pub(super) fn named(name: &str) -> Option<Layer> {
        Some(match name {
            "gzip" | "x-gzip" => Layer::gzip(),
            "deflate" => Layer::UnknownDeflate,
            // The strict state refuses windows of up to a gigabyte, which HTTP does not have.
            "br" => Layer::Brotli(Box::new(BrotliState::new_strict(
                StandardAlloc::default(),
                StandardAlloc::default(),
                StandardAlloc::default(),
            ))),
            "zstd" => {
                let mut decoder = Box::new(Decoder::new().ok()?);
                decoder.set_parameter(DParameter::WindowLogMax(MAX_ZSTD_WINDOW_LOG)).ok()?;
                Layer::Zstd(Zstd { decoder, is_between: false })
            }
            _ => return None,
        })
    }

    /// A gzip file or plain bytes.
    pub(super) fn perhaps_gzip() -> Layer {
        Layer::PerhapsGzip
    }

    /// Whether the last member or frame has ended.
    pub(super) fn is_between(&self) -> bool {
        match self {
            Layer::Gzip(gzip) => gzip.is_between,
            Layer::Zstd(zstd) => zstd.is_between,
            Layer::Identity | Layer::PerhapsGzip => true,
            Layer::Inflate(_) | Layer::UnknownDeflate | Layer::Brotli(_) => false,
        }
    }

    fn gzip() -> Layer {
        Layer::Gzip(Gzip { inflate: Box::new(Decompress::new_gzip(GZIP_WINDOW_LOG)), is_between: false })
    }

    /// Decodes from `input` into `output`, neither of which need be used up.
    pub(super) fn run(&mut self, input: &[u8], output: &mut [u8]) -> io::Result<Ran> {
        match (&*self, input.first()) {
            // Compression method 8 with a window of at most 32 KiB is in the first byte of every zlib stream.
            (Layer::UnknownDeflate, Some(first)) => {
                *self = Layer::Inflate(Box::new(Decompress::new(first & 0x8f == 0x08)));
            }
            (Layer::PerhapsGzip, Some(&GZIP_MARK)) => *self = Layer::gzip(),
            (Layer::PerhapsGzip, Some(_)) => *self = Layer::Identity,
            _ => {}
        }
        match self {
            Layer::Gzip(gzip) => gzip.run(input, output),
            Layer::Inflate(decoder) => inflate(decoder, input, output),
            Layer::UnknownDeflate | Layer::PerhapsGzip => Ok(Ran::NOTHING),
            Layer::Identity => {
                let n_bytes = input.len().min(output.len());
                output[..n_bytes].copy_from_slice(&input[..n_bytes]);
                Ok(Ran { n_read: n_bytes, n_written: n_bytes, ..Ran::NOTHING })
            }
            Layer::Brotli(state) => unbrotli(state, input, output),
            Layer::Zstd(zstd) => zstd.run(input, output),
        }
    }
}

impl Gzip {
    fn run(&mut self, input: &[u8], output: &mut [u8]) -> io::Result<Ran> {
        if self.is_between {
            match input.first() {
                None => return Ok(Ran::NOTHING),
                // Servers pad files with zeros and worse; browsers ignore what is no member.
                Some(&first) if first != GZIP_MARK => return Ok(Ran::END),
                Some(_) => *self.inflate = Decompress::new_gzip(GZIP_WINDOW_LOG),
            }
        }
        let ran = inflate(&mut self.inflate, input, output)?;
        let is_new = std::mem::replace(&mut self.is_between, ran.has_ended);
        Ok(Ran { is_new, has_ended: false, ..ran })
    }
}

fn inflate(decoder: &mut Decompress, input: &[u8], output: &mut [u8]) -> io::Result<Ran> {
    let (read_before, written_before) = (decoder.total_in(), decoder.total_out());
    let status = decoder.decompress(input, output, FlushDecompress::None)?;
    Ok(Ran {
        n_read: (decoder.total_in() - read_before) as usize,
        n_written: (decoder.total_out() - written_before) as usize,
        is_new: false,
        has_ended: status == Status::StreamEnd,
    })
}

fn unbrotli(state: &mut Brotli, input: &[u8], output: &mut [u8]) -> io::Result<Ran> {
    let (mut n_left, mut n_read, mut room, mut n_written, mut total) = (input.len(), 0, output.len(), 0, 0);
    let result =
        BrotliDecompressStream(&mut n_left, &mut n_read, input, &mut room, &mut n_written, output, &mut total, state);
    match result {
        BrotliResult::ResultFailure => Err(invalid("not brotli")),
        BrotliResult::ResultSuccess => Ok(Ran { n_read, n_written, ..Ran::END }),
        BrotliResult::NeedsMoreInput | BrotliResult::NeedsMoreOutput => Ok(Ran { n_read, n_written, ..Ran::NOTHING }),
    }
}

impl Zstd {
    fn run(&mut self, input: &[u8], output: &mut [u8]) -> io::Result<Ran> {
        // A frame begins with 0x28, a skippable one with 0x50 to 0x5F.
        if self.is_between && input.first().is_some_and(|&first| first != 0x28 && first >> 4 != 5) {
            return Ok(Ran::END);
        }
        let status = self.decoder.run_on_buffers(input, output)?;
        let is_new = std::mem::replace(&mut self.is_between, status.remaining == 0);
        Ok(Ran { n_read: status.bytes_read, n_written: status.bytes_written, is_new, has_ended: false })
    }
}

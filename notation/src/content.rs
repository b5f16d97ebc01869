//! Streaming decompression of content encodings, with bounds on output, work and time.
//!
//! A few hundred bytes can stand for gigabytes between two encodings, or for millions of empty members that decode to
//! nothing. So no layer may consume much more than it gives, bytes move between layers through small buffers, and the
//! work is done in short steps, so that the caller can do other things in between.

mod layer;

use std::io;
use std::time::{Duration, Instant};

use bytes::{Buf, Bytes};

use layer::Layer;

/// What a request says that [`Body`] can undo.
pub const ACCEPT_ENCODING: &str = "gzip, br, zstd, deflate";

/// How many encodings may be stacked on one body.
const MAX_LAYERS: usize = 2;
/// The bytes that a layer may consume before it gives any. A zstd block of 128 KiB must have arrived whole.
const FREE_BYTES: u64 = 256 << 10;
/// The bytes that a layer may consume for each that it gives. A server that flushes after every byte sends six for it.
const MAX_CONSUMED_PER_BYTE: u64 = 8;
/// The bytes that a new member or frame counts for, besides its own: to begin one takes about as long.
const MEMBER_BYTES: u64 = 512;
/// The bytes that a layer gets at once, which bounds the time of one call.
const MAX_INPUT: usize = 16 << 10;
/// The bytes that a layer gives at once.
const MAX_OUTPUT: usize = 32 << 10;
/// A step ends after this many bytes read and written, or this time.
const STEP_BYTES: usize = 256 << 10;
const STEP_TIME: Duration = Duration::from_millis(2);
/// The time that one body may take to decode. 50 MB take a few tenths of a second.
const MAX_TIME: Duration = Duration::from_secs(5);

/// A body that is decoded while it arrives.
///
/// Each piece is given to [`Body::feed`], then [`Body::step`] is called until it does not say [`Fed::Busy`].
pub struct Body {
    /// The outermost first, which reads from the connection.
    stages: Vec<Stage>,
    /// The rest of the last piece.
    wire: Bytes,
    output: Vec<u8>,
    /// What a layer writes to.
    scratch: Vec<u8>,
    max_bytes: usize,
    /// Bytes that were decoded and dropped.
    n_dropped: usize,
    spent: Duration,
}

/// The state after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fed {
    /// The last piece is not decoded yet: another step is needed.
    Busy,
    /// More may come.
    More,
    /// The body has reached its bound; further bytes are ignored.
    Full,
    /// The encoded body has ended before the bytes have; the rest is not part of it.
    Ended,
}

/// A layer and what it has consumed and given.
struct Stage {
    layer: Layer,
    /// What the layer before has given; unused for the first.
    input: Bytes,
    n_read: u64,
    n_written: u64,
    /// The last output was full: more may be held back.
    holds_more: bool,
    has_ended: bool,
}

impl Stage {
    fn new(layer: Layer) -> Stage {
        Stage { layer, input: Bytes::new(), n_read: 0, n_written: 0, holds_more: false, has_ended: false }
    }

    /// Decodes once; gives the bytes read and written.
    fn run(&mut self, input: &[u8], output: &mut [u8]) -> io::Result<(usize, usize)> {
        let ran = self.layer.run(input, output)?;
        self.n_read += ran.n_read as u64 + if ran.is_new { MEMBER_BYTES } else { 0 };
        self.n_written += ran.n_written as u64;
        self.holds_more = ran.n_written == output.len();
        self.has_ended = ran.has_ended;
        if self.n_read > FREE_BYTES + MAX_CONSUMED_PER_BYTE * self.n_written {
            return Err(invalid("the encoding has hardly any content"));
        }
        if !input.is_empty() && ran.n_read == 0 && ran.n_written == 0 && !ran.has_ended {
            return Err(invalid("the encoding does not go on"));
        }
        Ok((ran.n_read, ran.n_written))
    }

    /// Whether nothing is missing of what was begun.
    fn is_at_end(&self) -> bool {
        self.has_ended || self.layer.is_between()
    }
}

fn invalid(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

impl Body {
    /// A body with the encodings of its `Content-Encoding` headers; `None` when one is unknown or there are too many.
    /// `expected_bytes` is the initial capacity.
    pub fn new(encodings: &str, max_bytes: usize, expected_bytes: usize) -> Option<Body> {
        let names = encodings.split(',').map(str::trim).filter(|name| !name.is_empty());
        let names: Vec<String> = names.map(str::to_ascii_lowercase).filter(|name| name != "identity").collect();
        if names.len() > MAX_LAYERS {
            return None;
        }
        // The last name is the encoding applied last, which is decoded first.
        let stages: Vec<Stage> =
            names.iter().rev().map(|name| Layer::named(name).map(Stage::new)).collect::<Option<_>>()?;
        let output = Vec::with_capacity(expected_bytes.min(max_bytes));
        Some(Body {
            stages,
            wire: Bytes::new(),
            output,
            scratch: Vec::new(),
            max_bytes,
            n_dropped: 0,
            spent: Duration::ZERO,
        })
    }

    /// The same body, which may also be a gzip file inside of its encodings, told by its first byte.
    pub fn or_gzip_file(mut self) -> Body {
        self.stages.push(Stage::new(Layer::perhaps_gzip()));
        self
    }

    /// Takes the next bytes from the connection, once the last ones are decoded.
    pub fn feed(&mut self, piece: Bytes) {
        debug_assert!(self.wire.is_empty(), "the last piece is decoded first");
        self.wire = piece;
    }

    /// Decodes some of the last piece: at most a few hundred kilobytes or milliseconds of work.
    ///
    /// # Errors
    /// When the bytes are not what the encodings say, or take far more work than their content is worth.
    pub fn step(&mut self) -> io::Result<Fed> {
        let started = Instant::now();
        let mut n_bytes = 0;
        while n_bytes < STEP_BYTES && started.elapsed() < STEP_TIME {
            if self.is_full() {
                return Ok(Fed::Full);
            }
            match self.run_once()? {
                Some((n_read, n_written)) => n_bytes += n_read + n_written,
                None if self.is_past_end() => return Ok(Fed::Ended),
                None => return Ok(Fed::More),
            }
        }
        self.spent += started.elapsed();
        if self.spent > MAX_TIME {
            return Err(invalid("the encoding takes too long"));
        }
        Ok(if self.is_full() { Fed::Full } else { Fed::Busy })
    }

    /// Decodes all of the last piece.
    fn run_all(&mut self) -> io::Result<()> {
        while !self.is_full() && self.run_once()?.is_some() {}
        Ok(())
    }

    /// Runs the innermost layer that can go on; `None` when none can.
    fn run_once(&mut self) -> io::Result<Option<(usize, usize)>> {
        let room = MAX_OUTPUT.min(self.max_bytes - self.n_dropped - self.output.len());
        if self.stages.is_empty() {
            let taken = self.wire.split_to(room.min(self.wire.len()));
            self.output.extend_from_slice(&taken);
            return Ok((!taken.is_empty()).then_some((taken.len(), taken.len())));
        }
        for index in (0..self.stages.len()).rev() {
            let stage = &self.stages[index];
            // What the layers around it still hold is not part of the body, sound or not.
            if stage.has_ended {
                return Ok(None);
            }
            let is_waiting = if index == 0 { self.wire.is_empty() } else { stage.input.is_empty() };
            if is_waiting && !stage.holds_more {
                continue;
            }
            let ran = self.run_stage(index, room)?;
            if ran != (0, 0) {
                return Ok(Some(ran));
            }
        }
        Ok(None)
    }

    /// Runs one layer from its input into that of the next, or into the body.
    fn run_stage(&mut self, index: usize, room: usize) -> io::Result<(usize, usize)> {
        let (before, after) = self.stages.split_at_mut(index + 1);
        let stage = &mut before[index];
        let mut input = std::mem::take(if index == 0 { &mut self.wire } else { &mut stage.input });
        let bytes = &input[..input.len().min(MAX_INPUT)];
        self.scratch.resize(MAX_OUTPUT, 0);
        let room = if after.is_empty() { room } else { MAX_OUTPUT };
        let (n_read, n_written) = stage.run(bytes, &mut self.scratch[..room])?;
        match after.first_mut() {
            None => self.output.extend_from_slice(&self.scratch[..n_written]),
            Some(next) => next.input = Bytes::copy_from_slice(&self.scratch[..n_written]),
        }
        input.advance(n_read);
        *(if index == 0 { &mut self.wire } else { &mut stage.input }) = input;
        Ok((n_read, n_written))
    }

    /// Whether there are bytes behind the end of an encoding.
    fn is_past_end(&self) -> bool {
        let Some(ended) = self.stages.iter().rposition(|stage| stage.has_ended) else { return false };
        !self.wire.is_empty() || self.stages[..=ended].iter().any(|stage| !stage.input.is_empty() || stage.holds_more)
    }

    fn is_full(&self) -> bool {
        self.n_dropped + self.output.len() >= self.max_bytes
    }

    /// The bytes decoded so far that were not dropped.
    pub fn bytes(&self) -> &[u8] {
        &self.output
    }

    /// Drops the bytes decoded so far. They still count towards the bound.
    pub fn drop_bytes(&mut self) {
        self.n_dropped += self.output.len();
        self.output.clear();
    }

    /// Everything that was decoded; less than was sent when the encoded body was truncated.
    pub fn finish(self) -> Vec<u8> {
        self.output
    }
}

/// Undoes one encoding of a body that is at hand, at most `max_bytes` of it and one more, and says whether its end was
/// reached; `None` if the encoding is unknown or nothing comes out. There is no clock in it: the same bytes give the same.
pub(crate) fn decode_whole(encoding: &[u8], wire: &[u8], max_bytes: usize) -> Option<(Vec<u8>, bool)> {
    let mut body = Body::new(std::str::from_utf8(encoding).ok()?, max_bytes.saturating_add(1), 0)?;
    if body.stages.is_empty() {
        return None;
    }
    let mut is_sound = true;
    for piece in wire.chunks(MAX_OUTPUT) {
        body.feed(Bytes::copy_from_slice(piece));
        is_sound = body.run_all().is_ok();
        if !is_sound || body.is_full() || !body.wire.is_empty() {
            break;
        }
    }
    let has_ended = is_sound && !body.is_full() && body.stages.iter().all(Stage::is_at_end);
    let is_packed = !body.output.is_empty() || (has_ended && !wire.is_empty());
    is_packed.then_some((body.output, has_ended))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        out.write_all(bytes).unwrap();
        out.finish().unwrap()
    }

    fn zlib(bytes: &[u8]) -> Vec<u8> {
        let mut out = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        out.write_all(bytes).unwrap();
        out.finish().unwrap()
    }

    fn deflate(bytes: &[u8]) -> Vec<u8> {
        let mut out = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
        out.write_all(bytes).unwrap();
        out.finish().unwrap()
    }

    fn brotlied(bytes: &[u8]) -> Vec<u8> {
        let mut out = brotli::CompressorWriter::new(Vec::new(), 4096, 5, 22);
        out.write_all(bytes).unwrap();
        out.into_inner()
    }

    fn zstded(bytes: &[u8]) -> Vec<u8> {
        zstd::encode_all(bytes, 3).unwrap()
    }

    /// Decodes a whole piece.
    fn decode(body: &mut Body, piece: &[u8]) -> io::Result<Fed> {
        body.feed(Bytes::copy_from_slice(piece));
        loop {
            match body.step()? {
                Fed::Busy => {}
                other => return Ok(other),
            }
        }
    }

    #[track_caller]
    fn check(encodings: &str, wire: &[u8], expected: &[u8]) {
        for size in [1, 7, 4096] {
            let mut body = Body::new(encodings, 1 << 24, 0).unwrap();
            for piece in wire.chunks(size) {
                assert_eq!(decode(&mut body, piece).unwrap(), Fed::More);
            }
            assert!(body.finish() == expected, "{encodings} in pieces of {size}");
        }
    }

    #[test]
    fn every_encoding_is_undone_however_the_bytes_arrive() {
        let text = b"<p>some text, some more text</p>".repeat(300);
        check("", &text, &text);
        check("identity", &text, &text);
        check("gzip", &gzip(&text), &text);
        check("x-gzip", &[gzip(&text), gzip(&text)].concat(), &[&text[..], &text].concat());
        check("deflate", &zlib(&text), &text);
        check("deflate", &deflate(&text), &text);
        check("br", &brotlied(&text), &text);
        check("zstd", &zstd::encode_all(&text[..], 3).unwrap(), &text);
        check("gzip, br", &brotlied(&gzip(&text)), &text);
    }

    #[test]
    fn a_bomb_fills_the_body_and_no_more() {
        let zeros = vec![0; 50 << 20];
        for (encoding, wire) in
            [("gzip", gzip(&zeros)), ("br", brotlied(&zeros)), ("zstd", zstd::encode_all(&zeros[..], 3).unwrap())]
        {
            let mut body = Body::new(encoding, 1 << 20, 0).unwrap();
            let fed = wire.chunks(1 << 14).map(|piece| decode(&mut body, piece).unwrap()).find(|fed| *fed == Fed::Full);
            assert_eq!(fed, Some(Fed::Full), "{encoding}");
            assert_eq!(body.finish().len(), 1 << 20, "{encoding}");
        }
    }

    #[test]
    fn nonsense_is_an_error_and_no_panic() {
        for encoding in ["gzip", "br", "zstd", "deflate"] {
            let mut body = Body::new(encoding, 1 << 20, 0).unwrap();
            let wire: Vec<u8> = (0..5000_u32).map(|index| ((index * 7919) >> 3) as u8 | 1).collect();
            let failed = wire.chunks(100).any(|piece| decode(&mut body, piece).is_err());
            assert!(failed || body.finish().len() < 1 << 20, "{encoding}");
        }
        assert!(Body::new("gzip, gzip, gzip", 10, 0).is_none());
        assert!(Body::new("rot13", 10, 0).is_none());
    }

    /// Feeds the same piece again and again; gives the number of pieces until the body is refused or ends.
    #[track_caller]
    fn refused_after(encodings: &str, first: &[u8], piece: &[u8]) -> usize {
        let mut body = Body::new(encodings, 1 << 20, 0).unwrap();
        decode(&mut body, first).unwrap();
        let refused = (1..100_000).find(|_| decode(&mut body, piece).is_err());
        refused.unwrap_or_else(|| panic!("{encodings} went on for ever"))
    }

    #[test]
    fn what_decodes_to_nothing_is_refused_soon() {
        let empty = gzip(b"");
        let members = empty.repeat(1000);
        assert!(refused_after("gzip", &[], &members) < 20);
        assert!(refused_after("zstd", &[], &zstded(b"").repeat(1000)) < 50);
        assert!(refused_after("zstd", &[], &[&b"\x50\x2a\x4d\x18\x00\x10\x00\x00"[..], &[0; 4096]].concat()) < 100);
        // A header whose file name never ends.
        assert!(refused_after("gzip", b"\x1f\x8b\x08\x08\0\0\0\0\0\x03", &[b'a'; 1 << 14]) < 20);
        // A byte of content in each member does not help.
        assert!(refused_after("gzip", &[], &gzip(b"a").repeat(1000)) < 30);
    }

    #[test]
    fn what_lies_between_two_encodings_is_bounded() {
        // 8 MB of empty members, which brotli and zstd make a few hundred bytes or kilobytes of.
        let members = gzip(b"").repeat(400_000);
        for (encodings, wire) in
            [("gzip, br", brotlied(&members)), ("gzip, zstd", zstded(&members)), ("gzip, gzip", gzip(&members))]
        {
            let mut body = Body::new(encodings, 1 << 20, 0).unwrap();
            let result = decode(&mut body, &wire);
            assert!(result.is_err(), "{encodings}, {} bytes: {result:?}", wire.len());
            assert!(body.stages[0].n_written < 1 << 20, "{encodings}: {} bytes between", body.stages[0].n_written);
        }
    }

    #[test]
    fn a_step_is_short_however_much_a_piece_holds() {
        let wire = brotlied(&vec![0; 50 << 20]);
        let mut body = Body::new("br", 50 << 20, 0).unwrap();
        body.feed(wire.into());
        let mut n_steps = 0;
        loop {
            let before = body.bytes().len();
            let fed = body.step().unwrap();
            assert!(body.bytes().len() - before <= STEP_BYTES + MAX_OUTPUT);
            n_steps += 1;
            if fed != Fed::Busy {
                break;
            }
        }
        assert!(n_steps > 100, "{n_steps} steps");
    }

    #[test]
    fn bytes_behind_the_end_are_not_part_of_the_body() {
        for (encoding, wire) in
            [("gzip", gzip(b"text")), ("br", brotlied(b"text")), ("zstd", zstded(b"text")), ("deflate", zlib(b"text"))]
        {
            let mut body = Body::new(encoding, 1 << 20, 0).unwrap();
            assert_eq!(decode(&mut body, &wire).unwrap(), Fed::More, "{encoding}");
            assert_eq!(decode(&mut body, &[0; 8]).unwrap(), Fed::Ended, "{encoding}");
            assert_eq!(body.finish(), b"text", "{encoding}");
        }
    }

    #[test]
    fn damage_far_behind_the_end_of_the_inner_encoding_is_none_however_it_arrives() {
        let noise = (0..100_000_u32).map(|index| (index.wrapping_mul(2_654_435_761) >> 24) as u8);
        let mut wire = gzip(&brotlied(b"text").into_iter().chain(noise).collect::<Vec<u8>>());
        let checksum = wire.len() - 8;
        wire[checksum] ^= 1;
        for size in [1, 700, wire.len()] {
            let mut body = Body::new("br, gzip", 1 << 20, 0).unwrap();
            let fed = wire.chunks(size).map(|piece| decode(&mut body, piece).unwrap()).find(|fed| *fed == Fed::Ended);
            assert_eq!(fed, Some(Fed::Ended), "in pieces of {size}");
            assert_eq!(body.finish(), b"text", "in pieces of {size}");
        }
    }

    #[test]
    fn a_gzip_file_may_stand_inside_of_the_encodings() {
        let text = b"<urlset>".repeat(1000);
        for (encodings, wire) in
            [("", gzip(&text)), ("gzip", gzip(&gzip(&text))), ("br", brotlied(&text)), ("", text.clone())]
        {
            let mut body = Body::new(encodings, 1 << 20, 0).unwrap().or_gzip_file();
            assert_eq!(decode(&mut body, &wire).unwrap(), Fed::More);
            assert!(body.finish() == text, "{encodings}");
        }
    }
}

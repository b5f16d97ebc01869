//! Content encodings undone while the body arrives, never beyond a bound.

use std::io::{self, Write};

/// How many encodings may be stacked on one body.
const MAX_LAYERS: usize = 2;
/// The largest window that a zstd frame may ask for, as RFC 9659 says.
const MAX_ZSTD_WINDOW_LOG: u32 = 23;

/// A body on its way through its encodings.
pub(crate) struct Body {
    layers: Layer,
}

/// What became of a piece of body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fed {
    /// It was taken; more may come.
    More,
    /// The body has reached its bound; what comes now is not looked at.
    Full,
}

/// The end of the pipe: keeps bytes up to a bound.
struct Kept {
    bytes: Vec<u8>,
    max_bytes: usize,
}

impl Write for Kept {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        let room = self.max_bytes - self.bytes.len();
        if room == 0 && !piece.is_empty() {
            return Err(io::Error::new(io::ErrorKind::WriteZero, "the body is full"));
        }
        let taken = piece.len().min(room);
        self.bytes.extend_from_slice(&piece[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

enum Layer {
    Kept(Kept),
    Gzip(Box<flate2::write::MultiGzDecoder<Layer>>),
    Zlib(Box<flate2::write::ZlibDecoder<Layer>>),
    Deflate(Box<flate2::write::DeflateDecoder<Layer>>),
    /// `deflate` means zlib, but some servers send raw deflate: the first byte tells.
    UnknownDeflate(Option<Box<Layer>>),
    Brotli(Box<brotli::DecompressorWriter<Layer>>),
    Zstd(Box<zstd::stream::write::Decoder<'static, Layer>>),
}

impl Layer {
    fn kept(&self) -> &Kept {
        match self {
            Layer::Kept(kept) => kept,
            Layer::Gzip(inner) => inner.get_ref().kept(),
            Layer::Zlib(inner) => inner.get_ref().kept(),
            Layer::Deflate(inner) => inner.get_ref().kept(),
            Layer::UnknownDeflate(inner) => inner.as_ref().expect("only empty while it is replaced").kept(),
            Layer::Brotli(inner) => inner.get_ref().kept(),
            Layer::Zstd(inner) => inner.get_ref().kept(),
        }
    }

    fn take(&mut self) -> Vec<u8> {
        match self {
            Layer::Kept(kept) => std::mem::take(&mut kept.bytes),
            Layer::Gzip(inner) => inner.get_mut().take(),
            Layer::Zlib(inner) => inner.get_mut().take(),
            Layer::Deflate(inner) => inner.get_mut().take(),
            Layer::UnknownDeflate(inner) => inner.as_mut().expect("only empty while it is replaced").take(),
            Layer::Brotli(inner) => inner.get_mut().take(),
            Layer::Zstd(inner) => inner.get_mut().take(),
        }
    }
}

impl Write for Layer {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        if let Layer::UnknownDeflate(inner) = self
            && let Some(&first) = piece.first()
        {
            let inner = *inner.take().expect("replaced below");
            // Compression method 8 with a window of at most 32 KiB stands in the first byte of every zlib stream.
            *self = if first & 0x8f == 0x08 {
                Layer::Zlib(Box::new(flate2::write::ZlibDecoder::new(inner)))
            } else {
                Layer::Deflate(Box::new(flate2::write::DeflateDecoder::new(inner)))
            };
        }
        match self {
            Layer::Kept(kept) => kept.write(piece),
            Layer::Gzip(inner) => inner.write(piece),
            Layer::Zlib(inner) => inner.write(piece),
            Layer::Deflate(inner) => inner.write(piece),
            Layer::UnknownDeflate(_) => Ok(0),
            Layer::Brotli(inner) => inner.write(piece),
            Layer::Zstd(inner) => inner.write(piece),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Layer::Kept(kept) => kept.flush(),
            Layer::Gzip(inner) => inner.flush(),
            Layer::Zlib(inner) => inner.flush(),
            Layer::Deflate(inner) => inner.flush(),
            Layer::UnknownDeflate(_) => Ok(()),
            Layer::Brotli(inner) => inner.flush(),
            Layer::Zstd(inner) => inner.flush(),
        }
    }
}

impl Body {
    /// A body with the encodings of its `Content-Encoding` headers; nothing when one is not known or there are too
    /// many. `expected_bytes` is how much room to make at once.
    pub(crate) fn new(encodings: &str, max_bytes: usize, expected_bytes: usize) -> Option<Body> {
        let bytes = Vec::with_capacity(expected_bytes.min(max_bytes));
        let mut layers = Layer::Kept(Kept { bytes, max_bytes });
        let names = encodings.split(',').map(str::trim).filter(|name| !name.is_empty());
        let names: Vec<String> = names.map(str::to_ascii_lowercase).filter(|name| name != "identity").collect();
        if names.len() > MAX_LAYERS {
            return None;
        }
        // The last name is the encoding applied last; undoing starts there, so the first name lies innermost.
        for name in &names {
            layers = match name.as_str() {
                "gzip" | "x-gzip" => Layer::Gzip(Box::new(flate2::write::MultiGzDecoder::new(layers))),
                "deflate" => Layer::UnknownDeflate(Some(Box::new(layers))),
                "br" => Layer::Brotli(Box::new(brotli::DecompressorWriter::new(layers, 1 << 14))),
                "zstd" => {
                    let mut decoder = zstd::stream::write::Decoder::new(layers).ok()?;
                    decoder.window_log_max(MAX_ZSTD_WINDOW_LOG).ok()?;
                    Layer::Zstd(Box::new(decoder))
                }
                _ => return None,
            };
        }
        Some(Body { layers })
    }

    /// Takes the next bytes from the wire.
    ///
    /// # Errors
    /// When they are not what the encodings say.
    pub(crate) fn feed(&mut self, mut piece: &[u8]) -> io::Result<Fed> {
        while !piece.is_empty() {
            match self.layers.write(piece) {
                Ok(0) => break, // Bytes behind the end of the encoded body.
                Ok(taken) => piece = &piece[taken..],
                Err(_) if self.is_full() => return Ok(Fed::Full),
                Err(error) => return Err(error),
            }
        }
        self.push_through()
    }

    fn push_through(&mut self) -> io::Result<Fed> {
        match self.layers.flush() {
            Ok(()) => Ok(if self.is_full() { Fed::Full } else { Fed::More }),
            Err(_) if self.is_full() => Ok(Fed::Full),
            Err(error) => Err(error),
        }
    }

    fn is_full(&self) -> bool {
        let kept = self.layers.kept();
        kept.bytes.len() >= kept.max_bytes
    }

    /// What has been decoded so far.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.layers.kept().bytes
    }

    /// Everything that was decoded.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        // What still stands in a decoder belongs to an encoding that was cut off.
        let _ = self.layers.flush();
        self.layers.take()
    }
}

#[cfg(test)]
mod tests {
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

    #[track_caller]
    fn check(encodings: &str, wire: &[u8], expected: &[u8]) {
        for size in [1, 7, 4096] {
            let mut body = Body::new(encodings, 1 << 24, 0).unwrap();
            for piece in wire.chunks(size) {
                assert_eq!(body.feed(piece).unwrap(), Fed::More);
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
            let fed = wire.chunks(1 << 14).map(|piece| body.feed(piece).unwrap()).find(|fed| *fed == Fed::Full);
            assert_eq!(fed, Some(Fed::Full), "{encoding}");
            assert_eq!(body.finish().len(), 1 << 20, "{encoding}");
        }
    }

    #[test]
    fn nonsense_is_an_error_and_no_panic() {
        for encoding in ["gzip", "br", "zstd", "deflate"] {
            let mut body = Body::new(encoding, 1 << 20, 0).unwrap();
            let wire: Vec<u8> = (0..5000_u32).map(|index| ((index * 7919) >> 3) as u8 | 1).collect();
            let failed = wire.chunks(100).any(|piece| body.feed(piece).is_err());
            assert!(failed || body.finish().len() < 1 << 20, "{encoding}");
        }
        assert!(Body::new("gzip, gzip, gzip", 10, 0).is_none());
        assert!(Body::new("rot13", 10, 0).is_none());
    }
}

//! Bytes to text: which encoding a page is in, and the page decoded.
//!
//! ```
//! use pith_extractor::charset::{self, Source};
//!
//! let page = charset::decode(b"<meta charset=big5><p>\xa4\xa4\xa4\xe5", None);
//! assert_eq!(page.text, "<meta charset=big5><p>中文");
//! assert_eq!((page.encoding.name(), page.source), ("Big5", Source::Meta));
//! ```

mod double;
mod prescan;

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{
    CoderResult, Encoding, ISO_8859_15, MACINTOSH, REPLACEMENT, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252,
};

use crate::cancel;

/// Where the knowledge of a page's encoding comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A byte order mark, which beats everything.
    ByteOrderMark,
    /// The `charset` of the HTTP header.
    Header,
    /// A `<meta>` or an XML declaration in the page.
    Meta,
    /// The bytes themselves.
    Detection,
}

/// A page as text.
#[derive(Clone, Debug)]
pub struct Decoded<'a> {
    /// The text, without byte order mark; borrowed when the page was UTF-8 all along.
    pub text: Cow<'a, str>,
    /// What it was encoded in.
    pub encoding: &'static Encoding,
    /// How that is known.
    pub source: Source,
    /// Whether some bytes meant nothing and became U+FFFD.
    pub had_errors: bool,
}

/// Decodes a page, given the value of its `Content-Type` header.
///
/// The order is that of browsers: byte order mark, header, `<meta>`, then detection. Unlike there, a declared
/// encoding that plainly does not fit the bytes gives way to the next one that fits, and to UTF-8 where the bytes are
/// UTF-8 throughout. Text that was encoded twice is repaired where that is certain.
pub fn decode<'a>(bytes: &'a [u8], content_type: Option<&str>) -> Decoded<'a> {
    let decoded = decode_once(bytes, content_type);
    Decoded { text: double::repair(decoded.text), ..decoded }
}

fn decode_once<'a>(bytes: &'a [u8], content_type: Option<&str>) -> Decoded<'a> {
    if let Some((encoding, length)) = Encoding::for_bom(bytes) {
        return decode_as(&bytes[length..], encoding, Source::ByteOrderMark);
    }
    let header = content_type.and_then(from_content_type).map(|encoding| (encoding, Source::Header));
    let meta = || declared(bytes).map(|encoding| (encoding, Source::Meta));
    let detected = || (detect(bytes), Source::Detection);
    let (encoding, source) = header.or_else(meta).unwrap_or_else(detected);
    if encoding != UTF_8 && is_certainly_utf8(bytes, encoding) {
        return decode_as(bytes, UTF_8, Source::Detection);
    }
    let first = decode_as(bytes, encoding, source);
    if !first.had_errors || fits(&first.text) {
        return first;
    }
    let others = (source == Source::Header).then(meta).flatten().into_iter().chain([detected()]);
    for (other, source) in others {
        let second = decode_as(bytes, other, source);
        if other != encoding && (!second.had_errors || fits(&second.text)) {
            return second;
        }
    }
    first
}

/// Whether bytes that are said to be in another encoding are UTF-8 throughout, by more than chance.
///
/// In Western encodings a single sequence is enough: nobody writes `Ã©`. The letters of other encodings pair up as UTF-8
/// more easily (about one character of GBK in eight), so that several sequences must.
fn is_certainly_utf8(bytes: &[u8], encoding: &'static Encoding) -> bool {
    const MIN_SEQUENCES: usize = 4;
    let western = [WINDOWS_1252, ISO_8859_15, MACINTOSH].contains(&encoding);
    let wide = [UTF_16BE, UTF_16LE].contains(&encoding);
    if wide || bytes.is_ascii() || std::str::from_utf8(bytes).is_err() {
        return false;
    }
    let leads = bytes.iter().filter(|byte| **byte >= 0xC0);
    western || leads.take(MIN_SEQUENCES).count() == MIN_SEQUENCES
}

/// The encoding that a `Content-Type` header names.
pub fn from_content_type(value: &str) -> Option<&'static Encoding> {
    let lower = value.to_ascii_lowercase();
    let mut rest = lower.as_str();
    while let Some(at) = rest.find("charset") {
        rest = rest[at + "charset".len()..].trim_start();
        if let Some(label) = rest.strip_prefix('=') {
            let label = label.trim_start();
            let label = match label.chars().next() {
                Some(quote @ ('"' | '\'')) => label[1..].split(quote).next().unwrap_or_default(),
                _ => label.split([';', ',', ' ', '\t']).next().unwrap_or_default(),
            };
            return for_label(label);
        }
    }
    None
}

/// The encoding that the page itself names, in a `<meta>` or an XML declaration.
pub fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    prescan::declared(bytes)
}

/// The encoding of a name, also when it is spelt `UTF_8` or `latin-1`.
pub fn for_label(label: &str) -> Option<&'static Encoding> {
    let known = |label: &str| Encoding::for_label(label.as_bytes());
    known(label).or_else(|| known(&label.replace('_', "-"))).or_else(|| known(&label.replace(['_', '-'], "")))
}

/// The encoding that the bytes look like. Anything that is UTF-8 throughout is UTF-8; ASCII is windows-1252.
pub fn detect(bytes: &[u8]) -> &'static Encoding {
    const ESCAPE: u8 = 0x1B;
    if !bytes.is_ascii() && std::str::from_utf8(bytes).is_ok() {
        return UTF_8;
    }
    // ISO-2022-JP is written in ASCII with escapes.
    if bytes.is_ascii() && memchr::memchr(ESCAPE, bytes).is_none() {
        return WINDOWS_1252;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    let seen = sample(bytes);
    for piece in seen.chunks(PIECE_BYTES) {
        cancel::check();
        detector.feed(piece, false);
    }
    detector.feed(&[], seen.len() == bytes.len());
    detector.guess(None, Utf8Detection::Allow)
}

/// More bytes do not change what the detector thinks, which reads them in every encoding at once.
const MAX_DETECTED: usize = 1 << 20;
/// Nor do more that are not ASCII: of those every one counts.
const MAX_NON_ASCII_DETECTED: usize = 1 << 16;

/// The beginning of a page, as much as the detector needs.
fn sample(bytes: &[u8]) -> &[u8] {
    let bytes = &bytes[..bytes.len().min(MAX_DETECTED)];
    let mut n_non_ascii = 0;
    let mut end = 0;
    for piece in bytes.chunks(1024) {
        n_non_ascii += piece.iter().filter(|byte| !byte.is_ascii()).count();
        end += piece.len();
        if n_non_ascii >= MAX_NON_ASCII_DETECTED {
            break;
        }
    }
    &bytes[..end]
}

/// Bytes that are decoded between two looks at whether the work was cancelled.
const PIECE_BYTES: usize = 1 << 18;

fn decode_as<'a>(bytes: &'a [u8], encoding: &'static Encoding, source: Source) -> Decoded<'a> {
    // Encodings that were only ever used for attacks decode to a single U+FFFD; UTF-8 gives more text.
    let encoding = if encoding == REPLACEMENT { UTF_8 } else { encoding };
    let is_short = bytes.len() <= PIECE_BYTES || (encoding == UTF_8 && std::str::from_utf8(bytes).is_ok());
    let (text, had_errors) = match is_short || (encoding.is_ascii_compatible() && bytes.is_ascii()) {
        true => encoding.decode_without_bom_handling(bytes),
        false => decode_in_pieces(bytes, encoding),
    };
    Decoded { text, encoding, source, had_errors }
}

/// Decodes a long page as [`Encoding::decode_without_bom_handling`] does, so that it can be cancelled.
fn decode_in_pieces(bytes: &[u8], encoding: &'static Encoding) -> (Cow<'static, str>, bool) {
    let mut decoder = encoding.new_decoder_without_bom_handling();
    let mut text = String::with_capacity(bytes.len() + bytes.len() / 2);
    let mut had_errors = false;
    let mut pieces = bytes.chunks(PIECE_BYTES).peekable();
    while let Some(mut piece) = pieces.next() {
        cancel::check();
        let is_last = pieces.peek().is_none();
        loop {
            // A byte that means nothing becomes a character of three.
            text.reserve(piece.len() + piece.len() / 2 + 16);
            let (result, n_read, had_more) = decoder.decode_to_string(piece, &mut text, is_last);
            had_errors |= had_more;
            piece = &piece[n_read..];
            if result == CoderResult::InputEmpty {
                break;
            }
        }
    }
    (Cow::Owned(text), had_errors)
}

/// Whether most of what is not ASCII made sense: damaged text does, text in another encoding does not.
fn fits(text: &str) -> bool {
    /// The first byte of every character of more than one.
    const LEADING: u8 = 0xC0;
    let broken = text.matches('\u{FFFD}').count();
    let foreign = text.bytes().filter(|byte| *byte >= LEADING).count();
    broken * 4 <= foreign || broken <= 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use encoding_rs::{BIG5, GB18030, GBK, SHIFT_JIS};

    #[track_caller]
    fn check(bytes: &[u8], header: Option<&str>, expected: (&str, &'static Encoding, Source)) {
        let decoded = decode(bytes, header);
        assert_eq!((decoded.text.as_ref(), decoded.encoding, decoded.source), expected);
    }

    #[test]
    fn the_order_is_mark_header_meta_detection() {
        let marked = b"\xEF\xBB\xBFa<meta charset=big5>";
        check(marked, Some("text/html; charset=gbk"), ("a<meta charset=big5>", UTF_8, Source::ByteOrderMark));
        let page = b"<meta charset=big5>\xa4\xa4";
        check(page, Some("text/html;charset=\"shift_jis\""), ("<meta charset=big5>､､", SHIFT_JIS, Source::Header));
        check(page, Some("text/html"), ("<meta charset=big5>中", BIG5, Source::Meta));
        check("né中".as_bytes(), None, ("né中", UTF_8, Source::Detection));
    }

    #[test]
    fn a_wrong_declaration_gives_way() {
        let text = "这是一个用旧编码写的网页，服务器却说它是别的。";
        let (gbk, ..) = GBK.encode(text);
        let decoded = decode(&gbk, Some("text/html; charset=utf-8"));
        assert_eq!(decoded.text, text);
        assert!([GBK, GB18030].contains(&decoded.encoding), "{}", decoded.encoding.name());
        let (latin, ..) = WINDOWS_1252.encode("São Paulo é uma cidade. A estação está à direita. Não há pão.");
        assert_eq!(decode(&latin, Some("text/html; charset=utf-8")).encoding, WINDOWS_1252);
    }

    #[test]
    fn bytes_that_are_utf8_throughout_beat_a_label() {
        for label in ["iso-8859-1", "windows-1252"] {
            let header = format!("text/html; charset={label}");
            check("né".as_bytes(), Some(&header), ("né", UTF_8, Source::Detection));
        }
        let page = "<meta charset=gbk>这是网页";
        check(page.as_bytes(), None, (page, UTF_8, Source::Detection));
        // Two characters may be UTF-8 by chance, and UTF-16 is said by those who mean it.
        assert_eq!(decode("<meta charset=gbk>é".as_bytes(), None).encoding, GBK);
        assert_eq!(decode("né中".as_bytes(), Some("text/html; charset=utf-16le")).encoding, UTF_16LE);
        let damaged = b"n\xe9 \xc3\xa9";
        assert_eq!(decode(damaged, Some("text/html; charset=iso-8859-1")).encoding, WINDOWS_1252);
    }

    #[test]
    fn references_in_a_declaration_are_read() {
        for meta in ["<meta charset='&#98;ig5'>", "<meta charset=big&#x35;>"] {
            let page = [meta.as_bytes(), b"\xa4\xa4\xa4\xe5"].concat();
            assert_eq!(decode(&page, None).encoding, BIG5, "{meta}");
        }
        let page = b"<meta http-equiv=content-type content='text/html&#59; charset&equals;big5'>\xa4\xa4\xa4\xe5";
        assert_eq!(decode(page, None).encoding, BIG5);
    }

    #[test]
    fn a_long_page_is_decoded_as_a_short_one_is() {
        let page: Vec<u8> = (0..3 * PIECE_BYTES as u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        for encoding in [UTF_8, BIG5, GB18030, SHIFT_JIS, WINDOWS_1252, UTF_16LE, encoding_rs::ISO_2022_JP] {
            let decoded = decode_as(&page, encoding, Source::Meta);
            let (text, had_errors) = encoding.decode_without_bom_handling(&page);
            assert!(decoded.text == text && decoded.had_errors == had_errors, "{}", encoding.name());
        }
    }

    #[test]
    fn a_few_broken_bytes_change_nothing() {
        let mut page = "中文網頁".repeat(20).into_bytes();
        page.push(0xE4);
        let decoded = decode(&page, Some("text/html; charset=UTF-8"));
        assert_eq!((decoded.encoding, decoded.had_errors), (UTF_8, true));
    }
}

//! Headers and lengths of zstd frames and gzip members, checked against the bytes that are there.

/// The first bytes of a zstd frame.
pub(super) const ZSTD_MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];
/// The first bytes of the dictionary frame of a `.warc.zst` file.
pub(super) const DICTIONARY_MAGIC: [u8; 4] = [0x5D, 0x2A, 0x4D, 0x18];
/// The first bytes of the extension frame in which pith keeps a second copy of the dictionary.
pub(super) const COPY_MAGIC: [u8; 4] = [0x5B, 0x2A, 0x4D, 0x18];
/// The first bytes of the content of that frame; they tell it from extension frames of other programs.
pub(super) const COPY_TAG: &[u8; 12] = b"pith-dict-2\0";
/// The first bytes of a raw zstd dictionary.
pub(super) const RAW_DICTIONARY_MAGIC: [u8; 4] = [0x37, 0xA4, 0x30, 0xEC];
/// The first bytes of a gzip member.
pub(super) const GZIP_MAGIC: [u8; 3] = [0x1F, 0x8B, 0x08];

/// True for any of the sixteen skippable-frame magics.
pub(super) fn is_skippable(bytes: &[u8]) -> bool {
    matches!(bytes, [low, 0x2A, 0x4D, 0x18, ..] if low & 0xF0 == 0x50)
}

/// What a zstd frame says about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameHeader {
    pub(super) header_bytes: usize,
    pub(super) content_bytes: Option<u64>,
    pub(super) window_bytes: u64,
    pub(super) dictionary_id: u32,
    pub(super) has_checksum: bool,
}

/// Header bytes that are enough for any frame.
pub(super) const FRAME_HEADER_MAX: usize = 18;

impl FrameHeader {
    /// Reads the header at the start of `bytes`; `None` if this cannot be one or is cut short.
    pub(super) fn parse(bytes: &[u8]) -> Option<FrameHeader> {
        let descriptor = *bytes.strip_prefix(&ZSTD_MAGIC)?.first()?;
        if descriptor & 0b1000 != 0 {
            return None;
        }
        let single_segment = descriptor & 0b10_0000 != 0;
        let dictionary_bytes = [0, 1, 2, 4][usize::from(descriptor & 0b11)];
        let size_bytes = match descriptor >> 6 {
            0 => usize::from(single_segment),
            1 => 2,
            2 => 4,
            _ => 8,
        };
        let mut at = 5;
        let mut window_bytes = 0;
        if !single_segment {
            let byte = *bytes.get(at)?;
            at += 1;
            let base = 1u64 << (10 + (byte >> 3));
            window_bytes = base + (base / 8) * u64::from(byte & 0b111);
        }
        let dictionary_id = little_endian(bytes.get(at..at + dictionary_bytes)?) as u32;
        at += dictionary_bytes;
        let size = little_endian(bytes.get(at..at + size_bytes)?);
        at += size_bytes;
        let content_bytes = match size_bytes {
            0 => None,
            2 => Some(size + 256),
            _ => Some(size),
        };
        if single_segment {
            window_bytes = content_bytes?;
        }
        let has_checksum = descriptor & 0b100 != 0;
        Some(FrameHeader { header_bytes: at, content_bytes, window_bytes, dictionary_id, has_checksum })
    }
}

fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// One step along the blocks of a frame.
pub(super) enum Block {
    /// Another block begins `.0` bytes further on.
    Next(usize),
    /// The last block ends `.0` bytes further on.
    Last(usize),
}

/// Reads a block header: how far it is to the end of the block, counted from the header. `None` if it cannot be one.
pub(super) fn block(header: [u8; 3]) -> Option<Block> {
    const BLOCK_MAX: usize = 128 * 1024;
    let value = little_endian(&header) as usize;
    let size = value >> 3;
    let stored = match value >> 1 & 0b11 {
        0 | 2 if size <= BLOCK_MAX => size,
        1 => 1,
        _ => return None,
    };
    Some(if value & 1 == 1 { Block::Last(3 + stored) } else { Block::Next(3 + stored) })
}

/// The outcome of looking at a gzip header.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum GzipHeader {
    /// The compressed data begins this many bytes further on.
    Whole(usize),
    /// More bytes are needed to tell.
    Short,
    /// This is no gzip header.
    Bad,
}

/// Names, comments and extra fields longer than this are treated as invalid.
pub(super) const GZIP_HEADER_MAX: usize = 70_000;

/// Reads a gzip member's header with all its optional fields.
pub(super) fn gzip_header(bytes: &[u8]) -> GzipHeader {
    let bytes = &bytes[..bytes.len().min(GZIP_HEADER_MAX + 1)];
    const EXTRA: u8 = 4;
    const NAME: u8 = 8;
    const COMMENT: u8 = 16;
    const HEADER_CRC: u8 = 2;
    if bytes.len() < 10 {
        let known = bytes.len().min(3);
        return if bytes[..known] == GZIP_MAGIC[..known] { GzipHeader::Short } else { GzipHeader::Bad };
    }
    let flags = bytes[3];
    if bytes[..3] != GZIP_MAGIC || flags & 0xE0 != 0 {
        return GzipHeader::Bad;
    }
    let short = if bytes.len() > GZIP_HEADER_MAX { GzipHeader::Bad } else { GzipHeader::Short };
    let mut at = 10;
    if flags & EXTRA != 0 {
        let Some(length) = bytes.get(at..at + 2) else { return short };
        at += 2 + little_endian(length) as usize;
    }
    for flag in [NAME, COMMENT] {
        if flags & flag != 0 {
            let Some(end) = bytes.get(at..).and_then(|rest| memchr::memchr(0, rest)) else { return short };
            at += end + 1;
        }
    }
    if flags & HEADER_CRC != 0 {
        at += 2;
    }
    if at > bytes.len() { short } else { GzipHeader::Whole(at) }
}

//! Dictionaries: how they stand at the front of a `.warc.zst` file, and how one is trained.

use std::fs::File;
use std::io;
use std::path::Path;

use zstd::zstd_safe::{self, CCtx, CParameter, DCtx};

use super::decoder::{FrameLength, measure_frame};
use super::frame::{COPY_MAGIC, COPY_TAG, DICTIONARY_MAGIC, FRAME_HEADER_MAX, FrameHeader, RAW_DICTIONARY_MAGIC};
use super::reader::{Reader, ReaderOptions};
use super::record::RecordType;
use super::source::Source;
use crate::error::{Error, Result};

/// Larger dictionaries are refused, as the format's draft allows.
const SIZE_MAX: usize = 8 * 1024 * 1024;

/// A dictionary, as zstd wants it.
#[derive(Clone, Debug)]
pub(super) struct Dictionary {
    pub(super) content: Vec<u8>,
    pub(super) id: u32,
    /// How many bytes it takes in its file, without the frame around it.
    pub(super) bytes_on_disk: usize,
}

/// Reads the dictionary that begins `from` bytes into the source and is said to take `size` bytes. `None` if it is
/// damaged. A compressed one carries its own length and checksum, which count more than `size`.
pub(super) fn read(source: &mut Source, from: usize, size: usize) -> io::Result<Option<Dictionary>> {
    let window = source.fill(from + FRAME_HEADER_MAX)?;
    let Some(start) = window.get(from..) else { return Ok(None) };
    if start.starts_with(&RAW_DICTIONARY_MAGIC) {
        if size > SIZE_MAX {
            return Ok(None);
        }
        let whole = source.fill(from + size)?;
        return Ok(whole.get(from..from + size).and_then(|bytes| dictionary(bytes.to_vec(), size)));
    }
    let Some(header) = FrameHeader::parse(start) else { return Ok(None) };
    let Some(content_bytes) = header.content_bytes.filter(|size| *size <= SIZE_MAX as u64) else { return Ok(None) };
    let FrameLength::Length(length) = measure_frame(source, from, header)? else { return Ok(None) };
    let mut content = Vec::with_capacity(content_bytes as usize);
    let decoded = DCtx::create().decompress(&mut content, &source.window()[from..from + length]);
    Ok(decoded.ok().and_then(|_| dictionary(content, length)))
}

fn dictionary(content: Vec<u8>, bytes_on_disk: usize) -> Option<Dictionary> {
    let id = zstd_safe::get_dict_id(&content)?.get();
    Some(Dictionary { content, id, bytes_on_disk })
}

/// The frames that stand first in a file: the dictionary, compressed, and a copy of it in an extension frame, so that a
/// bad byte in one does not cost every page.
pub(super) fn frames(content: &[u8]) -> Vec<u8> {
    let mut context = CCtx::create();
    for parameter in
        [CParameter::CompressionLevel(19), CParameter::ChecksumFlag(true), CParameter::ContentSizeFlag(true)]
    {
        context.set_parameter(parameter).expect("within the range that zstd accepts");
    }
    let mut packed = Vec::with_capacity(zstd_safe::compress_bound(content.len()));
    context.compress2(&mut packed, content).expect("the target is as large as the worst case");
    let mut frames = Vec::with_capacity(2 * packed.len() + 32);
    frames.extend(DICTIONARY_MAGIC);
    frames.extend((packed.len() as u32).to_le_bytes());
    frames.extend(&packed);
    frames.extend(COPY_MAGIC);
    frames.extend(((packed.len() + COPY_TAG.len()) as u32).to_le_bytes());
    frames.extend(COPY_TAG);
    frames.extend(&packed);
    frames
}

/// The dictionary at the front of a file, from its copy if need be; `None` if there is none.
pub(super) fn of_file(path: &Path) -> Result<Option<Vec<u8>>> {
    let file = File::open(path).map_err(Error::io(path, "open"))?;
    let found = Source::file(file, 0, u64::MAX).and_then(|mut source| {
        let size = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as usize;
        let window = source.fill(8)?;
        if window.len() == 8 && window.starts_with(&DICTIONARY_MAGIC) {
            let size = size(&window[4..8]);
            if let Some(found) = read(&mut source, 8, size)? {
                return Ok(Some(found));
            }
        }
        let window = source.fill(SIZE_MAX)?;
        let Some(tag) = memchr::memmem::find(window, COPY_TAG).filter(|at| *at >= 8) else { return Ok(None) };
        let size = size(&window[tag - 4..tag]).saturating_sub(COPY_TAG.len());
        read(&mut source, tag + COPY_TAG.len(), size)
    });
    Ok(found.map_err(Error::io(path, "read"))?.map(|dictionary| dictionary.content))
}

/// The size of a dictionary unless the caller wants another. On 144 MB of pages, both copies included: none .951 of
/// gzip -6, 110 K .920, 256 K .910, 512 K .912; training takes 1.4, 2.5 and 4.5 CPU seconds, once per crawl.
pub(super) const DEFAULT_SIZE: usize = 256 * 1024;

/// Fewer pages teach nothing that holds for others.
const PAGES_MIN: usize = 100;
/// The sample is this many times as large as the dictionary: more takes longer and finds little more.
const SAMPLE_RATIO: usize = 100;
/// No page fills the sample alone.
const PAGE_MAX: usize = 64 * 1024;

/// Trains a dictionary on the pages in the first `bytes` of a shard, taken evenly over them; `None` if there are too few.
pub(super) fn train(path: &Path, bytes: u64, size: usize) -> Result<Option<Vec<u8>>> {
    if !path.exists() {
        return Ok(None);
    }
    let mut reader = Reader::open_part(path, 0..bytes, ReaderOptions::default())?;
    let mut pages: Vec<Vec<u8>> = Vec::new();
    let (mut total, mut stride, mut index) = (0, 1, 0usize);
    while let Some(record) = reader.next()? {
        if record.kind != RecordType::Response {
            continue;
        }
        index += 1;
        if !index.is_multiple_of(stride) {
            continue;
        }
        let mut page = record.header.to_vec();
        page.extend_from_slice(&record.block[..record.block.len().min(PAGE_MAX)]);
        total += page.len();
        pages.push(page);
        if total > 2 * size * SAMPLE_RATIO {
            let mut keep = false;
            pages.retain(|_| {
                keep = !keep;
                keep
            });
            total = pages.iter().map(Vec::len).sum();
            stride *= 2;
        }
    }
    if pages.len() < PAGES_MIN || total < 10 * size {
        return Ok(None);
    }
    Ok(zstd::dict::from_samples(&pages, size).ok())
}

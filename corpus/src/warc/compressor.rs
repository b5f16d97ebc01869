//! Packing: one zstd frame or gzip member per record.

use flate2::{Compress, Compression, Crc, FlushCompress, Status};
use zstd::zstd_safe::{CCtx, CParameter, compress_bound};

use super::writer::Format;

/// The level whose tables are made to fit pages. zstd's own, of 384 KB for records of up to 128 KB, leave the processor's
/// nearest caches: with half and a quarter of that 500 real pages of 115 KB take 10 % less time and 0.4 % more room, those
/// of the crawl benchmark 4 % less time and no more room. A dictionary needs the large tables.
const PAGE_LEVEL: i32 = 3;

/// Compresses records one by one, reusing its state.
pub(super) enum Compressor {
    Zstd(Box<CCtx<'static>>),
    Gzip(Box<Compress>),
}

impl Compressor {
    /// A compressor for a file; the dictionary is digested once.
    pub(super) fn new(format: Format, level: i32, dictionary: Option<&[u8]>) -> Compressor {
        match format {
            Format::Zstd => {
                let mut context = CCtx::create();
                for parameter in [
                    CParameter::CompressionLevel(level),
                    CParameter::ChecksumFlag(true),
                    CParameter::ContentSizeFlag(true),
                    CParameter::DictIdFlag(true),
                ] {
                    context.set_parameter(parameter).expect("the level was checked when the writer was opened");
                }
                match dictionary {
                    Some(dictionary) => {
                        context.load_dictionary(dictionary).expect("a dictionary that zstd itself has made");
                    }
                    None if level == PAGE_LEVEL => {
                        for parameter in [CParameter::HashLog(15), CParameter::ChainLog(14)] {
                            context.set_parameter(parameter).expect("within zstd's bounds");
                        }
                    }
                    None => {}
                }
                Compressor::Zstd(Box::new(context))
            }
            Format::Gzip => Compressor::Gzip(Box::new(Compress::new(Compression::new(level as u32), false))),
        }
    }

    /// Adds the record as one frame or member to `out`.
    pub(super) fn pack(&mut self, record: &[u8], scratch: &mut Vec<u8>, out: &mut Vec<u8>) {
        match self {
            Compressor::Zstd(context) => {
                scratch.clear();
                scratch.reserve(compress_bound(record.len()));
                context.compress2(scratch, record).expect("the target is as large as the worst case");
                out.extend_from_slice(scratch);
            }
            Compressor::Gzip(compress) => {
                out.extend_from_slice(&[0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255]);
                compress.reset();
                let mut taken = 0;
                loop {
                    out.reserve((record.len() - taken) / 2 + 4096);
                    let status = compress
                        .compress_vec(&record[taken..], out, FlushCompress::Finish)
                        .expect("deflate in order has no error");
                    taken = compress.total_in() as usize;
                    if status == Status::StreamEnd {
                        break;
                    }
                }
                let mut crc = Crc::new();
                crc.update(record);
                out.extend_from_slice(&crc.sum().to_le_bytes());
                out.extend_from_slice(&(record.len() as u32).to_le_bytes());
            }
        }
    }
}

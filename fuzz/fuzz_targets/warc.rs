//! Any bytes read as an archive, twice: no panic, the same number of records every time, and
//! memory that the limit bounds.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pith_corpus::warc::{Page, Reader, ReaderOptions, Summary};

fn drain(reader: Reader) -> (u64, u64) {
    let mut reader = reader;
    let mut summary = Summary::default();
    while let Some(record) = reader.next().expect("memory can be read") {
        summary.count(&record);
        assert!(record.block.len() <= 4096 && record.block.len() as u64 <= record.length);
        Page::from_record(&record, 4096);
    }
    (summary.records, reader.damage().n_damaged)
}

fuzz_target!(|bytes: &[u8]| {
    // The first byte chooses the name, which tells how a file is packed whose first bytes are damaged.
    let Some((kind, bytes)) = bytes.split_first() else { return };
    let name = ["x.warc", "x.warc.gz", "x.warc.zst"][usize::from(kind % 3)];
    let open = || {
        let options = ReaderOptions { max_block_bytes: 4096, ..ReaderOptions::default() };
        Reader::from_stream(Box::new(std::io::Cursor::new(bytes.to_vec())), name, options)
    };
    if let (Ok(first), Ok(second)) = (open(), open()) {
        assert_eq!(drain(first), drain(second));
    }
});

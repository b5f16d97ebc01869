//! Any bytes as the index beside a shard: no panic, and the parts of the file follow one another.
#![no_main]

use std::fs;

use libfuzzer_sys::fuzz_target;
use pith_corpus::warc;

fuzz_target!(|bytes: &[u8]| {
    let folder = std::env::temp_dir().join(format!("pith-fuzz-cdxj-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let shard = folder.join("pages-00000.warc.zst");
    fs::write(&shard, [0; 4096]).expect("written");
    fs::write(folder.join("pages-00000.cdxj"), bytes).expect("written");
    let _ = warc::find(&shard, "http://example.com/");
    if let Ok(parts) = warc::parts(&shard, 4) {
        assert!(!parts.is_empty() && parts.len() <= 4 && parts[0].start == 0);
        assert_eq!(parts[parts.len() - 1].end, u64::MAX);
        assert!(parts.windows(2).all(|pair| pair[0].start < pair[0].end && pair[0].end == pair[1].start));
    }
});

//! Any bytes as the journal of a frontier: opened or refused, without a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let _ = pith_crawler::fuzzing::open_journal(folder.path(), bytes);
});

//! A way for fuzz targets past the checksums of the files on disk. Not part of the interface.

use std::path::Path;

use super::journal::Journal;
use super::{LocalFrontier, LocalOptions, Next, checkpoint};
use crate::error::Error;
use crate::order::Breadth;

/// Opens a frontier whose journal has one batch with these bytes, and leases from it. Any result is good.
pub fn open_journal(folder: &Path, payload: &[u8]) -> Result<(), Error> {
    std::fs::create_dir_all(folder).map_err(super::files::io_error(folder, "create"))?;
    let mut journal = Journal::open(&folder.join("journal"))?;
    journal.push_bytes(payload);
    journal.write()?;
    drop(journal);
    open_and_lease(folder)
}

/// Opens a frontier whose checkpoint has these bytes, and leases from it. Any result is good.
pub fn open_checkpoint(folder: &Path, body: &[u8]) -> Result<(), Error> {
    std::fs::create_dir_all(folder).map_err(super::files::io_error(folder, "create"))?;
    drop(Journal::open(&folder.join("journal"))?);
    checkpoint::write(&folder.join("checkpoint"), body)?;
    open_and_lease(folder)
}

fn open_and_lease(folder: &Path) -> Result<(), Error> {
    let options = LocalOptions { bloom_bytes: 4096, ..LocalOptions::new(Box::new(Breadth)) };
    let frontier = LocalFrontier::open(folder, options)?;
    for _ in 0..20 {
        if !matches!(frontier.lease()?, Next::Fetch(_)) {
            break;
        }
    }
    frontier.checkpoint()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_that_no_crawl_has_do_no_harm() {
        let folder = tempfile::tempdir().unwrap();
        let none = 0_u32.to_le_bytes();
        let zero = 0_u64.to_le_bytes();
        let outcomes = [&2_u32.to_le_bytes()[..], &u64::MAX.to_le_bytes(), &1_u64.to_le_bytes()].concat();
        let before: [&[u8]; 9] = [&24_u64.to_le_bytes(), &zero, &none, &zero, &none, &zero, &none, &none, &none];
        let after: [&[u8]; 6] = [&zero, &zero, &none, &none, &none, &none];
        let body = [before.concat(), outcomes, after.concat()].concat();
        open_checkpoint(folder.path(), &body).unwrap();
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig { cases: 64, ..Default::default() })]

        #[test]
        fn any_events_and_any_checkpoint_are_opened_or_refused(bytes: Vec<u8>, kind in 0_usize..8) {
            let folder = tempfile::tempdir().unwrap();
            // Most records begin like one that there is.
            let payload = [&b"HUPRDVWA"[kind..=kind], &bytes].concat();
            let _ = open_journal(&folder.path().join("journal"), &payload);
            let _ = open_checkpoint(&folder.path().join("checkpoint"), &bytes);
        }
    }
}

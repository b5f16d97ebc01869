//! What a report was made from: program, command, data.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use pith_eval::bootstrap::{ROUNDS, SEED};
use pith_eval::data;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::exit::Failure;

/// The provenance of scores on sets, with a digest of every file.
pub fn of_sets(folder: &Path) -> Result<Value, Failure> {
    let mut digests = BTreeMap::new();
    for set in data::sets(folder)? {
        let mut hasher = Sha256::new();
        File::open(&set.path)
            .and_then(|mut file| std::io::copy(&mut file, &mut hasher))
            .map_err(|error| Failure::new(format!("{}: {error}", set.path.display())))?;
        let digest: String = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        digests.insert(set.name, format!("sha256:{digest}"));
    }
    let mut provenance = common();
    provenance["data"] = json!(digests);
    Ok(provenance)
}

/// The provenance of a comparison on one's own pages.
pub fn of_pages(inputs: &[PathBuf]) -> Value {
    let mut provenance = common();
    provenance["inputs"] = inputs.iter().map(|path| path.display().to_string()).collect();
    provenance
}

fn common() -> Value {
    let words: Vec<String> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "command": words,
        "bootstrap": {"rounds": ROUNDS, "seed": SEED},
    })
}

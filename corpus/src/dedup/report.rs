//! The report: every cluster with what was kept and why, and what was removed and how alike it was.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;

use hashbrown::HashMap;
use serde::Serialize;

use super::priority::Keep;
use super::{Decision, Kind, scan};
use crate::Error;
use crate::atomic_file::AtomicFile;

/// Where the clusters are described, below the folder of the run.
pub(super) const CLUSTERS: &str = "report/clusters.jsonl";

#[derive(Serialize)]
struct Cluster<'c> {
    kept: Member<'c>,
    why: &'static str,
    size: usize,
    removed: Vec<Removed<'c>>,
}

#[derive(Serialize)]
struct Member<'c> {
    #[serde(flatten)]
    name: &'c Name,
    shard: String,
}

#[derive(Serialize)]
struct Removed<'c> {
    #[serde(flatten)]
    member: Member<'c>,
    kind: Kind,
    similarity: f32,
}

#[derive(Serialize, serde::Deserialize)]
struct Name {
    id: String,
    url: String,
}

/// Writes the clusters in the order of the documents that stay.
pub(super) fn write(
    folder: &Path,
    decision: &Decision,
    keep: Keep,
    work: &Path,
    n_older: usize,
    shards: &[&Path],
) -> Result<(), Error> {
    let mut clusters: HashMap<u32, Vec<u32>> = HashMap::new();
    for (&document, removal) in &decision.removals {
        clusters.entry(removal.kept).or_default().push(document);
    }
    let names = names(decision, &clusters, work, shards.len())?;
    let member = |document: u32| {
        let shard = shards[decision.records.shard_of(document)];
        let shard = shard.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Member { name: &names[&document], shard }
    };
    let mut order: Vec<u32> = clusters.keys().copied().collect();
    order.sort_unstable();
    let path = folder.join(CLUSTERS);
    let mut file = AtomicFile::create(&path)?;
    for kept in order {
        let documents = clusters.get_mut(&kept).expect("the order holds the keys");
        documents.sort_unstable();
        let why = match keep {
            _ if kept < decision.records.base(n_older) => "older",
            Keep::First => "first",
            Keep::Longest => "longest",
        };
        let removed = documents.iter().map(|document| {
            let removal = decision.removals[document];
            Removed { member: member(*document), kind: removal.kind, similarity: removal.similarity }
        });
        let cluster = Cluster { kept: member(kept), why, size: documents.len() + 1, removed: removed.collect() };
        serde_json::to_writer(&mut file, &cluster).map_err(|error| Error::at(&path)(error.into()))?;
        file.write_all(b"\n").map_err(Error::at(&path))?;
    }
    file.seal().map(drop)
}

/// The names of the documents in clusters, and of no others.
fn names(
    decision: &Decision,
    clusters: &HashMap<u32, Vec<u32>>,
    work: &Path,
    n_shards: usize,
) -> Result<HashMap<u32, Name>, Error> {
    let mut names = HashMap::new();
    for shard in 0..n_shards {
        let path = scan::names_path(work, shard);
        let reader = BufReader::new(File::open(&path).map_err(Error::at(&path))?);
        for (document, line) in (decision.records.base(shard)..).zip(reader.lines()) {
            let line = line.map_err(Error::at(&path))?;
            if clusters.contains_key(&document) || decision.removals.contains_key(&document) {
                let name =
                    serde_json::from_str(&line).map_err(|source| Error::Manifest { path: path.clone(), source })?;
                names.insert(document, name);
            }
        }
    }
    Ok(names)
}

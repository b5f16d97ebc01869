//! Parts of a dataset that share no site: a document goes where the hash of its site says, today and next year.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::json;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::jsonl::{self, Writer};
use crate::manifest::{Counts, Manifest, Shard};
use crate::site::site;
use crate::step::{Damage, Finished, Made, Run, counts, for_each_document};
use crate::{Error, Watch};

/// The parts by name, with their shares.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Settings {
    /// In this order; the shares are relative to their sum.
    pub parts: Vec<(String, f64)>,
    /// Another seed gives another split.
    pub seed: u64,
}

impl Settings {
    /// The part that a site belongs to, as an index.
    pub fn part_of(&self, site: &str) -> usize {
        let sum: f64 = self.parts.iter().map(|part| part.1).sum();
        // 53 bits: what a float holds exactly.
        let point = (xxh3_64_with_seed(site.as_bytes(), self.seed) >> 11) as f64 / (1u64 << 53) as f64 * sum;
        let mut end = 0.0;
        let ends = self.parts.iter().map(|part| {
            end += part.1;
            end
        });
        ends.take_while(|end| point >= *end).count().min(self.parts.len() - 1)
    }
}

/// Writes every document to the folder of its part: `OUT/train/documents-00000.jsonl.zst` and so on.
pub fn split(shards: &[PathBuf], settings: &Settings, run: &Run) -> Result<Finished, Error> {
    let output = run.open(shards, json!({"step": "split", "parts": settings.parts, "seed": settings.seed}))?;
    let first = &settings.parts[0].0;
    let name = |index: usize| format!("{first}/{}", jsonl::shard_name(index));
    let make =
        |index: usize, path: &Path, damage: &mut Damage| split_shard(path, run.out, index, settings, run.watch, damage);
    let (mut output, damage, was_done) = run.fill(output, "splitting", shards, name, make)?;
    let manifest = output.complete(Counts::new())?.clone();
    describe_parts(&manifest, settings, run.out)?;
    Ok(Finished { manifest, damage, was_done })
}

fn split_shard(
    path: &Path,
    out: &Path,
    index: usize,
    settings: &Settings,
    watch: &dyn Watch,
    damage: &mut Damage,
) -> Result<Made, Error> {
    let names = settings.parts.iter().map(|part| out.join(&part.0).join(jsonl::shard_name(index)));
    let mut writers = names.map(Writer::create).collect::<Result<Vec<_>, _>>()?;
    let mut per_part = vec![0; writers.len()];
    for_each_document(path, watch, damage, |line, document| {
        let part = settings.part_of(&site(document.address()));
        per_part[part] += 1;
        writers[part].put(line)
    })?;
    let mut counted = counts([
        ("in", per_part.iter().sum::<u64>() + damage.n_lines),
        ("kept", per_part.iter().sum()),
        ("dropped.damaged", damage.n_lines),
    ]);
    for (part, n) in settings.parts.iter().zip(per_part) {
        counted.insert(format!("part.{}", part.0), n);
    }
    let mut beside = Vec::new();
    let first = writers.remove(0);
    for (part, writer) in settings.parts[1..].iter().zip(writers) {
        beside.push((format!("{}/{}", part.0, jsonl::shard_name(index)), writer.seal()?));
    }
    Ok(Made { sealed: first.seal()?, counts: counted, beside })
}

/// Gives every part a manifest of its own, so that it can be the input of the next step.
fn describe_parts(whole: &Manifest, settings: &Settings, out: &Path) -> Result<(), Error> {
    for (part, _) in &settings.parts {
        let key = format!("part.{part}");
        let inside = |shard: &&Shard| shard.name.strip_prefix(part.as_str()).is_some_and(|rest| rest.starts_with('/'));
        let own = |shard: &Shard| Shard { name: shard.name[part.len() + 1..].to_owned(), ..shard.clone() };
        let mut manifest = whole.clone();
        manifest.shards = whole.shards.iter().filter(inside).map(own).collect();
        manifest.step.counts = counts([("kept", whole.step.counts.get(&key).copied().unwrap_or(0))]);
        manifest.write(&out.join(part))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_stays_in_its_part_and_the_shares_hold() {
        let settings = Settings { parts: vec![("train".into(), 98.0), ("test".into(), 2.0)], seed: 0 };
        let n_test = (0..100_000).filter(|n| settings.part_of(&format!("site{n}.example")) == 1).count();
        assert!((1800..2200).contains(&n_test), "{n_test}");
        // Fixed for ever: a dataset that grows must not move its sites.
        assert_eq!(settings.part_of("example.com"), 0);
        assert_eq!(settings.part_of("site34.example"), settings.part_of("site34.example"));
    }
}

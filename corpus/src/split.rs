//! Parts of a dataset that share no site: the part of a document is a hash of its site and the seed, the same in every run.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use hashbrown::HashMap;
use serde::Serialize;
use serde_json::json;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::jsonl::{self, Writer};
use crate::manifest::{Counts, MANIFEST_NAME, Manifest, Shard};
use crate::site::site;
use crate::step::{DamagedLines, Finished, Run, ShardOutput, counts, for_each_document};
use crate::{Error, Observer};

/// The parts by name, with their shares.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Settings {
    /// In this order; the shares are relative to their sum.
    pub parts: Vec<(String, f64)>,
    /// The seed of the hash.
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
    let mut output = run.open(shards, json!({"step": "split", "parts": settings.parts, "seed": settings.seed}))?;
    let parts = settings.parts.iter().map(|part| &part.0);
    let claims = parts.flat_map(|part| {
        let shards = (0..shards.len()).map(move |index| format!("{part}/{}", jsonl::shard_name(index)));
        shards.chain([format!("{part}/{MANIFEST_NAME}")])
    });
    output.claim(claims.collect::<Vec<_>>().iter().map(String::as_str))?;
    let first = &settings.parts[0].0;
    let name = |index: usize| format!("{first}/{}", jsonl::shard_name(index));
    let sites = Mutex::new(HashMap::new());
    let make = |index: usize, path: &Path, damage: &mut DamagedLines| {
        split_shard(path, run.out, index, settings, &sites, run.observer, damage)
    };
    let (mut output, damage, was_already_done) = run.process_shards(output, "splitting", shards, name, make)?;
    let manifest = output.complete(Counts::new())?.clone();
    describe_parts(&manifest, settings, run.out)?;
    let sites = sites.into_inner().expect("no thread panics while it counts");
    let notes = large_sites(&sites, &manifest, settings);
    Ok(Finished { manifest, damage, was_already_done, notes })
}

/// Parts that are far from their shares because a site is larger than a part, with the site.
fn large_sites(sites: &HashMap<String, u64>, manifest: &Manifest, settings: &Settings) -> Vec<String> {
    let total = manifest.step.counts.get("kept").copied().unwrap_or(0) as f64;
    let sum: f64 = settings.parts.iter().map(|part| part.1).sum();
    let mut largest: Vec<(&String, &u64)> = sites.iter().collect();
    largest.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    let smallest = settings.parts.iter().map(|part| part.1).fold(f64::INFINITY, f64::min) / sum * total;
    let larger = largest.into_iter().filter(|(_, n)| **n as f64 > smallest.max(1.0)).take(5);
    larger
        .map(|(site, n)| {
            let (part, share) = &settings.parts[settings.part_of(site)];
            let wanted = share / sum * total;
            let got = manifest.step.counts.get(&format!("part.{part}")).copied().unwrap_or(0);
            format!(
                "{site} alone has {n} of {total} documents and is in {part}, which has {got} and was to have {wanted:.0}: \
                 a site is never divided"
            )
        })
        .collect()
}

fn split_shard(
    path: &Path,
    out: &Path,
    index: usize,
    settings: &Settings,
    sites: &Mutex<HashMap<String, u64>>,
    observer: &dyn Observer,
    damage: &mut DamagedLines,
) -> Result<ShardOutput, Error> {
    let mut here: HashMap<String, u64> = HashMap::new();
    let names = settings.parts.iter().map(|part| out.join(&part.0).join(jsonl::shard_name(index)));
    let mut writers = names.map(Writer::create).collect::<Result<Vec<_>, _>>()?;
    let mut per_part = vec![0; writers.len()];
    for_each_document(path, observer, damage, |line, document| {
        let site = site(document.address());
        let part = settings.part_of(&site);
        *here.entry(site).or_default() += 1;
        per_part[part] += 1;
        writers[part].put(line)
    })?;
    let mut sites = sites.lock().expect("no thread panics while it counts");
    here.into_iter().for_each(|(site, n)| *sites.entry(site).or_default() += n);
    drop(sites);
    let mut counted = counts([
        ("in", per_part.iter().sum::<u64>() + damage.n_lines),
        ("kept", per_part.iter().sum()),
        ("dropped.damaged", damage.n_lines),
    ]);
    for (part, n) in settings.parts.iter().zip(per_part) {
        counted.insert(format!("part.{}", part.0), n);
    }
    let mut side_files = Vec::new();
    let first = writers.remove(0);
    for (part, writer) in settings.parts[1..].iter().zip(writers) {
        side_files.push((format!("{}/{}", part.0, jsonl::shard_name(index)), writer.seal()?));
    }
    Ok(ShardOutput { sealed: first.seal()?, counts: counted, side_files })
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

//! Which documents are the same, and which look alike, found by sorting hashes within a bound of memory.

use hashbrown::HashMap;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::priority::Priority;
use super::shingles::agreement;
use super::signatures::Records;
use super::{Near, Pair};
use crate::{Error, Watch};

/// In one bucket a document is compared with so many that came before it and did not resemble each other.
const MAX_LEADERS: usize = 16;

/// A document keeps so many of the documents it resembles.
const MAX_PAIRS: usize = 8;

/// Documents that resemble a better one, each with those it was compared with and how much they agree.
pub(super) type Pairs = HashMap<u32, Vec<Pair>>;

/// The documents whose normalised text another one has too, each with the best of its group.
pub(super) fn exact(records: &Records, priority: &Priority, memory: u64) -> Result<HashMap<u32, u32>, Error> {
    let entry_bytes = size_of::<(u128, u32)>() as u64;
    let n_passes = (u64::from(records.n_documents()) * entry_bytes).div_ceil(memory).max(1) as u128;
    let mut same = HashMap::new();
    let mut entries: Vec<(u128, u32)> = Vec::new();
    for pass in 0..n_passes {
        entries.clear();
        records.for_each(|document, record, _| {
            if record.length > 0 && (record.exact >> 64) % n_passes == pass {
                entries.push((record.exact, document));
            }
        })?;
        entries.sort_unstable();
        for group in entries.chunk_by(|left, right| left.0 == right.0).filter(|group| group.len() > 1) {
            let documents = group.iter().map(|entry| entry.1);
            let best = documents.clone().min_by(|&left, &right| priority.compare(left, right));
            let best = best.expect("a group has members");
            same.extend(documents.filter(|&document| document != best).map(|document| (document, best)));
        }
    }
    Ok(same)
}

/// The documents that share a band with a better one and agree with it as far as `near` asks.
pub(super) fn near(
    records: &Records,
    priority: &Priority,
    same: &HashMap<u32, u32>,
    near: &Near,
    memory: u64,
    watch: &dyn Watch,
) -> Result<Pairs, Error> {
    let n_bands = near.bands;
    let rows = near.permutations / n_bands;
    let entry_bytes = size_of::<(u64, u32)>() as u64;
    let band_bytes = (u64::from(records.n_documents()) * entry_bytes).max(1);
    // As many bands at a time as fit; where not even one does, a part of its keys at a time.
    let bands_at_once = (memory / band_bytes).clamp(1, n_bands as u64) as usize;
    let n_parts = band_bytes.div_ceil(memory).max(1);
    let mut search = Search { records, priority, threshold: near.threshold, pairs: Pairs::new() };
    let mut entries: Vec<(u64, u32)> = Vec::new();
    let n_passes = n_bands.div_ceil(bands_at_once) as u64 * n_parts;
    watch.begin("comparing", n_passes);
    for bands in (0..n_bands).step_by(bands_at_once).map(|first| first..(first + bands_at_once).min(n_bands)) {
        for part in 0..n_parts {
            entries.clear();
            records.for_each(|document, record, signature| {
                if record.n_shingles == 0 || same.contains_key(&document) {
                    return;
                }
                for band in bands.clone() {
                    let key = band_key(band, &signature[band * rows..(band + 1) * rows]);
                    if n_parts == 1 || key % n_parts == part {
                        entries.push((key, document));
                    }
                }
            })?;
            entries.sort_unstable();
            for bucket in entries.chunk_by(|left, right| left.0 == right.0).filter(|bucket| bucket.len() > 1) {
                search.bucket(bucket)?;
            }
            watch.advance(1, 0);
            if watch.stopped() {
                return Err(Error::Stopped);
            }
        }
    }
    Ok(search.pairs)
}

fn band_key(band: usize, rows: &[u16]) -> u64 {
    let mut bytes = [0u8; 128];
    let mut key = band as u64;
    for chunk in rows.chunks(64) {
        for (pair, value) in bytes.chunks_exact_mut(2).zip(chunk) {
            pair.copy_from_slice(&value.to_le_bytes());
        }
        key = xxh3_64_with_seed(&bytes[..2 * chunk.len()], key);
    }
    key
}

struct Search<'r> {
    records: &'r Records,
    priority: &'r Priority,
    threshold: f32,
    pairs: Pairs,
}

impl Search<'_> {
    /// Compares the documents of one bucket, the best first, each with the few that lead it.
    fn bucket(&mut self, bucket: &[(u64, u32)]) -> Result<(), Error> {
        let mut documents: Vec<u32> = bucket.iter().map(|entry| entry.1).collect();
        documents.sort_unstable_by(|&left, &right| self.priority.compare(left, right));
        let mut leaders: Vec<(u32, u32, Vec<u16>)> = Vec::new();
        for document in documents {
            let known = self.pairs.get(&document);
            if known.is_some_and(|known| leaders.iter().any(|leader| known.iter().any(|pair| pair.other == leader.0))) {
                continue;
            }
            let mut signature = Vec::new();
            let record = self.records.read(document, &mut signature)?;
            let mut alike = false;
            for (leader, n_shingles, leading) in &leaders {
                let similarity = agreement(&signature, leading);
                if similarity >= required(self.threshold, record.n_shingles.min(*n_shingles), signature.len()) {
                    let pairs = self.pairs.entry(document).or_default();
                    if pairs.len() < MAX_PAIRS {
                        pairs.push(Pair { other: *leader, similarity });
                    }
                    alike = true;
                    break;
                }
            }
            if !alike && leaders.len() < MAX_LEADERS {
                leaders.push((document, record.n_shingles, signature));
            }
        }
        Ok(())
    }
}

/// What two signatures must agree in: the threshold, and for texts with fewer n-grams than the signature has
/// bins as much more as their estimate is less sure (one standard error), because nobody forgives a removal.
pub(super) fn required(threshold: f32, n_shingles: u32, permutations: usize) -> f32 {
    let error = |samples: f32| (threshold * (1.0 - threshold) / samples.max(1.0)).sqrt();
    let surplus = error(n_shingles as f32) - error(permutations as f32);
    (threshold + surplus.max(0.0)).min(1.0)
}

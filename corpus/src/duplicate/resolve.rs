//! From pairs to removals: every document that goes was compared with one that stays, and resembles it.

use hashbrown::HashMap;

use super::candidates::{Pairs, required};
use super::priority::Priority;
use super::shingles::agreement;
use super::signatures::Records;
use super::{Kind, Near, Removal};
use crate::Error;

/// The documents that go, each with the one that stays in its place.
///
/// Chains do not grow: when A resembles B and B resembles C, C goes only if it resembles A, which stays.
pub(super) fn removals(
    records: &Records,
    priority: &Priority,
    same: &HashMap<u32, u32>,
    pairs: &Pairs,
    near: Option<&Near>,
) -> Result<HashMap<u32, Removal>, Error> {
    let mut removals: HashMap<u32, Removal> = HashMap::with_capacity(same.len() + pairs.len());
    let mut documents: Vec<u32> = pairs.keys().copied().filter(|&document| !priority.is_older(document)).collect();
    documents.sort_unstable_by(|&left, &right| priority.compare(left, right));
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for document in documents {
        let mut alike = pairs[&document].clone();
        alike.sort_by(|a, b| b.similarity.total_cmp(&a.similarity).then_with(|| priority.compare(a.other, b.other)));
        for pair in alike {
            let Some(gone) = removals.get(&pair.other).copied() else {
                removals.insert(document, Removal { kept: pair.other, kind: Kind::Near, similarity: pair.similarity });
                break;
            };
            let near = near.expect("pairs come from a near search");
            let one = records.read(document, &mut left)?;
            let other = records.read(gone.kept, &mut right)?;
            let similarity = agreement(&left, &right);
            if similarity >= required(near.threshold, one.n_shingles.min(other.n_shingles), left.len()) {
                removals.insert(document, Removal { kept: gone.kept, kind: Kind::Near, similarity });
                break;
            }
        }
    }
    for (&document, &twin) in same {
        if priority.is_older(document) {
            continue;
        }
        // The twin that was to stay may itself resemble a better document; the copy then does as well.
        let removal = match removals.get(&twin) {
            Some(gone) if gone.kind == Kind::Near => *gone,
            _ => Removal { kept: twin, kind: Kind::Exact, similarity: 1.0 },
        };
        removals.insert(document, removal);
    }
    Ok(removals)
}

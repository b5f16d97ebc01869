//! From matches to removals: every document that goes was compared with one that stays, and resembles it.

use hashbrown::HashMap;

use super::candidates::Matches;
use super::priority::Priority;
use super::shingles::estimated_jaccard;
use super::signatures::Records;
use super::{Kind, MinHash, Removal};
use crate::Error;

/// The documents that go, each with the one that stays in its place.
///
/// Chains do not grow: when A resembles B and B resembles C, C goes only if it resembles A, which stays.
pub(super) fn removals(
    records: &Records,
    priority: &Priority,
    exact_duplicates: &HashMap<u32, u32>,
    matches: &Matches,
    near: Option<&MinHash>,
) -> Result<HashMap<u32, Removal>, Error> {
    let mut removals: HashMap<u32, Removal> = HashMap::with_capacity(exact_duplicates.len() + matches.len());
    let mut documents: Vec<u32> = matches.keys().copied().filter(|&document| !priority.is_older(document)).collect();
    documents.sort_unstable_by(|&left, &right| priority.compare(left, right));
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for document in documents {
        let mut alike = matches[&document].clone();
        alike.sort_by(|a, b| b.similarity.total_cmp(&a.similarity).then_with(|| priority.compare(a.other, b.other)));
        for found in alike {
            let Some(gone) = removals.get(&found.other).copied() else {
                removals
                    .insert(document, Removal { kept: found.other, kind: Kind::Near, similarity: found.similarity });
                break;
            };
            let near = near.expect("matches come from a near search");
            let one = records.read(document, &mut left)?;
            let other = records.read(gone.kept, &mut right)?;
            let similarity = estimated_jaccard(&left, &right);
            if similarity >= near.required_similarity(one.n_shingles, other.n_shingles) {
                removals.insert(document, Removal { kept: gone.kept, kind: Kind::Near, similarity });
                break;
            }
        }
    }
    for (&document, &duplicate_of) in exact_duplicates {
        if priority.is_older(document) {
            continue;
        }
        // The document it equals may itself be a near-duplicate of a preferred one; then so is this copy.
        let removal = match removals.get(&duplicate_of) {
            Some(gone) if gone.kind == Kind::Near => *gone,
            _ => Removal { kept: duplicate_of, kind: Kind::Exact, similarity: 1.0 },
        };
        removals.insert(document, removal);
    }
    Ok(removals)
}

//! Many pages into documents that nothing keeps: they go to the caller, one after the other, in the order of the pages.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use pith_corpus::Error;
use pith_corpus::manifest::Counts;

use super::versions::{NameOf, Newest};
use super::workers::Workers;
use super::{Extract, Outcome, Selection, ShardCounts, Source, extract_source};
use crate::progress::Progress;

/// What became of the pages.
pub struct Streamed {
    /// Pages by outcome.
    pub counts: Counts,
    /// The first damaged places.
    pub damage: Vec<String>,
}

/// Extracts every input and hands each document to `emit`.
pub fn stream(
    sources: &[Source],
    jobs: NonZeroUsize,
    time_limit: Duration,
    one_page_per: Option<&NameOf>,
    progress: &Progress,
    extract: Arc<Extract<Outcome>>,
    mut emit: impl FnMut(&[u8]) -> Result<(), Error>,
) -> Result<Streamed, Error> {
    let newest = match one_page_per {
        Some(name_of) => Some(Newest::find(sources, jobs, name_of, progress)?),
        None => None,
    };
    let selected = Selection { sources, newest: newest.as_ref(), name_of: one_page_per };
    let paths = sources.iter().flat_map(Source::paths);
    progress.begin("extracting", paths.filter_map(|path| path.metadata().ok()).map(|data| data.len()).sum());
    let workers = Workers::start(jobs, time_limit, extract);
    let mut counts = ShardCounts::default();
    let mut damage = Vec::new();
    for number in 0..sources.len() {
        let put = |outcome: &Outcome| match outcome {
            Outcome::Extracted(line) => emit(line),
            _ => Ok(()),
        };
        damage.extend(extract_source(&selected, number, jobs, &workers, progress, &mut counts, put)?);
    }
    Ok(Streamed { counts: counts.counts, damage })
}

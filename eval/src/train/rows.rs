//! What the trees of blocks and of page types learn from.

use std::collections::HashMap;

use pith_extractor::PageType;
use pith_extractor::features::Matrix;

use super::samples::Sample;
use super::trees::Rows;

/// How pages of small sets and rare page types are weighted.
#[derive(Clone, Copy, Debug)]
pub struct Balance {
    /// How much more a page of a small set counts: 0, all pages count the same; 1, all sets do.
    pub small_sets: f32,
    /// How much more a page that is no article counts. Articles are most of the gold, so that other types
    /// would hardly count otherwise.
    pub rare_kinds: f32,
}

/// How much each page counts.
pub fn page_weights(samples: &[&Sample], sets: &[String], balance: &Balance) -> Vec<f32> {
    let mut n_pages = vec![0usize; sets.len()];
    for sample in samples {
        n_pages[sample.set] += 1;
    }
    let weight = |sample: &&Sample| {
        // The gold of this set is the output of Readability, not of a human annotator.
        let trust = if sets[sample.set] == "mozilla" { 0.5 } else { 1.0 };
        let rare = kind(sample).is_some_and(|kind| kind != PageType::Article.name());
        let small_set_factor = (400.0 / n_pages[sample.set].max(1) as f32).powf(balance.small_sets);
        trust * small_set_factor * if rare { balance.rare_kinds } else { 1.0 }
    };
    samples.iter().map(weight).collect()
}

/// The page type, where the set names one.
fn kind(sample: &Sample) -> Option<&str> {
    sample.truth.page_type.as_deref().filter(|name| *name != "mixed")
}

/// Pages whose block weights sum to more than this many times the gold are weighted down, so that pages with much
/// boilerplate do not dominate.
const MAX_WEIGHT_SUM: f32 = 2.5;

fn boilerplate_discount(sample: &Sample) -> f32 {
    let total: f32 = sample.labels.iter().map(|label| label.weight).sum();
    (MAX_WEIGHT_SUM / total.max(MAX_WEIGHT_SUM)).powf(0.3)
}

/// Blocks of the pages wanted, about `n_rows` of them.
pub fn block_rows(
    samples: &[&Sample],
    matrices: &[Matrix<'_>],
    page_weights: &[f32],
    n_rows: usize,
    features: &[u16],
    wanted: impl Fn(usize) -> bool,
) -> Rows {
    let weighted = || {
        samples.iter().zip(matrices).enumerate().filter(|(page, _)| wanted(*page)).flat_map(
            |(page, (sample, matrix))| {
                let page_weight = page_weights[page] * boilerplate_discount(sample);
                (0..matrix.n_blocks()).map(move |block| (page, block, sample.labels[block].weight * page_weight))
            },
        )
    };
    // The weight above which every row is kept: rows below are sampled with a probability in proportion to theirs.
    let mut weights: Vec<f32> = weighted().map(|(_, _, weight)| weight).filter(|weight| *weight > 0.0).collect();
    weights.sort_by(f32::total_cmp);
    let total: f64 = weights.iter().map(|weight| f64::from(*weight)).sum();
    let mut cut = (total / n_rows as f64) as f32;
    for _ in 0..20 {
        let (below, above) = weights.split_at(weights.partition_point(|weight| *weight < cut));
        let light: f64 = below.iter().map(|weight| f64::from(*weight)).sum();
        let left = n_rows.saturating_sub(above.len()).max(1);
        cut = (light / left as f64) as f32;
    }
    let n_features = matrices.iter().map(Matrix::n_features).max().unwrap_or(0);
    let mut rows = Rows { n_features, features: features.to_vec(), ..Rows::default() };
    for (row, (page, block, weight)) in weighted().enumerate() {
        let random =
            (row as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(31).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        let share = (random >> 40) as f32 / (1u64 << 24) as f32;
        if weight <= 0.0 || (weight < cut && share >= weight / cut) {
            continue;
        }
        rows.targets.push(samples[page].labels[block].target);
        rows.weights.push(weight.max(cut));
        rows.bytes.extend((0..n_features).map(|feature| matrices[page].value(feature, block)));
    }
    rows
}

/// The pages wanted, as rows of what describes the page.
pub fn page_rows(
    samples: &[&Sample],
    matrices: &[Matrix<'_>],
    wanted_kind: PageType,
    wanted: impl Fn(usize) -> bool,
) -> Rows {
    let n_features = matrices.iter().map(Matrix::n_features).max().unwrap_or(0);
    // Where the columns end, what describes the page begins.
    let n_columns = matrices.iter().map(Matrix::n_columns).max().unwrap_or(0);
    let features = (n_columns as u16..n_features as u16).collect();
    let mut rows = Rows { n_features, features, ..Rows::default() };
    let mut n_pages: HashMap<&str, f32> = HashMap::new();
    for kind in samples.iter().filter_map(|sample| kind(sample)) {
        *n_pages.entry(kind).or_default() += 1.0;
    }
    for (page, (sample, matrix)) in samples.iter().zip(matrices).enumerate() {
        let Some(kind) = kind(sample).filter(|_| wanted(page) && matrix.n_blocks() > 0) else { continue };
        rows.targets.push(f32::from(kind == wanted_kind.name()));
        rows.weights.push(30.0 / n_pages[kind].sqrt());
        rows.bytes.extend((0..n_features).map(|feature| matrix.value(feature, 0)));
    }
    rows
}

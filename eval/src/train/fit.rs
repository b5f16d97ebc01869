//! From samples to a model: class names, rows, trees.

use pith_extractor::features::Matrix;
use pith_extractor::model::{Ensemble, Model, NameTable, Tree};
use pith_extractor::{PageType, Reading};
use std::thread;

use super::samples::{Sample, name_table};
use super::trees::{self, Rows, Settings};

/// How a model is made.
#[derive(Clone, Copy, Debug)]
pub struct Recipe {
    /// The trees that judge blocks.
    pub blocks: Settings,
    /// The trees that judge page types.
    pub types: Settings,
    /// About how many rows to learn from; heavy rows are kept, light ones drawn.
    pub n_rows: usize,
}

impl Default for Recipe {
    fn default() -> Self {
        let blocks =
            Settings { n_trees: 160, depth: 6, rate: 0.12, feature_share: 0.25, row_share: 0.6, ..Settings::default() };
        let types = Settings {
            n_trees: 40,
            depth: 4,
            rate: 0.15,
            feature_share: 0.5,
            row_share: 0.8,
            ridge: 4.0,
            ..Settings::default()
        };
        Recipe { blocks, types, n_rows: 220_000 }
    }
}

/// The parts that training pages are cut into, so that no page is described with names learned from itself.
const INNER_PARTS: u32 = 4;

/// Learns from the samples given; `sets` names their sets, which are balanced.
pub fn fit(samples: &[&Sample], sets: &[String], recipe: &Recipe) -> Model {
    let tables: Vec<NameTable> = (0..INNER_PARTS)
        .map(|part| name_table(samples.iter().copied().filter(|sample| inner_part(sample) != part)))
        .collect();
    let matrices = on_threads(samples, |sample| {
        let reading = Reading::of(&sample.page.html, sample.page.url.as_deref().unwrap_or(""));
        Matrix::of(&reading.page, &reading.evidence, &tables[inner_part(sample) as usize])
    });
    let weights = set_weights(samples, sets);
    let rows = block_rows(samples, &matrices, &weights, recipe.n_rows);
    let mut ensembles = vec![pack(&trees::train(&rows, &recipe.blocks))];
    drop(rows);
    for kind in PageType::ALL {
        let rows = page_rows(samples, &matrices, kind);
        ensembles.push(pack(&trees::train(&rows, &recipe.types)));
    }
    Model { names: name_table(samples.iter().copied()), ensembles }
}

fn inner_part(sample: &Sample) -> u32 {
    (sample.site.rotate_left(13).wrapping_mul(0x85EB_CA6B) >> 16) % INNER_PARTS
}

/// Runs over samples on two threads; the order of the results is the order of the samples.
pub fn on_threads<T: Send>(samples: &[&Sample], work: impl Fn(&Sample) -> T + Sync) -> Vec<T> {
    let work = &work;
    let half = samples.len().div_ceil(2).max(1);
    thread::scope(|scope| {
        let workers: Vec<_> = samples
            .chunks(half)
            .map(|chunk| scope.spawn(move || chunk.iter().map(|sample| work(sample)).collect::<Vec<T>>()))
            .collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("reading a page does not panic")).collect()
    })
}

/// Small sets count more per page than large ones, but less than in inverse proportion.
fn set_weights(samples: &[&Sample], sets: &[String]) -> Vec<f32> {
    let mut n_pages = vec![0usize; sets.len()];
    for sample in samples {
        n_pages[sample.set] += 1;
    }
    let weight = |(n_pages, name): (&usize, &String)| {
        // Readability's own output is not a reader's judgement.
        let trust = if name == "mozilla" { 0.5 } else { 1.0 };
        trust * (400.0 / (*n_pages).max(1) as f32).powf(0.35)
    };
    n_pages.iter().zip(sets).map(weight).collect()
}

fn block_rows(samples: &[&Sample], matrices: &[Matrix], set_weights: &[f32], n_rows: usize) -> Rows {
    let weighted = || {
        samples.iter().zip(matrices).enumerate().flat_map(|(page, (sample, matrix))| {
            let set_weight = set_weights[sample.set];
            (0..matrix.n_blocks()).map(move |block| (page, block, sample.labels[block].weight * set_weight))
        })
    };
    // The weight above which every row is kept: rows below are drawn with a chance in proportion to theirs.
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
    let mut rows = Rows { n_features, ..Rows::default() };
    for (row, (page, block, weight)) in weighted().enumerate() {
        let chance =
            (row as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(31).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        let share = (chance >> 40) as f32 / (1u64 << 24) as f32;
        if weight <= 0.0 || (weight < cut && share >= weight / cut) {
            continue;
        }
        rows.targets.push(samples[page].labels[block].target);
        rows.weights.push(weight.max(cut));
        rows.bytes.extend((0..n_features).map(|feature| matrices[page].column(feature)[block]));
    }
    rows
}

fn page_rows(samples: &[&Sample], matrices: &[Matrix], kind: PageType) -> Rows {
    let n_features = matrices.iter().map(Matrix::n_features).max().unwrap_or(0);
    let mut rows = Rows { n_features, ..Rows::default() };
    for (sample, matrix) in samples.iter().zip(matrices).filter(|(_, matrix)| matrix.n_blocks() > 0) {
        let Some(name) = sample.truth.page_type.as_deref().filter(|name| *name != "mixed") else { continue };
        rows.targets.push(f32::from(name == kind.name()));
        rows.weights.push(1.0);
        // Only what describes the page: the rest reads as nothing, so that no tree asks about it.
        let from = matrix.first_page_feature();
        rows.bytes.extend((0..n_features).map(|feature| if feature < from { 0 } else { matrix.column(feature)[0] }));
    }
    rows
}

/// Leaves as 16-bit steps of one scale.
fn pack(ensemble: &trees::Ensemble) -> Ensemble {
    let largest = ensemble.trees.iter().flat_map(|tree| &tree.leaves).fold(1e-6f32, |most, leaf| most.max(leaf.abs()));
    let scale = largest / 32_000.0;
    let trees = ensemble
        .trees
        .iter()
        .map(|tree| Tree {
            splits: tree.splits.clone(),
            leaves: tree.leaves.iter().map(|leaf| (leaf / scale).round() as i16).collect(),
        })
        .collect();
    Ensemble { base: ensemble.base, scale, trees }
}

//! From samples to a model: class names, page types, blocks, thresholds.
//!
//! Pages are cut into parts by site. Every part is judged by trees that have seen the other parts alone, and what they
//! say is what later trees learn from. In the model page types are judged by trees that have seen all pages, blocks by
//! the mean of the trees of all parts. Each part has two ensembles for blocks: one hears all pages much as they come,
//! the other leans towards small sets and rare kinds of page. Together they are steadier than either.

use pith_extractor::features::Matrix;
use pith_extractor::model::{Ensemble, Model, NameTable, Tree, mean_probabilities};
use pith_extractor::{PageType, Reading};
use std::thread;

use super::rows::{Balance, block_rows, page_rows, page_weights};
use super::samples::{Sample, name_table};
use super::thresholds::threshold_rows;
use super::trees::{self, Settings};

/// How a model is made.
#[derive(Clone, Copy, Debug)]
pub struct Recipe {
    /// The trees that judge blocks, for each part.
    pub blocks: Settings,
    /// The trees that judge page types, for each part.
    pub types: Settings,
    /// How pages are balanced for each of the ensembles that judge the blocks of a part. Thresholds are learned with the
    /// first.
    pub balances: [Balance; 2],
    /// The trees that judge thresholds.
    pub thresholds: Settings,
    /// How many ensembles judge thresholds together: which of two good ones is taken hangs on chance less.
    pub n_threshold_judges: u64,
    /// About how many rows to learn from; heavy rows are kept, light ones drawn.
    pub n_rows: usize,
    /// How many of the features blocks are judged by: those that bring the most. The others need not be computed.
    pub n_features: usize,
}

impl Default for Recipe {
    fn default() -> Self {
        let blocks =
            Settings { n_trees: 200, depth: 7, rate: 0.1, feature_share: 0.25, row_share: 0.7, ..Settings::default() };
        let types = Settings {
            n_trees: 70,
            depth: 5,
            rate: 0.1,
            feature_share: 0.5,
            row_share: 0.8,
            ridge: 4.0,
            ..Settings::default()
        };
        let thresholds = Settings {
            n_trees: 200,
            depth: 5,
            rate: 0.07,
            feature_share: 0.5,
            row_share: 0.5,
            ridge: 3.0,
            ..Settings::default()
        };
        let balances = [Balance { small_sets: 0.35, rare_kinds: 1.8 }, Balance { small_sets: 0.6, rare_kinds: 4.0 }];
        Recipe { blocks, types, balances, thresholds, n_threshold_judges: 4, n_rows: 220_000, n_features: 262 }
    }
}

impl Recipe {
    /// The same recipe with chance starting elsewhere: another draw. The first is draw 0.
    pub fn draw(mut self, draw: u64) -> Recipe {
        for settings in [&mut self.blocks, &mut self.types, &mut self.thresholds] {
            settings.seed += 1000 * draw;
        }
        self
    }
}

/// The parts that training pages are cut into.
const INNER_PARTS: u32 = 5;

/// Learns from the samples given; `sets` names their sets, which are balanced.
pub fn fit(samples: &[&Sample], sets: &[String], recipe: &Recipe) -> Model {
    let parts: Vec<u32> = samples.iter().map(|sample| inner_part(sample)).collect();
    let tables: Vec<NameTable> = (0..INNER_PARTS)
        .map(|part| name_table(samples.iter().copied().filter(|sample| inner_part(sample) != part)))
        .collect();
    let mut matrices = on_threads(samples, |_, sample| {
        let reading = Reading::of(&sample.page.html, sample.page.url.as_deref().unwrap_or(""));
        Matrix::of(&reading.page, &reading.evidence, &tables[inner_part(sample) as usize], &[])
    });
    let (types, type_probabilities) = fit_types(samples, &matrices, &parts, &recipe.types);
    for (matrix, probabilities) in matrices.iter_mut().zip(&type_probabilities) {
        matrix.push_types(probabilities);
    }
    let weights = recipe.balances.map(|balance| page_weights(samples, sets, &balance));
    let features = block_features(samples, &matrices, &weights[0], recipe);
    let mut by_balance = [const { Vec::new() }; 2];
    let mut block_probabilities = vec![Vec::new(); samples.len()];
    for part in 0..INNER_PARTS {
        for (balance, (ensembles, weights)) in by_balance.iter_mut().zip(&weights).enumerate() {
            let rows = block_rows(samples, &matrices, weights, recipe.n_rows, &features, |page| parts[page] != part);
            let seed = recipe.blocks.seed + u64::from(part) + 100 * balance as u64;
            ensembles.push(pack(&trees::train(&rows, &Settings { seed, ..recipe.blocks })));
        }
        let strangers = by_balance.each_ref().map(|ensembles: &Vec<Ensemble>| &ensembles[part as usize]);
        for page in (0..samples.len()).filter(|page| parts[*page] == part) {
            block_probabilities[page] = mean_probabilities(&strangers, &matrices[page]);
        }
    }
    drop(matrices);
    let rows = threshold_rows(samples, &block_probabilities, &type_probabilities, &weights[0]);
    let judges = (0..recipe.n_threshold_judges).map(|judge| {
        let seed = recipe.thresholds.seed + 10 * judge;
        trees::train(&rows, &Settings { seed, ..recipe.thresholds })
    });
    let thresholds = pack(&trees::Ensemble::mean(judges.collect()));
    Model::new(name_table(samples.iter().copied()), by_balance.concat(), thresholds, types)
}

/// What it pays to know about blocks, by trees that may ask about everything.
fn block_features(samples: &[&Sample], matrices: &[Matrix<'_>], weights: &[f32], recipe: &Recipe) -> Vec<u16> {
    let n_features = matrices.iter().map(Matrix::n_features).max().unwrap_or(0);
    let all: Vec<u16> = (0..n_features as u16).collect();
    if recipe.n_features >= n_features {
        return all;
    }
    let rows = block_rows(samples, matrices, weights, recipe.n_rows, &all, |_| true);
    trees::train(&rows, &recipe.blocks).best_features(recipe.n_features)
}

/// The trees for each page type, and what others that have not seen a page's part say about it.
fn fit_types(
    samples: &[&Sample],
    matrices: &[Matrix<'_>],
    parts: &[u32],
    settings: &Settings,
) -> (Vec<Ensemble>, Vec<Vec<f32>>) {
    let mut probabilities = vec![Vec::new(); samples.len()];
    let mut types = Vec::new();
    for kind in PageType::ALL {
        let learn =
            |wanted: &dyn Fn(usize) -> bool| pack(&trees::train(&page_rows(samples, matrices, kind, wanted), settings));
        let strangers: Vec<Ensemble> = (0..INNER_PARTS).map(|part| learn(&|page| parts[page] != part)).collect();
        for (page, matrix) in matrices.iter().enumerate() {
            probabilities[page].push(strangers[parts[page] as usize].page_probability(matrix));
        }
        types.push(learn(&|_| true));
    }
    (types, probabilities)
}

fn inner_part(sample: &Sample) -> u32 {
    (sample.site.rotate_left(13).wrapping_mul(0x85EB_CA6B) >> 16) % INNER_PARTS
}

/// Runs over samples and their indices on two threads; the order of the results is the order of the samples.
pub fn on_threads<T: Send>(samples: &[&Sample], work: impl Fn(usize, &Sample) -> T + Sync) -> Vec<T> {
    let work = &work;
    let half = samples.len().div_ceil(2).max(1);
    thread::scope(|scope| {
        let workers: Vec<_> = samples
            .chunks(half)
            .enumerate()
            .map(|(worker, chunk)| {
                let numbered = chunk.iter().enumerate();
                scope.spawn(move || numbered.map(|(at, sample)| work(worker * half + at, sample)).collect::<Vec<T>>())
            })
            .collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("reading a page does not panic")).collect()
    })
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

//! From samples to a model: class names, page types, blocks, thresholds, confidence.
//!
//! Pages are divided into inner folds by site. Every fold is predicted by trees that were trained on the other folds,
//! and these out-of-fold predictions are what later trees are trained on (stacking). In the model, page types are
//! predicted by trees trained on all pages, blocks by the mean of the ensembles of all folds. Each fold has two
//! ensembles for blocks: one weights pages nearly evenly, the other gives small sets and rare page types more weight.
//! Their mean varies less than either.

use pith_extractor::features::{FEATURE_NAMES, Matrix};
use pith_extractor::model::{DecisionTree, Ensemble, Model, NameTable, mean_probabilities};
use pith_extractor::{PageType, ParsedPage};
use std::thread;

use super::confidence::{FittedConfidence, fit_confidence};
use super::rows::{Balance, block_rows, page_rows, page_weights};
use super::samples::{Sample, name_table};
use super::thresholds::threshold_rows;
use super::trees::{self, Settings};

/// How a model is made.
#[derive(Clone, Copy, Debug)]
pub struct TrainingConfig {
    /// The settings of the block ensembles, one of which is trained for each fold.
    pub blocks: Settings,
    /// The settings of the page-type ensembles, one of which is trained for each fold.
    pub types: Settings,
    /// How pages are weighted for each of the two block ensembles of a fold. Thresholds are trained with the first.
    pub balances: [Balance; 2],
    /// The settings of the threshold ensembles.
    pub thresholds: Settings,
    /// How many threshold ensembles are averaged: the choice between two good thresholds depends less on the seed.
    pub n_threshold_ensembles: u64,
    /// The settings of the trees that predict the F1 of a selection.
    pub confidence: Settings,
    /// About how many rows to learn from; rows of high weight are kept, others sampled.
    pub n_rows: usize,
    /// How many of the features blocks are judged by: those that bring the most. The others need not be computed.
    pub n_features: usize,
}

impl Default for TrainingConfig {
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
        let confidence = Settings { n_trees: 120, depth: 4, ..thresholds };
        let balances = [Balance { small_sets: 0.35, rare_kinds: 1.8 }, Balance { small_sets: 0.6, rare_kinds: 4.0 }];
        TrainingConfig {
            blocks,
            types,
            balances,
            thresholds,
            n_threshold_ensembles: 4,
            confidence,
            n_rows: 220_000,
            n_features: 262,
        }
    }
}

impl TrainingConfig {
    /// The same configuration with every random generator seeded differently; the shipped model has seed 0.
    pub fn with_seed(mut self, seed: u64) -> TrainingConfig {
        for settings in [&mut self.blocks, &mut self.types, &mut self.thresholds, &mut self.confidence] {
            settings.seed += 1000 * seed;
        }
        self
    }
}

/// The number of inner folds that training pages are divided into.
const N_INNER_FOLDS: u32 = 5;

/// Learns from the samples given; `sets` names their sets, which are balanced.
pub fn fit(samples: &[&Sample], sets: &[String], config: &TrainingConfig) -> Model {
    let inner_folds: Vec<u32> = samples.iter().map(|sample| inner_fold(sample)).collect();
    let tables: Vec<NameTable> = (0..N_INNER_FOLDS)
        .map(|fold| name_table(samples.iter().copied().filter(|sample| inner_fold(sample) != fold)))
        .collect();
    let mut matrices = on_threads(samples, |_, sample| {
        let reading = ParsedPage::parse(&sample.page.html, sample.page.url.as_deref().unwrap_or(""));
        Matrix::of(&reading.page, &reading.metadata, &tables[inner_fold(sample) as usize], &[])
    });
    let (types, type_probabilities) = fit_types(samples, &matrices, &inner_folds, &config.types);
    for (matrix, probabilities) in matrices.iter_mut().zip(&type_probabilities) {
        matrix.push_types(probabilities);
    }
    let weights = config.balances.map(|balance| page_weights(samples, sets, &balance));
    let features = block_features(samples, &matrices, &weights[0], config);
    let mut by_balance = [const { Vec::new() }; 2];
    let mut block_probabilities = vec![Vec::new(); samples.len()];
    for inner_fold in 0..N_INNER_FOLDS {
        for (balance, (ensembles, weights)) in by_balance.iter_mut().zip(&weights).enumerate() {
            let rows = block_rows(samples, &matrices, weights, config.n_rows, &features, |page| {
                inner_folds[page] != inner_fold
            });
            let seed = config.blocks.seed + u64::from(inner_fold) + 100 * balance as u64;
            ensembles.push(pack(&trees::train(&rows, &Settings { seed, ..config.blocks })));
        }
        let out_of_fold = by_balance.each_ref().map(|ensembles: &Vec<Ensemble>| &ensembles[inner_fold as usize]);
        for page in (0..samples.len()).filter(|page| inner_folds[*page] == inner_fold) {
            block_probabilities[page] = mean_probabilities(&out_of_fold, &matrices[page]);
        }
    }
    drop(matrices);
    let rows = threshold_rows(samples, &block_probabilities, &type_probabilities, &weights[0]);
    let ensembles = (0..config.n_threshold_ensembles).map(|ensemble| {
        let seed = config.thresholds.seed + 10 * ensemble;
        trees::train(&rows, &Settings { seed, ..config.thresholds })
    });
    let thresholds = pack(&trees::Ensemble::mean(ensembles.collect()));
    let probabilities = (&block_probabilities[..], &type_probabilities[..]);
    let confidence = fit_confidence(samples, &inner_folds, probabilities, &thresholds, &config.confidence).confidence;
    Model::new(name_table(samples.iter().copied()), by_balance.concat(), thresholds, types, confidence)
}

/// What the folds of a confidence are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfidenceFolds {
    /// The inner folds of training, by site.
    Sites,
    /// The sets, one by one.
    Sets,
}

/// Learns the confidence alone, for a model that was trained on the same samples: after a change of the text that does
/// not need new trees. The blocks of a page are judged by the ensembles that were trained without its site.
pub fn refit_confidence(
    model: &Model,
    samples: &[&Sample],
    config: &TrainingConfig,
    folds: ConfidenceFolds,
) -> FittedConfidence {
    let n_folds = N_INNER_FOLDS as usize;
    let judged = on_threads(samples, |_, sample| {
        let parsed = ParsedPage::parse(&sample.page.html, sample.page.url.as_deref().unwrap_or(""));
        let mut matrix = model.matrix(&parsed.page, &parsed.metadata);
        let types = model.type_probabilities(&matrix);
        matrix.push_types(&types);
        let unseen = model.blocks.iter().skip(inner_fold(sample) as usize).step_by(n_folds);
        (mean_probabilities(&unseen.collect::<Vec<_>>(), &matrix), types)
    });
    let (blocks, types): (Vec<_>, Vec<_>) = judged.into_iter().unzip();
    let fold = |sample: &&Sample| match folds {
        ConfidenceFolds::Sites => inner_fold(sample),
        ConfidenceFolds::Sets => sample.set as u32,
    };
    let folds: Vec<u32> = samples.iter().map(fold).collect();
    fit_confidence(samples, &folds, (&blocks, &types), &model.thresholds, &config.confidence)
}

/// What each feature of blocks is worth: its share of the gain of an ensemble that is trained on all features, the
/// largest first.
pub fn feature_gains(samples: &[&Sample], sets: &[String], config: &TrainingConfig) -> Vec<(&'static str, f64)> {
    let names = name_table(samples.iter().copied());
    let mut matrices = on_threads(samples, |_, sample| {
        let parsed = ParsedPage::parse(&sample.page.html, sample.page.url.as_deref().unwrap_or(""));
        Matrix::of(&parsed.page, &parsed.metadata, &names, &[])
    });
    let inner_folds: Vec<u32> = samples.iter().map(|sample| inner_fold(sample)).collect();
    let (_, type_probabilities) = fit_types(samples, &matrices, &inner_folds, &config.types);
    for (matrix, probabilities) in matrices.iter_mut().zip(&type_probabilities) {
        matrix.push_types(probabilities);
    }
    let weights = page_weights(samples, sets, &config.balances[0]);
    let all: Vec<u16> = (0..FEATURE_NAMES.len() as u16).collect();
    let rows = block_rows(samples, &matrices, &weights, config.n_rows, &all, |_| true);
    let gains = trees::train(&rows, &config.blocks).gains;
    let sum: f64 = gains.iter().sum();
    let mut worth: Vec<_> = FEATURE_NAMES.into_iter().zip(gains.iter().map(|gain| gain / sum.max(1e-9))).collect();
    worth.sort_by(|a, b| b.1.total_cmp(&a.1));
    worth
}

/// The features with the highest gain, by an ensemble that is trained on all features.
fn block_features(samples: &[&Sample], matrices: &[Matrix<'_>], weights: &[f32], config: &TrainingConfig) -> Vec<u16> {
    let n_features = matrices.iter().map(Matrix::n_features).max().unwrap_or(0);
    let all: Vec<u16> = (0..n_features as u16).collect();
    if config.n_features >= n_features {
        return all;
    }
    let rows = block_rows(samples, matrices, weights, config.n_rows, &all, |_| true);
    trees::train(&rows, &config.blocks).best_features(config.n_features)
}

/// The ensemble for each page type, and the out-of-fold probabilities of every page.
fn fit_types(
    samples: &[&Sample],
    matrices: &[Matrix<'_>],
    inner_folds: &[u32],
    settings: &Settings,
) -> (Vec<Ensemble>, Vec<Vec<f32>>) {
    let mut probabilities = vec![Vec::new(); samples.len()];
    let mut types = Vec::new();
    for kind in PageType::ALL {
        let learn =
            |wanted: &dyn Fn(usize) -> bool| pack(&trees::train(&page_rows(samples, matrices, kind, wanted), settings));
        let out_of_fold: Vec<Ensemble> =
            (0..N_INNER_FOLDS).map(|inner_fold| learn(&|page| inner_folds[page] != inner_fold)).collect();
        for (page, matrix) in matrices.iter().enumerate() {
            probabilities[page].push(out_of_fold[inner_folds[page] as usize].page_probability(matrix));
        }
        types.push(learn(&|_| true));
    }
    (types, probabilities)
}

fn inner_fold(sample: &Sample) -> u32 {
    (sample.site.rotate_left(13).wrapping_mul(0x85EB_CA6B) >> 16) % N_INNER_FOLDS
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
pub(super) fn pack(ensemble: &trees::Ensemble) -> Ensemble {
    let largest = ensemble.trees.iter().flat_map(|tree| &tree.leaves).fold(1e-6f32, |most, leaf| most.max(leaf.abs()));
    let scale = largest / 32_000.0;
    let trees = ensemble
        .trees
        .iter()
        .map(|tree| DecisionTree {
            splits: tree.splits.clone(),
            leaves: tree.leaves.iter().map(|leaf| (leaf / scale).round() as i16).collect(),
        })
        .collect();
    Ensemble { base: ensemble.base, scale, trees }
}

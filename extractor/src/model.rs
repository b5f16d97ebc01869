//! The trained model: gradient-boosted oblivious trees over the features of blocks, and the log-odds of class names.
//!
//! `pith eval train` writes the tables, which are compiled in.

mod confidence;
mod tables;

use std::sync::LazyLock;

use crate::blocks::Page;
use crate::features::{LANES, Matrix, PageMetadata};
pub use confidence::{Calibration, Confidence};
pub use tables::TablesError;

/// The trained tables, as [`Model::write`] writes them.
static TABLES: &[u8] = include_bytes!("model/tables.bin");

/// The model that the crate was built with.
pub static MODEL: LazyLock<Model> = LazyLock::new(|| match Model::read(TABLES) {
    Ok(model) => model,
    Err(error) => panic!("extractor/src/model/tables.bin: {error}; `pith eval train` makes tables for this version"),
});

/// All trained tables.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// The log-odds of class names.
    pub names: NameTable,
    /// The classifiers of blocks, each trained on a different sample of pages; the mean of their log-odds counts.
    pub blocks: Vec<Ensemble>,
    /// Scores the candidate thresholds of a page.
    pub thresholds: Ensemble,
    /// One classifier per page type, in the order of [`PageType::ALL`](crate::PageType::ALL).
    pub types: Vec<Ensemble>,
    /// Predicts the F1 of what is kept.
    pub confidence: Confidence,
    /// Whether any classifier of blocks or page types uses each feature.
    used_features: Vec<bool>,
}

/// A sum of oblivious trees: all nodes of one level of a tree share one split.
#[derive(Clone, Debug, Default)]
pub struct Ensemble {
    /// Log-odds before any tree.
    pub base: f32,
    /// The factor of every leaf value.
    pub scale: f32,
    /// The trees.
    pub trees: Vec<DecisionTree>,
}

/// One oblivious tree.
#[derive(Clone, Debug, Default)]
pub struct DecisionTree {
    /// Feature and threshold of each level. A value above the threshold sets the bit of the level in the leaf index;
    /// the first level has the lowest bit.
    pub splits: Vec<(u16, u8)>,
    /// The leaf values, two to the number of splits.
    pub leaves: Vec<i16>,
}

/// The most splits of a tree: a leaf index is a byte.
const MAX_DEPTH: usize = 8;

/// One tree prepared for evaluation on all blocks of a page.
struct TreeEvaluator<'m> {
    /// The bits of the leaf index that page features decide, the same for all blocks.
    shared: [u8; LANES],
    n_block_splits: usize,
    /// Columns, thresholds and bits of the splits on block features.
    columns: [&'m [[u8; LANES]]; MAX_DEPTH],
    thresholds: [[i8; LANES]; MAX_DEPTH],
    bits: [[u8; LANES]; MAX_DEPTH],
}

impl<'m> TreeEvaluator<'m> {
    fn empty() -> Self {
        TreeEvaluator {
            shared: [0; LANES],
            n_block_splits: 0,
            columns: [&[]; MAX_DEPTH],
            thresholds: [[0; LANES]; MAX_DEPTH],
            bits: [[0; LANES]; MAX_DEPTH],
        }
    }

    /// Replaces the tree.
    fn load(&mut self, tree: &DecisionTree, matrix: &'m Matrix<'_>) {
        let mut shared = 0;
        self.n_block_splits = 0;
        for (level, (feature, threshold)) in tree.splits.iter().enumerate().take(MAX_DEPTH) {
            let bit = 1u8 << level;
            let feature = usize::from(*feature);
            // Splits on page features are evaluated once.
            if feature < matrix.n_columns() {
                self.columns[self.n_block_splits] = matrix.groups(feature);
                // Bytes stay below 64, and signed ones are compared in half the time.
                self.thresholds[self.n_block_splits] = [*threshold as i8; LANES];
                self.bits[self.n_block_splits] = [bit; LANES];
                self.n_block_splits += 1;
            } else if matrix.shared_value(feature) > *threshold {
                shared |= bit;
            }
        }
        self.shared = [shared; LANES];
    }

    /// Writes the leaf index of each block of some groups.
    fn write_leaf_indices(&self, groups: &[usize], leaf_indices: &mut [[u8; LANES]]) {
        match self.n_block_splits {
            0 => leaf_indices.fill(self.shared),
            1 => self.leaf_indices_of::<1>(groups, leaf_indices),
            2 => self.leaf_indices_of::<2>(groups, leaf_indices),
            3 => self.leaf_indices_of::<3>(groups, leaf_indices),
            4 => self.leaf_indices_of::<4>(groups, leaf_indices),
            5 => self.leaf_indices_of::<5>(groups, leaf_indices),
            6 => self.leaf_indices_of::<6>(groups, leaf_indices),
            7 => self.leaf_indices_of::<7>(groups, leaf_indices),
            _ => self.leaf_indices_of::<MAX_DEPTH>(groups, leaf_indices),
        }
    }

    /// The leaf indices of a tree with `N` splits on block features; a loop of known length takes half the instructions.
    fn leaf_indices_of<const N: usize>(&self, groups: &[usize], leaf_indices: &mut [[u8; LANES]]) {
        let columns: [&[[u8; LANES]]; N] = std::array::from_fn(|split| self.columns[split]);
        for (group, leaf_indices) in groups.iter().zip(leaf_indices) {
            let mut found = self.shared;
            for (column, (thresholds, bits)) in columns.iter().zip(self.thresholds.iter().zip(&self.bits)) {
                let values = &column[*group];
                for lane in 0..LANES {
                    found[lane] |= (-i8::from((values[lane] as i8) > thresholds[lane])) as u8 & bits[lane];
                }
            }
            *leaf_indices = found;
        }
    }
}

impl Ensemble {
    /// The probability for every block of a page.
    pub fn probabilities(&self, matrix: &Matrix<'_>) -> Vec<f32> {
        probabilities(matrix, &self.log_odds(matrix, &all_groups(matrix)))
    }

    /// The log-odds for the blocks of some groups.
    fn log_odds(&self, matrix: &Matrix<'_>, groups: &[usize]) -> Vec<[f32; LANES]> {
        let mut sums = vec![[0i32; LANES]; groups.len()];
        let mut leaf_indices: [_; TREES_PER_PASS] = std::array::from_fn(|_| vec![[0u8; LANES]; groups.len()]);
        let mut evaluators: [TreeEvaluator<'_>; TREES_PER_PASS] = std::array::from_fn(|_| TreeEvaluator::empty());
        for trees in self.trees.chunks(TREES_PER_PASS) {
            crate::cancel::check();
            for (index, (evaluator, leaf_indices)) in evaluators.iter_mut().zip(&mut leaf_indices).enumerate() {
                match trees.get(index) {
                    Some(tree) => evaluator.load(tree, matrix),
                    None => *evaluator = TreeEvaluator::empty(),
                }
                evaluator.write_leaf_indices(groups, leaf_indices);
            }
            // The trees of an ensemble have one depth: that of blocks, or that of thresholds.
            if let Some(leaves) = leaves_of::<128>(trees) {
                add_leaves(leaves, &leaf_indices, &mut sums);
            } else if let Some(leaves) = leaves_of::<32>(trees) {
                add_leaves(leaves, &leaf_indices, &mut sums);
            } else {
                let padded: [_; TREES_PER_PASS] = std::array::from_fn(|index| padded_leaves(trees.get(index)));
                add_leaves(padded.each_ref(), &leaf_indices, &mut sums);
            }
        }
        sums.iter().map(|sums| sums.map(|sum| self.base + sum as f32 * self.scale)).collect()
    }

    /// The probability for the page as a whole, from the page features alone.
    pub fn page_probability(&self, matrix: &Matrix<'_>) -> f32 {
        let value = |feature: u16| matrix.shared_value(usize::from(feature));
        let leaf = |tree: &DecisionTree| {
            let splits = tree.splits.iter().enumerate();
            splits.fold(0, |leaf, (level, (feature, threshold))| {
                leaf | (usize::from(value(*feature) > *threshold) << level)
            })
        };
        let sum: i32 = self.trees.iter().map(|tree| i32::from(tree.leaves[leaf(tree)])).sum();
        probability(self.base + sum as f32 * self.scale)
    }
}

/// Trees whose leaf values are added in one pass: looking them up is most of the work.
const TREES_PER_PASS: usize = 4;

/// The leaves of the trees of one pass, where each has `N`.
fn leaves_of<const N: usize>(trees: &[DecisionTree]) -> Option<[&[i16; N]; TREES_PER_PASS]> {
    let [a, b, c, d] = trees else { return None };
    Some([array(&a.leaves)?, array(&b.leaves)?, array(&c.leaves)?, array(&d.leaves)?])
}

fn array<const N: usize>(leaves: &[i16]) -> Option<&[i16; N]> {
    leaves.try_into().ok()
}

/// The leaves of a tree of any depth; zeros where there is no tree.
fn padded_leaves(tree: Option<&DecisionTree>) -> [i16; 1 << MAX_DEPTH] {
    let mut padded = [0; 1 << MAX_DEPTH];
    if let Some(tree) = tree {
        padded[..tree.leaves.len()].copy_from_slice(&tree.leaves);
    }
    padded
}

/// Adds the leaf values of some trees with `N` leaves each, a power of two, to the sums of all groups.
fn add_leaves<const N: usize>(
    leaves: [&[i16; N]; TREES_PER_PASS],
    leaf_indices: &[Vec<[u8; LANES]>; TREES_PER_PASS],
    sums: &mut [[i32; LANES]],
) {
    for (group, sums) in sums.iter_mut().enumerate() {
        let leaf_indices = leaf_indices.each_ref().map(|leaf_indices| &leaf_indices[group]);
        for (lane, sum) in sums.iter_mut().enumerate() {
            // An index has a bit for each split, so that it is below `N`; saying so saves a comparison each.
            let leaf = |tree: usize| i32::from(leaves[tree][usize::from(leaf_indices[tree][lane]) & (N - 1)]);
            *sum += leaf(0) + leaf(1) + leaf(2) + leaf(3);
        }
    }
}

/// The probability for every block of a page, by the mean of the log-odds of some ensembles.
pub fn mean_probabilities(ensembles: &[&Ensemble], matrix: &Matrix<'_>) -> Vec<f32> {
    let groups = all_groups(matrix);
    let mut sums = vec![[0.0f32; LANES]; groups.len()];
    for ensemble in ensembles {
        for (sum, log_odds) in sums.as_flattened_mut().iter_mut().zip(ensemble.log_odds(matrix, &groups).as_flattened())
        {
            *sum += log_odds / ensembles.len() as f32;
        }
    }
    probabilities(matrix, &sums)
}

/// Blocks whose log-odds are nearer to zero than this are uncertain: a probability between 1/31 and 30/31.
const UNCERTAIN_LOG_ODDS: f32 = 3.4;

fn all_groups(matrix: &Matrix<'_>) -> Vec<usize> {
    (0..matrix.n_groups()).collect()
}

/// The probability for every block, by the log-odds of all groups.
fn probabilities(matrix: &Matrix<'_>, log_odds: &[[f32; LANES]]) -> Vec<f32> {
    log_odds.as_flattened()[..matrix.n_blocks()].iter().copied().map(probability).collect()
}

fn probability(log_odds: f32) -> f32 {
    1.0 / (1.0 + (-log_odds).exp())
}

/// For each known class name, by its hash, the log-odds that text inside an element of that name is content.
#[derive(Clone, Debug, Default)]
pub struct NameTable {
    entries: Vec<(u32, i8)>,
    slots: Vec<(u32, i8)>,
}

/// Log-odds are kept in steps of one sixteenth.
const STEP: f32 = 1.0 / 16.0;

impl NameTable {
    /// Builds a table; the order of the entries does not matter.
    pub fn new(mut entries: Vec<(u32, i8)>) -> Self {
        entries.sort_unstable();
        let mut table = NameTable { slots: vec![(0, 0); (entries.len() * 2 + 1).next_power_of_two()], entries };
        for index in 0..table.entries.len() {
            let entry = table.entries[index];
            let slot = table.slot(entry.0);
            table.slots[slot] = entry;
        }
        table
    }

    /// The entries, sorted.
    pub fn entries(&self) -> &[(u32, i8)] {
        &self.entries
    }

    /// The nearest number of steps.
    pub fn steps(log_odds: f32) -> i8 {
        (log_odds / STEP).round().clamp(-127.0, 127.0) as i8
    }

    /// The log-odds of a name, if it is known.
    #[inline]
    pub fn get(&self, name: u32) -> Option<f32> {
        if self.entries.is_empty() || name == 0 {
            return None;
        }
        let (found, steps) = self.slots[self.slot(name)];
        (found == name).then(|| f32::from(steps) * STEP)
    }

    #[inline]
    fn slot(&self, name: u32) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = (name.wrapping_mul(0x9E37_79B1) >> 8) as usize & mask;
        while self.slots[slot].0 != name && self.slots[slot].0 != 0 {
            slot = (slot + 1) & mask;
        }
        slot
    }
}

impl Model {
    /// A model of trained parts.
    pub fn new(
        names: NameTable,
        blocks: Vec<Ensemble>,
        thresholds: Ensemble,
        types: Vec<Ensemble>,
        confidence: Confidence,
    ) -> Model {
        let splits = || blocks.iter().chain(&types).flat_map(|ensemble| &ensemble.trees).flat_map(|tree| &tree.splits);
        let n_features = splits().map(|(feature, _)| usize::from(*feature) + 1).max().unwrap_or(0);
        let mut used_features = vec![false; n_features];
        for (feature, _) in splits() {
            used_features[usize::from(*feature)] = true;
        }
        Model { names, blocks, thresholds, types, confidence, used_features }
    }

    /// The features of a page; columns that no classifier uses are zero.
    pub fn matrix(&self, page: &Page<'_>, metadata: &PageMetadata) -> Matrix<'_> {
        Matrix::of(page, metadata, &self.names, &self.used_features)
    }

    /// The probability of each page type, from the page features.
    pub fn type_probabilities(&self, matrix: &Matrix<'_>) -> Vec<f32> {
        self.types.iter().map(|ensemble| ensemble.page_probability(matrix)).collect()
    }

    /// The probability that each block of a page is content. The first classifier is evaluated on all blocks; the others
    /// only where `is_confident` rejects its probabilities, and only on the groups with an uncertain block.
    pub fn block_probabilities(&self, matrix: &Matrix<'_>, is_confident: impl Fn(&[f32]) -> bool) -> Vec<f32> {
        let Some((first, others)) = self.blocks.split_first() else { return vec![0.0; matrix.n_blocks()] };
        let mut log_odds = first.log_odds(matrix, &all_groups(matrix));
        let first_probabilities = probabilities(matrix, &log_odds);
        if others.is_empty() || is_confident(&first_probabilities) {
            return first_probabilities;
        }
        let uncertain: Vec<usize> = (0..log_odds.len())
            .filter(|group| log_odds[*group].iter().any(|odds| odds.abs() < UNCERTAIN_LOG_ODDS))
            .collect();
        let log_odds_of_others: Vec<_> = others.iter().map(|other| other.log_odds(matrix, &uncertain)).collect();
        for (position, group) in uncertain.iter().enumerate() {
            for (lane, odds) in log_odds[*group].iter_mut().enumerate() {
                let sum: f32 = log_odds_of_others.iter().map(|log_odds| log_odds[position][lane]).sum();
                *odds = (*odds + sum) / self.blocks.len() as f32;
            }
        }
        probabilities(matrix, &log_odds)
    }

    fn ensembles(&self) -> impl Iterator<Item = &Ensemble> {
        self.blocks.iter().chain([&self.thresholds]).chain(&self.types).chain([&self.confidence.ensemble])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_others_are_evaluated_where_the_first_is_not_confident() {
        let mut matrix = Matrix::of_rows(1);
        matrix.push([0u8].into_iter());
        let constant = |base: f32| Ensemble { base, scale: 1.0, trees: Vec::new() };
        let model = Model { blocks: vec![constant(2.0), constant(-2.0), constant(0.0)], ..Model::default() };
        assert_eq!(model.block_probabilities(&matrix, |_| true), [probability(2.0)]);
        assert_eq!(model.block_probabilities(&matrix, |_| false), [0.0f32].map(probability));
        let certain = Model { blocks: vec![constant(9.0), constant(-2.0), constant(0.0)], ..Model::default() };
        assert_eq!(certain.block_probabilities(&matrix, |_| false), [probability(9.0)]);
        assert_eq!(Model::default().block_probabilities(&matrix, |_| false), [0.0]);
    }

    #[test]
    fn the_mean_is_that_of_the_log_odds() {
        let mut matrix = Matrix::of_rows(1);
        matrix.push([0u8].into_iter());
        let constant = |base: f32| Ensemble { base, scale: 1.0, trees: Vec::new() };
        assert_eq!(mean_probabilities(&[&constant(3.0), &constant(-1.0)], &matrix), [probability(1.0)]);
    }
}

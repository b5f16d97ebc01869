//! What was learned from gold pages: boosted trees over the features of blocks, and what class names mean.
//!
//! The tables are written by the lab's training and compiled in; reading them back is a plain loop.

use std::sync::LazyLock;

use crate::blocks::Page;
use crate::features::{Evidence, LANES, Matrix};

/// The trained tables.
static TABLES: &[u8] = include_bytes!("model/tables.bin");

/// The model that the crate was built with.
pub static MODEL: LazyLock<Model> = LazyLock::new(|| Model::read(TABLES).unwrap_or_default());

/// Everything that was learned.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// What class names mean.
    pub names: NameTable,
    /// Is a block content? Each has learned from other pages; together they answer with the mean of their log-odds.
    pub blocks: Vec<Ensemble>,
    /// How good is it to keep the blocks above a threshold?
    pub thresholds: Ensemble,
    /// For each page type: is it this type?
    pub types: Vec<Ensemble>,
    /// Which features blocks and page types are judged by.
    asked: Vec<bool>,
}

/// A sum of oblivious trees: every level of a tree asks one question of all blocks.
#[derive(Clone, Debug, Default)]
pub struct Ensemble {
    /// Log-odds before any tree.
    pub base: f32,
    /// What a leaf's number is multiplied by.
    pub scale: f32,
    /// The trees.
    pub trees: Vec<Tree>,
}

/// One tree.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// Is this feature above this byte? The first question is the lowest bit of the leaf's number.
    pub splits: Vec<(u16, u8)>,
    /// Two to the number of questions.
    pub leaves: Vec<i16>,
}

/// Questions that a tree has at most: the leaf's number is a byte.
const MAX_DEPTH: usize = 8;

/// One tree about to be asked about all blocks of a page.
struct Asking<'m> {
    /// The answers to what all blocks share, as bits of the leaf's number.
    shared: [u8; LANES],
    n_questions: usize,
    /// What is asked of each block: the feature of all blocks, the threshold and the bit, ready to be compared.
    columns: [&'m [[u8; LANES]]; MAX_DEPTH],
    thresholds: [[i8; LANES]; MAX_DEPTH],
    bits: [[u8; LANES]; MAX_DEPTH],
    leaves: [i16; 1 << MAX_DEPTH],
}

impl<'m> Asking<'m> {
    fn nobody() -> Self {
        Asking {
            shared: [0; LANES],
            n_questions: 0,
            columns: [&[]; MAX_DEPTH],
            thresholds: [[0; LANES]; MAX_DEPTH],
            bits: [[0; LANES]; MAX_DEPTH],
            leaves: [0; 1 << MAX_DEPTH],
        }
    }

    /// Turns to another tree.
    fn turn_to(&mut self, tree: &Tree, matrix: &'m Matrix<'_>) {
        let mut shared = 0;
        self.n_questions = 0;
        for (level, (feature, threshold)) in tree.splits.iter().enumerate().take(MAX_DEPTH) {
            let bit = 1u8 << level;
            let feature = usize::from(*feature);
            // What all blocks share is asked once.
            if feature < matrix.n_columns() {
                self.columns[self.n_questions] = matrix.groups(feature);
                // Bytes stay below 64, and signed ones are compared in half the time.
                self.thresholds[self.n_questions] = [*threshold as i8; LANES];
                self.bits[self.n_questions] = [bit; LANES];
                self.n_questions += 1;
            } else if matrix.shared_value(feature) > *threshold {
                shared |= bit;
            }
        }
        self.shared = [shared; LANES];
        self.leaves[..tree.leaves.len()].copy_from_slice(&tree.leaves);
    }

    /// For each block of some groups the number of its leaf.
    fn find_places(&self, groups: &[usize], places: &mut [[u8; LANES]]) {
        match self.n_questions {
            0 => places.fill(self.shared),
            1 => self.answer::<1>(groups, places),
            2 => self.answer::<2>(groups, places),
            3 => self.answer::<3>(groups, places),
            4 => self.answer::<4>(groups, places),
            5 => self.answer::<5>(groups, places),
            6 => self.answer::<6>(groups, places),
            7 => self.answer::<7>(groups, places),
            _ => self.answer::<MAX_DEPTH>(groups, places),
        }
    }

    /// Asks `N` questions; a loop of known length takes half the instructions.
    fn answer<const N: usize>(&self, groups: &[usize], places: &mut [[u8; LANES]]) {
        let columns: [&[[u8; LANES]]; N] = std::array::from_fn(|question| self.columns[question]);
        for (group, places) in groups.iter().zip(places) {
            let mut found = self.shared;
            for (column, (thresholds, bits)) in columns.iter().zip(self.thresholds.iter().zip(&self.bits)) {
                let values = &column[*group];
                for lane in 0..LANES {
                    found[lane] |= (-i8::from((values[lane] as i8) > thresholds[lane])) as u8 & bits[lane];
                }
            }
            *places = found;
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
        /// Trees whose leaves are added in one pass: looking them up is most of the work.
        const TOGETHER: usize = 4;
        let mut sums = vec![[0i32; LANES]; groups.len()];
        let mut places: [_; TOGETHER] = std::array::from_fn(|_| vec![[0u8; LANES]; groups.len()]);
        let mut asking: [Asking<'_>; TOGETHER] = std::array::from_fn(|_| Asking::nobody());
        for trees in self.trees.chunks(TOGETHER) {
            for (index, (asking, places)) in asking.iter_mut().zip(&mut places).enumerate() {
                match trees.get(index) {
                    Some(tree) => asking.turn_to(tree, matrix),
                    None => *asking = Asking::nobody(),
                }
                asking.find_places(groups, places);
            }
            let leaves = asking.each_ref().map(|asking| &asking.leaves);
            for (group, sums) in sums.iter_mut().enumerate() {
                let places = places.each_ref().map(|places| &places[group]);
                for (lane, sum) in sums.iter_mut().enumerate() {
                    let leaf = |tree: usize| i32::from(leaves[tree][usize::from(places[tree][lane])]);
                    *sum += leaf(0) + leaf(1) + leaf(2) + leaf(3);
                }
            }
        }
        sums.iter().map(|sums| sums.map(|sum| self.base + sum as f32 * self.scale)).collect()
    }

    /// The probability for the page as a whole, by the features that all blocks share.
    pub fn page_probability(&self, matrix: &Matrix<'_>) -> f32 {
        let value = |feature: u16| matrix.shared_value(usize::from(feature));
        let leaf = |tree: &Tree| {
            let answers = tree.splits.iter().enumerate();
            answers.fold(0, |leaf, (level, (feature, threshold))| {
                leaf | (usize::from(value(*feature) > *threshold) << level)
            })
        };
        let sum: i32 = self.trees.iter().map(|tree| i32::from(tree.leaves[leaf(tree)])).sum();
        probability(self.base + sum as f32 * self.scale)
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

/// Log-odds nearer to even than this leave a doubt: between one in thirty and thirty to one.
const DOUBT: f32 = 3.4;

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

/// What class names mean: log-odds that the text below is content, by the hash of the name.
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

    /// What a name means, if it is known.
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
    /// Everything that was learned, together.
    pub fn new(names: NameTable, blocks: Vec<Ensemble>, thresholds: Ensemble, types: Vec<Ensemble>) -> Model {
        let splits = || blocks.iter().chain(&types).flat_map(|ensemble| &ensemble.trees).flat_map(|tree| &tree.splits);
        let n_features = splits().map(|(feature, _)| usize::from(*feature) + 1).max().unwrap_or(0);
        let mut asked = vec![false; n_features];
        for (feature, _) in splits() {
            asked[usize::from(*feature)] = true;
        }
        Model { names, blocks, thresholds, types, asked }
    }

    /// What is known about the blocks of a page, as far as it is asked for.
    pub fn matrix(&self, page: &Page<'_>, evidence: &Evidence) -> Matrix<'_> {
        Matrix::of(page, evidence, &self.names, &self.asked)
    }

    /// How likely each page type is, by the features that all blocks share.
    pub fn type_probabilities(&self, matrix: &Matrix<'_>) -> Vec<f32> {
        self.types.iter().map(|ensemble| ensemble.page_probability(matrix)).collect()
    }

    /// The probability that each block of a page is content. The first of those who know is asked alone, and the others
    /// only where its answer is not one to be `sure` of, about the groups of blocks that leave a doubt.
    pub fn block_probabilities(&self, matrix: &Matrix<'_>, sure: impl Fn(&[f32]) -> bool) -> Vec<f32> {
        let Some((first, others)) = self.blocks.split_first() else { return vec![0.0; matrix.n_blocks()] };
        let mut log_odds = first.log_odds(matrix, &all_groups(matrix));
        let alone = probabilities(matrix, &log_odds);
        if others.is_empty() || sure(&alone) {
            return alone;
        }
        let doubtful: Vec<usize> =
            (0..log_odds.len()).filter(|group| log_odds[*group].iter().any(|odds| odds.abs() < DOUBT)).collect();
        let answers: Vec<_> = others.iter().map(|other| other.log_odds(matrix, &doubtful)).collect();
        for (place, group) in doubtful.iter().enumerate() {
            for (lane, odds) in log_odds[*group].iter_mut().enumerate() {
                let sum: f32 = answers.iter().map(|answer| answer[place][lane]).sum();
                *odds = (*odds + sum) / self.blocks.len() as f32;
            }
        }
        probabilities(matrix, &log_odds)
    }

    fn ensembles(&self) -> impl Iterator<Item = &Ensemble> {
        self.blocks.iter().chain([&self.thresholds]).chain(&self.types)
    }

    /// The tables as bytes, little-endian.
    pub fn write(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend((self.names.entries.len() as u32).to_le_bytes());
        for (name, steps) in &self.names.entries {
            bytes.extend(name.to_le_bytes());
            bytes.extend(steps.to_le_bytes());
        }
        bytes.extend((self.blocks.len() as u32).to_le_bytes());
        bytes.extend((self.types.len() as u32).to_le_bytes());
        for ensemble in self.ensembles() {
            bytes.extend(ensemble.base.to_le_bytes());
            bytes.extend(ensemble.scale.to_le_bytes());
            bytes.extend((ensemble.trees.len() as u32).to_le_bytes());
            for tree in &ensemble.trees {
                bytes.push(tree.splits.len() as u8);
                for (feature, threshold) in &tree.splits {
                    bytes.extend(feature.to_le_bytes());
                    bytes.push(*threshold);
                }
                for leaf in &tree.leaves {
                    bytes.extend(leaf.to_le_bytes());
                }
            }
        }
        bytes
    }

    /// Reads what [`Model::write`] wrote; nothing when the bytes are something else.
    pub fn read(bytes: &[u8]) -> Option<Model> {
        let mut input = Input(bytes);
        let n_names = input.u32()?;
        let mut names = Vec::new();
        for _ in 0..n_names {
            names.push((input.u32()?, i8::from_le_bytes(input.take()?)));
        }
        let (n_blocks, n_types) = (input.u32()?, input.u32()?);
        let blocks = (0..n_blocks).map(|_| input.ensemble()).collect::<Option<_>>()?;
        let thresholds = input.ensemble()?;
        let types = (0..n_types).map(|_| input.ensemble()).collect::<Option<_>>()?;
        input.0.is_empty().then(|| Model::new(NameTable::new(names), blocks, thresholds, types))
    }
}

/// Bytes not yet read.
struct Input<'b>(&'b [u8]);

impl Input<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*first)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn ensemble(&mut self) -> Option<Ensemble> {
        let (base, scale) = (f32::from_le_bytes(self.take()?), f32::from_le_bytes(self.take()?));
        let n_trees = self.u32()?;
        let trees = (0..n_trees).map(|_| self.tree()).collect::<Option<_>>()?;
        Some(Ensemble { base, scale, trees })
    }

    fn tree(&mut self) -> Option<Tree> {
        let [n_splits] = self.take()?;
        if usize::from(n_splits) > MAX_DEPTH {
            return None;
        }
        let mut tree = Tree::default();
        for _ in 0..n_splits {
            tree.splits.push((u16::from_le_bytes(self.take()?), self.take::<1>()?[0]));
        }
        for _ in 0..1usize << n_splits {
            tree.leaves.push(i16::from_le_bytes(self.take()?));
        }
        Some(tree)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_come_back_as_they_were_written() {
        let tree = Tree { splits: vec![(3, 9)], leaves: vec![-5, 7] };
        let model = Model {
            names: NameTable::new(vec![(9, -16), (4, 32)]),
            blocks: vec![Ensemble { base: 0.5, scale: 0.25, trees: vec![tree] }],
            ..Model::default()
        };
        let bytes = model.write();
        let again = Model::read(&bytes).expect("written by us");
        assert_eq!(again.write(), bytes);
        assert_eq!((again.names.get(4), again.names.get(9), again.names.get(5)), (Some(2.0), Some(-1.0), None));
        assert!(Model::read(&bytes[..bytes.len() - 1]).is_none());
    }

    #[test]
    fn the_others_are_asked_where_the_first_is_not_sure() {
        let mut matrix = Matrix::of_rows(1);
        matrix.push([0u8].into_iter());
        let says = |base: f32| Ensemble { base, scale: 1.0, trees: Vec::new() };
        let model = Model { blocks: vec![says(2.0), says(-2.0), says(0.0)], ..Model::default() };
        assert_eq!(model.block_probabilities(&matrix, |_| true), [probability(2.0)]);
        assert_eq!(model.block_probabilities(&matrix, |_| false), [0.0f32].map(probability));
        let certain = Model { blocks: vec![says(9.0), says(-2.0), says(0.0)], ..Model::default() };
        assert_eq!(certain.block_probabilities(&matrix, |_| false), [probability(9.0)]);
        assert_eq!(Model::default().block_probabilities(&matrix, |_| false), [0.0]);
    }

    #[test]
    fn the_mean_is_that_of_the_log_odds() {
        let mut matrix = Matrix::of_rows(1);
        matrix.push([0u8].into_iter());
        let says = |base: f32| Ensemble { base, scale: 1.0, trees: Vec::new() };
        assert_eq!(mean_probabilities(&[&says(3.0), &says(-1.0)], &matrix), [probability(1.0)]);
    }

    #[test]
    fn the_crate_holds_a_trained_model() {
        let model = Model::read(TABLES).expect("written by training");
        assert!(!model.blocks.is_empty() && model.types.len() == crate::PageType::ALL.len());
    }
}

//! Gradient-boosted oblivious trees over bytes: every level of a tree asks one question of all rows, so that a tree
//! of depth `d` is `d` questions and `2^d` answers. They are robust against noise, and a plain loop over columns
//! evaluates them fast.
//!
//! Everything is summed in a fixed order and the only randomness comes from a seed: the same rows give the same trees to
//! the last bit, whatever the number of threads.

use std::thread;

/// Bytes at and above this are read as this: a histogram has one cell per value.
pub const N_BINS: usize = 64;

/// Rows to learn from: bytes below [`N_BINS`], a target between 0 and 1, and a weight.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// How many bytes a row has.
    pub n_features: usize,
    /// The features that trees may ask about.
    pub features: Vec<u16>,
    /// Row after row.
    pub bytes: Vec<u8>,
    /// What each row should get.
    pub targets: Vec<f32>,
    /// How much each row counts.
    pub weights: Vec<f32>,
}

impl Rows {
    /// The number of rows.
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    fn row(&self, index: usize) -> &[u8] {
        &self.bytes[index * self.n_features..(index + 1) * self.n_features]
    }

    /// The bytes of some rows and some features alone.
    fn part(&self, rows: &[u32], features: &[u16]) -> Rows {
        let mut bytes = Vec::with_capacity(rows.len() * features.len());
        for index in rows {
            let row = self.row(*index as usize);
            bytes.extend(features.iter().map(|feature| row[usize::from(*feature)]));
        }
        Rows { n_features: features.len(), bytes, ..Rows::default() }
    }
}

/// How to learn.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// How many trees.
    pub n_trees: usize,
    /// Questions per tree.
    pub depth: usize,
    /// The learning rate.
    pub rate: f32,
    /// L2 regularisation of the leaves: shrinks leaves with little evidence towards zero.
    pub ridge: f32,
    /// The share of features that a tree may ask about.
    pub feature_share: f32,
    /// The share of rows that a tree sees.
    pub row_share: f32,
    /// The seed of the random generator.
    pub seed: u64,
    /// Threads to use; the result does not depend on it.
    pub n_threads: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            n_trees: 200,
            depth: 6,
            rate: 0.12,
            ridge: 0.02,
            feature_share: 0.4,
            row_share: 0.5,
            seed: 7,
            n_threads: 2,
        }
    }
}

/// One tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    /// The questions, first to last: is this feature above this byte?
    pub splits: Vec<(u16, u8)>,
    /// The answers; the first question is the lowest bit of the index.
    pub leaves: Vec<f32>,
}

/// A sum of trees: log-odds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ensemble {
    /// What a row gets before any tree.
    pub base: f32,
    /// The trees.
    pub trees: Vec<Tree>,
    /// For each feature, what the questions about it have brought.
    pub gains: Vec<f64>,
}

impl Ensemble {
    /// One that answers with the mean of the log-odds of others; what their questions have brought is not kept.
    pub fn mean(others: Vec<Ensemble>) -> Ensemble {
        let part = 1.0 / others.len().max(1) as f32;
        let mut mean = Ensemble::default();
        for other in others {
            mean.base += other.base * part;
            mean.trees.extend(other.trees.into_iter().map(|mut tree| {
                tree.leaves.iter_mut().for_each(|leaf| *leaf *= part);
                tree
            }));
        }
        mean
    }

    /// The features that have brought the most, at most so many, in their own order.
    pub fn best_features(&self, most: usize) -> Vec<u16> {
        let mut features: Vec<u16> = (0..self.gains.len() as u16).collect();
        features.sort_by(|a, b| self.gains[usize::from(*b)].total_cmp(&self.gains[usize::from(*a)]));
        features.truncate(most);
        features.sort_unstable();
        features
    }

    /// The probability for one row.
    pub fn probability(&self, row: &[u8]) -> f32 {
        let sum: f32 = self.trees.iter().map(|tree| tree.leaves[leaf(&tree.splits, row)]).sum();
        sigmoid(self.base + sum)
    }
}

fn leaf(splits: &[(u16, u8)], row: &[u8]) -> usize {
    splits.iter().enumerate().fold(0, |index, (level, (feature, threshold))| {
        index | (usize::from(row[usize::from(*feature)] > *threshold) << level)
    })
}

fn sigmoid(value: f32) -> f32 {
    1.0 / (1.0 + (-value).exp())
}

/// Learns trees whose probability comes near the targets.
pub fn train(rows: &Rows, settings: &Settings) -> Ensemble {
    let total: f64 = rows.weights.iter().map(|weight| f64::from(*weight)).sum();
    let positive: f64 =
        rows.weights.iter().zip(&rows.targets).map(|(weight, target)| f64::from(*weight) * f64::from(*target)).sum();
    let share = (positive / total.max(1e-9)).clamp(1e-4, 1.0 - 1e-4);
    let base = (share / (1.0 - share)).ln() as f32;
    let mut ensemble =
        Ensemble { base, trees: Vec::with_capacity(settings.n_trees), gains: vec![0.0; rows.n_features] };
    let mut sums = vec![base; rows.len()];
    let mut random = Random(settings.seed);
    for _ in 0..settings.n_trees {
        let features = sample_features(&rows.features, settings.feature_share, &mut random);
        let drawn: Vec<u32> =
            (0..rows.len() as u32).filter(|_| random.share() < f64::from(settings.row_share)).collect();
        let mut slopes: Vec<[f32; 2]> = drawn
            .iter()
            .map(|index| {
                let index = *index as usize;
                let probability = sigmoid(sums[index]);
                let weight = rows.weights[index];
                [weight * (probability - rows.targets[index]), weight * (probability * (1.0 - probability)).max(1e-6)]
            })
            .collect();
        // A tree reads what it sees many times over: side by side it stays in the cache.
        let seen = rows.part(&drawn, &features);
        let positions: Vec<u16> = (0..features.len() as u16).collect();
        let mut order: Vec<u32> = (0..drawn.len() as u32).collect();
        let Some((mut tree, gains)) = grow(&seen, &positions, &mut order, &mut slopes, settings) else { continue };
        for ((feature, _), gain) in tree.splits.iter_mut().zip(gains) {
            *feature = features[usize::from(*feature)];
            ensemble.gains[usize::from(*feature)] += gain;
        }
        for (index, sum) in sums.iter_mut().enumerate() {
            *sum += tree.leaves[leaf(&tree.splits, rows.row(index))];
        }
        ensemble.trees.push(tree);
    }
    ensemble
}

fn sample_features(all: &[u16], share: f32, random: &mut Random) -> Vec<u16> {
    let n_features = all.len();
    let wanted = ((n_features as f32 * share).ceil() as usize).min(n_features);
    let mut features = all.to_vec();
    for position in 0..wanted {
        let other = position + (random.share() * (n_features - position) as f64) as usize;
        features.swap(position, other.min(n_features - 1));
    }
    features.truncate(wanted);
    features.sort_unstable();
    features
}

/// One cell: the sum of slopes and of curvatures.
type Cell = [f32; 2];

/// The histograms of one leaf: a run of [`N_BINS`] cells per feature.
type Histogram = Vec<Cell>;

/// The rows of one leaf are `order[start..end]`.
#[derive(Clone, Copy)]
struct Span {
    start: usize,
    end: usize,
}

fn grow(
    rows: &Rows,
    features: &[u16],
    order: &mut [u32],
    slopes: &mut [[f32; 2]],
    settings: &Settings,
) -> Option<(Tree, Vec<f64>)> {
    let mut splits = Vec::with_capacity(settings.depth);
    let mut gains = Vec::with_capacity(settings.depth);
    // Leaves by their index; the bits of the index are the answers so far.
    let mut spans = vec![Span { start: 0, end: order.len() }];
    let mut histograms = fill(rows, features, order, slopes, &spans, settings.n_threads);
    for level in 0..settings.depth {
        let Some((split, gain)) = best_split(features, &histograms, settings.ridge, &splits) else { break };
        let (parts, lower) = partition(rows, split, &spans, order, slopes);
        splits.push(split);
        gains.push(gain);
        if level + 1 < settings.depth {
            histograms = halve(rows, features, order, slopes, &parts, lower, histograms, settings.n_threads);
        }
        spans = parts;
    }
    if splits.is_empty() {
        return None;
    }
    let leaves = spans
        .iter()
        .map(|span| {
            let mut sums = [0.0f64; 2];
            for slope in &slopes[span.start..span.end] {
                sums[0] += f64::from(slope[0]);
                sums[1] += f64::from(slope[1]);
            }
            (-sums[0] / (sums[1] + f64::from(settings.ridge))) as f32 * settings.rate
        })
        .collect();
    Some((Tree { splits, leaves }, gains))
}

/// The question that brings the most over all leaves together, and what it brings.
fn best_split(features: &[u16], histograms: &[Histogram], ridge: f32, asked: &[(u16, u8)]) -> Option<((u16, u8), f64)> {
    let mut best = (1e-9f64, None);
    for (position, feature) in features.iter().enumerate() {
        let mut gains = [0.0f64; N_BINS];
        for histogram in histograms {
            let cells = &histogram[position * N_BINS..(position + 1) * N_BINS];
            let mut total = [0.0f64; 2];
            for cell in cells {
                total[0] += f64::from(cell[0]);
                total[1] += f64::from(cell[1]);
            }
            if total[1] <= 0.0 {
                continue;
            }
            let value = |slope: f64, curvature: f64| slope * slope / (curvature.max(0.0) + f64::from(ridge));
            let parent = value(total[0], total[1]);
            let mut left = [0.0f64; 2];
            for (gain, cell) in gains.iter_mut().zip(cells) {
                left[0] += f64::from(cell[0]);
                left[1] += f64::from(cell[1]);
                *gain += value(left[0], left[1]) + value(total[0] - left[0], total[1] - left[1]) - parent;
            }
        }
        for (threshold, gain) in gains[..N_BINS - 1].iter().enumerate() {
            let split = (*feature, threshold as u8);
            if *gain > best.0 && !asked.contains(&split) {
                best = (*gain, Some(split));
            }
        }
    }
    best.1.map(|split| (split, best.0))
}

/// Splits every leaf in two, keeping the order of rows within each; says per leaf whether the lower part is smaller.
fn partition(
    rows: &Rows,
    (feature, threshold): (u16, u8),
    spans: &[Span],
    order: &mut [u32],
    slopes: &mut [[f32; 2]],
) -> (Vec<Span>, Vec<bool>) {
    let n_leaves = spans.len();
    let mut parts = vec![Span { start: 0, end: 0 }; 2 * n_leaves];
    let mut lower_is_smaller = Vec::with_capacity(n_leaves);
    let mut above: Vec<(u32, [f32; 2])> = Vec::new();
    for (leaf, span) in spans.iter().enumerate() {
        above.clear();
        let mut end = span.start;
        for position in span.start..span.end {
            let index = order[position];
            if rows.bytes[index as usize * rows.n_features + usize::from(feature)] > threshold {
                above.push((index, slopes[position]));
            } else {
                order[end] = index;
                slopes[end] = slopes[position];
                end += 1;
            }
        }
        for (offset, (index, slope)) in above.iter().enumerate() {
            order[end + offset] = *index;
            slopes[end + offset] = *slope;
        }
        parts[leaf] = Span { start: span.start, end };
        parts[leaf + n_leaves] = Span { start: end, end: span.end };
        lower_is_smaller.push(end - span.start <= span.end - end);
    }
    (parts, lower_is_smaller)
}

/// Counts the smaller half of every leaf and takes it from the whole for the other.
#[expect(clippy::too_many_arguments, reason = "the parts of one growing tree, each borrowed differently")]
fn halve(
    rows: &Rows,
    features: &[u16],
    order: &[u32],
    slopes: &[[f32; 2]],
    parts: &[Span],
    lower_is_smaller: Vec<bool>,
    mut wholes: Vec<Histogram>,
    n_threads: usize,
) -> Vec<Histogram> {
    let n_leaves = lower_is_smaller.len();
    let counted: Vec<Span> = lower_is_smaller
        .iter()
        .enumerate()
        .map(|(leaf, lower)| parts[if *lower { leaf } else { leaf + n_leaves }])
        .collect();
    let smaller = fill(rows, features, order, slopes, &counted, n_threads);
    for (whole, part) in wholes.iter_mut().zip(&smaller) {
        for (cell, taken) in whole.iter_mut().zip(part) {
            cell[0] -= taken[0];
            cell[1] -= taken[1];
        }
    }
    let (mut low, mut high) = (Vec::with_capacity(2 * n_leaves), Vec::with_capacity(n_leaves));
    for ((whole, part), lower) in wholes.into_iter().zip(smaller).zip(lower_is_smaller) {
        let (first, second) = if lower { (part, whole) } else { (whole, part) };
        low.push(first);
        high.push(second);
    }
    low.extend(high);
    low
}

/// One histogram per span. Threads share the features, never the rows, so that every sum has one order.
fn fill(
    rows: &Rows,
    features: &[u16],
    order: &[u32],
    slopes: &[[f32; 2]],
    spans: &[Span],
    n_threads: usize,
) -> Vec<Histogram> {
    let per_thread = features.len().div_ceil(n_threads.max(1));
    let count = |features: &[u16]| -> Vec<Histogram> {
        spans
            .iter()
            .map(|span| {
                let mut cells = vec![[0.0; 2]; features.len() * N_BINS];
                for (index, slope) in order[span.start..span.end].iter().zip(&slopes[span.start..span.end]) {
                    let row = rows.row(*index as usize);
                    for (feature, run) in features.iter().zip(cells.chunks_exact_mut(N_BINS)) {
                        let cell = &mut run[usize::from(row[usize::from(*feature)]) & (N_BINS - 1)];
                        cell[0] += slope[0];
                        cell[1] += slope[1];
                    }
                }
                cells
            })
            .collect()
    };
    let mut columns: Vec<Vec<Histogram>> = if n_threads < 2 {
        vec![count(features)]
    } else {
        thread::scope(|scope| {
            let workers: Vec<_> = features.chunks(per_thread).map(|chunk| scope.spawn(move || count(chunk))).collect();
            workers.into_iter().map(|worker| worker.join().expect("counting does not panic")).collect()
        })
    };
    let mut histograms = columns.remove(0);
    for column in columns {
        for (histogram, more) in histograms.iter_mut().zip(column) {
            histogram.extend(more);
        }
    }
    histograms
}

/// A seeded random generator (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut value = self.0;
        value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        value ^ (value >> 31)
    }

    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows whose target is the exclusive or of two features, among features that say nothing.
    fn puzzle(n_rows: usize) -> Rows {
        let mut random = Random(1);
        let mut rows = Rows { n_features: 8, features: (0..8).collect(), ..Rows::default() };
        for _ in 0..n_rows {
            let row: Vec<u8> = (0..8).map(|_| (random.next() % 64) as u8).collect();
            rows.targets.push(f32::from((row[2] > 20) != (row[5] > 40)));
            rows.weights.push(1.0);
            rows.bytes.extend(row);
        }
        rows
    }

    #[test]
    fn trees_learn_what_no_single_feature_says() {
        let rows = puzzle(4000);
        let settings = Settings { n_trees: 60, feature_share: 1.0, ..Settings::default() };
        let ensemble = train(&rows, &settings);
        let right = (0..rows.len())
            .filter(|index| (ensemble.probability(rows.row(*index)) > 0.5) == (rows.targets[*index] > 0.5))
            .count();
        assert!(right > 3900, "{right} of 4000");
        assert_eq!(ensemble.best_features(2), [2, 5]);
    }

    #[test]
    fn the_mean_of_ensembles_has_the_mean_of_their_log_odds() {
        let rows = puzzle(500);
        let one = train(&rows, &Settings { n_trees: 5, seed: 1, ..Settings::default() });
        let other = train(&rows, &Settings { n_trees: 5, seed: 2, ..Settings::default() });
        let mean = Ensemble::mean(vec![one.clone(), other.clone()]);
        let log_odds = |ensemble: &Ensemble| {
            let probability = ensemble.probability(rows.row(3));
            (probability / (1.0 - probability)).ln()
        };
        assert!((log_odds(&mean) - (log_odds(&one) + log_odds(&other)) / 2.0).abs() < 1e-4);
        assert_ne!(log_odds(&one), log_odds(&other));
    }

    #[test]
    fn trees_ask_about_the_features_given_alone() {
        let rows = Rows { features: vec![1, 5], ..puzzle(500) };
        let ensemble = train(&rows, &Settings { n_trees: 5, ..Settings::default() });
        let asked = ensemble.trees.iter().flat_map(|tree| &tree.splits).map(|(feature, _)| *feature);
        assert!(asked.clone().count() > 0 && asked.clone().all(|feature| rows.features.contains(&feature)));
    }

    #[test]
    fn the_number_of_threads_changes_nothing() {
        let rows = puzzle(500);
        let one = train(&rows, &Settings { n_trees: 5, n_threads: 1, ..Settings::default() });
        let three = train(&rows, &Settings { n_trees: 5, n_threads: 3, ..Settings::default() });
        assert_eq!(one, three);
    }
}

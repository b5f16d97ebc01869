//! Bootstrap confidence intervals of means over sets of documents, and of paired differences.

/// How often the documents are resampled.
pub const ROUNDS: usize = 1_000;

/// Where the random numbers begin.
pub const SEED: u64 = 0x9E37_79B9_7F4A_7C15;

/// The middle 95 % of what resampling gives.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Interval {
    /// 2.5 % lie below.
    pub low: f64,
    /// 2.5 % lie above.
    pub high: f64,
}

/// How far one method is ahead of another on the same documents.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct PairedDifference {
    /// The difference of the means.
    pub by: f64,
    /// 2.5 % of the resampled differences lie below.
    pub low: f64,
    /// 2.5 % lie above.
    pub high: f64,
    /// How often a difference at least as large, either way, would come by chance: two-sided, by the normal
    /// approximation of the mean of paired differences.
    pub p: f64,
}

/// Means over sets, resampled. `sets[s][d]` is the value of document `d` of set `s`; every row given to one
/// [`Bootstrap`] must have the same shape, and the same resamples are used for all of them.
#[derive(Debug)]
pub struct Bootstrap {
    /// For each round and set the documents sampled.
    resamples: Vec<Vec<Vec<u32>>>,
}

impl Bootstrap {
    /// Samples documents, with replacement, for sets of these sizes; the same for the same sizes.
    pub fn new(sizes: &[usize]) -> Bootstrap {
        let mut state = SEED;
        let mut below = |n: usize| {
            // xorshift64*; the high bits are the good ones.
            state ^= state >> 12;
            state ^= state << 25;
            state ^= state >> 27;
            ((u128::from(state.wrapping_mul(0x2545_F491_4F6C_DD1D)) * n as u128) >> 64) as u32
        };
        let mut resample = |size: &usize| (0..*size).map(|_| below(*size)).collect();
        let resamples = (0..ROUNDS).map(|_| sizes.iter().map(&mut resample).collect()).collect();
        Bootstrap { resamples }
    }

    /// Where the mean over sets of the means over documents lies.
    pub fn interval(&self, sets: &[Vec<f64>]) -> Interval {
        let means = self.means(sets);
        Interval { low: quantile(&means, 0.025), high: quantile(&means, 0.975) }
    }

    /// How far ours are ahead of theirs, document by document.
    pub fn paired_difference(&self, ours: &[Vec<f64>], theirs: &[Vec<f64>]) -> PairedDifference {
        let minus = |(a, b): (&Vec<f64>, &Vec<f64>)| a.iter().zip(b).map(|(a, b)| a - b).collect();
        let differences: Vec<Vec<f64>> = ours.iter().zip(theirs).map(minus).collect();
        let means = self.means(&differences);
        PairedDifference {
            by: mean_of_means(&differences),
            low: quantile(&means, 0.025),
            high: quantile(&means, 0.975),
            p: two_sided_p(&differences),
        }
    }

    /// The mean over sets in every round, in order of size.
    fn means(&self, sets: &[Vec<f64>]) -> Vec<f64> {
        let round = |resample: &Vec<Vec<u32>>| {
            let mean = |(values, sampled): (&Vec<f64>, &Vec<u32>)| {
                sampled.iter().map(|index| values[*index as usize]).sum::<f64>() / sampled.len().max(1) as f64
            };
            sets.iter().zip(resample).map(mean).sum::<f64>() / sets.len().max(1) as f64
        };
        let mut means: Vec<f64> = self.resamples.iter().map(round).collect();
        means.sort_unstable_by(f64::total_cmp);
        means
    }
}

/// The p of the mean over sets being zero. Resampling could not tell less than one in its rounds, which is too coarse
/// where many comparisons are corrected for.
fn two_sided_p(differences: &[Vec<f64>]) -> f64 {
    let n_sets = differences.len().max(1) as f64;
    let variance: f64 = differences.iter().map(|set| variance_of_mean(set)).sum::<f64>() / (n_sets * n_sets);
    let by = mean_of_means(differences).abs();
    match (by == 0.0, variance > 0.0) {
        (true, _) => 1.0,
        (false, true) => libm::erfc(by / (2.0 * variance).sqrt()),
        (false, false) => 0.0,
    }
}

fn variance_of_mean(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n.max(1.0);
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    if values.len() < 2 { 0.0 } else { squares / (n - 1.0) / n }
}

/// Corrects the p of several comparisons for their number (S. Holm, 1979): the smallest is multiplied by the number of
/// comparisons, the next by one less, and none falls below the one before it.
pub fn holm(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut corrected = vec![0.0; values.len()];
    let mut least = 0.0f64;
    for (rank, index) in order.into_iter().enumerate() {
        least = least.max((values[index] * (values.len() - rank) as f64).min(1.0));
        corrected[index] = least;
    }
    corrected
}

fn quantile(sorted: &[f64], share: f64) -> f64 {
    sorted[((sorted.len() - 1) as f64 * share).round() as usize]
}

/// The mean over sets of the means over documents.
pub fn mean_of_means(sets: &[Vec<f64>]) -> f64 {
    let mean = |values: &Vec<f64>| values.iter().sum::<f64>() / values.len().max(1) as f64;
    sets.iter().map(mean).sum::<f64>() / sets.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_has_no_spread_and_noise_has_some() {
        let sampling = Bootstrap::new(&[40, 10]);
        let constant = vec![vec![2.0; 40], vec![4.0; 10]];
        assert_eq!(sampling.interval(&constant), Interval { low: 3.0, high: 3.0 });
        let noise = vec![(0..40).map(f64::from).collect(), (0..10).map(f64::from).collect()];
        let interval = sampling.interval(&noise);
        let mean = mean_of_means(&noise);
        assert!(interval.low < mean - 1.0 && interval.high > mean + 1.0, "{interval:?} around {mean}");
    }

    #[test]
    fn a_paired_difference_is_surer_than_two_means() {
        let ours: Vec<Vec<f64>> = vec![(0..50).map(|i| f64::from(i) + 0.5).collect()];
        let theirs: Vec<Vec<f64>> = vec![(0..50).map(f64::from).collect()];
        let sampling = Bootstrap::new(&[50]);
        assert_eq!(
            sampling.paired_difference(&ours, &theirs),
            PairedDifference { by: 0.5, low: 0.5, high: 0.5, p: 0.0 }
        );
        assert_eq!(
            sampling.paired_difference(&theirs, &ours),
            PairedDifference { by: -0.5, low: -0.5, high: -0.5, p: 0.0 }
        );
    }

    #[test]
    fn p_is_that_of_a_normal_mean_and_the_same_both_ways() {
        // Ten differences with mean 1 and variance of the mean 0.25: z = 2, two-sided p = .0455.
        let spread = (0.25f64 * 9.0).sqrt();
        let ours: Vec<Vec<f64>> = vec![(0..10).map(|i| if i % 2 == 0 { 1.0 + spread } else { 1.0 - spread }).collect()];
        let theirs = vec![vec![0.0; 10]];
        let sampling = Bootstrap::new(&[10]);
        let (ahead, behind) = (sampling.paired_difference(&ours, &theirs), sampling.paired_difference(&theirs, &ours));
        assert!((ahead.p - 0.0455).abs() < 0.0001, "{}", ahead.p);
        assert_eq!(ahead.p, behind.p);
        assert_eq!(sampling.paired_difference(&ours, &ours).p, 1.0);
    }

    #[test]
    fn many_comparisons_make_each_less_sure() {
        assert_eq!(holm(&[0.01, 0.04, 0.03, 0.5]), [0.04, 0.09, 0.09, 0.5]);
        assert_eq!(holm(&[0.6, 0.7]), [1.0, 1.0]);
        assert!(holm(&[]).is_empty());
    }
}

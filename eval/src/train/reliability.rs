//! Whether confidence is to be believed: expected and real F1 of pages that a model has not seen.

/// Pages with a similar confidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConfidenceBin {
    /// Pages.
    pub pages: usize,
    /// Their mean confidence.
    pub expected: f64,
    /// Their mean F1.
    pub real: f64,
}

/// Pages by their confidence, the lowest first, in ten bins of equally many.
pub fn reliability(mut pages: Vec<(f64, f64)>) -> Vec<ConfidenceBin> {
    const N_BINS: usize = 10;
    pages.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let bins = (0..N_BINS).map(|bin| &pages[bin * pages.len() / N_BINS..(bin + 1) * pages.len() / N_BINS]);
    bins.filter(|pages| !pages.is_empty())
        .map(|pages| {
            let n = pages.len() as f64;
            let (expected, real) = pages.iter().fold((0.0, 0.0), |sum, page| (sum.0 + page.0, sum.1 + page.1));
            ConfidenceBin { pages: pages.len(), expected: expected / n, real: real / n }
        })
        .collect()
}

/// How far expected and real F1 are apart, as a mean over the pages of all bins.
pub fn calibration_error(bins: &[ConfidenceBin]) -> f64 {
    let n_pages: usize = bins.iter().map(|bin| bin.pages).sum();
    let apart: f64 = bins.iter().map(|bin| bin.pages as f64 * (bin.expected - bin.real).abs()).sum();
    apart / n_pages.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_divided_evenly_by_confidence() {
        let pages = (0..25).rev().map(|n| (f64::from(n) / 25.0, if n < 10 { 0.0 } else { 1.0 })).collect();
        let bins = reliability(pages);
        assert_eq!(bins.len(), 10);
        assert_eq!(bins.iter().map(|bin| bin.pages).sum::<usize>(), 25);
        assert_eq!((bins[0].pages, bins[0].expected, bins[0].real), (2, 0.02, 0.0));
        assert_eq!(bins[9].real, 1.0);
        assert!(bins.windows(2).all(|pair| pair[0].expected < pair[1].expected));
    }

    #[test]
    fn the_error_counts_every_page() {
        let bin = |pages, expected, real| ConfidenceBin { pages, expected, real };
        assert!((calibration_error(&[bin(3, 0.5, 0.6), bin(1, 0.9, 0.7)]) - 0.125).abs() < 1e-12);
        assert_eq!(calibration_error(&reliability(Vec::new())), 0.0);
    }
}

//! How good the text of a page will be: trees that score the kept blocks, and a table that makes their scores true.

use super::Ensemble;
use crate::features::Matrix;

/// The classifier of selections and the calibration of its scores.
#[derive(Clone, Debug, Default)]
pub struct Confidence {
    /// Scores the kept blocks of a page by [`confidence_features`](crate::confidence_features).
    pub ensemble: Ensemble,
    /// What its scores mean.
    pub calibration: Calibration,
}

impl Confidence {
    /// The expected F1 of a page, from the one row of its features.
    pub fn expected_f1(&self, features: &Matrix<'_>) -> f32 {
        let score = self.ensemble.probabilities(features).first().copied().unwrap_or_default();
        self.calibration.apply(score)
    }
}

/// A function that never falls, through points that are joined by straight lines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calibration {
    points: Vec<(f32, f32)>,
}

impl Calibration {
    /// The function through some points; nothing where they do not rise from left to right, or fall.
    pub fn new(points: Vec<(f32, f32)>) -> Option<Calibration> {
        let is_finite = points.iter().all(|(score, f1)| score.is_finite() && (0.0..=1.0).contains(f1));
        let rises = points.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1);
        (is_finite && rises).then_some(Calibration { points })
    }

    /// Its points.
    pub fn points(&self) -> &[(f32, f32)] {
        &self.points
    }

    /// The value for a score: that of the nearest point beyond both ends, the score itself where there is no point.
    pub fn apply(&self, score: f32) -> f32 {
        let above = self.points.partition_point(|point| point.0 <= score);
        match (self.points.get(above.wrapping_sub(1)), self.points.get(above)) {
            (Some(low), Some(high)) => low.1 + (high.1 - low.1) * (score - low.0) / (high.0 - low.0),
            (Some(end), None) | (None, Some(end)) => end.1,
            (None, None) => score,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_between_points_are_on_the_line() {
        let calibration = Calibration::new(vec![(0.2, 0.1), (0.6, 0.5), (0.8, 0.9)]).unwrap();
        for (score, expected) in [(0.0, 0.1), (0.2, 0.1), (0.4, 0.3), (0.6, 0.5), (0.7, 0.7), (0.8, 0.9), (1.0, 0.9)] {
            assert!((calibration.apply(score) - expected).abs() < 1e-6, "{score}");
        }
        assert_eq!(Calibration::default().apply(0.3), 0.3);
    }

    #[test]
    fn a_function_that_falls_is_refused() {
        assert_eq!(Calibration::new(vec![(0.2, 0.5), (0.6, 0.4)]), None);
        assert_eq!(Calibration::new(vec![(0.6, 0.5), (0.2, 0.6)]), None);
        assert_eq!(Calibration::new(vec![(0.6, f32::NAN)]), None);
    }
}

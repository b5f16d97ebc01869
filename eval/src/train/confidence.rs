//! How good the selections of a model are: trees that predict their F1, and the table that makes the predictions true.

use pith_extractor::model::{Calibration, Confidence, Ensemble};
use pith_extractor::{Favor, ParsedPage, confidence_features, select_blocks};

use super::fit::{on_threads, pack};
use super::samples::Sample;
use super::trees::{self, Rows, Settings};
use crate::score::bag_f1;

/// The table has so many points, each the mean of as many pages.
const N_POINTS: usize = 20;

/// A page with what describes its selection, and the F1 of that.
struct Selection {
    inner_fold: u32,
    features: Vec<u8>,
    f1: f32,
}

/// What was learnt, and whether it is to be believed.
#[derive(Debug)]
pub struct FittedConfidence {
    /// The trees and the table.
    pub confidence: Confidence,
    /// The expected and the real F1 of every page, the expected by trees and a table that have not seen its fold.
    pub out_of_fold: Vec<(f64, f64)>,
}

/// Learns the F1 of what is kept of pages, by out-of-fold probabilities. The table is made of predictions for pages of
/// folds that the trees have not seen.
pub fn fit_confidence(
    samples: &[&Sample],
    inner_folds: &[u32],
    probabilities: (&[Vec<f32>], &[Vec<f32>]),
    thresholds: &Ensemble,
    settings: &Settings,
) -> FittedConfidence {
    let (blocks, types) = probabilities;
    let selections: Vec<Selection> = on_threads(samples, |page, sample| {
        let (gold, language) = (sample.truth.text.as_deref()?, sample.truth.lang.as_deref().unwrap_or_default());
        let parsed = ParsedPage::parse(&sample.page.html, sample.page.url.as_deref().unwrap_or(""));
        let kept = select_blocks(&parsed.page, &blocks[page], &types[page], thresholds, Favor::Balance);
        let matrix = confidence_features(&parsed.page, &blocks[page], &kept, &types[page]);
        let features = (0..matrix.n_features()).map(|feature| matrix.value(feature, 0)).collect();
        let f1 = bag_f1(gold, &parsed.text(&kept), language) as f32;
        Some(Selection { inner_fold: inner_folds[page], features, f1 })
    })
    .into_iter()
    .flatten()
    .collect();
    let mut folds: Vec<u32> = selections.iter().map(|selection| selection.inner_fold).collect();
    folds.sort_unstable();
    folds.dedup();
    let mut predicted: Vec<(u32, (f32, f32))> = Vec::new();
    for fold in &folds {
        let (test, train): (Vec<&Selection>, Vec<&Selection>) =
            selections.iter().partition(|selection| selection.inner_fold == *fold);
        let ensemble = trees::train(&rows(&train), settings);
        predicted
            .extend(test.iter().map(|selection| (*fold, (ensemble.probability(&selection.features), selection.f1))));
    }
    let calibrate_on = |wanted: &dyn Fn(u32) -> bool| {
        calibrate(predicted.iter().filter(|(fold, _)| wanted(*fold)).map(|(_, page)| *page).collect())
    };
    let mut out_of_fold = Vec::new();
    for fold in folds {
        let calibration = calibrate_on(&|other| other != fold);
        let pages = predicted.iter().filter(|(other, _)| *other == fold);
        out_of_fold.extend(pages.map(|(_, (score, f1))| (f64::from(calibration.apply(*score)), f64::from(*f1))));
    }
    let ensemble = pack(&trees::train(&rows(&selections.iter().collect::<Vec<_>>()), settings));
    FittedConfidence { confidence: Confidence { ensemble, calibration: calibrate_on(&|_| true) }, out_of_fold }
}

fn rows(selections: &[&Selection]) -> Rows {
    let n_features = selections.first().map_or(0, |selection| selection.features.len());
    Rows {
        n_features,
        features: (0..n_features as u16).collect(),
        bytes: selections.iter().flat_map(|selection| selection.features.iter().copied()).collect(),
        targets: selections.iter().map(|selection| selection.f1).collect(),
        weights: vec![1.0; selections.len()],
    }
}

/// The isotonic function from predictions to the F1 that was reached: means of equally many pages, neighbours joined
/// where a higher prediction came with a lower F1.
fn calibrate(mut predicted: Vec<(f32, f32)>) -> Calibration {
    predicted.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let per_point = predicted.len().div_ceil(N_POINTS).max(1);
    let mut points: Vec<(f32, f32, f32)> = Vec::new();
    for pages in predicted.chunks(per_point) {
        let n = pages.len() as f32;
        let sum = |value: fn(&(f32, f32)) -> f32| pages.iter().map(value).sum::<f32>();
        let mut point = (sum(|page| page.0) / n, sum(|page| page.1) / n, n);
        while let Some(last) = points.pop_if(|last| last.1 >= point.1 || last.0 >= point.0) {
            let n = last.2 + point.2;
            point = ((last.0 * last.2 + point.0 * point.2) / n, (last.1 * last.2 + point.1 * point.2) / n, n);
        }
        points.push(point);
    }
    let points = points.into_iter().map(|(score, f1, _)| (score, f1.clamp(0.0, 1.0))).collect();
    Calibration::new(points).expect("neighbours that fall were joined")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_calibration_gives_the_mean_of_what_was_reached_and_never_falls() {
        let predicted = (0..4000).map(|n| {
            let score = n as f32 / 4000.0;
            // Every other page fails altogether, and between 0.5 and 0.6 fewer do.
            let reached = if n % 2 == 0 || (0.5..0.6).contains(&score) { score } else { 0.0 };
            (score, reached)
        });
        let calibration = calibrate(predicted.collect());
        assert!((calibration.apply(0.2) - 0.1).abs() < 0.02, "{calibration:?}");
        assert!((calibration.apply(0.95) - 0.475).abs() < 0.02, "{calibration:?}");
        assert!(calibration.points().windows(2).all(|pair| pair[0].1 <= pair[1].1));
    }

    #[test]
    fn no_pages_give_a_calibration_that_changes_nothing() {
        assert_eq!(calibrate(Vec::new()).apply(0.4), 0.4);
    }
}

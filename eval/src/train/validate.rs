//! How good a training configuration is on pages that it has not seen: folds by site, and one set left out at a time.

use pith_extractor::model::Model;
use pith_extractor::{Classified, Favor, PageType, ParsedPage};

use super::fit::{TrainingConfig, fit, on_threads};
use super::samples::{Sample, Samples};

/// The out-of-fold prediction for a page: by a model that was not trained on its site.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The index of the sample.
    pub sample: usize,
    /// The text kept.
    pub text: String,
    /// The kind of page.
    pub page_type: PageType,
    /// The F1 that the model expects.
    pub confidence: f32,
}

/// Every page judged by a model trained on the pages of other sites. `folds` names the folds to run, of `n_folds`.
pub fn cross_validate(samples: &Samples, config: &TrainingConfig, n_folds: u32, folds: &[u32]) -> Vec<Answer> {
    let mut answers = Vec::new();
    for fold in folds {
        let is_test = |sample: &Sample| sample.fold(n_folds) == *fold;
        answers.extend(judge_rest(samples, config, is_test, is_test));
    }
    answers.sort_by_key(|answer| answer.sample);
    answers
}

/// The pages of one set judged by a model that has seen neither the set nor any site in it.
pub fn leave_one_set_out(samples: &Samples, config: &TrainingConfig, set: usize) -> Vec<Answer> {
    let family = family(&samples.sets[set]);
    let mut sites: Vec<u32> = samples.all.iter().filter(|sample| sample.set == set).map(|sample| sample.site).collect();
    sites.sort_unstable();
    let excluded = |sample: &Sample| {
        self::family(&samples.sets[sample.set]) == family || sites.binary_search(&sample.site).is_ok()
    };
    judge_rest(samples, config, excluded, |sample| sample.set == set)
}

/// Sets by the same hands are one family: `cleaneval_dev` and `cleaneval_final`.
fn family(set: &str) -> &str {
    set.split('_').next().unwrap_or(set)
}

fn judge_rest(
    samples: &Samples,
    config: &TrainingConfig,
    excluded: impl Fn(&Sample) -> bool,
    tested: impl Fn(&Sample) -> bool,
) -> Vec<Answer> {
    let train: Vec<&Sample> = samples.all.iter().filter(|sample| !excluded(sample)).collect();
    let model = fit(&train, &samples.sets, config);
    let test: Vec<usize> = (0..samples.all.len()).filter(|index| tested(&samples.all[*index])).collect();
    let pages: Vec<&Sample> = test.iter().map(|index| &samples.all[*index]).collect();
    let judged = on_threads(&pages, |_, sample| judge(sample, &model));
    let answer = |(sample, (text, classified)): (usize, (String, Classified))| Answer {
        sample,
        text,
        page_type: classified.page_type,
        confidence: classified.confidence,
    };
    test.into_iter().zip(judged).map(answer).collect()
}

fn judge(sample: &Sample, model: &Model) -> (String, Classified) {
    let parsed = ParsedPage::parse(&sample.page.html, sample.page.url.as_deref().unwrap_or(""));
    let classified = parsed.classify(model, Favor::Balance);
    (parsed.text(&classified.kept), classified)
}

//! How good a recipe is on pages that it has not seen: folds by site, and one set left out at a time.

use pith_extractor::model::Model;
use pith_extractor::{PageType, Reading};

use super::fit::{Recipe, fit, on_threads};
use super::samples::{Sample, Samples};

/// What a model that has not seen a page's site says about the page.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The index of the sample.
    pub sample: usize,
    /// The text kept.
    pub text: String,
    /// The kind of page.
    pub page_type: PageType,
}

/// Every page judged by a model trained on the pages of other sites. `folds` names the folds to run, of `n_folds`.
pub fn cross_validate(samples: &Samples, recipe: &Recipe, n_folds: u32, folds: &[u32]) -> Vec<Answer> {
    let mut answers = Vec::new();
    for fold in folds {
        let is_test = |sample: &Sample| sample.part(n_folds) == *fold;
        answers.extend(judge_rest(samples, recipe, is_test, is_test));
    }
    answers.sort_by_key(|answer| answer.sample);
    answers
}

/// The pages of one set judged by a model that has seen neither the set nor any site in it.
pub fn leave_one_set_out(samples: &Samples, recipe: &Recipe, set: usize) -> Vec<Answer> {
    let family = family(&samples.sets[set]);
    let mut sites: Vec<u32> = samples.all.iter().filter(|sample| sample.set == set).map(|sample| sample.site).collect();
    sites.sort_unstable();
    let excluded = |sample: &Sample| {
        self::family(&samples.sets[sample.set]) == family || sites.binary_search(&sample.site).is_ok()
    };
    judge_rest(samples, recipe, excluded, |sample| sample.set == set)
}

/// Sets by the same hands are one family: `cleaneval_dev` and `cleaneval_final`.
fn family(set: &str) -> &str {
    set.split('_').next().unwrap_or(set)
}

fn judge_rest(
    samples: &Samples,
    recipe: &Recipe,
    excluded: impl Fn(&Sample) -> bool,
    tested: impl Fn(&Sample) -> bool,
) -> Vec<Answer> {
    let train: Vec<&Sample> = samples.all.iter().filter(|sample| !excluded(sample)).collect();
    let model = fit(&train, &samples.sets, recipe);
    let test: Vec<usize> = (0..samples.all.len()).filter(|index| tested(&samples.all[*index])).collect();
    let pages: Vec<&Sample> = test.iter().map(|index| &samples.all[*index]).collect();
    let judged = on_threads(&pages, |_, sample| judge(sample, &model));
    test.into_iter().zip(judged).map(|(sample, (text, page_type))| Answer { sample, text, page_type }).collect()
}

fn judge(sample: &Sample, model: &Model) -> (String, PageType) {
    let reading = Reading::of(&sample.page.html, sample.page.url.as_deref().unwrap_or(""));
    let (kept, page_type) = reading.judge(model);
    (reading.text(&kept), page_type)
}

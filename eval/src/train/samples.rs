//! Gold pages in memory, each with its site, its labels and what its class names stood for.

use std::path::Path;

use pith_extractor::ParsedPage;
use pith_extractor::blocks::lexicon;
use pith_extractor::model::NameTable;
use std::collections::HashMap;

use super::labels::{Label, labels};
use crate::Error;
use crate::gold::{GoldPage, GoldSet, Truth, site};

/// One page to learn from or to be tested on.
#[derive(Debug)]
pub struct Sample {
    /// The index of its set.
    pub set: usize,
    /// The page.
    pub page: GoldPage,
    /// The gold.
    pub truth: Truth,
    /// The hash of its registered domain.
    pub site: u32,
    /// What each block should get.
    pub labels: Vec<Label>,
    /// For each class name on the page, the share of the words below it that are content.
    pub names: Vec<(u32, f32)>,
}

/// All samples, and the names of their sets.
#[derive(Debug)]
pub struct Samples {
    /// The names of the sets.
    pub sets: Vec<String>,
    /// The pages, set by set.
    pub all: Vec<Sample>,
}

impl Samples {
    /// Reads every set below a folder and labels every page.
    ///
    /// # Errors
    /// When a set cannot be read.
    pub fn load(folder: &Path) -> Result<Samples, Error> {
        let sets = GoldSet::all(folder)?;
        let mut all = Vec::new();
        for (index, set) in sets.iter().enumerate() {
            for pair in set.pairs()? {
                let (page, truth) = pair?;
                all.push(Sample::new(index, page, truth));
            }
        }
        Ok(Samples { sets: sets.into_iter().map(|set| set.name).collect(), all })
    }
}

impl Sample {
    fn new(set: usize, page: GoldPage, truth: Truth) -> Sample {
        let (labels, names) = {
            let reading = ParsedPage::parse(&page.html, page.url.as_deref().unwrap_or(""));
            let labels = labels(&reading.page, &truth);
            let names = if truth.text.is_some() { name_shares(&reading, &labels) } else { Vec::new() };
            (labels, names)
        };
        Sample { set, site: lexicon::hash(&site(&page)), page, truth, labels, names }
    }

    /// Which of `n_folds` folds the page's site belongs to.
    pub fn fold(&self, n: u32) -> u32 {
        ((self.site ^ (self.site >> 15)).wrapping_mul(0x2C1B_3C6D) >> 8) % n.max(1)
    }
}

fn name_shares(reading: &ParsedPage<'_>, labels: &[Label]) -> Vec<(u32, f32)> {
    let page = &reading.page;
    let mut sums = vec![(0.0f32, 0.0f32)];
    for (block, label) in page.blocks.iter().zip(labels) {
        let (words, content) = *sums.last().expect("starts with one");
        let n_words = block.n_words() as f32;
        sums.push((words + n_words, content + n_words * label.target));
    }
    let mut names: HashMap<u32, (f32, f32)> = HashMap::new();
    for element in &page.elements {
        let (start, end) =
            (sums[element.first_block as usize], sums[element.end_block.max(element.first_block) as usize]);
        if end.0 > start.0 {
            for name in page.names_of(element) {
                let entry = names.entry(*name).or_default();
                entry.0 += end.0 - start.0;
                entry.1 += end.1 - start.1;
            }
        }
    }
    let mut shares: Vec<(u32, f32)> =
        names.into_iter().map(|(name, (words, content))| (name, content / words)).collect();
    shares.sort_by_key(|(name, _)| *name);
    shares
}

/// The prior of a class name: this share of its text is content, with the weight of this many pages.
const PRIOR_SHARE: f32 = 0.35;
const PRIOR_PAGES: f32 = 3.0;

/// Names must be known from this many sites: what one site calls its parts says nothing about others.
const MIN_SITES: usize = 5;

/// At most this many pages of one site are counted.
const MAX_PAGES_PER_SITE: u32 = 4;

/// What class names mean on these pages.
pub fn name_table<'s>(samples: impl Iterator<Item = &'s Sample>) -> NameTable {
    let mut pages_of_site: HashMap<u32, u32> = HashMap::new();
    let mut sums: HashMap<u32, (f32, f32, Vec<u32>)> = HashMap::new();
    for sample in samples {
        let pages = pages_of_site.entry(sample.site).or_default();
        *pages += 1;
        if *pages > MAX_PAGES_PER_SITE {
            continue;
        }
        for (name, share) in &sample.names {
            let entry = sums.entry(*name).or_default();
            entry.0 += share;
            entry.1 += 1.0;
            if entry.2.len() < MIN_SITES && !entry.2.contains(&sample.site) {
                entry.2.push(sample.site);
            }
        }
    }
    let entries = sums
        .into_iter()
        .filter(|(_, (_, _, sites))| sites.len() >= MIN_SITES)
        .map(|(name, (share, pages, _))| {
            let mean = (share + PRIOR_PAGES * PRIOR_SHARE) / (pages + PRIOR_PAGES);
            (name, NameTable::steps((mean / (1.0 - mean)).ln() - (PRIOR_SHARE / (1.0 - PRIOR_SHARE)).ln()))
        })
        .collect();
    NameTable::new(entries)
}

//! What can be measured of a ranking without references: whether its picks stay when the text changes a little, and, on
//! web pages, whether they come from the main text.

use std::path::Path;

use pith_extractor::tree::Tree;
use pith_extractor::{Analysis, Budget, Method, Picks, analyze_units, summarize_analysis, walk_page};
use serde::Serialize;

use super::Length;
use super::item::Item;
use crate::error::Error;
use crate::gold::GoldSet;

/// The share of the three picks that survive the loss of every tenth sentence and are picked again.
pub(super) fn stability(items: &[Item], orders: &[Vec<usize>], method: Method) -> f64 {
    let (mut kept, mut all) = (0u32, 0u32);
    for (item, order) in items.iter().zip(orders) {
        let left: Vec<usize> = (0..item.sentences.len()).filter(|index| index % 10 != 9).collect();
        let sentences: Vec<&str> = left.iter().map(|index| item.sentences[*index].as_str()).collect();
        let analysis = Analysis::of(sentences, item.title.as_deref(), item.language);
        let mut picks = Picks::overrunning(&analysis, Length::Sentences(3).budget(false));
        method.ranking().rank(&analysis, &mut picks);
        let again: Vec<usize> = picks.best_first().into_iter().map(|index| left[index]).collect();
        for pick in order.iter().take(3).filter(|pick| *pick % 10 != 9) {
            all += 1;
            kept += u32::from(again.contains(pick));
        }
    }
    f64::from(kept) / f64::from(all.max(1))
}

/// How much of what a ranking picks from whole pages belongs to their main text.
#[derive(Clone, Debug, Serialize)]
pub struct MainTextShare {
    /// The ranking.
    pub name: &'static str,
    /// The share of the 20 units picked whose letters stand in the gold text.
    pub units: f64,
    /// The same by characters.
    pub characters: f64,
}

/// Ranks the units of whole pages, as the seed does, and looks for the picks in the gold main text.
///
/// # Errors
/// When a set cannot be read.
pub fn in_gold(folder: &Path, methods: &[Method], pages_per_set: usize) -> Result<Vec<MainTextShare>, Error> {
    let mut sums = vec![(0.0, 0.0); methods.len()];
    let mut n_pages = 0;
    for set in GoldSet::all(folder)? {
        for pair in set.pairs()?.take(pages_per_set) {
            let (page, truth) = pair?;
            let Some(gold) = truth.text.as_deref().map(letters).filter(|gold| !gold.is_empty()) else { continue };
            let walk = walk_page(&Tree::parse(&page.html));
            n_pages += 1;
            for (method, sum) in methods.iter().zip(&mut sums) {
                let analysis = analyze_units(&walk.units, *method);
                let picks = summarize_analysis(&analysis, *method, Budget::Sentences(20));
                let (mut inside, mut inside_characters, mut all_characters) = (0, 0, 0);
                for pick in &picks {
                    let unit = letters(&pick.text);
                    let size = unit.chars().count();
                    let found = !unit.is_empty() && gold.contains(&unit);
                    inside += usize::from(found);
                    inside_characters += if found { size } else { 0 };
                    all_characters += size;
                }
                sum.0 += inside as f64 / picks.len().max(1) as f64;
                sum.1 += inside_characters as f64 / all_characters.max(1) as f64;
            }
        }
    }
    let pages = f64::from(n_pages.max(1));
    let row = |(method, sum): (&Method, (f64, f64))| MainTextShare {
        name: method.name(),
        units: sum.0 / pages,
        characters: sum.1 / pages,
    };
    Ok(methods.iter().zip(sums).map(row).collect())
}

/// Only what is read aloud, in lower case: markup may break space and punctuation.
fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

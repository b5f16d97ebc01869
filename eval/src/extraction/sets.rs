//! Where pages come from: sets with gold, or folders of saved pages without.

use std::num::NonZeroUsize;
use std::path::Path;

use crate::Error;
use crate::gold::{GoldPage, GoldSet, Truth};
use crate::saved::SavedPages;

/// Pages that methods are compared on.
#[derive(Clone, Debug)]
pub enum PageSet {
    /// Pages with the text that a careful reader would keep.
    Gold(GoldSet),
    /// Pages without it.
    Saved(SavedPages),
}

impl PageSet {
    /// The gold sets of a folder, see [`GoldSet::all`].
    ///
    /// # Errors
    /// When the folder cannot be read or holds no set.
    pub fn all_gold(folder: &Path) -> Result<Vec<PageSet>, Error> {
        Ok(GoldSet::all(folder)?.into_iter().map(PageSet::Gold).collect())
    }

    /// The name in tables.
    pub fn name(&self) -> &str {
        match self {
            PageSet::Gold(set) => &set.name,
            PageSet::Saved(pages) => &pages.name,
        }
    }

    /// Every so many pages, each with its truth, which is empty where there is no gold.
    pub(super) fn sample<'s>(&'s self, every: NonZeroUsize) -> Result<Box<dyn Iterator<Item = Pair> + 's>, Error> {
        Ok(match self {
            PageSet::Gold(set) => Box::new(set.sample(every)?),
            PageSet::Saved(pages) => Box::new(pages.sample(every).map(|page| page.map(without_gold))),
        })
    }
}

type Pair = Result<(GoldPage, Truth), Error>;

fn without_gold(page: GoldPage) -> (GoldPage, Truth) {
    let truth = Truth { id: page.id.clone(), ..Truth::default() };
    (page, truth)
}

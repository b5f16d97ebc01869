//! Text embedded as data, for pages that show nothing, or only the beginning, without running their scripts.

mod candidates;
mod continuation;
mod prose;
mod state;

use super::{Head, collapse};
use crate::blocks::Page;
use crate::tree::Tree;
use candidates::Candidates;
pub(crate) use continuation::Continuation;
use continuation::Shown;
use prose::Prose;

/// More data than this is not read.
const MAX_BYTES: usize = 4 << 20;

impl Head {
    /// The text that a page embeds as data: the body of its structured data, else the prose in the state of its scripts
    /// (`__NEXT_DATA__` and the like). Empty where there is none.
    pub(crate) fn embedded_text(&self, tree: &Tree<'_>) -> String {
        let mut prose = Prose::default();
        prose.read_text(&self.structured.body);
        if prose.is_empty() {
            state::of(tree, |_| true).iter().for_each(|value| prose.read_value(value));
        }
        prose.into_text()
    }

    /// How the kept text goes on in the data of a page that shows only the beginning of it.
    pub(crate) fn continuation(&self, page: &Page<'_>, kept: &[bool]) -> Option<Continuation> {
        let shown = Shown::of(page, kept)?;
        let mut candidates = Candidates::default();
        if self.structured.body.len() > shown.n_bytes() {
            candidates.add_text(&self.structured.body);
        }
        let found = candidates.iter().find_map(|text| shown.continued_by(text));
        found.or_else(|| {
            let mut candidates = Candidates::default();
            let values = state::of(&page.tree, |script| shown.may_be_continued_by(script));
            values.iter().for_each(|value| candidates.add(value));
            candidates.iter().find_map(|text| shown.continued_by(text))
        })
    }
}

#[cfg(test)]
mod tests;

//! What the rules of a site match on a page, and how that changes which blocks are kept.

use crate::blocks::Page;
use crate::tree::NodeId;

/// What the rules of a site match on a page.
#[derive(Clone, Debug, Default)]
pub(crate) struct RuleMatches {
    /// What is content, in document order, none inside another.
    pub content: Vec<NodeId>,
    /// What is left out of the page altogether, in document order.
    pub dropped: Vec<NodeId>,
    /// The title.
    pub title: Option<String>,
    /// Who wrote it.
    pub author: Option<String>,
    /// The date, `YYYY-MM-DD`.
    pub published: Option<String>,
}

impl RuleMatches {
    /// Keeps exactly the blocks inside the content, where the rules match any, and says whether they do.
    pub(crate) fn keep_content(&self, page: &Page<'_>, kept: &mut [bool]) -> bool {
        let inside = |node: NodeId| {
            let before = self.content.partition_point(|content| *content <= node);
            self.content[..before].last().is_some_and(|content| page.tree.contains(*content, node))
        };
        let is_content: Vec<bool> =
            page.blocks.iter().map(|block| inside(page.elements[block.element as usize].node)).collect();
        let is_any = is_content.contains(&true);
        if is_any {
            kept.copy_from_slice(&is_content);
        }
        is_any
    }
}

//! Without the feature `rules` nobody can make any.

use url::Url;

use super::matches::RuleMatches;
use crate::tree::Tree;

/// Rules by domain. Without the feature `rules` there are none.
#[derive(Clone, Debug)]
pub enum Rules {}

pub(crate) enum Site {}

impl Rules {
    /// The text that they were read from.
    pub fn source(&self) -> &str {
        match *self {}
    }

    pub(crate) fn site(&self, _: &Url) -> Option<&Site> {
        match *self {}
    }
}

impl Site {
    pub(crate) fn find(&self, _: &Tree<'_>) -> RuleMatches {
        match *self {}
    }
}

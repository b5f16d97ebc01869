//! How long the compared summaries are.

use pith_extractor::Budget;

/// One length of summaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Length {
    /// So many sentences.
    Sentences(usize),
    /// So many words, half as many again in scripts without spaces, where a word is a character; the last sentence is cut.
    Words(usize),
}

impl Length {
    /// The lengths that are compared.
    pub const ALL: [Length; 4] =
        [Length::Sentences(1), Length::Sentences(3), Length::Words(100), Length::Sentences(20)];

    /// The name in tables and JSON.
    pub fn name(self) -> String {
        match self {
            Length::Sentences(1) => "1-sentence".to_owned(),
            Length::Sentences(n) => format!("{n}-sentences"),
            Length::Words(n) => format!("{n}-words"),
        }
    }

    pub(super) fn budget(self, spaceless: bool) -> Budget {
        match self {
            Length::Sentences(n) => Budget::Sentences(n),
            Length::Words(n) => Budget::Words(if spaceless { n + n / 2 } else { n }),
        }
    }
}

//! [`Statement`]: one thing that an owner said, where, and about what.

use serde::{Deserialize, Serialize};

/// Longer values are cut here.
const MAX_VALUE_BYTES: usize = 512;

/// In which way something was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Signal {
    /// AIPREF: `train-ai=n, search=y`.
    ContentUsage,
    /// `search=yes, ai-train=no`.
    ContentSignal,
    /// TDMRep: `1` reserves text and data mining, `0` does not.
    TdmReservation,
    /// TDMRep: where a licence may be had.
    TdmPolicy,
    /// `noai`, `noindex` and others of `<meta name="robots">` and `X-Robots-Tag`.
    Robots,
    /// RSL: where the licence is.
    License,
}

impl Signal {
    /// Every signal there is.
    pub const ALL: [Signal; 6] = [
        Signal::ContentUsage,
        Signal::ContentSignal,
        Signal::TdmReservation,
        Signal::TdmPolicy,
        Signal::Robots,
        Signal::License,
    ];

    /// The name in documents and reports.
    pub fn name(self) -> &'static str {
        match self {
            Signal::ContentUsage => "content-usage",
            Signal::ContentSignal => "content-signal",
            Signal::TdmReservation => "tdm-reservation",
            Signal::TdmPolicy => "tdm-policy",
            Signal::Robots => "robots",
            Signal::License => "license",
        }
    }
}

/// Where something was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Source {
    /// The robots.txt of the origin.
    #[serde(rename = "robots.txt")]
    RobotsTxt,
    /// `/.well-known/tdmrep.json` of the origin.
    #[serde(rename = "tdmrep.json")]
    TdmRep,
    /// A header of the response.
    #[serde(rename = "header")]
    Header,
    /// The HTML of the page.
    #[serde(rename = "html")]
    Html,
}

/// One thing that an owner said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statement {
    /// In which way.
    pub signal: Signal,
    /// Where.
    pub source: Source,
    /// To whom: `*`, or the name of the crawler.
    pub agent: String,
    /// About what: the pattern of paths that a file names, or `page`.
    pub scope: String,
    /// What, in the words of the signal.
    pub value: String,
}

impl Statement {
    /// A statement to everybody about one page.
    pub(crate) fn of_page(signal: Signal, source: Source, value: &str) -> Statement {
        Statement { signal, source, agent: "*".into(), scope: "page".into(), value: clean(value) }
    }

    /// The bytes on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.agent.capacity() + self.scope.capacity() + self.value.capacity()
    }
}

/// A value on one line, of bounded length.
pub(crate) fn clean(text: &str) -> String {
    let mut end = text.len().min(MAX_VALUE_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].trim().chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

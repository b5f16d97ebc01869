//! [`judge`]: what statements mean for a purpose.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::statement::{Signal, Source, Statement};
use crate::usage::answers;

/// What pages are fetched for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Purpose {
    /// To train models, and other mining of text and data.
    #[default]
    Train,
    /// To let people find pages.
    Search,
    /// To keep pages as they were.
    Archive,
}

impl Purpose {
    /// Every purpose there is.
    pub const ALL: [Purpose; 3] = [Purpose::Train, Purpose::Search, Purpose::Archive];

    /// The name in flags and documents.
    pub fn name(self) -> &'static str {
        match self {
            Purpose::Train => "train",
            Purpose::Search => "search",
            Purpose::Archive => "archive",
        }
    }
}

impl FromStr for Purpose {
    type Err = String;

    fn from_str(name: &str) -> Result<Purpose, String> {
        let found = Purpose::ALL.into_iter().find(|purpose| purpose.name() == name);
        found.ok_or_else(|| "a purpose is train, search or archive".to_owned())
    }
}

/// What an owner says about a use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// They allow it.
    Allowed,
    /// They reserve it: it may not be done without asking.
    Reserved,
    /// They say nothing about it.
    #[default]
    Unstated,
}

/// The verdict on one purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// What is said about the use.
    pub verdict: Verdict,
    /// The signal that decided.
    pub by: Option<Signal>,
}

/// What statements about a page mean for a purpose.
///
/// A reservation outweighs a permission. Of statements of TDMRep only those of the nearest source count: the HTML
/// outweighs the headers, and they the file.
pub fn judge(statements: &[Statement], purpose: Purpose) -> Judgement {
    let nearest = statements.iter().filter(|said| said.signal == Signal::TdmReservation).map(nearness).max();
    let counts = |said: &&Statement| said.signal != Signal::TdmReservation || Some(nearness(said)) == nearest;
    let mut judgement = Judgement { verdict: Verdict::Unstated, by: None };
    for said in statements.iter().filter(counts) {
        match (effect(said, purpose), judgement.verdict) {
            (Verdict::Reserved, _) => return Judgement { verdict: Verdict::Reserved, by: Some(said.signal) },
            (Verdict::Allowed, Verdict::Unstated) => {
                judgement = Judgement { verdict: Verdict::Allowed, by: Some(said.signal) };
            }
            _ => {}
        }
    }
    judgement
}

fn nearness(said: &Statement) -> u8 {
    match said.source {
        Source::RobotsTxt | Source::TdmRep => 0,
        Source::Header => 1,
        Source::Html => 2,
    }
}

/// What one statement says about a purpose.
fn effect(said: &Statement, purpose: Purpose) -> Verdict {
    match (said.signal, purpose) {
        (Signal::ContentUsage, Purpose::Train) => answer(said, "train-ai", "y", "n"),
        (Signal::ContentUsage, Purpose::Search) => answer(said, "search", "y", "n"),
        (Signal::ContentSignal, Purpose::Train) => answer(said, "ai-train", "yes", "no"),
        (Signal::ContentSignal, Purpose::Search) => answer(said, "search", "yes", "no"),
        (Signal::TdmReservation, Purpose::Train) => match said.value.as_str() {
            "1" => Verdict::Reserved,
            "0" => Verdict::Allowed,
            _ => Verdict::Unstated,
        },
        (Signal::Robots, Purpose::Train) => directive(said, &["noai"]),
        (Signal::Robots, Purpose::Search) => directive(said, &["noindex", "none"]),
        (Signal::Robots, Purpose::Archive) => directive(said, &["noarchive", "nocache"]),
        (Signal::ContentUsage | Signal::ContentSignal | Signal::TdmReservation, Purpose::Archive) => Verdict::Unstated,
        (Signal::TdmReservation, Purpose::Search) => Verdict::Unstated,
        (Signal::TdmPolicy | Signal::License, _) => Verdict::Unstated,
    }
}

fn answer(said: &Statement, label: &str, yes: &str, no: &str) -> Verdict {
    let mut verdict = Verdict::Unstated;
    for answer in answers(&said.value, label) {
        if answer == no {
            return Verdict::Reserved;
        }
        if answer == yes {
            verdict = Verdict::Allowed;
        }
    }
    verdict
}

fn directive(said: &Statement, reserving: &[&str]) -> Verdict {
    let is_there = said.value.split(", ").any(|directive| reserving.contains(&directive));
    if is_there { Verdict::Reserved } else { Verdict::Unstated }
}

/// Whether a statement reserves a use for any purpose.
pub(crate) fn reserves_anything(said: &Statement) -> bool {
    Purpose::ALL.iter().any(|purpose| effect(said, *purpose) == Verdict::Reserved)
}

/// What was said about a page, and what it means: a field of every document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preferences {
    /// What it means for each purpose.
    pub verdict: Verdicts,
    /// The digest of the robots.txt that was in force, where one was read.
    pub robots: Option<String>,
    /// What was said.
    pub statements: Vec<Statement>,
}

/// The verdict on each purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdicts {
    /// To train models.
    pub train: Verdict,
    /// To let people find pages.
    pub search: Verdict,
    /// To keep pages as they were.
    pub archive: Verdict,
}

impl Preferences {
    /// Judges statements for every purpose.
    pub fn of(statements: Vec<Statement>, robots: Option<String>) -> Preferences {
        let verdict = |purpose| judge(&statements, purpose).verdict;
        let verdict = Verdicts {
            train: verdict(Purpose::Train),
            search: verdict(Purpose::Search),
            archive: verdict(Purpose::Archive),
        };
        Preferences { verdict, robots, statements }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(signal: Signal, source: Source, value: &str) -> Statement {
        Statement::of_page(signal, source, value)
    }

    #[track_caller]
    fn check(statements: &[Statement], train: Verdict, search: Verdict, archive: Verdict) {
        let judged = Preferences::of(statements.to_vec(), None).verdict;
        assert_eq!(judged, Verdicts { train, search, archive }, "{statements:?}");
    }

    #[test]
    fn every_signal_has_its_purpose() {
        use Signal::{ContentSignal, ContentUsage, License, Robots, TdmPolicy, TdmReservation};
        use Source::Header;
        use Verdict::{Allowed, Reserved, Unstated};
        check(&[], Unstated, Unstated, Unstated);
        check(&[said(ContentUsage, Header, "train-ai=n")], Reserved, Unstated, Unstated);
        check(&[said(ContentUsage, Header, "train-ai=y, search=n")], Allowed, Reserved, Unstated);
        check(&[said(ContentUsage, Header, "train-ai=maybe, other=n")], Unstated, Unstated, Unstated);
        check(&[said(ContentSignal, Header, "search=yes, ai-train=no")], Reserved, Allowed, Unstated);
        check(&[said(ContentSignal, Header, "ai-input=no")], Unstated, Unstated, Unstated);
        check(&[said(ContentSignal, Header, "ai-train=yes, ai-train=no")], Reserved, Unstated, Unstated);
        check(&[said(TdmReservation, Header, "1")], Reserved, Unstated, Unstated);
        check(&[said(TdmReservation, Header, "0")], Allowed, Unstated, Unstated);
        check(&[said(Robots, Header, "noai, noimageai")], Reserved, Unstated, Unstated);
        check(&[said(Robots, Header, "noimageai")], Unstated, Unstated, Unstated);
        check(&[said(Robots, Header, "noindex, nofollow")], Unstated, Reserved, Unstated);
        check(&[said(Robots, Header, "none")], Unstated, Reserved, Unstated);
        check(&[said(Robots, Header, "noarchive")], Unstated, Unstated, Reserved);
        check(&[said(Robots, Header, "nosnippet, nofollow")], Unstated, Unstated, Unstated);
        check(
            &[said(License, Header, "https://a.test/l.xml"), said(TdmPolicy, Header, "u")],
            Unstated,
            Unstated,
            Unstated,
        );
    }

    #[test]
    fn the_nearest_word_on_mining_counts() {
        use Source::{Header, Html, TdmRep};
        let tdm = |source: Source, value: &str| said(Signal::TdmReservation, source, value);
        let verdict = |statements: &[Statement]| judge(statements, Purpose::Train).verdict;
        assert_eq!(verdict(&[tdm(TdmRep, "1"), tdm(Header, "0")]), Verdict::Allowed, "header over file");
        assert_eq!(verdict(&[tdm(TdmRep, "0"), tdm(Header, "1")]), Verdict::Reserved);
        assert_eq!(verdict(&[tdm(Header, "1"), tdm(Html, "0")]), Verdict::Allowed, "page over header");
        assert_eq!(verdict(&[tdm(Header, "0"), tdm(Header, "1")]), Verdict::Reserved, "said twice");
    }

    #[test]
    fn where_statements_disagree_any_no_wins() {
        let all = [
            said(Signal::ContentUsage, Source::RobotsTxt, "train-ai=y"),
            said(Signal::ContentUsage, Source::Header, "train-ai=n"),
            said(Signal::TdmReservation, Source::Header, "0"),
        ];
        let judged = judge(&all, Purpose::Train);
        assert_eq!((judged.verdict, judged.by), (Verdict::Reserved, Some(Signal::ContentUsage)));
        let other = [said(Signal::TdmReservation, Source::Header, "0"), said(Signal::Robots, Source::Html, "noai")];
        assert_eq!(judge(&other, Purpose::Train).by, Some(Signal::Robots));
    }

    #[test]
    fn the_field_of_a_document_is_read_back_as_it_was_written() {
        let preferences =
            Preferences::of(vec![said(Signal::ContentUsage, Source::RobotsTxt, "train-ai=n")], Some("sha256:X".into()));
        let json = serde_json::to_string(&preferences).unwrap();
        let expected = r#"{"verdict":{"train":"reserved","search":"unstated","archive":"unstated"},"robots":"sha256:X","statements":[{"signal":"content-usage","source":"robots.txt","agent":"*","scope":"page","value":"train-ai=n"}]}"#;
        assert_eq!(json, expected);
        assert_eq!(serde_json::from_str::<Preferences>(&json).unwrap(), preferences);
    }
}

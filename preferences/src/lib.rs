//! What the owner of a page says about its use, read from where owners say it, and judged for a purpose.
//!
//! Owners speak in robots.txt (`Content-Usage`, `Content-Signal`, `License`), in `/.well-known/tdmrep.json`, in response
//! headers (the same, `tdm-reservation`, `X-Robots-Tag`) and in the HTML (`<meta>`, `<link>`). Each parser gives
//! [`Statement`]s; [`judge`] says what they mean for a [`Purpose`].
//!
//! It is not: a fetcher (it does no I/O), a robots.txt matcher for what may be fetched, or legal advice. Parsers take any
//! bytes, in time linear in them, and never fail: what cannot be read states nothing.
//!
//! ```
//! use pith_preferences::{Purpose, RobotsPreferences, Verdict, judge};
//!
//! let robots = RobotsPreferences::parse(b"User-Agent: *\nContent-Usage: / train-ai=n\n", "pith");
//! let said = robots.statements("/essay.html");
//! assert_eq!(judge(&said, Purpose::Train).verdict, Verdict::Reserved);
//! assert_eq!(judge(&said, Purpose::Search).verdict, Verdict::Unstated);
//! ```

mod digest;
mod directives;
mod headers;
mod html;
mod judgement;
mod known;
mod pattern;
mod robots;
mod statement;
mod tdmrep;
mod usage;

pub use digest::digest;
pub use headers::header_statements;
pub use html::html_statements;
pub use judgement::{Judgement, Preferences, Purpose, Verdict, Verdicts, judge};
pub use known::KnownBefore;
pub use robots::RobotsPreferences;
pub use statement::{Signal, Source, Statement};
pub use tdmrep::{MAX_TDMREP_BYTES, TDMREP_PATH, TdmRep};

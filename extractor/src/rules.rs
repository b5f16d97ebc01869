//! Site rules: CSS selectors by domain for content, parts to drop, title, author and date.
//!
//! ```
//! use pith_extractor::{Options, Rules, extract};
//!
//! let rules = Rules::parse("[\"example.com\"]\ncontent = [\"#story\"]\ndrop = [\".advert\"]\n").unwrap();
//! let options = Options { rules: Some(rules.into()), ..Options::default() };
//! let page = b"<p>Menu</p><div id=story><p>It rained.</p><p class=advert>Buy!</p></div>";
//! let url = url::Url::parse("https://www.example.com/rain").unwrap();
//! assert_eq!(extract(page, Some(&url), &options).text, "It rained.");
//! ```

#[cfg(feature = "rules")]
mod apply;
mod matches;
#[cfg(feature = "rules")]
mod parse;
#[cfg(not(feature = "rules"))]
mod without;

#[cfg(feature = "rules")]
pub use parse::{RuleError, Rules};
#[cfg(not(feature = "rules"))]
pub use without::Rules;

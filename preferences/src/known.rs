//! [`KnownBefore`]: what was known of a page before it was fetched, as it is stored with it.

use serde::{Deserialize, Serialize};

use crate::judgement::Preferences;
use crate::statement::Statement;
use crate::{header_statements, html_statements};

/// What files of the origin said about a page when it was fetched. A line of JSON, stored with the page: together with
/// its headers and its HTML it is all that [`KnownBefore::judge_page`] needs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownBefore {
    /// The name that the crawler went by in robots.txt; empty where it is not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub agent: String,
    /// The digest of the robots.txt in force; `None` where there is none or it was not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub robots: Option<String>,
    /// What robots.txt and tdmrep.json said about the page.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub statements: Vec<Statement>,
}

impl KnownBefore {
    /// Reads the line; what is no such line is nothing known.
    pub fn from_json(line: &str) -> Option<KnownBefore> {
        serde_json::from_str(line).ok()
    }

    /// As one line of ASCII, which is safe in any header.
    pub fn to_json(&self) -> String {
        let json = serde_json::to_string(self).unwrap_or_default();
        if json.is_ascii() {
            return json;
        }
        let mut units = [0; 2];
        json.chars().fold(String::with_capacity(json.len()), |mut line, letter| {
            match letter.is_ascii() {
                true => line.push(letter),
                false => {
                    letter.encode_utf16(&mut units).iter().for_each(|unit| line.push_str(&format!("\\u{unit:04x}")))
                }
            }
            line
        })
    }

    /// All that is said about a page, with its headers and, where it is HTML, its body.
    pub fn with_page<'h>(
        &self,
        headers: impl IntoIterator<Item = (&'h [u8], &'h [u8])>,
        html: Option<&[u8]>,
        agent: &str,
    ) -> Vec<Statement> {
        let mut statements = self.statements.clone();
        statements.extend(header_statements(headers, agent));
        statements.extend(html.map(|body| html_statements(body, agent)).unwrap_or_default());
        statements
    }

    /// Judges a page by all that is said about it.
    pub fn judge_page<'h>(
        &self,
        headers: impl IntoIterator<Item = (&'h [u8], &'h [u8])>,
        html: Option<&[u8]>,
        agent: &str,
    ) -> Preferences {
        Preferences::of(self.with_page(headers, html, agent), self.robots.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RobotsPreferences, TdmRep, Verdict};

    #[test]
    fn what_was_known_comes_back_from_its_line() {
        let robots =
            RobotsPreferences::parse("User-agent: *\nContent-Usage: /ツ😀\u{2028} train-ai=n\n".as_bytes(), "pith");
        let tdmrep = TdmRep::parse(br#"[{"location": "/", "tdm-reservation": 0}]"#);
        let mut statements = robots.statements("/ツ😀\u{2028}x");
        statements.extend_from_slice(tdmrep.statements("/"));
        assert_eq!(statements.len(), 2);
        let known = KnownBefore { agent: "pith".into(), robots: Some("sha256:A".into()), statements };
        let line = known.to_json();
        assert!(line.is_ascii() && !line.contains('\n'), "{line}");
        assert_eq!(KnownBefore::from_json(&line), Some(known.clone()));
        let headers = [(&b"X-Robots-Tag"[..], &b"noindex"[..])];
        let judged = known.judge_page(headers, Some(b"<meta name=robots content=noarchive>"), "pith");
        assert_eq!(judged.statements.len(), 4);
        assert_eq!([judged.verdict.train, judged.verdict.search, judged.verdict.archive], [Verdict::Reserved; 3]);
        assert_eq!(KnownBefore::from_json("{}"), Some(KnownBefore::default()));
        assert_eq!(KnownBefore::from_json("?"), None);
    }
}

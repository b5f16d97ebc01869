//! HTTP validators: `ETag` and `Last-Modified`, for conditional requests.

use std::time::SystemTime;

use crate::page::Page;

/// Longer validators are not stored.
const MAX_BYTES: usize = 512;

/// The validators of a stored page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Validators {
    /// Its `ETag`.
    pub etag: Option<String>,
    /// Its `Last-Modified`.
    pub last_modified: Option<String>,
    /// When the stored copy was requested.
    pub kept_at: SystemTime,
}

impl Validators {
    /// The validators in the headers of a page; `None` when it has none.
    pub fn of(page: &Page) -> Option<Validators> {
        let mut validators = Validators { etag: None, last_modified: None, kept_at: page.fetched_at };
        for (name, value) in page.headers.iter() {
            let slot = if name.eq_ignore_ascii_case("etag") {
                &mut validators.etag
            } else if name.eq_ignore_ascii_case("last-modified") {
                &mut validators.last_modified
            } else {
                continue;
            };
            // Other bytes could not be sent back unchanged.
            let is_plain = value.iter().all(|byte| (0x20..0x7f).contains(byte)) && value.len() <= MAX_BYTES;
            if is_plain && !value.is_empty() {
                *slot = String::from_utf8(value.to_vec()).ok();
            }
        }
        (validators.etag.is_some() || validators.last_modified.is_some()).then_some(validators)
    }

    /// The validators after an answer of 304: what its head gives replaces what was known.
    pub(crate) fn renewed(known: Option<Box<Validators>>, answer: &Page) -> Option<Box<Validators>> {
        let Some(new) = Validators::of(answer) else { return known };
        let Some(known) = known else { return Some(Box::new(new)) };
        let Validators { etag, last_modified, kept_at } = *known;
        Some(Box::new(Validators {
            etag: new.etag.or(etag),
            last_modified: new.last_modified.or(last_modified),
            kept_at,
        }))
    }
}

#[cfg(test)]
mod tests {
    use pith_notation::Headers;

    use super::*;

    fn check(lines: &str, expected: Option<(Option<&str>, Option<&str>)>) {
        let fetched_at = SystemTime::now();
        let headers = Headers::parse(lines.as_bytes());
        let page = Page { headers, fetched_at, ..Page::empty("http://a.test/".parse().unwrap()) };
        let own = |text: Option<&str>| text.map(str::to_owned);
        let expected =
            expected.map(|(etag, date)| Validators { etag: own(etag), last_modified: own(date), kept_at: fetched_at });
        assert_eq!(Validators::of(&page), expected);
    }

    #[test]
    fn validators_are_read_from_the_head_and_only_what_can_be_sent_back() {
        check("ETag: W/\"7\"\r\nLast-Modified: Thu, 01 Jan 2026 00:00:00 GMT\r\n", {
            Some((Some("W/\"7\""), Some("Thu, 01 Jan 2026 00:00:00 GMT")))
        });
        check("etag:\"x\"\r\n", Some((Some("\"x\""), None)));
        check("etag: \"caf\u{e9}\"\r\ncontent-type: text/html\r\n", None);
        check("content-type: text/html\r\netag\r\n", None);
    }
}

//! Hosts that only repeat another host under their own name.
//!
//! The first pages of every host are compared with what other hosts gave under the same path, by their visible text,
//! character for character but for the host's own name: markup may differ, because a mirror may spell its links in its
//! own way. A host that gave an equal page is watched for longer. When enough pages are equal and hardly any is not, the
//! host that was met later is a mirror, and nothing more is asked of it. Likeness is not enough: sites made from one template have like pages under like paths, and a
//! fingerprint of their words cannot tell them apart.

use std::collections::{HashMap, HashSet};

use memchr::{memchr, memmem};
use url::Url;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// Pages of a host that are kept for others to be compared with.
const SAMPLES: u32 = 12;
/// Pages of a host that are compared with those, if one of the first was equal to another host's.
const COMPARED: u32 = 64;
/// Pages under the same path that must be equal.
const MATCHES: u32 = 5;
/// Pages that may differ: what changes between two requests.
const MISSES: u32 = 1;
/// A page with less text than this many bytes says nothing about its host.
const MIN_TEXT_BYTES: usize = 200;
/// Title, navigation and the beginning of the content tell pages apart; the rest is not read.
const MAX_TEXT_BYTES: usize = 8192;
/// Paths and hosts kept at most; beyond that everything is forgotten and learned again.
const MAX_KEPT: usize = 200_000;

/// The text of a page: as it stands, and without the name of its host. A mirror may show either name.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Text {
    whole: u64,
    nameless: u64,
}

/// What is known about the hosts of a crawl.
#[derive(Default)]
pub(crate) struct Mirrors {
    hosts: HashMap<String, Met>,
    by_path: HashMap<u64, Vec<(u32, Text)>>,
    /// Equal and unequal pages of two hosts, the earlier one first.
    pairs: HashMap<(u32, u32), (u32, u32)>,
    mirrors: HashSet<u32>,
    text: Vec<u8>,
}

/// A host, numbered in the order in which hosts were met.
#[derive(Clone, Copy)]
struct Met {
    number: u32,
    /// Pages of it that came, [`COMPARED`] at most.
    n_pages: u32,
    /// Whether one of them was equal to a page of another host.
    is_suspect: bool,
}

impl Mirrors {
    /// Whether a host only repeats another.
    pub(crate) fn is_mirror(&self, host: &str) -> bool {
        !self.mirrors.is_empty() && self.hosts.get(host).is_some_and(|met| self.mirrors.contains(&met.number))
    }

    /// A page came.
    pub(crate) fn compare(&mut self, host: &str, url: &Url, body: &[u8]) {
        if self.by_path.len() + self.hosts.len() + self.pairs.len() > MAX_KEPT {
            *self = Mirrors::default();
        }
        let next = self.hosts.len() as u32;
        if !self.hosts.contains_key(host) {
            self.hosts.insert(host.to_owned(), Met { number: next, n_pages: 0, is_suspect: false });
        }
        let Some(met) = self.hosts.get_mut(host) else { return };
        let is_sample = met.n_pages < SAMPLES;
        if !is_sample && (!met.is_suspect || met.n_pages == COMPARED) {
            return;
        }
        met.n_pages += 1;
        let number = met.number;
        let path = xxh3_64(url[url::Position::BeforePath..].as_bytes());
        if !is_sample && !self.by_path.contains_key(&path) {
            return;
        }
        let Some(text) = text_of(url.host_str().unwrap_or(""), body, &mut self.text) else { return };
        let others = self.by_path.entry(path).or_default();
        for &(other, its_text) in others.iter().filter(|(other, _)| *other != number) {
            let pair = (number.min(other), number.max(other));
            let (equal, unequal) = self.pairs.entry(pair).or_default();
            if text.whole == its_text.whole || text.nameless == its_text.nameless {
                *equal += 1;
                met.is_suspect = true;
            } else {
                *unequal += 1;
            }
            if *equal >= MATCHES && *unequal <= MISSES {
                self.mirrors.insert(pair.1);
            }
        }
        // A path that every site has, such as the root, needs only a few hosts to compare with.
        if is_sample && others.len() < 16 {
            others.push((number, text));
        }
    }
}

/// The visible text of a page, if it is enough to tell pages apart by. It is gathered in `text`.
fn text_of(name: &str, body: &[u8], text: &mut Vec<u8>) -> Option<Text> {
    text.clear();
    let mut rest = body;
    while !rest.is_empty() && text.len() < MAX_TEXT_BYTES {
        let end = memchr(b'<', rest).unwrap_or(rest.len());
        text.extend_from_slice(rest[..end].trim_ascii());
        rest = behind_tag(&rest[end..]);
    }
    text.truncate(MAX_TEXT_BYTES);
    if text.len() < MIN_TEXT_BYTES {
        return None;
    }
    let whole = xxh3_64(text);
    if name.is_empty() {
        return Some(Text { whole, nameless: whole });
    }
    let (mut nameless, mut from) = (Xxh3::new(), 0);
    for at in memmem::find_iter(text, name) {
        nameless.update(&text[from..at]);
        from = at + name.len();
    }
    nameless.update(&text[from..]);
    Some(Text { whole, nameless: nameless.digest() })
}

/// What stands behind a tag, and behind everything that it holds where that is no text.
fn behind_tag(tag: &[u8]) -> &[u8] {
    if matches!(tag.get(1), Some(b's' | b'S' | b'!')) {
        for (start, end) in [("<script", "</script"), ("<style", "</style"), ("<!--", "-->")] {
            if tag.get(..start.len()).is_some_and(|found| found.eq_ignore_ascii_case(start.as_bytes())) {
                let inside = &tag[start.len()..];
                return memmem::find(inside, end.as_bytes()).map_or(&[], |at| behind(&inside[at..]));
            }
        }
    }
    behind(tag)
}

/// What stands behind the next `>`.
fn behind(tag: &[u8]) -> &[u8] {
    memchr(b'>', tag).map_or(&[], |at| &tag[at + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(site: u32, path: u32) -> String {
        (0..200).map(|word| format!("s{site}p{path}w{} ", word * 7 % 101)).collect()
    }

    #[test]
    fn a_host_with_the_pages_of_another_is_found_and_a_host_of_its_own_is_not() {
        let mut mirrors = Mirrors::default();
        for path in 0..10 {
            for (host, site) in [("a.test", 1), ("b.test", 2), ("www.a.test", 1)] {
                let url: Url = format!("http://{host}/page/{path}").parse().unwrap();
                let body = format!("<a href='http://{host}/'>{host}</a> {}", page(site, path));
                mirrors.compare(host, &url, body.as_bytes());
            }
            let url: Url = format!("http://copy.test/page/{path}").parse().unwrap();
            let body = format!("<script>{path}</script><a href='/'>a.test</a> {}", page(1, path));
            mirrors.compare("copy.test", &url, body.as_bytes());
        }
        assert!(mirrors.is_mirror("www.a.test"), "but for its name");
        assert!(mirrors.is_mirror("copy.test"), "with the name and the links of another");
        assert!(!mirrors.is_mirror("a.test") && !mirrors.is_mirror("b.test"));
    }

    #[test]
    fn text_is_what_stands_outside_of_tags_scripts_and_styles() {
        let words = page(1, 1);
        let text = |body: &str| text_of("a.test", body.as_bytes(), &mut Vec::new());
        let plain = text(&words);
        assert!(plain.is_some());
        for same in ["<p class=x>@</p>", "<SCRIPT>1 < 2</script>@<!-- <p>no -->", "<style>p{}</style>\n@\n", "@<"] {
            assert!(text(&same.replace('@', &words)) == plain, "{same}");
        }
        assert!(text("<p>It works!</p>").is_none(), "too little to tell");
        assert!(text(&format!("{words}?")) != plain);
    }
}

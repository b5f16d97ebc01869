//! Mirror detection: hosts with the same pages as another host.
//!
//! Suspicion is cheap: the first pages of every host are compared with pages of other hosts under the same path, by
//! their visible text, exactly, ignoring the host name. Markup may differ, because a mirror may write its links
//! differently. Near-duplicates are not enough: sites made from one template have similar pages under similar paths.
//!
//! A stranger can copy some pages of a site before it is crawled, so a suspicion costs nobody anything. It is confirmed
//! by two samples: a random choice of what each of the two hosts links to on itself ([`sample`]) is asked for on both,
//! and all of it must be equal. Then one of the two is left out: the one that points to the other by canonical links or
//! redirects or, if neither does, the one that fewer other sites link to. If that tells nothing, both are kept, and the
//! host of a seed is kept in any case.

mod sample;

use std::collections::{HashMap, HashSet};

use memchr::{memchr, memmem};
use url::Url;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use self::sample::{Referrers, Samples};
use crate::domain::site;
use crate::frontier::{Link, host_of};

/// Pages of a host whose texts other hosts are compared with.
const SAMPLE_PAGES: u32 = 24;
/// Pages of a host that are compared, if one of the first was equal to a page of another host.
const MAX_COMPARED_PAGES: u32 = 64;
/// Equal pages under the same path that make a suspicion.
const MIN_EQUAL_PAGES: u32 = 2;
/// Unequal pages that a suspected host may have: some pages change between two requests.
const MAX_UNEQUAL_PAGES: u32 = 1;
/// Hosts that one host is suspected to share its pages with; further ones are not looked at.
const MAX_SUSPECTS: usize = 4;
/// Pages with less text are not compared.
const MIN_TEXT_BYTES: usize = 200;
/// Bytes of text that are compared: title, navigation and the start of the content.
const MAX_TEXT_BYTES: usize = 8192;
/// The largest number of paths, hosts and pairs; at more, all entries are dropped and learned again.
const MAX_ENTRIES: usize = 200_000;

/// Hashes of the text of a page, with and without the host name. A mirror may show either host name.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Text {
    whole: u64,
    without_host: u64,
}

impl Text {
    fn is_equal(self, other: Text) -> bool {
        self.whole == other.whole || self.without_host == other.without_host
    }
}

/// Pages of the hosts of a crawl, and the mirrors among the hosts.
#[derive(Default)]
pub(crate) struct Mirrors {
    hosts: HashMap<String, HostEntry>,
    by_path: HashMap<u64, Vec<(u32, Text)>>,
    /// Equal and unequal pages of two hosts, the earlier one first.
    pairs: HashMap<(u32, u32), (u32, u32)>,
    /// The hosts that a host is suspected to share its pages with.
    suspects: HashMap<u32, Vec<u32>>,
    samples: Samples,
    referrers: Referrers,
    mirrors: HashSet<u32>,
    /// The hosts of seeds.
    seeds: HashSet<String>,
    /// Samples to ask for.
    wanted: Vec<Link>,
    text: Vec<u8>,
}

/// A host, numbered in the order in which hosts were first seen.
#[derive(Clone, Copy)]
struct HostEntry {
    number: u32,
    /// Pages of it that were compared, [`MAX_COMPARED_PAGES`] at most.
    n_pages: u32,
    /// Whether one of them was equal to a page of another host.
    is_suspect: bool,
}

impl Mirrors {
    /// No mirrors yet; the hosts of these seeds are never left out.
    pub(crate) fn new(seeds: &[Url]) -> Mirrors {
        Mirrors { seeds: seeds.iter().map(host_of).collect(), ..Mirrors::default() }
    }

    /// Never leaves the host of this URL out: a seed was redirected to it.
    pub(crate) fn keep(&mut self, url: &Url) {
        self.seeds.insert(host_of(url));
    }

    /// Whether a host is a mirror of another.
    pub(crate) fn is_mirror(&self, host: &str) -> bool {
        !self.mirrors.is_empty() && self.hosts.get(host).is_some_and(|entry| self.mirrors.contains(&entry.number))
    }

    /// Records the links of a page: what a host links to on itself is what samples are chosen from, and which other
    /// sites link to it decides which of two hosts is kept.
    pub(crate) fn record_links(&mut self, page: &Url, links: &[Link]) {
        let number = self.hosts.get(&host_of(page)).map(|entry| entry.number);
        let referrer = site(page);
        for link in links {
            if link.url.host_str() != page.host_str() {
                self.referrers.record(referrer, &link.url);
            } else if let Some(number) = number
                && link.url.port() == page.port()
            {
                self.samples.record_link(number, link);
            }
        }
    }

    /// Records that a page of one host points to another host, by a redirect or as its canonical URL.
    pub(crate) fn record_pointer(&mut self, from: &Url, to: &Url) {
        if let Some(entry) = self.hosts.get(&host_of(from)) {
            self.samples.record_pointer(entry.number, &host_of(to));
        }
    }

    /// The samples that are to be asked for now.
    pub(crate) fn take_wanted(&mut self) -> Vec<Link> {
        std::mem::take(&mut self.wanted)
    }

    /// Compares a page with those of other hosts under the same path.
    pub(crate) fn compare(&mut self, host: &str, url: &Url, body: &[u8]) {
        if self.by_path.len() + self.hosts.len() + self.pairs.len() > MAX_ENTRIES {
            *self = Mirrors { seeds: std::mem::take(&mut self.seeds), ..Mirrors::default() };
        }
        let next = self.hosts.len() as u32;
        if !self.hosts.contains_key(host) {
            self.hosts.insert(host.to_owned(), HostEntry { number: next, n_pages: 0, is_suspect: false });
        }
        let Some(entry) = self.hosts.get_mut(host) else { return };
        let number = entry.number;
        let is_first = entry.n_pages < SAMPLE_PAGES;
        let is_compared = is_first || (entry.is_suspect && entry.n_pages < MAX_COMPARED_PAGES);
        entry.n_pages = entry.n_pages.saturating_add(1);
        let path = path_hash(&url[url::Position::BeforePath..]);
        let is_compared = is_compared && (is_first || self.by_path.contains_key(&path));
        let suspects = self.suspects.get(&number).map_or(&[][..], Vec::as_slice);
        if (is_compared || self.samples.is_sample(number, suspects, url))
            && let Some(text) = text_of(url.host_str().unwrap_or(""), body, &mut self.text)
        {
            self.samples.record_text(number, suspects, url, text);
            if is_compared {
                self.compare_text(host, number, path, text, is_first);
            }
        }
        // Links of earlier pages may have completed a sample.
        self.check_suspects(number);
    }

    fn compare_text(&mut self, host: &str, number: u32, path: u64, text: Text, is_first: bool) {
        let others = self.by_path.entry(path).or_default();
        for &(other, its_text) in others.iter().filter(|(other, _)| *other != number) {
            let pair = (number.min(other), number.max(other));
            let (equal, unequal) = self.pairs.entry(pair).or_default();
            if text.is_equal(its_text) {
                *equal += 1;
                if let Some(entry) = self.hosts.get_mut(host) {
                    entry.is_suspect = true;
                }
            } else {
                *unequal += 1;
            }
            if *equal >= MIN_EQUAL_PAGES && *unequal <= MAX_UNEQUAL_PAGES {
                suspect(&mut self.suspects, number, other);
            }
        }
        // For a path that every site has, such as the root, a few hosts are enough.
        if is_first && others.len() < 16 {
            others.push((number, text));
        }
    }

    /// Looks whether a suspicion about a host is confirmed, and asks for the samples that are missing.
    fn check_suspects(&mut self, number: u32) {
        for other in self.suspects.get(&number).cloned().unwrap_or_default() {
            if self.mirrors.contains(&number) || self.mirrors.contains(&other) {
                continue;
            }
            let by_path = &self.by_path;
            let known_text = |host: u32, path: &str| {
                let texts = by_path.get(&path_hash(path))?;
                texts.iter().find(|(number, _)| *number == host).map(|(_, text)| *text)
            };
            if self.samples.are_equal(number, other, known_text, &mut self.wanted)
                && let Some(left_out) = self.which_to_leave_out(number, other)
                && !self.is_seed(left_out)
            {
                self.mirrors.insert(left_out);
            }
        }
    }

    fn is_seed(&self, number: u32) -> bool {
        self.samples.origin(number).is_some_and(|origin| self.seeds.contains(&host_of(origin)))
    }

    /// Which of two hosts with the same pages is left out, if that can be told.
    fn which_to_leave_out(&self, one: u32, other: u32) -> Option<u32> {
        match (self.samples.points_to(one, other), self.samples.points_to(other, one)) {
            (true, false) => return Some(one),
            (false, true) => return Some(other),
            _ => {}
        }
        let n_referrers = |number| self.samples.origin(number).map(|origin| self.referrers.count(origin));
        let (of_one, of_other) = (n_referrers(one)?, n_referrers(other)?);
        match of_one.cmp(&of_other) {
            std::cmp::Ordering::Less => Some(one),
            std::cmp::Ordering::Greater => Some(other),
            std::cmp::Ordering::Equal => None,
        }
    }
}

fn path_hash(path: &str) -> u64 {
    xxh3_64(path.as_bytes())
}

fn suspect(suspects: &mut HashMap<u32, Vec<u32>>, one: u32, other: u32) {
    let has_room = |suspects: &HashMap<u32, Vec<u32>>, host| {
        suspects.get(&host).is_none_or(|known: &Vec<u32>| known.len() < MAX_SUSPECTS)
    };
    let is_known = suspects.get(&one).is_some_and(|known| known.contains(&other));
    if !is_known && has_room(suspects, one) && has_room(suspects, other) {
        suspects.entry(one).or_default().push(other);
        suspects.entry(other).or_default().push(one);
    }
}

/// Hashes the visible text of a page, if it is long enough. `text` is a reused buffer.
fn text_of(name: &str, body: &[u8], text: &mut Vec<u8>) -> Option<Text> {
    text.clear();
    let mut rest = body;
    while !rest.is_empty() && text.len() < MAX_TEXT_BYTES {
        let end = memchr(b'<', rest).unwrap_or(rest.len());
        text.extend_from_slice(rest[..end].trim_ascii());
        rest = after_tag(&rest[end..]);
    }
    text.truncate(MAX_TEXT_BYTES);
    if text.len() < MIN_TEXT_BYTES {
        return None;
    }
    let whole = xxh3_64(text);
    if name.is_empty() {
        return Some(Text { whole, without_host: whole });
    }
    let (mut without_host, mut from) = (Xxh3::new(), 0);
    for at in memmem::find_iter(text, name) {
        without_host.update(&text[from..at]);
        from = at + name.len();
    }
    without_host.update(&text[from..]);
    Some(Text { whole, without_host: without_host.digest() })
}

/// The bytes after a tag, or after the whole element for scripts, styles and comments.
fn after_tag(tag: &[u8]) -> &[u8] {
    if matches!(tag.get(1), Some(b's' | b'S' | b'!')) {
        for (start, end) in [("<script", "</script"), ("<style", "</style"), ("<!--", "-->")] {
            if tag.get(..start.len()).is_some_and(|found| found.eq_ignore_ascii_case(start.as_bytes())) {
                let inside = &tag[start.len()..];
                return memmem::find(inside, end.as_bytes()).map_or(&[], |at| after_close(&inside[at..]));
            }
        }
    }
    after_close(tag)
}

/// The bytes after the next `>`.
fn after_close(tag: &[u8]) -> &[u8] {
    memchr(b'>', tag).map_or(&[], |at| &tag[at + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(site: u32, path: u32) -> String {
        (0..200).map(|word| format!("s{site}p{path}w{} ", word * 7 % 101)).collect()
    }

    /// A crawl of hosts that link to all of their own pages; samples that are asked for come next.
    struct Crawl {
        mirrors: Mirrors,
        /// For each host, the pages that it has: the site whose text it shows, and its paths.
        hosts: Vec<(&'static str, u32, std::ops::Range<u32>)>,
    }

    impl Crawl {
        fn new(hosts: &[(&'static str, u32, std::ops::Range<u32>)]) -> Crawl {
            Crawl { mirrors: Mirrors::default(), hosts: hosts.to_vec() }
        }

        fn fetch(&mut self, host: &str, path: u32) {
            let (.., paths) = self.hosts.iter().find(|(name, ..)| *name == host).cloned().unwrap();
            self.fetch_with_links(host, path, paths);
        }

        fn fetch_with_links(&mut self, host: &str, path: u32, links: std::ops::Range<u32>) {
            let (_, site, paths) = self.hosts.iter().find(|(name, ..)| *name == host).cloned().unwrap();
            if !paths.contains(&path) {
                return;
            }
            let url: Url = format!("http://{host}/page/{path}").parse().unwrap();
            let body = format!("<script>{host}</script><a href='/'>{host}</a> {}", page(site, path));
            self.mirrors.compare(host, &url, body.as_bytes());
            let links: Vec<Link> =
                links.map(|path| Link::page(format!("http://{host}/page/{path}").parse().unwrap(), 1)).collect();
            self.mirrors.record_links(&url, &links);
        }

        /// Fetches pages of each host in turn, and then the samples that are wanted.
        fn run(&mut self, paths: std::ops::Range<u32>) {
            for path in paths {
                for (host, ..) in self.hosts.clone() {
                    self.fetch(host, path);
                }
            }
            loop {
                let wanted = self.mirrors.take_wanted();
                if wanted.is_empty() {
                    break;
                }
                for link in wanted {
                    let path = link.url.path().rsplit('/').next().unwrap().parse().unwrap();
                    self.fetch(link.url.host_str().unwrap(), path);
                }
            }
        }

        fn link_from(&mut self, site: &str, to: &str) {
            let page = format!("http://{site}/").parse().unwrap();
            self.mirrors.record_links(&page, &[Link::page(format!("http://{to}/").parse().unwrap(), 1)]);
        }
    }

    #[test]
    fn a_host_with_the_pages_of_another_is_left_out_if_fewer_link_to_it() {
        // The mirror is met first.
        let mut crawl = Crawl::new(&[("copy.test", 1, 0..40), ("a.test", 1, 0..40), ("b.test", 2, 0..40)]);
        for site in ["x.test", "y.test", "z.test"] {
            crawl.link_from(site, "a.test");
        }
        crawl.link_from("x.test", "copy.test");
        crawl.run(0..5);
        assert!(crawl.mirrors.is_mirror("copy.test"));
        assert!(!crawl.mirrors.is_mirror("a.test") && !crawl.mirrors.is_mirror("b.test"));
    }

    #[test]
    fn of_two_hosts_with_the_same_pages_the_one_that_points_to_the_other_is_left_out() {
        let mut crawl = Crawl::new(&[("a.test", 1, 0..40), ("www.a.test", 1, 0..40)]);
        crawl.link_from("x.test", "a.test");
        crawl.run(0..1);
        let url = |host: &str| -> Url { format!("http://{host}/page/0").parse().unwrap() };
        crawl.mirrors.record_pointer(&url("a.test"), &url("www.a.test"));
        crawl.run(1..4);
        assert!(crawl.mirrors.is_mirror("a.test") && !crawl.mirrors.is_mirror("www.a.test"));
    }

    #[test]
    fn a_copy_of_some_pages_leaves_nobody_out() {
        let mut crawl = Crawl::new(&[("thief.test", 1, 0..30), ("a.test", 1, 0..200)]);
        for site in ["x.test", "y.test", "z.test"] {
            crawl.link_from(site, "thief.test");
        }
        crawl.run(0..30);
        assert!(!crawl.mirrors.suspects.is_empty(), "it is suspected");
        assert!(!crawl.mirrors.is_mirror("a.test") && !crawl.mirrors.is_mirror("thief.test"));
    }

    #[test]
    fn the_host_of_a_seed_is_never_left_out() {
        let hosts = [("copy.test", 1, 0..40), ("a.test", 1, 0..40)];
        for (seeds, is_left_out) in [(&["http://a.test/"], true), (&["http://copy.test/"], false)] {
            let mut crawl = Crawl::new(&hosts);
            crawl.mirrors = Mirrors::new(&seeds.map(|seed| seed.parse().unwrap()));
            crawl.link_from("x.test", "a.test");
            crawl.run(0..5);
            assert_eq!(crawl.mirrors.is_mirror("copy.test"), is_left_out);
        }
    }

    #[test]
    fn a_mirror_is_found_after_two_samples_however_many_links_are_found_meanwhile() {
        let mut crawl = Crawl::new(&[("copy.test", 1, 0..5000), ("a.test", 1, 0..5000)]);
        crawl.link_from("x.test", "a.test");
        let mut n_fetched = 0;
        while !crawl.mirrors.is_mirror("copy.test") && n_fetched < 100 {
            // Each page brings links that nobody has seen before; samples go first.
            let wanted = crawl.mirrors.take_wanted();
            let paths: Vec<u32> =
                wanted.iter().map(|link| link.url.path().rsplit('/').next().unwrap().parse().unwrap()).collect();
            let next = if paths.is_empty() { vec![n_fetched] } else { paths };
            for path in next {
                for host in ["copy.test", "a.test"] {
                    crawl.fetch_with_links(host, path, n_fetched * 50..n_fetched * 50 + 50);
                }
                n_fetched += 1;
            }
        }
        assert!(n_fetched <= 2 + 2 * 12 * 2, "{n_fetched} pages");
    }

    #[test]
    fn hosts_that_nobody_tells_apart_are_both_kept() {
        let mut crawl = Crawl::new(&[("a.test", 1, 0..40), ("b.test", 1, 0..40)]);
        crawl.run(0..40);
        assert!(!crawl.mirrors.is_mirror("a.test") && !crawl.mirrors.is_mirror("b.test"));
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

//! A web whose pages and links are given, such as a real crawl's graph.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;

use bytes::Bytes;

use crate::render::escape;

/// Pages by URL, and their links.
pub(crate) struct Graph {
    urls: Vec<String>,
    by_place: HashMap<String, u32>,
    /// The links of page `n` are `targets[starts[n]..starts[n + 1]]`.
    starts: Vec<usize>,
    targets: Vec<u32>,
}

impl Graph {
    /// # Panics
    ///
    /// When an edge names a page that is not there.
    pub fn new(urls: Vec<String>, edges: &[(u32, u32)]) -> Self {
        let mut starts = vec![0usize; urls.len() + 1];
        for (from, to) in edges {
            assert!((*to as usize) < urls.len(), "edge ({from}, {to}) leads out of {} urls", urls.len());
            starts[*from as usize + 1] += 1;
        }
        (1..starts.len()).for_each(|index| starts[index] += starts[index - 1]);
        let mut next = starts.clone();
        let mut targets = vec![0u32; edges.len()];
        for (from, to) in edges {
            targets[next[*from as usize]] = *to;
            next[*from as usize] += 1;
        }
        let by_place =
            urls.iter().enumerate().map(|(number, url)| (without_scheme(url).to_owned(), number as u32)).collect();
        Graph { urls, by_place, starts, targets }
    }

    pub fn hosts(&self) -> Vec<String> {
        let names: BTreeSet<&str> = self.by_place.keys().map(|place| place.split('/').next().unwrap_or("")).collect();
        names.into_iter().map(str::to_owned).collect()
    }

    pub fn page(&self, authority: &str, path: &str) -> Option<(u32, Bytes)> {
        let name = authority.rsplit_once(':').map_or(authority, |(name, _)| name);
        let found = [authority, name].into_iter().find_map(|host| self.by_place.get(&format!("{host}{path}")));
        let number = *found?;
        let mut html = format!("<!DOCTYPE html>\n<title>Page {number}</title>\n<h1>Page {number}</h1>\n<ul>\n");
        for target in self.links(number) {
            let _ = writeln!(html, "<li><a href=\"{}\">page {target}</a></li>", escape(&self.urls[*target as usize]));
        }
        html.push_str("</ul>\n");
        Some((number, Bytes::from(html)))
    }

    fn links(&self, number: u32) -> &[u32] {
        &self.targets[self.starts[number as usize]..self.starts[number as usize + 1]]
    }
}

/// A URL without its scheme, and with a path.
fn without_scheme(url: &str) -> String {
    let rest = url.strip_prefix("http://").unwrap_or(url);
    if rest.contains('/') { rest.to_owned() } else { format!("{rest}/") }
}

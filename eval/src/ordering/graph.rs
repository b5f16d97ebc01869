//! A stored graph: who links to whom, under which address.

use std::collections::HashMap;
use std::path::Path;

use pith_crawler::{Link, host_of};
use url::Url;

use crate::data;
use crate::error::Error;

/// Pages and links, as read from a folder.
pub struct Graph {
    links: Vec<Link>,
    hosts: Vec<u32>,
    n_hosts: usize,
    /// Where each page's targets begin in `targets`, and where the last one's end.
    starts: Vec<u32>,
    targets: Vec<u32>,
    labels: Vec<String>,
    anchors: HashMap<(u32, u32), (String, String)>,
}

impl Graph {
    /// Reads `edges.tsv` (numbers of two pages), `urls.txt` (a page's number is its line, from 0) and, where they are,
    /// `labels.txt` and `anchors.jsonl`; each may end in `.zst`. Without addresses every page gets one of its own.
    ///
    /// # Errors
    ///
    /// When there are no edges, or a line makes no sense.
    pub fn read(folder: &Path) -> Result<Graph, Error> {
        let mut urls: Vec<Option<Url>> = Vec::new();
        let has_urls = for_each_line(folder, "urls.txt", |line| {
            urls.push(Url::parse(line).ok().filter(Url::has_host));
            Ok(())
        })?;
        let mut edges: Vec<(u32, u32)> = Vec::new();
        let read = for_each_line(folder, "edges.tsv", |line| {
            if line.is_empty() || line.starts_with('#') {
                return Ok(());
            }
            let mut numbers = line.split_ascii_whitespace().map(str::parse::<u32>);
            let (Some(Ok(from)), Some(Ok(to))) = (numbers.next(), numbers.next()) else {
                return Err("no numbers of two pages".to_owned());
            };
            if has_urls && from.max(to) as usize >= urls.len() {
                return Err(format!("page {} is beyond the {} lines of urls.txt", from.max(to), urls.len()));
            }
            edges.push((from, to));
            Ok(())
        })?;
        if !read || (edges.is_empty() && urls.is_empty()) {
            let problem = if read { "there are no links" } else { "no such file, nor with .zst" };
            return Err(Error::Data { path: folder.join("edges.tsv"), problem: problem.into() });
        }
        if !has_urls {
            urls.resize(number_densely(&mut edges), None);
        }
        let mut labels = Vec::new();
        for_each_line(folder, "labels.txt", |line| {
            labels.push(line.to_owned());
            Ok(())
        })?;
        let mut anchors = HashMap::new();
        for_each_line(folder, "anchors.jsonl", |line| {
            let (from, to, anchor, context) = serde_json::from_str::<(u32, u32, String, String)>(line)
                .map_err(|_| "no [from, to, anchor, context]".to_owned())?;
            anchors.entry((from, to)).or_insert((anchor, context));
            Ok(())
        })?;
        let addresses = urls.into_iter().enumerate().map(|(number, url)| {
            url.unwrap_or_else(|| Url::parse(&format!("http://graph.invalid/{number}")).expect("a URL"))
        });
        let mut graph = Graph::new(addresses, edges);
        graph.labels = labels;
        graph.anchors = anchors;
        Ok(graph)
    }

    /// A graph of these pages and links; what a page links to twice, and itself, counts once and not at all.
    ///
    /// # Panics
    ///
    /// When an edge names a page that there is not.
    pub fn new(urls: impl IntoIterator<Item = Url>, mut edges: Vec<(u32, u32)>) -> Graph {
        let links: Vec<Link> = urls.into_iter().map(|url| Link::page(url, u32::MAX)).collect();
        let mut numbers: HashMap<String, u32> = HashMap::new();
        let hosts = links
            .iter()
            .map(|link| {
                let next = numbers.len() as u32;
                *numbers.entry(host_of(&link.url)).or_insert(next)
            })
            .collect();
        edges.retain(|(from, to)| from != to);
        edges.sort_unstable();
        edges.dedup();
        let mut starts = vec![0u32; links.len() + 1];
        for &(from, to) in &edges {
            assert!((to as usize) < links.len(), "no page {to}");
            starts[from as usize + 1] += 1;
        }
        for page in 0..links.len() {
            starts[page + 1] += starts[page];
        }
        let targets = edges.into_iter().map(|(_, to)| to).collect();
        let n_hosts = numbers.len();
        Graph { links, hosts, n_hosts, starts, targets, labels: Vec::new(), anchors: HashMap::new() }
    }

    /// How many pages there are.
    pub fn n_pages(&self) -> usize {
        self.links.len()
    }

    /// How many links.
    pub fn n_edges(&self) -> usize {
        self.targets.len()
    }

    /// How many hosts.
    pub fn n_hosts(&self) -> usize {
        self.n_hosts
    }

    /// The pages that this one links to.
    pub fn targets(&self, page: u32) -> &[u32] {
        &self.targets[self.starts[page as usize] as usize..self.starts[page as usize + 1] as usize]
    }

    /// A page's address, as a link to it.
    pub fn link(&self, page: u32) -> &Link {
        &self.links[page as usize]
    }

    /// The number of a page's host.
    pub fn host(&self, page: u32) -> u32 {
        self.hosts[page as usize]
    }

    /// The label of a page; empty where it has none.
    pub fn label(&self, page: u32) -> &str {
        self.labels.get(page as usize).map_or("", String::as_str)
    }

    /// Whether there are labels at all.
    pub fn has_labels(&self) -> bool {
        !self.labels.is_empty()
    }

    /// The text of a link and the words around it, where they are known.
    pub fn anchor(&self, from: u32, to: u32) -> Option<&(String, String)> {
        self.anchors.get(&(from, to))
    }

    /// The pages that can be reached from the seeds, seeds included, as a flag per page.
    pub fn reachable(&self, seeds: &[u32]) -> Vec<bool> {
        let mut reached = vec![false; self.n_pages()];
        let mut waiting: Vec<u32> = seeds.to_vec();
        while let Some(page) = waiting.pop() {
            if !std::mem::replace(&mut reached[page as usize], true) {
                waiting.extend(self.targets(page).iter().filter(|target| !reached[**target as usize]));
            }
        }
        reached
    }

    /// `n` random pages, with three links or more where there are such pages; the same ones for the same `seed`.
    pub fn random_seeds(&self, n: usize, seed: u64, wanted: impl Fn(u32) -> bool) -> Vec<u32> {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5EED);
        let with_links = |least: usize| -> Vec<u32> {
            (0..self.n_pages() as u32).filter(|page| self.targets(*page).len() >= least && wanted(*page)).collect()
        };
        let candidates = [3, 1, 0].into_iter().map(with_links).find(|found| !found.is_empty()).unwrap_or_default();
        let mut seeds: Vec<u32> = Vec::new();
        while seeds.len() < n.min(candidates.len()) {
            let seed = candidates[(random.next() % candidates.len() as u64) as usize];
            if !seeds.contains(&seed) {
                seeds.push(seed);
            }
        }
        seeds
    }

    /// The first page, when no page links to it and it leads to more than half of all pages: a portal.
    pub fn portal(&self) -> Option<u32> {
        let linked = self.targets.contains(&0);
        let n_reached = self.reachable(&[0]).into_iter().filter(|reached| *reached).count();
        (!linked && n_reached * 2 > self.n_pages()).then_some(0)
    }
}

/// Random numbers, the same for the same seed (SplitMix64).
pub struct Random(pub u64);

impl Random {
    /// The next number.
    #[expect(clippy::should_implement_trait, reason = "it never ends")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 up to and without 1.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Gives pages the numbers from 0 on, in their order, where most numbers are not used; how many there are.
fn number_densely(edges: &mut [(u32, u32)]) -> usize {
    let largest = edges.iter().map(|&(from, to)| from.max(to) as usize + 1).max().unwrap_or(0);
    if largest <= edges.len() * 2 {
        return largest;
    }
    let mut used: Vec<u32> = edges.iter().flat_map(|&(from, to)| [from, to]).collect();
    used.sort_unstable();
    used.dedup();
    let index = |number: u32| used.binary_search(&number).expect("it is used") as u32;
    edges.iter_mut().for_each(|(from, to)| (*from, *to) = (index(*from), index(*to)));
    used.len()
}

/// Calls back with each line of a file that may be compressed, which may complain; whether there is such a file.
fn for_each_line(folder: &Path, name: &str, mut take: impl FnMut(&str) -> Result<(), String>) -> Result<bool, Error> {
    let plain = folder.join(name);
    let packed = folder.join(format!("{name}.zst"));
    let path = if plain.exists() { plain } else { packed };
    if !path.exists() {
        return Ok(false);
    }
    let mut reader = data::open(&path)?;
    let mut line = Vec::new();
    let mut number = 0;
    let failed = |source| Error::Read { path: path.clone(), source };
    while reader.read_until(b'\n', &mut line).map_err(failed)? > 0 {
        number += 1;
        let text = String::from_utf8_lossy(&line);
        if let Err(problem) = take(text.trim_end_matches(['\n', '\r'])) {
            return Err(Error::Data { path, problem: format!("line {number}: {problem}") });
        }
        line.clear();
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).expect("written");
        }
        folder
    }

    #[track_caller]
    fn check(files: &[(&str, &str)], pages: usize, edges: usize, hosts: usize) {
        let folder = written(files);
        let graph = Graph::read(folder.path()).expect("a graph");
        assert_eq!((graph.n_pages(), graph.n_edges(), graph.n_hosts()), (pages, edges, hosts));
    }

    #[test]
    fn graphs_of_many_kinds_are_read() {
        let urls = "http://a.test/\nhttp://b.test/x\nno address\nhttp://a.test/y\n";
        check(&[("edges.tsv", "0\t1\n1\t0\n1\t1\n0\t1\n"), ("urls.txt", urls)], 4, 2, 3);
        check(&[("edges.tsv", "0\t1\n1\t2\n")], 3, 2, 1);
        check(&[("edges.tsv", "# from to\r\n\r\n4000000000 7\r\n7 4000000000")], 2, 2, 1);
        check(&[("edges.tsv", ""), ("urls.txt", urls)], 4, 0, 3);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_file_and_line() {
        let complains = |files: &[(&str, &str)], parts: &[&str]| {
            let error = Graph::read(written(files).path()).err().expect("no graph").to_string();
            assert!(parts.iter().all(|part| error.contains(part)), "{error}");
        };
        complains(&[], &["edges.tsv", "no such file"]);
        complains(&[("edges.tsv", "")], &["edges.tsv", "no links"]);
        complains(&[("edges.tsv", "0\t1\n1\tx\n")], &["edges.tsv", "line 2"]);
        complains(&[("edges.tsv", "0\t1\n-1\t2\n")], &["edges.tsv", "line 2"]);
        complains(&[("edges.tsv", "0\t9\n"), ("urls.txt", "http://a.test/\n")], &["line 1", "page 9", "urls.txt"]);
        complains(&[("edges.tsv", "0\t1\n"), ("anchors.jsonl", "{}\n")], &["anchors.jsonl", "line 1"]);
    }

    #[test]
    fn seeds_are_found_in_the_smallest_graphs() {
        let folder = written(&[("edges.tsv", "0\t1\n")]);
        let graph = Graph::read(folder.path()).expect("a graph");
        assert_eq!(graph.random_seeds(10, 1, |_| true), [0]);
    }
}

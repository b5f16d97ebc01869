//! Random samples of what hosts link to on themselves, and counts of the sites that link to them.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use url::{Position, Url};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::Text;
use crate::frontier::{Link, host_of};

/// Samples that are asked for one after the other. The second is chosen when the first was found equal, from all that
/// the hosts link to by then: whoever copies the first pages of a site has the first sample and not the second.
const N_ROUNDS: usize = 2;
/// Links of a host in a sample.
const SAMPLE_LINKS: usize = 6;
/// The links of a sample that must lead to equal pages; none may lead to a page on one of the hosts only. Whoever copies
/// half of a site has both samples with a chance of 1 in 4 000.
const MIN_LINKS: usize = 5;
/// Texts of a host that are kept for each round.
const SAMPLE_TEXTS: usize = 16;
/// Hosts with samples; at more, one of the others is forgotten.
const MAX_HOSTS: usize = 16_384;
/// Longer paths are not sampled.
const MAX_PATH_BYTES: usize = 256;
/// Slots of the counts of referring sites, a power of two: 1 MB.
const REFERRER_SLOTS: usize = 1 << 17;

/// The samples of all hosts.
///
/// Every path has a random rank in each round, which is secret and the same on all hosts. The links with the smallest
/// ranks are a random sample of the distinct links of a host, whatever the order in which they are found, and two hosts
/// with the same links have the same sample. When two hosts are compared, their samples are frozen: links that are found
/// later change nothing in what is asked for.
pub(super) struct Samples {
    keys: [u64; N_ROUNDS],
    hosts: HashMap<u32, HostSample>,
    /// Comparisons of two hosts, the smaller number first.
    comparisons: HashMap<(u32, u32), Comparison>,
}

/// What is sampled of one host.
struct HostSample {
    /// Scheme, host and port.
    origin: Url,
    rounds: [Round; N_ROUNDS],
    /// The hash of a host that it points to by canonical links or redirects.
    points_to: Option<u64>,
}

#[derive(Default)]
struct Round {
    /// The links to itself with the smallest ranks, in their order.
    links: Vec<SampledLink>,
    /// The texts of the pages with the smallest ranks, in their order.
    texts: Vec<(u64, Text)>,
}

/// A link of a host to itself. Depth and hops are those of the link: a sample must not lead further than it does.
#[derive(Clone)]
struct SampledLink {
    rank: u64,
    depth: u32,
    hops: u8,
    path: Box<str>,
}

/// How far the comparison of two hosts has come.
#[derive(Default)]
struct Comparison {
    round: usize,
    /// The frozen sample of this round; empty until both hosts have enough links.
    asked: Vec<Asked>,
    is_refuted: bool,
}

/// A path that was asked for on both hosts.
struct Asked {
    rank: u64,
    /// Which of the hosts link to it.
    is_of: [bool; 2],
    texts: [Option<Text>; 2],
}

/// What a frozen sample tells.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Open,
    Equal,
    Unequal,
}

impl Comparison {
    fn verdict(&self) -> Verdict {
        let is_unequal = |asked: &Asked| matches!(asked.texts, [Some(a), Some(b)] if !a.is_equal(b));
        if self.asked.iter().any(is_unequal) {
            return Verdict::Unequal;
        }
        // A link may lead to no page with a text, on both hosts.
        let is_one_sided = |asked: &Asked| asked.texts[0].is_some() != asked.texts[1].is_some();
        let n_equal = |host: usize| {
            self.asked.iter().filter(|asked| asked.is_of[host] && asked.texts.iter().all(Option::is_some)).count()
        };
        let is_equal = n_equal(0) >= MIN_LINKS && n_equal(1) >= MIN_LINKS && !self.asked.iter().any(is_one_sided);
        if is_equal { Verdict::Equal } else { Verdict::Open }
    }
}

impl Default for Samples {
    fn default() -> Samples {
        let keys = std::array::from_fn(|round| RandomState::new().hash_one(round));
        Samples { keys, hosts: HashMap::new(), comparisons: HashMap::new() }
    }
}

impl Samples {
    fn rank(&self, round: usize, url: &Url) -> u64 {
        xxh3_64_with_seed(url[Position::BeforePath..].as_bytes(), self.keys[round])
    }

    fn entry(&mut self, number: u32, url: &Url) -> &mut HostSample {
        if self.hosts.len() >= MAX_HOSTS
            && !self.hosts.contains_key(&number)
            && let Some(&any) = self.hosts.keys().next()
        {
            self.hosts.remove(&any);
            self.comparisons.retain(|pair, _| pair.0 != any && pair.1 != any);
        }
        self.hosts.entry(number).or_insert_with(|| HostSample {
            origin: url.join("/").unwrap_or_else(|_| url.clone()),
            rounds: Default::default(),
            points_to: None,
        })
    }

    /// Records a link of a host to itself.
    pub(super) fn record_link(&mut self, number: u32, link: &Link) {
        let path = &link.url[Position::BeforePath..Position::AfterQuery];
        if path.len() > MAX_PATH_BYTES {
            return;
        }
        for round in 0..N_ROUNDS {
            let rank = self.rank(round, &link.url);
            let links = &mut self.entry(number, &link.url).rounds[round].links;
            let index = links.partition_point(|known| known.rank < rank);
            let is_known = links.get(index).is_some_and(|known| known.rank == rank);
            if !is_known && index < SAMPLE_LINKS {
                links.insert(index, SampledLink { rank, depth: link.depth, hops: link.hops, path: path.into() });
                links.truncate(SAMPLE_LINKS);
            }
        }
    }

    /// Records that a host points to another.
    pub(super) fn record_pointer(&mut self, number: u32, to: &str) {
        if let Some(sample) = self.hosts.get_mut(&number) {
            sample.points_to = Some(xxh3_64(to.as_bytes()));
        }
    }

    /// Whether the text of a page belongs to a sample of its host, which is compared with these others.
    pub(super) fn is_sample(&self, number: u32, others: &[u32], url: &Url) -> bool {
        let is_asked = |other: &u32| {
            let comparison = self.comparisons.get(&pair(number, *other));
            comparison.is_some_and(|known| known.asked.iter().any(|asked| asked.rank == self.rank(known.round, url)))
        };
        let is_small = |(round, known): (usize, &Round)| {
            let rank = self.rank(round, url);
            known.texts.len() < SAMPLE_TEXTS || known.texts.last().is_some_and(|(largest, _)| rank < *largest)
        };
        others.iter().any(is_asked)
            || self.hosts.get(&number).is_some_and(|sample| sample.rounds.iter().enumerate().any(is_small))
    }

    /// Records the text of a page of a host that is compared with these others.
    pub(super) fn record_text(&mut self, number: u32, others: &[u32], url: &Url, text: Text) {
        for round in 0..N_ROUNDS {
            let rank = self.rank(round, url);
            let texts = &mut self.entry(number, url).rounds[round].texts;
            let index = texts.partition_point(|(known, _)| *known < rank);
            match texts.get_mut(index).filter(|(known, _)| *known == rank) {
                Some((_, known)) => *known = text,
                None => texts.insert(index, (rank, text)),
            }
            texts.truncate(SAMPLE_TEXTS);
        }
        for &other in others {
            let keys = self.keys;
            let Some(comparison) = self.comparisons.get_mut(&pair(number, other)) else { continue };
            let rank = xxh3_64_with_seed(url[Position::BeforePath..].as_bytes(), keys[comparison.round]);
            for asked in comparison.asked.iter_mut().filter(|asked| asked.rank == rank) {
                asked.texts[usize::from(number > other)] = Some(text);
            }
        }
    }

    /// Whether two hosts have the same texts for the samples of both. What is to be asked for is added to `wanted`, once;
    /// `known_text` gives the text of one of the first pages of a host by its path.
    pub(super) fn are_equal(
        &mut self,
        one: u32,
        other: u32,
        known_text: impl Fn(u32, &str) -> Option<Text>,
        wanted: &mut Vec<Link>,
    ) -> bool {
        let pair = pair(one, other);
        let (Some(first), Some(second)) = (self.hosts.get(&pair.0), self.hosts.get(&pair.1)) else { return false };
        let comparison = self.comparisons.entry(pair).or_default();
        loop {
            if comparison.is_refuted {
                return false;
            }
            if comparison.asked.is_empty() {
                let sides = [(pair.0, first), (pair.1, second)];
                comparison.asked = freeze(sides, comparison.round, &known_text, wanted);
            }
            match comparison.verdict() {
                Verdict::Open => return false,
                Verdict::Unequal => comparison.is_refuted = true,
                Verdict::Equal if comparison.round + 1 == N_ROUNDS => return true,
                Verdict::Equal => {
                    comparison.round += 1;
                    comparison.asked.clear();
                }
            }
        }
    }

    /// Whether a host points to another.
    pub(super) fn points_to(&self, one: u32, other: u32) -> bool {
        let target = self.hosts.get(&other).map(|sample| xxh3_64(host_of(&sample.origin).as_bytes()));
        target.is_some() && self.hosts.get(&one).is_some_and(|sample| sample.points_to == target)
    }

    /// The root of a host.
    pub(super) fn origin(&self, number: u32) -> Option<&Url> {
        self.hosts.get(&number).map(|sample| &sample.origin)
    }
}

fn pair(one: u32, other: u32) -> (u32, u32) {
    (one.min(other), one.max(other))
}

/// Chooses the sample of two hosts from what they link to now, and wants what is not known of it. Empty when one of them
/// has too few links yet.
fn freeze(
    sides: [(u32, &HostSample); 2],
    round: usize,
    known_text: impl Fn(u32, &str) -> Option<Text>,
    wanted: &mut Vec<Link>,
) -> Vec<Asked> {
    let links = sides.map(|(_, sample)| &sample.rounds[round].links);
    if links.iter().any(|links| links.len() < MIN_LINKS) {
        return Vec::new();
    }
    let mut asked: Vec<Asked> = Vec::new();
    for link in links.into_iter().flatten() {
        if asked.iter().any(|known| known.rank == link.rank) {
            continue;
        }
        let is_of = links.map(|links| links.iter().any(|own| own.rank == link.rank));
        let texts = sides.map(|(number, sample)| {
            let text = sample.rounds[round].text(link.rank).or_else(|| known_text(number, &link.path));
            if text.is_none()
                && let Ok(url) = sample.origin.join(&link.path)
            {
                wanted.push(Link { hops: link.hops, ..Link::page(url, link.depth) });
            }
            text
        });
        asked.push(Asked { rank: link.rank, is_of, texts });
    }
    asked
}

impl Round {
    fn text(&self, rank: u64) -> Option<Text> {
        let index = self.texts.binary_search_by_key(&rank, |(known, _)| *known).ok()?;
        Some(self.texts[index].1)
    }
}

/// Counts the distinct sites that link to each host, up to 64, in a table of fixed size. Two hosts rarely share a slot,
/// and which do is secret.
pub(super) struct Referrers {
    key: u64,
    slots: Vec<u64>,
}

impl Default for Referrers {
    fn default() -> Referrers {
        Referrers { key: RandomState::new().hash_one(2), slots: Vec::new() }
    }
}

impl Referrers {
    /// Records a link from a site to a host; links within the site do not count.
    pub(super) fn record(&mut self, referrer: &str, to: &Url) {
        if to.host_str().is_some_and(|host| host.ends_with(referrer)) {
            return;
        }
        if self.slots.is_empty() {
            self.slots = vec![0; REFERRER_SLOTS];
        }
        let bit = xxh3_64_with_seed(referrer.as_bytes(), self.key) % 64;
        let slot = self.slot(to);
        self.slots[slot] |= 1 << bit;
    }

    /// How many sites link to a host.
    pub(super) fn count(&self, to: &Url) -> u32 {
        self.slots.get(self.slot(to)).map_or(0, |bits| bits.count_ones())
    }

    fn slot(&self, to: &Url) -> usize {
        let port = u64::from(to.port().unwrap_or(0));
        xxh3_64_with_seed(to.host_str().unwrap_or("").as_bytes(), self.key ^ port) as usize % REFERRER_SLOTS
    }
}

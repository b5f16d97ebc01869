//! What is in a corpus: sizes, languages, sites, lengths, times, duplicates.

mod page;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use hashbrown::{HashMap, HashSet};
use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64;

use crate::site::site;
use crate::step::{Damage, Run, for_each_document};
use crate::{Error, parallel};

pub use page::page;

/// The description of a corpus.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Stats {
    /// Lines that are documents.
    pub documents: u64,
    /// Lines that are none.
    pub damaged: u64,
    /// The bytes of the shards as they lie on disk.
    pub compressed_bytes: u64,
    /// The bytes of all texts.
    pub text_bytes: u64,
    /// The characters of all texts.
    pub characters: u64,
    /// The words that the extractor counted.
    pub words: u64,
    /// Documents without text.
    pub empty: u64,
    /// Documents whose text another one has too, beyond the first.
    pub exact_duplicates: u64,
    /// Different sites.
    pub sites: u64,
    /// The sites with the most documents.
    pub top_sites: Vec<Share>,
    /// Documents by language, the most frequent first.
    pub languages: Vec<Share>,
    /// Documents by kind of page.
    pub page_types: Vec<Share>,
    /// Documents by the year they were published in, the earliest first.
    pub years: Vec<Share>,
    /// The earliest and the latest time of fetching.
    pub fetched: Option<(String, String)>,
    /// Documents by the number of characters, in steps of a doubling.
    pub lengths: Vec<Bin>,
    /// The middle length in characters, to within its bin's tenth.
    pub median_characters: u64,
}

/// A name and what belongs to it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Share {
    /// The language, site, kind or year.
    pub name: String,
    /// How many documents.
    pub documents: u64,
    /// How many characters.
    pub characters: u64,
}

/// The documents of `from` up to, but not including, `to` characters.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bin {
    /// The least length.
    pub from: u64,
    /// The next bin's least length.
    pub to: u64,
    /// How many documents.
    pub documents: u64,
}

/// Reads all documents once and describes them; `run.out` is not written to.
pub fn stats(shards: &[PathBuf], run: &Run) -> Result<(Stats, Vec<String>), Error> {
    let mut compressed_bytes = 0;
    for path in shards {
        compressed_bytes += std::fs::metadata(path).map_err(Error::at(path))?.len();
    }
    run.watch.begin("counting", compressed_bytes);
    let whole = Mutex::new(Tally::default());
    let damage = parallel::run(run.jobs, shards.len(), |index| {
        let mut damage = Damage::default();
        let tally = tally(&shards[index], run, &mut damage)?;
        whole.lock().expect("nobody panics while adding").add(tally, damage.n_lines);
        Ok(damage.described())
    })?;
    let whole = whole.into_inner().expect("nobody panics while adding");
    Ok((whole.finish(compressed_bytes), damage.into_iter().flatten().collect()))
}

#[derive(Default)]
struct Tally {
    documents: u64,
    damaged: u64,
    text_bytes: u64,
    words: u64,
    empty: u64,
    sites: HashMap<String, (u64, u64)>,
    languages: HashMap<String, (u64, u64)>,
    page_types: HashMap<String, (u64, u64)>,
    years: BTreeMap<String, (u64, u64)>,
    fetched: Option<(String, String)>,
    /// By tenths of a doubling.
    lengths: BTreeMap<u32, u64>,
    /// 64 bits are enough to count; removal compares 128.
    texts: HashSet<u64>,
    repeated: u64,
}

const STEPS_PER_DOUBLING: f64 = 10.0;

fn tally(path: &Path, run: &Run, damage: &mut Damage) -> Result<Tally, Error> {
    let mut tally = Tally::default();
    for_each_document(path, run.watch, damage, |_, document| {
        let text: &str = &document.text;
        let characters = text.chars().count() as u64;
        tally.documents += 1;
        tally.text_bytes += text.len() as u64;
        tally.words += document.counts.words;
        if text.trim().is_empty() {
            tally.empty += 1;
        } else if !tally.texts.insert(xxh3_64(text.as_bytes())) {
            tally.repeated += 1;
        }
        let step = ((characters + 1) as f64).log2() * STEPS_PER_DOUBLING;
        *tally.lengths.entry(step as u32).or_default() += 1;
        let named = |name: &str| if name.is_empty() { "unknown".to_owned() } else { name.to_owned() };
        add_one(tally.sites.entry(named(&site(document.address()))).or_default(), characters);
        add_one(tally.languages.entry(named(&document.language)).or_default(), characters);
        add_one(tally.page_types.entry(named(&document.page_type)).or_default(), characters);
        let year = document.published.get(..4).filter(|year| year.bytes().all(|byte| byte.is_ascii_digit()));
        add_one(tally.years.entry(named(year.unwrap_or_default())).or_default(), characters);
        if !document.fetched_at.is_empty() {
            widen(&mut tally.fetched, &document.fetched_at, &document.fetched_at);
        }
        Ok(())
    })?;
    Ok(tally)
}

fn add_one(share: &mut (u64, u64), characters: u64) {
    share.0 += 1;
    share.1 += characters;
}

fn widen(span: &mut Option<(String, String)>, earliest: &str, latest: &str) {
    let (first, last) = span.get_or_insert_with(|| (earliest.to_owned(), latest.to_owned()));
    if earliest < first.as_str() {
        *first = earliest.to_owned();
    }
    if latest > last.as_str() {
        *last = latest.to_owned();
    }
}

impl Tally {
    fn add(&mut self, other: Tally, damaged: u64) {
        self.documents += other.documents;
        self.damaged += damaged;
        self.text_bytes += other.text_bytes;
        self.words += other.words;
        self.empty += other.empty;
        self.repeated += other.repeated;
        for hash in other.texts {
            self.repeated += u64::from(!self.texts.insert(hash));
        }
        let shares = [
            (&mut self.sites, other.sites),
            (&mut self.languages, other.languages),
            (&mut self.page_types, other.page_types),
        ];
        for (mine, theirs) in shares {
            for (name, (documents, characters)) in theirs {
                let share = mine.entry(name).or_default();
                *share = (share.0 + documents, share.1 + characters);
            }
        }
        for (name, (documents, characters)) in other.years {
            let share = self.years.entry(name).or_default();
            *share = (share.0 + documents, share.1 + characters);
        }
        for (step, n) in other.lengths {
            *self.lengths.entry(step).or_default() += n;
        }
        if let Some((earliest, latest)) = other.fetched {
            widen(&mut self.fetched, &earliest, &latest);
        }
    }

    fn finish(self, compressed_bytes: u64) -> Stats {
        let sites = self.sites.len() as u64;
        let mut top_sites = by_size(self.sites);
        top_sites.truncate(50);
        let share = |(name, (documents, characters))| Share { name, documents, characters };
        Stats {
            documents: self.documents,
            damaged: self.damaged,
            compressed_bytes,
            text_bytes: self.text_bytes,
            characters: self.languages.values().map(|share| share.1).sum(),
            words: self.words,
            empty: self.empty,
            exact_duplicates: self.repeated,
            sites,
            top_sites,
            languages: by_size(self.languages),
            page_types: by_size(self.page_types),
            years: self.years.into_iter().map(share).collect(),
            fetched: self.fetched,
            median_characters: median(&self.lengths, self.documents),
            lengths: doublings(&self.lengths),
        }
    }
}

fn by_size(shares: HashMap<String, (u64, u64)>) -> Vec<Share> {
    let share = |(name, (documents, characters))| Share { name, documents, characters };
    let mut shares: Vec<Share> = shares.into_iter().map(share).collect();
    shares.sort_by(|left, right| right.documents.cmp(&left.documents).then_with(|| left.name.cmp(&right.name)));
    shares
}

fn median(lengths: &BTreeMap<u32, u64>, documents: u64) -> u64 {
    let mut before = 0;
    for (&step, &n) in lengths {
        before += n;
        if before * 2 >= documents.max(1) {
            return (f64::from(step) / STEPS_PER_DOUBLING).exp2() as u64 - 1;
        }
    }
    0
}

fn doublings(lengths: &BTreeMap<u32, u64>) -> Vec<Bin> {
    let mut bins: BTreeMap<u32, u64> = BTreeMap::new();
    for (&step, &n) in lengths {
        *bins.entry(step / STEPS_PER_DOUBLING as u32).or_default() += n;
    }
    let (Some(&first), Some(&last)) = (bins.keys().next(), bins.keys().last()) else { return Vec::new() };
    let bin = |power: u32| Bin {
        from: (1 << power) - 1,
        to: (1 << (power + 1)) - 1,
        documents: bins.get(&power).copied().unwrap_or(0),
    };
    (first..=last).map(bin).collect()
}

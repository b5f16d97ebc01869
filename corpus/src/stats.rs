//! What is in a corpus: sizes, languages, sites, lengths, times, duplicates.

mod page;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use hashbrown::{HashMap, HashSet};
use pith_preferences::{Purpose, Verdict};
use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64;

use crate::jsonl::DocumentFields;
use crate::site::site;
use crate::step::{DamagedLines, Run, for_each_document};
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
    pub top_sites: Vec<GroupCount>,
    /// Documents by language, the most frequent first.
    pub languages: Vec<GroupCount>,
    /// Documents by kind of page.
    pub page_types: Vec<GroupCount>,
    /// Documents by the year they were published in, the newest first; those without a date at the end.
    pub years: Vec<GroupCount>,
    /// The mean of the F1 that the extractor expects, over the documents that have one.
    pub mean_confidence: Option<f64>,
    /// Documents by that F1, in tenths; those without one are `unknown`, the last.
    pub confidences: Vec<GroupCount>,
    /// Documents by what their owners allow and reserve, such as `train: reserved`.
    pub verdicts: Vec<GroupCount>,
    /// Documents by what their owners said; one may have said several things.
    pub statements: Vec<GroupCount>,
    /// The same by decade: `2020s`.
    pub decades: Vec<GroupCount>,
    /// The earliest and the latest time of fetching.
    pub fetched: Option<(String, String)>,
    /// Documents by the number of characters, in steps of a doubling.
    pub lengths: Vec<HistogramBin>,
    /// The middle length in characters, to within its bin's tenth.
    pub median_characters: u64,
}

/// A name and what belongs to it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupCount {
    /// The language, site, kind or year.
    pub name: String,
    /// How many documents.
    pub documents: u64,
    /// How many characters.
    pub characters: u64,
}

/// The documents of `from` up to, but not including, `to` characters.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HistogramBin {
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
    run.observer.begin("counting", compressed_bytes);
    let whole = Mutex::new(Accumulator::default());
    let damage = parallel::run(run.jobs, shards.len(), |index| {
        let mut damage = DamagedLines::default();
        let accumulator = count_shard(&shards[index], run, &mut damage)?;
        whole.lock().expect("no thread panics while it adds").add(accumulator, damage.n_lines);
        Ok(damage.described())
    })?;
    let whole = whole.into_inner().expect("no thread panics while it adds");
    Ok((whole.finish(compressed_bytes), damage.into_iter().flatten().collect()))
}

#[derive(Default)]
struct Accumulator {
    documents: u64,
    damaged: u64,
    text_bytes: u64,
    words: u64,
    empty: u64,
    sites: HashMap<String, (u64, u64)>,
    languages: HashMap<String, (u64, u64)>,
    page_types: HashMap<String, (u64, u64)>,
    years: BTreeMap<String, (u64, u64)>,
    confidences: BTreeMap<String, (u64, u64)>,
    verdicts: BTreeMap<String, (u64, u64)>,
    statements: HashMap<String, (u64, u64)>,
    /// Their sum in millionths, which is the same in any order, and their number.
    confidence: (u64, u64),
    fetched: Option<(String, String)>,
    /// By tenths of a doubling.
    lengths: BTreeMap<u32, u64>,
    /// 64 bits are enough to count; removal compares 128.
    texts: HashSet<u64>,
    repeated: u64,
}

const STEPS_PER_DOUBLING: f64 = 10.0;

fn count_shard(path: &Path, run: &Run, damage: &mut DamagedLines) -> Result<Accumulator, Error> {
    let mut accumulator = Accumulator::default();
    for_each_document(path, run.observer, damage, |_, document| {
        let text: &str = &document.text;
        let characters = text.chars().count() as u64;
        accumulator.documents += 1;
        accumulator.text_bytes += text.len() as u64;
        accumulator.words += document.counts.words;
        if text.trim().is_empty() {
            accumulator.empty += 1;
        } else if !accumulator.texts.insert(xxh3_64(text.as_bytes())) {
            accumulator.repeated += 1;
        }
        let step = ((characters + 1) as f64).log2() * STEPS_PER_DOUBLING;
        *accumulator.lengths.entry(step as u32).or_default() += 1;
        let named = |name: &str| if name.is_empty() { "unknown".to_owned() } else { name.to_owned() };
        add_one(accumulator.sites.entry(named(&site(document.address()))).or_default(), characters);
        add_one(accumulator.languages.entry(named(&document.language)).or_default(), characters);
        add_one(accumulator.page_types.entry(named(&document.page_type)).or_default(), characters);
        let year = document.published.get(..4).filter(|year| year.bytes().all(|byte| byte.is_ascii_digit()));
        add_one(accumulator.years.entry(named(year.unwrap_or_default())).or_default(), characters);
        let tenth = document.confidence.map(|confidence| (confidence.clamp(0.0, 0.99) * 10.0) as u32);
        let range = tenth.map(|tenth| format!("0.{tenth} to {}.{}", (tenth + 1) / 10, (tenth + 1) % 10));
        add_one(accumulator.confidences.entry(named(range.as_deref().unwrap_or_default())).or_default(), characters);
        if let Some(confidence) = document.confidence {
            accumulator.confidence.0 += (confidence.clamp(0.0, 1.0) * 1e6).round() as u64;
            accumulator.confidence.1 += 1;
        }
        count_wishes(&mut accumulator, document, characters);
        if !document.fetched_at.is_empty() {
            extend_range(&mut accumulator.fetched, &document.fetched_at, &document.fetched_at);
        }
        Ok(())
    })?;
    Ok(accumulator)
}

fn count_wishes(accumulator: &mut Accumulator, document: &DocumentFields, characters: u64) {
    let Some(wishes) = &document.preferences else {
        add_one(accumulator.verdicts.entry("not judged".to_owned()).or_default(), characters);
        return;
    };
    for purpose in Purpose::ALL {
        let verdict = match wishes.verdict_on(purpose) {
            Verdict::Allowed => "allowed",
            Verdict::Reserved => "reserved",
            Verdict::Unstated => continue,
        };
        add_one(accumulator.verdicts.entry(format!("{}: {verdict}", purpose.name())).or_default(), characters);
    }
    for name in wishes.statement_names() {
        add_one(accumulator.statements.entry(name).or_default(), characters);
    }
}

fn add_one(share: &mut (u64, u64), characters: u64) {
    share.0 += 1;
    share.1 += characters;
}

fn extend_range(span: &mut Option<(String, String)>, earliest: &str, latest: &str) {
    let (first, last) = span.get_or_insert_with(|| (earliest.to_owned(), latest.to_owned()));
    if earliest < first.as_str() {
        *first = earliest.to_owned();
    }
    if latest > last.as_str() {
        *last = latest.to_owned();
    }
}

impl Accumulator {
    fn add(&mut self, other: Accumulator, damaged: u64) {
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
            (&mut self.statements, other.statements),
        ];
        for (mine, theirs) in shares {
            for (name, (documents, characters)) in theirs {
                let share = mine.entry(name).or_default();
                *share = (share.0 + documents, share.1 + characters);
            }
        }
        let by_name = [
            (&mut self.years, other.years),
            (&mut self.confidences, other.confidences),
            (&mut self.verdicts, other.verdicts),
        ];
        for (mine, theirs) in by_name {
            for (name, (documents, characters)) in theirs {
                let share = mine.entry(name).or_default();
                *share = (share.0 + documents, share.1 + characters);
            }
        }
        self.confidence = (self.confidence.0 + other.confidence.0, self.confidence.1 + other.confidence.1);
        for (step, n) in other.lengths {
            *self.lengths.entry(step).or_default() += n;
        }
        if let Some((earliest, latest)) = other.fetched {
            extend_range(&mut self.fetched, &earliest, &latest);
        }
    }

    fn finish(self, compressed_bytes: u64) -> Stats {
        let sites = self.sites.len() as u64;
        let mut top_sites = by_size(self.sites);
        top_sites.truncate(50);
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
            mean_confidence: (self.confidence.1 > 0)
                .then(|| (self.confidence.0 as f64 / self.confidence.1 as f64 / 1e3).round() / 1e3),
            confidences: self.confidences.into_iter().map(group).collect(),
            verdicts: self.verdicts.into_iter().map(group).collect(),
            statements: by_size(self.statements),
            decades: newest_first(by_decade(&self.years)),
            years: newest_first(self.years),
            fetched: self.fetched,
            median_characters: median(&self.lengths, self.documents),
            lengths: length_histogram(&self.lengths),
        }
    }
}

fn group((name, (documents, characters)): (String, (u64, u64))) -> GroupCount {
    GroupCount { name, documents, characters }
}

fn by_decade(years: &BTreeMap<String, (u64, u64)>) -> BTreeMap<String, (u64, u64)> {
    let mut decades: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for (year, (documents, characters)) in years {
        let is_year = year.bytes().all(|byte| byte.is_ascii_digit());
        let name = if is_year { format!("{}0s", &year[..3]) } else { year.clone() };
        let share = decades.entry(name).or_default();
        *share = (share.0 + documents, share.1 + characters);
    }
    decades
}

/// What has no date is no number and stands at the end.
fn newest_first(shares: BTreeMap<String, (u64, u64)>) -> Vec<GroupCount> {
    let (mut dated, unknown): (Vec<_>, Vec<_>) =
        shares.into_iter().map(group).partition(|group| group.name.starts_with(|first: char| first.is_ascii_digit()));
    dated.reverse();
    dated.extend(unknown);
    dated
}

fn by_size(shares: HashMap<String, (u64, u64)>) -> Vec<GroupCount> {
    let mut shares: Vec<GroupCount> = shares.into_iter().map(group).collect();
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

fn length_histogram(lengths: &BTreeMap<u32, u64>) -> Vec<HistogramBin> {
    let mut bins: BTreeMap<u32, u64> = BTreeMap::new();
    for (&step, &n) in lengths {
        *bins.entry(step / STEPS_PER_DOUBLING as u32).or_default() += n;
    }
    let (Some(&first), Some(&last)) = (bins.keys().next(), bins.keys().last()) else { return Vec::new() };
    let bin = |power: u32| HistogramBin {
        from: (1 << power) - 1,
        to: (1 << (power + 1)) - 1,
        documents: bins.get(&power).copied().unwrap_or(0),
    };
    (first..=last).map(bin).collect()
}

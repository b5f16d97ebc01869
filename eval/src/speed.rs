//! How fast methods read the same pages: every one a process of its own that speaks JSON lines, one thread, in turns.
//!
//! What counts is the time that a method itself takes around its call for a page, so that neither start-up nor pipes nor
//! JSON are counted.

use std::num::NonZeroUsize;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::extraction::Question;
use crate::gold::{GoldPage, GoldSet};
use crate::peer::{ANSWER_TIMEOUT, Peer};

/// What one method did with the pages.
#[derive(Clone, Debug, Serialize)]
pub struct Speed {
    /// The method.
    pub name: String,
    /// Pages in a second, by the median round.
    pub pages_per_second: f64,
    /// Megabytes of HTML in a second, by the median round.
    pub mb_per_second: f64,
    /// The slowest and the fastest round, in megabytes a second.
    pub mb_per_second_range: [f64; 2],
    /// How often the first method reads the pages while this one reads them once.
    pub times_slower_than_first: f64,
    /// The most memory that its process held, where it tells.
    pub peak_rss_mb: Option<f64>,
    /// Pages for which it gave no text.
    pub empty: usize,
}

/// What a method answers. A peer that does not tell its `seconds` is timed from its first answer to its last.
#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    text: Option<String>,
    peak_rss_mb: Option<f64>,
}

/// One page of `every` from all sets of a folder, named by set and id.
///
/// # Errors
/// When a set cannot be read.
pub fn pages(folder: &Path, every: NonZeroUsize) -> Result<Vec<GoldPage>, Error> {
    let mut pages = Vec::new();
    for set in GoldSet::all(folder)? {
        for page in set.pages()?.every(every) {
            let page = page?;
            pages.push(GoldPage { id: format!("{}/{}", set.name, page.id), ..page });
        }
    }
    Ok(pages)
}

/// Lets all methods read the pages so many times, taking turns, each round begun by another.
///
/// # Errors
/// When a method fails.
pub fn compare_speeds(pages: &[GoldPage], methods: &[Peer], rounds: NonZeroUsize) -> Result<Vec<Speed>, Error> {
    let questions: Vec<(String, Question<'_>)> = pages
        .iter()
        .map(|page| (page.id.clone(), Question { id: &page.id, url: page.url.as_deref(), html: &page.html }))
        .collect();
    let mut times: Vec<RoundTimes> = methods.iter().map(|_| RoundTimes::default()).collect();
    for round in 0..rounds.get() {
        for turn in 0..methods.len() {
            let index = (round + turn) % methods.len();
            let replies = methods[index].ask::<_, Answer>(&questions, ANSWER_TIMEOUT)?;
            let time = &mut times[index];
            time.pages_per_second.extend(replies.per_second());
            time.empty =
                replies.answers.iter().filter(|answer| answer.text.as_deref().unwrap_or("").is_empty()).count();
            let peak = replies.answers.iter().filter_map(|answer| answer.peak_rss_mb).reduce(f64::max);
            time.peak_rss_mb = peak.into_iter().chain(time.peak_rss_mb).reduce(f64::max);
        }
    }
    let n_bytes: usize = pages.iter().map(|page| page.html.len()).sum();
    let mb_per_page = n_bytes as f64 / 1e6 / pages.len().max(1) as f64;
    let first = times.first_mut().map_or(0.0, RoundTimes::median);
    let speeds = methods.iter().zip(&mut times).map(|(method, time)| {
        let median = time.median();
        let range = [time.pages_per_second.first(), time.pages_per_second.last()];
        Speed {
            name: method.name.clone(),
            pages_per_second: median,
            mb_per_second: median * mb_per_page,
            mb_per_second_range: range.map(|rate| rate.copied().unwrap_or(0.0) * mb_per_page),
            times_slower_than_first: if median > 0.0 { first / median } else { 0.0 },
            peak_rss_mb: time.peak_rss_mb,
            empty: time.empty,
        }
    });
    Ok(speeds.collect())
}

/// What the rounds of one method gave.
#[derive(Default)]
struct RoundTimes {
    pages_per_second: Vec<f64>,
    peak_rss_mb: Option<f64>,
    empty: usize,
}

impl RoundTimes {
    /// The middle rate; the rates are in order afterwards.
    fn median(&mut self) -> f64 {
        self.pages_per_second.sort_unstable_by(f64::total_cmp);
        let rates = &self.pages_per_second;
        match rates.len() {
            0 => 0.0,
            n if n % 2 == 1 => rates[n / 2],
            n => (rates[n / 2 - 1] + rates[n / 2]) / 2.0,
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn methods_take_turns_and_are_told_apart() {
        let page = |id: &str| GoldPage { id: id.into(), url: None, html: "x".repeat(500_000) };
        let peer = |name: &str, seconds: &str| {
            let answer = [r#"{"id":"\1","text":"","seconds":"#, seconds, r#","peak_rss_mb":7}"#].concat();
            let command = [r#"sed 's|^."id":"\([^"]*\)".*$|"#, &answer, "|'"].concat();
            Peer { name: name.into(), command }
        };
        let methods = [peer("fast", "0.01"), peer("slow", "0.04")];
        let speeds = compare_speeds(&[page("a/1"), page("a/2")], &methods, NonZeroUsize::new(2).unwrap()).unwrap();
        let rates: Vec<(f64, f64)> =
            speeds.iter().map(|speed| (speed.pages_per_second.round(), speed.mb_per_second.round())).collect();
        assert_eq!(rates, [(100.0, 50.0), (25.0, 13.0)]);
        assert_eq!(
            (speeds[1].times_slower_than_first.round(), speeds[1].peak_rss_mb, speeds[1].empty),
            (4.0, Some(7.0), 2)
        );
    }

    #[test]
    fn the_median_of_an_even_number_lies_between() {
        let mut times = RoundTimes { pages_per_second: vec![4.0, 1.0, 2.0, 8.0], ..RoundTimes::default() };
        assert_eq!(times.median(), 3.0);
    }
}

//! Crawler traps: endless generated URLs, detected from the URL alone.

use std::time::SystemTime;

use url::Url;

/// Longer URLs are traps.
const MAX_URL_BYTES: usize = 2048;
/// URLs with more path segments are traps.
const MAX_SEGMENTS: usize = 24;
/// The largest number of equal segments in a path.
const MAX_SEGMENT_REPEATS: usize = 3;
/// The largest number of consecutive repeats of a sequence of segments (`/a/b/a/b/a/b` has three).
const MAX_RUN_REPEATS: usize = 2;
/// URLs with more query parameters are traps.
const MAX_PARAMETERS: usize = 16;
/// The largest number of equal parameter names in a query.
const MAX_PARAMETER_REPEATS: usize = 4;
/// Calendar pages of earlier years are traps: the web has no events from before it.
const FIRST_CALENDAR_YEAR: u32 = 1990;
/// Calendar pages further ahead than this many years are traps.
const YEARS_AHEAD: u32 = 5;

/// The kind of trap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Trap {
    /// The URL is too long.
    TooLong,
    /// The path is too deep.
    TooDeep,
    /// The same path segments repeat.
    RepeatedSegments,
    /// A calendar page far from the present.
    Calendar,
    /// A query that grows with every link.
    QueryGrowth,
}

impl Trap {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Trap::TooLong => "too-long",
            Trap::TooDeep => "too-deep",
            Trap::RepeatedSegments => "repeated-segments",
            Trap::Calendar => "calendar",
            Trap::QueryGrowth => "query-growth",
        }
    }
}

/// The current year, which calendar pages are compared with.
pub(crate) fn this_year() -> u32 {
    const SECONDS_PER_YEAR: u64 = 31_556_952;
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    1970 + u32::try_from(since_1970.as_secs() / SECONDS_PER_YEAR).unwrap_or(0)
}

/// The trap that a URL looks like in a year, if any. Only the URL is examined: traps with ordinary URLs are limited by
/// the request budget of the host.
pub fn trap(url: &Url, this_year: u32) -> Option<Trap> {
    if url.as_str().len() > MAX_URL_BYTES {
        return Some(Trap::TooLong);
    }
    let mut segments: [&str; MAX_SEGMENTS] = [""; MAX_SEGMENTS];
    let mut n_segments = 0;
    for segment in url.path().split('/').filter(|segment| !segment.is_empty()) {
        if n_segments == MAX_SEGMENTS {
            return Some(Trap::TooDeep);
        }
        segments[n_segments] = segment;
        n_segments += 1;
    }
    let segments = &segments[..n_segments];
    if n_segments > MAX_SEGMENT_REPEATS && repeats(segments) {
        return Some(Trap::RepeatedSegments);
    }
    if is_far_calendar(segments, url.query(), this_year) {
        return Some(Trap::Calendar);
    }
    url.query().and_then(query_growth)
}

fn repeats(segments: &[&str]) -> bool {
    let frequent =
        segments.iter().any(|one| segments.iter().filter(|other| *other == one).count() > MAX_SEGMENT_REPEATS);
    // A sequence of segments that repeats itself. Ordinary paths repeat a sequence once at most.
    let runs = (1..=segments.len() / (MAX_RUN_REPEATS + 1)).any(|length| {
        let mut same = 0;
        (length..segments.len()).any(|at| {
            same = if segments[at] == segments[at - length] { same + 1 } else { 0 };
            same >= length * MAX_RUN_REPEATS
        })
    });
    frequent || runs
}

/// `/calendar/2093/7`, `/2093/7/1`, `?year=1801&month=2`: a date far from the present.
fn is_far_calendar(segments: &[&str], query: Option<&str>, this_year: u32) -> bool {
    let number = |text: &str| text.parse::<u32>().ok().filter(|_| text.len() <= 4);
    let near = FIRST_CALENDAR_YEAR..=this_year + YEARS_AHEAD;
    let is_far = |year: u32| (1600..=2400).contains(&year) && !near.contains(&year);
    let in_path = segments.windows(2).enumerate().any(|(index, pair)| {
        let month = number(pair[1]).is_some_and(|month| (1..=12).contains(&month) && pair[1].len() <= 2);
        let day = segments.get(index + 2).and_then(|text| number(text)).is_some_and(|day| (1..=31).contains(&day));
        // Two numbers alone may be a product number and a page number.
        let is_date = month && (day || segments[..index].iter().any(|segment| names_calendar(segment)));
        is_date && pair[0].len() == 4 && number(pair[0]).is_some_and(is_far)
    });
    let in_query = query.is_some_and(|query| {
        let value = |names: [&str; 3]| {
            query
                .split('&')
                .find_map(|part| part.split_once('=').filter(|(name, _)| names.contains(name)))
                .map(|(_, v)| v)
        };
        value(["month", "mon", "m"]).is_some() && value(["year", "yr", "y"]).and_then(number).is_some_and(is_far)
            || value(["date", "day", "d"])
                .and_then(|date| number(date.get(..4)?).filter(|_| date.len() >= 7))
                .is_some_and(is_far)
    });
    in_path || in_query
}

fn names_calendar(segment: &str) -> bool {
    const WORDS: [&str; 6] = ["cal", "event", "agenda", "date", "diary", "archive"];
    let segment = segment.to_ascii_lowercase();
    WORDS.iter().any(|word| segment.contains(word))
}

fn query_growth(query: &str) -> Option<Trap> {
    let names = || query.split('&').map(|part| part.split('=').next().unwrap_or(""));
    let grows = names().count() > MAX_PARAMETERS
        || names().any(|one| names().filter(|other| *other == one).count() > MAX_PARAMETER_REPEATS);
    grows.then_some(Trap::QueryGrowth)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(url: &str, expected: Option<Trap>) {
        assert_eq!(trap(&Url::parse(url).unwrap(), 2026), expected, "{url}");
    }

    #[test]
    fn traps_are_recognised_by_their_urls() {
        check("http://x.org/a/b/a/b/a/b", Some(Trap::RepeatedSegments));
        check("http://x.org/a/x/a/y/a/z/a", Some(Trap::RepeatedSegments));
        check(&format!("http://x.org/{}", "abc/".repeat(700)), Some(Trap::TooLong));
        check(&format!("http://x.org{}", (0..30).map(|n| format!("/{n}")).collect::<String>()), Some(Trap::TooDeep));
        check("http://x.org/cal/2093/7", Some(Trap::Calendar));
        check("http://x.org/x/2093/7/31", Some(Trap::Calendar));
        check("http://x.org/cal?month=3&year=1802", Some(Trap::Calendar));
        check("http://x.org/cal?date=2150-03-01", Some(Trap::Calendar));
        check("http://x.org/?a=1&a=2&a=3&a=4&a=5", Some(Trap::QueryGrowth));
    }

    #[test]
    fn how_far_a_calendar_may_reach_depends_on_the_year() {
        let url = Url::parse("http://x.org/cal/2034/7").unwrap();
        assert_eq!(trap(&url, 2026), Some(Trap::Calendar));
        assert_eq!(trap(&url, 2030), None);
        assert!((2026..2100).contains(&this_year()));
    }

    #[test]
    fn ordinary_urls_pass() {
        check("http://x.org/a/b/a/b", None);
        check("http://x.org/2024/11/05/title", None);
        check("http://x.org/1984/by/orwell", None);
        check("http://x.org/doc/api/api/api.html", None);
        check("http://x.org/?year=2020&month=2&q=a&page=7", None);
        check("http://x.org/products/1834/5", None);
    }
}

//! Addresses that a machine makes up without end: what can be seen from the URL alone.

use url::Url;

/// A longer URL is a trap, or no page anybody links to on purpose.
const MAX_URL_BYTES: usize = 2048;
/// More path segments than this.
const MAX_SEGMENTS: usize = 24;
/// A segment may stand so often in one path.
const MAX_SEGMENT_REPEATS: usize = 3;
/// A sequence of segments may follow itself so often (`/a/b/a/b/a/b` is three).
const MAX_RUN_REPEATS: usize = 2;
/// More parameters than this.
const MAX_PARAMETERS: usize = 16;
/// A parameter's name may stand so often in one query.
const MAX_PARAMETER_REPEATS: usize = 4;
/// Calendars are believed this many years to either side of the present.
const CALENDAR_YEARS: std::ops::RangeInclusive<u32> = 1990..=2031;

/// What is wrong with a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Trap {
    /// Longer than any honest address.
    TooLong,
    /// Deeper than any honest tree.
    TooDeep,
    /// The same segments again and again.
    RepeatedSegments,
    /// A calendar, far from the present.
    Calendar,
    /// A query that grows with every click.
    QueryGrowth,
}

impl Trap {
    /// The word that reports use.
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

/// What makes this URL look like a trap, if anything. It looks at the URL only: a trap that makes up honest addresses
/// is stopped by the budget of its host.
pub fn trap(url: &Url) -> Option<Trap> {
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
    if is_far_calendar(segments, url.query()) {
        return Some(Trap::Calendar);
    }
    url.query().and_then(query_growth)
}

fn repeats(segments: &[&str]) -> bool {
    let frequent =
        segments.iter().any(|one| segments.iter().filter(|other| *other == one).count() > MAX_SEGMENT_REPEATS);
    // A run of segments that follows itself: half of `/a/b/a/b/a/b` would be enough for an honest path.
    let runs = (1..=segments.len() / (MAX_RUN_REPEATS + 1)).any(|length| {
        let mut same = 0;
        (length..segments.len()).any(|at| {
            same = if segments[at] == segments[at - length] { same + 1 } else { 0 };
            same >= length * MAX_RUN_REPEATS
        })
    });
    frequent || runs
}

/// `/calendar/2093/7`, `/2093/7/1`, `?year=1801&month=2`: a date that nobody wrote about.
fn is_far_calendar(segments: &[&str], query: Option<&str>) -> bool {
    let number = |text: &str| text.parse::<u32>().ok().filter(|_| text.len() <= 4);
    let is_far = |year: u32| (1600..=2400).contains(&year) && !CALENDAR_YEARS.contains(&year);
    let in_path = segments.windows(2).enumerate().any(|(place, pair)| {
        let month = number(pair[1]).is_some_and(|month| (1..=12).contains(&month) && pair[1].len() <= 2);
        let day = segments.get(place + 2).and_then(|text| number(text)).is_some_and(|day| (1..=31).contains(&day));
        // Two numbers alone may be a product and its page.
        let is_date = month && (day || segments[..place].iter().any(|segment| names_calendar(segment)));
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
        assert_eq!(trap(&Url::parse(url).unwrap()), expected, "{url}");
    }

    #[test]
    fn traps_are_told_by_their_addresses() {
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
    fn honest_addresses_pass() {
        check("http://x.org/a/b/a/b", None);
        check("http://x.org/2024/11/05/title", None);
        check("http://x.org/1984/by/orwell", None);
        check("http://x.org/doc/api/api/api.html", None);
        check("http://x.org/?year=2020&month=2&q=a&page=7", None);
        check("http://x.org/products/1834/5", None);
    }
}

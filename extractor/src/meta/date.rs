//! Dates as pages write them: in figures, with the names of months in six languages, or in Chinese and Japanese.

/// Only the beginning of a text is looked at: a byline is short.
const MAX_BYTES: usize = 200;
const MAX_TOKENS: usize = 32;

/// Which of two figures before a year is the day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DayOrder {
    /// The first: `31/12/2022`.
    DayFirst,
    /// The second: `12/31/2022`.
    MonthFirst,
}

/// The first date in a text as `YYYY-MM-DD`. `10/06/2022` may be two days, so it is none.
pub(crate) fn parse_date(text: &str) -> Option<String> {
    parse_date_in(text, None)
}

/// The same where the order of day and month may be known.
pub(super) fn parse_date_in(text: &str, order: Option<DayOrder>) -> Option<String> {
    let mut end = text.len().min(MAX_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let tokens: Vec<Token<'_>> = Tokens(&text[..end]).take(MAX_TOKENS).collect();
    (0..tokens.len()).find_map(|at| date_at_start(&tokens[at..], order)).map(format_date)
}

/// The date in the path of an address: `/2022/06/10/`, `/2022-06-10-`, `/20220610/`.
pub(crate) fn date_in_url(address: &str) -> Option<String> {
    let path = address.split_once("://").map_or(address, |(_, rest)| rest);
    let path = path.split(['?', '#']).next().unwrap_or("");
    let numbers = |piece: &str, separator: char| -> Option<String> {
        let parts: Vec<&str> = piece.split(separator).take(3).collect();
        let [year, month, day] = parts[..] else { return None };
        let figures = |part: &str, n: usize| part.len() == n && part.bytes().all(|byte| byte.is_ascii_digit());
        let plain = figures(year, 4) && figures(month, 2) && figures(day.get(..2)?, 2);
        let follows = day.as_bytes().get(2).is_none_or(|byte| !byte.is_ascii_digit());
        (plain && follows).then(|| date(year, month, &day[..2])).flatten().map(format_date)
    };
    path.match_indices('/').take(16).find_map(|(at, _)| {
        let rest = path.get(at + 1..)?;
        numbers(rest, '/').or_else(|| numbers(rest, '-')).or_else(|| {
            let segment = rest.split('/').next()?;
            (segment.len() == 8).then(|| date_at_start(&[Token::Number(segment, '/')], None)).flatten().map(format_date)
        })
    })
}

type Date = (u16, u8, u8);

fn format_date((year, month, day): Date) -> String {
    format!("{year:04}-{month:02}-{day:02}")
}

fn date(year: &str, month: &str, day: &str) -> Option<Date> {
    let date: Date = (year.parse().ok()?, month.parse().ok()?, day.parse().ok()?);
    is_day(date).then_some(date)
}

fn is_day((year, month, day): Date) -> bool {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let last = match month {
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 31,
    };
    (1990..2100).contains(&year) && (1..=12).contains(&month) && (1..=last).contains(&day)
}

/// A piece of a date; words that join its parts are left out.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Token<'t> {
    /// Figures, and the sign after them.
    Number(&'t str, char),
    /// The name of a month.
    Month(u8),
    /// Any other word.
    Other,
}

fn date_at_start(tokens: &[Token<'_>], order: Option<DayOrder>) -> Option<Date> {
    use Token::{Month, Number};
    let whole = |figures: &str| {
        let plain = matches!(figures.len(), 8 | 14) && figures.starts_with(['1', '2']);
        plain.then(|| date(&figures[..4], &figures[4..6], &figures[6..8])).flatten()
    };
    match *tokens {
        [Number(year, _), Number(month, _), Number(day, _), ..] if year.len() == 4 && day.len() <= 2 => {
            date(year, month, day)
        }
        [Number(day, _), Month(month), Number(year, _), ..] if year.len() == 4 => date(year, &month.to_string(), day),
        [Month(month), Number(day, _), Number(year, _), ..] if year.len() == 4 && day.len() <= 2 => {
            date(year, &month.to_string(), day)
        }
        [Number(first, sign), Number(second, _), Number(year, _), ..] if year.len() == 4 && first.len() <= 2 => {
            let (day_first, month_first) = (date(year, second, first), date(year, first, second));
            match (day_first, month_first) {
                (Some(a), Some(b)) if a == b || sign == '.' => Some(a),
                (Some(a), Some(b)) => order.map(|order| if order == DayOrder::DayFirst { a } else { b }),
                (a, b) => a.or(b),
            }
        }
        [Number(figures, _), ..] => whole(figures),
        _ => None,
    }
}

/// The pieces of a text.
struct Tokens<'t>(&'t str);

impl<'t> Iterator for Tokens<'t> {
    type Item = Token<'t>;

    fn next(&mut self) -> Option<Token<'t>> {
        loop {
            let text = self.0.trim_start_matches(|c: char| !c.is_alphanumeric());
            let first = text.chars().next()?;
            let is_figure = first.is_ascii_digit();
            let same = |c: char| if is_figure { c.is_ascii_digit() } else { c.is_alphabetic() };
            let end = text.find(|c| !same(c)).unwrap_or(text.len()).max(first.len_utf8());
            let (piece, rest) = text.split_at(end);
            self.0 = rest;
            if is_figure {
                return Some(Token::Number(piece, rest.chars().next().unwrap_or(' ')));
            }
            match month(piece) {
                Some(month) => return Some(Token::Month(month)),
                None if is_date_filler(piece) => continue,
                None => return Some(Token::Other),
            }
        }
    }
}

/// Words between the parts of a date, and the `T` of `2022-06-10T08:00`.
fn is_date_filler(word: &str) -> bool {
    ["de", "del", "do", "of", "the", "st", "nd", "rd", "th", "er", "º", "ª", "T", "年", "月", "日", "년", "월", "일"]
        .iter()
        .any(|joint| word.eq_ignore_ascii_case(joint))
}

/// Whether a word is the name of a month.
pub(super) fn is_month(word: &str) -> bool {
    month(word).is_some()
}

fn month(word: &str) -> Option<u8> {
    /// January to December, full names and the usual short ones: English, Portuguese, Spanish, French, German, Italian.
    const MONTHS: [&[&str]; 12] = [
        &["january", "jan", "janeiro", "enero", "ene", "janvier", "janv", "januar", "jänner", "gennaio", "gen"],
        &["february", "feb", "fevereiro", "fev", "febrero", "février", "févr", "februar", "febbraio"],
        &["march", "mar", "março", "marzo", "mars", "märz", "mrz"],
        &["april", "apr", "abril", "abr", "avril", "avr", "aprile"],
        &["may", "maio", "mai", "mayo", "maggio", "mag"],
        &["june", "jun", "junho", "junio", "juin", "juni", "giugno", "giu"],
        &["july", "jul", "julho", "julio", "juillet", "juil", "juli", "luglio", "lug"],
        &["august", "aug", "agosto", "ago", "août", "aout"],
        &["september", "sep", "sept", "setembro", "set", "septiembre", "septembre", "settembre"],
        &["october", "oct", "outubro", "out", "octubre", "octobre", "oktober", "okt", "ottobre", "ott"],
        &["november", "nov", "novembro", "noviembre", "novembre"],
        &["december", "dec", "dezembro", "dez", "diciembre", "dic", "décembre", "déc", "dezember", "dicembre"],
    ];
    if !(3..=12).contains(&word.len()) {
        return None;
    }
    let small = word.to_lowercase();
    MONTHS.iter().position(|names| names.contains(&small.as_str())).map(|index| index as u8 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_read_as_pages_write_them() {
        for (text, expected) in [
            ("2022-06-10T08:00:00Z", Some("2022-06-10")),
            ("2022/6/1", Some("2022-06-01")),
            ("20220610", Some("2022-06-10")),
            ("20220610083000", Some("2022-06-10")),
            ("2022年6月10日", Some("2022-06-10")),
            ("10 June 2022", Some("2022-06-10")),
            ("Updated: June 10th, 2022 at 8:00", Some("2022-06-10")),
            ("Fri, 10 Jun 2022 08:00:00 GMT", Some("2022-06-10")),
            ("10 de junho de 2022", Some("2022-06-10")),
            ("le 1er août 2021", Some("2021-08-01")),
            ("3. März 2020", Some("2020-03-03")),
            ("10.06.2022", Some("2022-06-10")),
            ("25/12/2021", Some("2021-12-25")),
            ("12/25/2021", Some("2021-12-25")),
            ("06/06/2021", Some("2021-06-06")),
            ("10/06/2022", None),
            ("2022-13-01", None),
            ("2022-02-30", None),
            ("call 2022 1234567", None),
            ("", None),
        ] {
            assert_eq!(parse_date(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn addresses_may_hold_the_day() {
        for (address, expected) in [
            ("https://a.com/2022/06/10/rain", Some("2022-06-10")),
            ("https://a.com/news/2022-06-10-rain.html", Some("2022-06-10")),
            ("https://a.com/n/20220610/1.htm", Some("2022-06-10")),
            ("https://a.com/2022/06/rain", None),
            ("https://a.com/p/20221310/", None),
            ("https://a.com/?d=/2022/06/10/", None),
        ] {
            assert_eq!(date_in_url(address).as_deref(), expected, "{address}");
        }
    }
}

//! Cheap measures of a page as it arrives: is it text that somebody wrote to be read?
//!
//! One pass over the first part of a page, a bounded table of templates, no dictionary. A page is marked only where
//! several signs agree, because its links then wait behind all others: gibberish has hardly any function words and
//! hardly ever says a word twice; stuffing says the same phrases again and again; a farm has more links to other hosts
//! than text, on a template that many hosts share; a parked domain says so and little else.

mod templates;
mod words;

use std::collections::HashSet;

use url::Url;

use self::templates::Templates;
use self::words::{TextMeasures, measure};
use crate::links::PageLinks;

/// Bytes of a page that are looked at.
const MAX_BYTES: usize = 256 << 10;
/// Pages with fewer words are not judged by their words.
const MIN_WORDS: u32 = 150;
/// The share of function words below which a text may be gibberish. Prose in the languages of the list has a fifth or
/// more, lists of names and code a few in a hundred.
const GIBBERISH_STOP_WORDS: f32 = 0.01;
/// The share of different words above which it is. Prose of 150 words has three quarters at most.
const GIBBERISH_DISTINCT: f32 = 0.9;
/// The share of phrases of five words that stood before, above which a page is stuffed.
const STUFFED_REPEATS: f32 = 0.75;
/// Links to so many other hosts, for each word so many, and a template on so many other hosts make a farm.
const FARM_HOSTS: usize = 10;
const FARM_LINKS_PER_WORD: f32 = 0.2;
const FARM_TEMPLATE_HOSTS: usize = 4;
/// A page of a parked domain has at most so many words.
const PARKED_WORDS: u32 = 120;

/// Why a page is of low quality.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LowQuality {
    Gibberish,
    Stuffed,
    Farm,
    Parked,
}

/// Judges pages; knows which templates many hosts share.
#[derive(Default)]
pub(crate) struct Quality {
    templates: Templates,
}

impl Quality {
    /// What speaks against a page, if anything does.
    pub(crate) fn judge(&mut self, url: &Url, body: &[u8], found: &PageLinks) -> Option<LowQuality> {
        let text = measure(&body[..body.len().min(MAX_BYTES)]);
        let n_hosts = self.templates.insert(text.template, url.host_str().unwrap_or(""));
        if text.is_parked && text.n_words <= PARKED_WORDS {
            return Some(LowQuality::Parked);
        }
        if n_hosts > FARM_TEMPLATE_HOSTS && is_farm(url, &text, found) {
            return Some(LowQuality::Farm);
        }
        if text.n_words < MIN_WORDS {
            return None;
        }
        let n_words = text.n_words as f32;
        if text.n_stop_words as f32 / n_words < GIBBERISH_STOP_WORDS
            && text.n_distinct as f32 / n_words > GIBBERISH_DISTINCT
        {
            return Some(LowQuality::Gibberish);
        }
        (text.n_repeated as f32 / n_words > STUFFED_REPEATS).then_some(LowQuality::Stuffed)
    }
}

fn is_farm(url: &Url, text: &TextMeasures, found: &PageLinks) -> bool {
    if (found.links.len() as f32) < FARM_LINKS_PER_WORD * text.n_all_words as f32 {
        return false;
    }
    let hosts = found.links.iter().filter_map(|link| link.url.host_str()).filter(|host| url.host_str() != Some(host));
    hosts.take(1000).collect::<HashSet<_>>().len() >= FARM_HOSTS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::links::{AnchorText, LinkScanner};

    fn judge(quality: &mut Quality, url: &str, html: &str) -> Option<LowQuality> {
        let url: Url = url.parse().unwrap();
        let mut scanner = LinkScanner::new(None, "pith", AnchorText::Skip);
        scanner.feed(html.as_bytes());
        quality.judge(&url, html.as_bytes(), &scanner.finish(&url))
    }

    #[track_caller]
    fn check(html: &str, expected: Option<LowQuality>) {
        assert_eq!(judge(&mut Quality::default(), "http://a.example/", html), expected);
    }

    fn word(number: u64) -> String {
        let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (number << 17);
        (0..3 + number % 7)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                char::from(b'a' + (state >> 59) as u8 % 26)
            })
            .collect()
    }

    #[test]
    fn random_words_are_gibberish_and_prose_tables_code_and_other_scripts_are_not() {
        let salad: Vec<String> = (0..400).map(word).collect();
        check(&format!("<p>{}</p>", salad.join(" ")), Some(LowQuality::Gibberish));
        let prose = "It rained in the hills all day, and nobody who lived there minded, because the river that ran by \
            the old mill was low and the fields were dry. The miller, whose name was on the sign, sat by the window and \
            looked at the road to see if any of the carts would come. ";
        check(
            &format!("<p>{}{}</p>", prose, prose.replace("miller", "baker").replace("river", "lake").repeat(2)),
            None,
        );
        let finnish =
            "Kun sade lopulta loppui, lapset juoksivat pihalle ja äiti katsoi heitä ikkunasta. Talo oli vanha, \
            mutta se oli heidän kotinsa, ja he olivat asuneet siellä niin kauan kuin muistivat. "
                .repeat(8);
        check(&format!("<p>{finnish}</p>"), None);
        let table: String =
            (0..200).map(|n| format!("<tr><td>Product {n}</td><td>{n} kg</td><td>blue</td></tr>")).collect();
        check(&format!("<table>{table}</table>"), None);
        check(&format!("<p>{}</p>", "今天下雨了，孩子們都在家裡看書。".repeat(60)), None);
        let code: String = (0..120).map(|n| format!("let value_{n} = compute(value_{}, offset);\n", n / 2)).collect();
        check(&format!("<script>{}</script><pre>{code}</pre>", salad.join(" ")), None);
    }

    #[test]
    fn the_same_phrases_again_and_again_are_stuffing() {
        let phrase = "cheap flights to the best hotels in town and cheap hotels for the best flights ";
        check(&format!("<p>{}</p>", phrase.repeat(40)), Some(LowQuality::Stuffed));
        let entries: String = (0..60)
            .map(|n| format!("<li>{} wrote {} to {}, reply or report</li>", word(n), word(n + 900), word(n * 7 + 5000)))
            .collect();
        check(&format!("<ul>{entries}</ul>"), None);
    }

    #[test]
    fn a_parked_domain_is_known_by_what_it_says_and_an_article_about_one_is_none() {
        check("<h1>parked.example</h1><p>This domain is for sale. Buy this domain.</p>", Some(LowQuality::Parked));
        let article = "The court said that whoever writes this domain is for sale on a page of the web has made an offer to \
            all who can read it, and that the owner of the name was bound by it until he took the page down again. ";
        check(&format!("<p>{}</p>", article.repeat(6)), None);
    }

    #[test]
    fn links_to_many_hosts_are_a_farm_only_on_a_template_that_many_hosts_share() {
        let mut quality = Quality::default();
        let page = |own: usize, text: &str| {
            let links: String = (0..40)
                .map(|n| format!("<li class=\"row\"><a href=\"http://f{}.example/\">x{n}</a></li>", n + own))
                .collect();
            format!("<div class=\"top\" id=\"all\"><p class=\"words\">{text}</p><ul>{links}</ul></div>")
        };
        for host in 0..5 {
            let found = judge(&mut quality, &format!("http://s{host}.example/"), &page(host, "Best links here."));
            assert_eq!(found, (host >= 4).then_some(LowQuality::Farm), "host {host}");
        }
        let blogroll =
            page(9, &"A weblog whose author likes to tell what he has read and where he has been. ".repeat(20));
        assert_eq!(judge(&mut quality, "http://s9.example/", &blogroll), None, "there is more text than links");
        let own: String = (0..200).map(|n| format!("<li class=\"row\"><a href=\"/{n}\">x</a></li>")).collect();
        let index = format!("<div class=\"top\" id=\"all\"><p class=\"words\">All</p><ul>{own}</ul></div>");
        assert_eq!(judge(&mut quality, "http://s8.example/", &index), None, "the index of a site leads to itself");
    }
}

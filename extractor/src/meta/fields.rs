//! Metadata of a document: JSON-LD first, then OpenGraph and metas, then the page itself.

use url::Url;

use super::{Head, collapse};
use crate::blocks::{Page, lexicon::Role, place};
use crate::{Document, Language};

/// Longer names are no names.
const MAX_AUTHOR: usize = 120;

impl Head {
    /// Fills the fields that say where a document comes from.
    pub(crate) fn describe(&self, page: &Page<'_>, url: Option<&Url>, document: &mut Document) {
        document.site = self.site();
        document.title = self.document_title(page, document.site.as_deref());
        document.author = self.author(page);
        document.published = self.published(page);
        document.description = self
            .meta(&["og:description", "description", "twitter:description"])
            .map(str::to_owned)
            .or_else(|| self.structured.description.clone());
        let absolute = |target: &str| match url {
            Some(url) => url.join(target).ok().map(String::from),
            None => Url::parse(target).ok().map(String::from),
        };
        document.canonical_url = self.canonical.as_deref().or_else(|| self.meta(&["og:url"])).and_then(absolute);
        document.image = self
            .meta(&["og:image", "og:image:url", "twitter:image"])
            .or(self.structured.image.as_deref())
            .and_then(absolute);
        if document.language.is_none() {
            let stated = self.language.as_deref().or_else(|| self.meta(&["og:locale", "content-language"]));
            let tag = stated.map(|tag| tag.replace('_', "-"));
            document.language = tag.and_then(|tag| Language::from_tag(&tag)).map(|language| language.tag().to_owned());
        }
    }

    fn site(&self) -> Option<String> {
        let named = self.meta(&["og:site_name", "application-name", "twitter:site"]);
        named.map(str::to_owned).or_else(|| self.structured.site.clone())
    }

    fn document_title(&self, page: &Page<'_>, site: Option<&str>) -> Option<String> {
        let stated = self
            .structured
            .headline
            .clone()
            .or_else(|| self.meta(&["og:title", "twitter:title", "dc.title"]).map(str::to_owned))
            .or_else(|| Some(self.title.clone()).filter(|title| !title.is_empty()));
        let heading = || {
            let first = page.blocks.iter().find(|block| block.heading == 1)?;
            Some(page.block_text(first).to_owned())
        };
        stated.map(|title| without_site(&title, site)).or_else(heading)
    }

    fn author(&self, page: &Page<'_>) -> Option<String> {
        let names: Vec<&str> =
            self.structured.authors.iter().map(String::as_str).filter(|name| is_name(name)).collect();
        if !names.is_empty() {
            return Some(names.join(", "));
        }
        let stated = self.meta(&["author", "article:author", "dc.creator", "byl", "parsely-author", "sailthru.author"]);
        if let Some(name) = stated.map(without_by).filter(|name| is_name(name)) {
            return Some(name.to_owned());
        }
        let byline = page.blocks.iter().find(|block| {
            let element = &page.elements[block.element as usize];
            element.roles & (1 << Role::Byline as u32) != 0
                && block.n_words() <= 8
                && page.block_text(block).to_lowercase().starts_with("by ")
        })?;
        Some(without_by(page.block_text(byline)).to_owned()).filter(|name| is_name(name))
    }

    fn published(&self, page: &Page<'_>) -> Option<String> {
        const NAMES: [&str; 9] = [
            "article:published_time",
            "datepublished",
            "date",
            "dc.date",
            "dc.date.issued",
            "pubdate",
            "publishdate",
            "og:published_time",
            "parsely-pub-date",
        ];
        let stated = self.structured.published.as_deref().or_else(|| self.meta(&NAMES));
        stated
            .and_then(day)
            .or_else(|| {
                let time = page.elements.iter().filter_map(|element| page.tree.attribute(element.node, "datetime"));
                time.take(8).find_map(|value| day(&value))
            })
            .or_else(|| {
                page.blocks
                    .iter()
                    .filter(|block| block.places & place::TIME != 0)
                    .find_map(|block| day(page.block_text(block)))
            })
    }
}

fn without_by(text: &str) -> &str {
    let text = text.trim();
    let rest = text.get(..3).filter(|start| start.eq_ignore_ascii_case("by ")).map(|_| &text[3..]);
    rest.unwrap_or(text).trim()
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.len() <= MAX_AUTHOR && !text.contains("://") && !text.contains('@')
}

/// `Rain in May - The Paper` without its paper.
fn without_site(title: &str, site: Option<&str>) -> String {
    let title = collapse(title);
    let Some(site) = site.map(str::trim).filter(|site| !site.is_empty()) else { return title };
    for mark in [" | ", " - ", " – ", " — ", " :: ", " · ", "_", "－"] {
        if let Some((rest, last)) = title.rsplit_once(mark)
            && last.trim().eq_ignore_ascii_case(site)
            && !rest.trim().is_empty()
        {
            return rest.trim().to_owned();
        }
    }
    title
}

/// The day of a date that begins with year, month and day in figures.
fn day(text: &str) -> Option<String> {
    let text = text.trim();
    let mut numbers = text.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty());
    let first = numbers.next()?;
    let (year, month, day) = match first.len() {
        4 => (first, numbers.next()?, numbers.next()?),
        8 | 14 => (&first[..4], &first[4..6], &first[6..8]),
        _ => return None,
    };
    let (year, month, day): (u16, u8, u8) =
        (year.parse().ok()?, month.parse().ok()?, day.get(..2.min(day.len()))?.parse().ok()?);
    let valid = (1900..2100).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    (valid && text.starts_with(first)).then(|| format!("{year:04}-{month:02}-{day:02}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_read_from_figures() {
        for (text, expected) in [
            ("2022-06-10T08:00:00Z", Some("2022-06-10")),
            ("2022/6/1", Some("2022-06-01")),
            ("20220610", Some("2022-06-10")),
            ("2022年6月10日", Some("2022-06-10")),
            ("10 June 2022", None),
            ("2022-13-01", None),
        ] {
            assert_eq!(day(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn titles_lose_the_name_of_their_site() {
        assert_eq!(without_site("Rain in May - The Paper", Some("The Paper")), "Rain in May");
        assert_eq!(without_site("Rain - Sun", Some("The Paper")), "Rain - Sun");
    }
}

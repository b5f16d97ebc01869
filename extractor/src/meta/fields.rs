//! Metadata of a document: JSON-LD first, then OpenGraph and metas, then the page itself.

use url::Url;

use super::date::{day, day_of_address};
use super::{Head, collapse};
use crate::blocks::{Block, Page, lexicon::Role, place};
use crate::{Document, Language};

/// Longer names are no names.
const MAX_AUTHOR: usize = 120;

impl Head {
    /// Fills the fields that say where a document comes from.
    pub(crate) fn describe(&self, page: &Page<'_>, url: Option<&Url>, document: &mut Document) {
        document.site = self.site();
        document.title = self.document_title(page, document.site.as_deref());
        document.author = self.author(page);
        document.published = self.published(page, url.map_or("", Url::as_str));
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

    fn published(&self, page: &Page<'_>, address: &str) -> Option<String> {
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
        let shown = |block: &Block| block.places & place::TIME != 0;
        stated
            .and_then(day)
            .or_else(|| self.times.iter().find_map(|value| day(value)))
            .or_else(|| page.blocks.iter().filter(|block| shown(block)).find_map(|block| day(page.block_text(block))))
            .or_else(|| day_of_address(address))
            .or_else(|| day_near_heading(page))
    }
}

/// A date in figures that stands by itself shortly before or after the first main heading.
fn day_near_heading(page: &Page<'_>) -> Option<String> {
    let heading = page.blocks.iter().position(|block| block.heading == 1)?;
    let near = heading.saturating_sub(3)..page.blocks.len().min(heading + 8);
    let is_short = |block: &&Block| block.characters <= 80 && (4..=16).contains(&block.digits);
    page.blocks[near].iter().filter(is_short).find_map(|block| day(page.block_text(block)))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_lose_the_name_of_their_site() {
        assert_eq!(without_site("Rain in May - The Paper", Some("The Paper")), "Rain in May");
        assert_eq!(without_site("Rain - Sun", Some("The Paper")), "Rain - Sun");
    }
}

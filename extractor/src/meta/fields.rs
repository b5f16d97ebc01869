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
        let host = url.and_then(Url::host_str).map(|host| host.trim_start_matches("www."));
        let named = self.site();
        document.title = self.document_title(page, named.as_deref(), host);
        document.site = named.or_else(|| host.map(str::to_owned));
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

    fn document_title(&self, page: &Page<'_>, site: Option<&str>, host: Option<&str>) -> Option<String> {
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
        let stated = stated.map(|title| without_site(&title, site, host));
        stated.map(|title| as_in_heading(page, &title).unwrap_or(title)).or_else(heading)
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
        byline(page).or_else(|| author_link(page))
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

/// What stands before a name in a byline.
const BY: [&str; 12] =
    ["by ", "por ", "von ", "par ", "di ", "作者：", "作者:", "文／", "文/", "記者", "记者", "author: "];

/// The first short text in an element that calls itself a byline and begins as one.
fn byline(page: &Page<'_>) -> Option<String> {
    let is_byline = |block: &&Block| {
        let roles = page.elements[block.element as usize].roles;
        roles & (1 << Role::Byline as u32) != 0 && block.n_words() <= 12
    };
    page.blocks.iter().filter(is_byline).find_map(|block| {
        let text = page.block_text(block);
        let name = without_by(text);
        (name.len() < text.len() && is_name(name)).then(|| name.to_owned())
    })
}

/// The text of the first link that says that it leads to the author.
fn author_link(page: &Page<'_>) -> Option<String> {
    let says_author = |rel: &str| rel.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case("author"));
    let found = page.links.iter().take(MAX_LINKS_LOOKED_AT);
    let mut found = found.filter(|link| page.tree.attribute(link.node, "rel").is_some_and(|rel| says_author(&rel)));
    let link = found.next()?;
    let name = collapse(page.text.get(link.start as usize..link.end as usize)?);
    is_name(&name).then_some(name)
}

/// The author of a page stands before its comments.
const MAX_LINKS_LOOKED_AT: usize = 400;

fn without_by(text: &str) -> &str {
    let text = text.trim();
    let begins = |by: &&&str| text.get(..by.len()).is_some_and(|start| start.to_lowercase() == ***by);
    BY.iter().find(begins).map_or(text, |by| text[by.len()..].trim())
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.len() <= MAX_AUTHOR && !text.contains("://") && !text.contains('@')
}

/// Letters and figures, small: titles are compared by these.
fn letters(text: &str) -> String {
    text.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The marks between a title and what a site adds to it.
const MARKS: [&str; 9] = [" | ", " - ", " – ", " — ", " :: ", " · ", " » ", "_", "－"];

/// The beginning of a title that a main heading repeats, where something follows it: `Rain in May | Weather | Paper`.
fn as_in_heading(page: &Page<'_>, title: &str) -> Option<String> {
    const N_HEADINGS: usize = 3;
    let headings = page.blocks.iter().filter(|block| block.heading == 1).take(N_HEADINGS);
    let headings: Vec<String> = headings.map(|block| letters(page.block_text(block))).collect();
    let mut beginnings = MARKS.iter().flat_map(|mark| title.match_indices(mark).map(|(at, _)| title[..at].trim()));
    beginnings.find(|part| !part.is_empty() && headings.contains(&letters(part))).map(str::to_owned)
}

/// `Rain in May - The Paper` without its paper, by the site's name or its host's.
fn without_site(title: &str, site: Option<&str>, host: Option<&str>) -> String {
    let title = collapse(title);
    let names: Vec<String> = site.into_iter().chain(host).map(letters).filter(|name| !name.is_empty()).collect();
    let is_label = |name: &str| host.is_some_and(|host| host.split('.').any(|label| label.len() > 3 && label == name));
    let is_site = |part: &str| {
        let part = letters(part);
        !part.is_empty() && (names.contains(&part) || is_label(&part))
    };
    for mark in MARKS {
        if let Some((rest, last)) = title.rsplit_once(mark)
            && !rest.trim().is_empty()
            && is_site(last)
        {
            return rest.trim().to_owned();
        }
    }
    for mark in [" | ", " - ", ": "] {
        if let Some((first, rest)) = title.split_once(mark)
            && !rest.trim().is_empty()
            && is_site(first)
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
        let paper = Some("The Paper");
        assert_eq!(without_site("Rain in May - The Paper", paper, None), "Rain in May");
        assert_eq!(without_site("Rain - Sun", paper, None), "Rain - Sun");
        assert_eq!(without_site("Rain | The Guardian", None, Some("theguardian.com")), "Rain");
        assert_eq!(without_site("Rain - news-16.test", None, Some("news-16.test")), "Rain");
        assert_eq!(without_site("The Paper: Rain", paper, Some("paper.org")), "Rain");
        assert_eq!(without_site("The Paper", paper, Some("paper.org")), "The Paper");
    }

    #[test]
    fn a_heading_tells_where_a_title_ends() {
        let page = Page::read(crate::tree::Tree::parse("<h1>Rain in <b>May</b>!</h1><p>x"));
        assert_eq!(as_in_heading(&page, "Rain in May! | Weather | Paper").as_deref(), Some("Rain in May!"));
        assert_eq!(as_in_heading(&page, "Rain in May and June | Weather"), None);
        assert_eq!(as_in_heading(&page, "Rain in May"), None);
    }

    #[test]
    fn bylines_lose_their_first_word() {
        for (text, name) in
            [("By Ana Lima", "Ana Lima"), ("作者：王小明", "王小明"), ("Bye Bye", "Bye Bye"), ("b", "b")]
        {
            assert_eq!(without_by(text), name);
        }
    }
}

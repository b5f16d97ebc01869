//! The date of publication: declared in structured data and metas, marked up on the page, in the address, or shown.

use super::Head;
use super::date::{DayOrder, date_in_url, parse_date, parse_date_in};
use crate::blocks::{Block, Page, ancestor};
use crate::tree::NodeId;

/// Metas that give the date of publication, the surest first.
const PUBLISHED: [&str; 22] = [
    "article:published_time",
    "datepublished",
    "date",
    "dc.date",
    "dc.date.issued",
    "pubdate",
    "publishdate",
    "og:published_time",
    "parsely-pub-date",
    "publish-date",
    "published-date",
    "publish_date",
    "publication_date",
    "og:article:published_time",
    "article:published",
    "citation_publication_date",
    "citation_date",
    "sailthru.date",
    "dcterms.issued",
    "dcterms.created",
    "w-published-date",
    "article.published",
];

/// Metas that give the date of the last change, for pages that give no other.
const MODIFIED: [&str; 7] = [
    "article:modified_time",
    "og:updated_time",
    "datemodified",
    "dcterms.modified",
    "last-modified",
    "ms.date",
    "updated",
];

impl Head {
    /// The date of publication, as far as the page says one.
    pub(super) fn published(&self, page: &Page<'_>, heading: Option<NodeId>, address: &str) -> Option<String> {
        let declared = self.structured.published.as_deref().and_then(parse_date);
        let shown = |block: &Block| block.ancestors & ancestor::TIME != 0;
        let order = self.day_order();
        declared
            .or_else(|| PUBLISHED.iter().find_map(|name| parse_date_in(self.meta(&[name])?, order)))
            .or_else(|| self.times.iter().find_map(|value| parse_date(value)))
            .or_else(|| {
                let mut times = page.blocks.iter().filter(|block| shown(block));
                times.find_map(|block| parse_date_in(page.block_text(block), order))
            })
            .or_else(|| date_in_url(address))
            .or_else(|| date_near_heading(page, heading, order))
            .or_else(|| announced_date(page, order))
            .or_else(|| MODIFIED.iter().find_map(|name| parse_date(self.meta(&[name])?)))
            .or_else(|| self.structured.modified.as_deref().and_then(parse_date))
    }

    /// Whether `3/4/2025` is in March or in April, by the language that the page declares.
    fn day_order(&self) -> Option<DayOrder> {
        let language = self.language.as_deref().or_else(|| self.meta(&["og:locale"]))?.to_ascii_lowercase();
        let mut parts = language.split(['-', '_']);
        match (parts.next()?, parts.next()) {
            ("en", None | Some("us")) => Some(DayOrder::MonthFirst),
            // Canada and the Philippines write both.
            ("en", Some("ca" | "ph")) => None,
            _ => Some(DayOrder::DayFirst),
        }
    }
}

/// A date in a short block near the main heading: first in elements named after dates, then in any.
fn date_near_heading(page: &Page<'_>, heading: Option<NodeId>, order: Option<DayOrder>) -> Option<String> {
    let first = || page.blocks.iter().position(|block| block.heading == 1);
    let heading = match heading {
        Some(node) => page.blocks.partition_point(|block| page.elements[block.element as usize].node < node),
        None => first()?,
    };
    let near = |before: usize, after: usize| heading.saturating_sub(before)..page.blocks.len().min(heading + after);
    let is_short = |block: &&Block| block.characters <= 80 && (3..=16).contains(&block.digits);
    let date = |block: &Block| parse_date_in(page.block_text(block), order);
    let mut named = page.blocks[near(12, 40)].iter().filter(is_short).filter(|block| is_named_date(page, block));
    named.find_map(date).or_else(|| page.blocks[near(4, 12)].iter().filter(is_short).find_map(date))
}

/// Whether the element of a block, or the one around it, is named after a date.
fn is_named_date(page: &Page<'_>, block: &Block) -> bool {
    let element = &page.elements[block.element as usize];
    [element, &page.elements[element.parent as usize]].into_iter().any(|element| {
        let [class, id, itemprop] = page.tree.find_raw(element.node, ["class", "id", "itemprop"]);
        [class, id, itemprop].into_iter().flatten().any(|names| {
            let names = names.to_ascii_lowercase();
            ["date", "time", "publish", "posted", "datum", "fecha"].iter().any(|part| names.contains(part))
                && !names.contains("comment")
        })
    })
}

/// The date in a short block anywhere that begins with words as `Published` or `Last updated`.
fn announced_date(page: &Page<'_>, order: Option<DayOrder>) -> Option<String> {
    const WORDS: [&str; 10] = [
        "published",
        "posted",
        "last updated",
        "updated",
        "last modified",
        "last reviewed",
        "publicado",
        "veröffentlicht",
        "publié",
        "发布时间",
    ];
    let is_short = |block: &&Block| block.characters <= 80 && (3..=16).contains(&block.digits);
    page.blocks.iter().filter(is_short).take(2_000).find_map(|block| {
        let text = page.block_text(block);
        let begins = text.trim_start();
        if !begins.starts_with(|first: char| !first.is_ascii() || "pluvPLUV".contains(first)) {
            return None;
        }
        let lower = begins.to_lowercase();
        WORDS.iter().any(|word| lower.starts_with(word)).then(|| parse_date_in(text, order)).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::{Tag, Tree};

    #[track_caller]
    fn check(html: &str, expected: Option<&str>) {
        let tree = Tree::parse(html);
        let head = Head::read(&tree);
        let page = Page::read(tree);
        let heading = page.elements.iter().find(|element| element.tag == Tag::H1).map(|element| element.node);
        assert_eq!(head.published(&page, heading, "").as_deref(), expected, "{html}");
    }

    #[test]
    fn shown_dates_stand_near_the_heading_or_are_announced() {
        check("<h1>Rain</h1><p class=post-date>July 8, 2025</p>", Some("2025-07-08"));
        check("<h1>Rain</h1><p>By Ana Lima</p><p>3 October 2023</p>", Some("2023-10-03"));
        check(&format!("<h1>Rain</h1>{}<p>Last updated: July 8, 2025</p>", "<p>words".repeat(60)), Some("2025-07-08"));
        check(&format!("<h1>Rain</h1>{}<p>July 8, 2025</p>", "<p>words".repeat(60)), None);
    }

    #[test]
    fn the_language_tells_the_order_of_day_and_month() {
        check("<html lang=en-US><h1>Rain</h1><span class=time>3/4/2025</span>", Some("2025-03-04"));
        check("<html lang=en-GB><h1>Rain</h1><span class=time>3/4/2025</span>", Some("2025-04-03"));
        check("<h1>Rain</h1><span class=time>3/4/2025</span>", None);
    }

    #[test]
    fn the_last_change_is_better_than_nothing() {
        let modified = "<meta property=article:modified_time content=2023-03-22T17:00>";
        check(&format!("{modified}<h1>Rain</h1>"), Some("2023-03-22"));
        check(&format!("{modified}<meta name=published-date content=2021-02-16><h1>Rain</h1>"), Some("2021-02-16"));
    }
}

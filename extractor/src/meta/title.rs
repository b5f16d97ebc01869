//! The title of a document: the heading of the page where the declared titles agree with it, else the declared title
//! without the name of the site.

use super::{Head, collapse};
use crate::blocks::{Page, ancestor};
use crate::tree::{NodeId, Tag, decode_value};
use crate::{Document, PageType};

/// Longer headings are paragraphs.
const MAX_TITLE_BYTES: usize = 300;

/// Further headings are those of sections.
const MAX_HEADINGS: usize = 8;

/// The marks between a title and what a site adds to it.
const SEPARATORS: [&str; 11] = [" | ", " - ", " – ", " — ", " :: ", " · ", " » ", " • ", " / ", "_", "－"];

/// The title and the heading that shows it.
#[derive(Clone, Debug, Default)]
pub(super) struct Title {
    /// The title.
    pub text: Option<String>,
    /// The main heading, near which authors and dates stand.
    pub heading: Option<NodeId>,
}

/// What is known about the site.
#[derive(Clone, Copy, Debug)]
pub(super) struct Site<'s> {
    /// The name that the page gives it.
    pub name: Option<&'s str>,
    /// Its host, without `www.`.
    pub host: Option<&'s str>,
}

struct Heading {
    node: NodeId,
    text: String,
    words: Vec<String>,
}

impl Head {
    /// Chooses among the headings and the declared titles of a page.
    pub(super) fn title(&self, page: &Page<'_>, site: Site<'_>, document: &Document) -> Title {
        let Title { text, heading } = self.choose_title(page, site, document);
        Title { text: text.map(|text| without_additions(&text).to_owned()), heading }
    }

    fn choose_title(&self, page: &Page<'_>, site: Site<'_>, document: &Document) -> Title {
        let declared = self.declared_titles();
        let stripped: Vec<String> = declared.iter().map(|title| strip_site_name(title, site)).collect();
        let headings = headings(page, site);
        if let Some(headline) = self.structured.news_headline.as_ref().filter(|text| text.len() <= 4 * MAX_TITLE_BYTES)
        {
            return news_title(headline, &headings);
        }
        let fallback = stripped.first().cloned();
        let known: Vec<Vec<String>> = stripped.iter().chain(&declared).map(|title| words(title)).collect();
        let chosen = |heading: &Heading| Title { text: Some(heading.text.clone()), heading: Some(heading.node) };
        let begins = |heading: &&Heading| known.iter().any(|title| title.starts_with(&heading.words));
        if let Some(heading) = headings.iter().filter(begins).max_by_key(|heading| heading.words.len()) {
            return chosen(heading);
        }
        if let Some(heading) = headings.iter().find(|heading| known.iter().any(|title| contains(title, &heading.words)))
        {
            return match stripped.iter().find_map(|title| without_last_part(title, &heading.text)) {
                // A heading that ends the declared title names the book or the site.
                Some(rest) if !is_site(&rest, site) => Title { text: Some(rest), heading: Some(heading.node) },
                _ => chosen(heading),
            };
        }
        let likeness = |heading: &Heading| known.iter().map(|title| likeness(&heading.words, title)).max().unwrap_or(0);
        let alike = headings.iter().enumerate().max_by_key(|(index, heading)| (likeness(heading), usize::MAX - index));
        let Some((_, heading)) = alike else { return Title { text: fallback, heading: None } };
        // Landing pages and lists greet their readers in headings.
        let speaks = !matches!(document.page_type, PageType::Service | PageType::Listing);
        let is_written = matches!(document.page_type, PageType::Article | PageType::Forum);
        let alone = headings.len() == 1 && is_written && heading.text.len() <= 160 && heading.words.len() >= 3;
        if fallback.is_none() || (speaks && (likeness(heading) >= 30 || alone)) {
            return chosen(heading);
        }
        Title { text: fallback, heading: Some(heading.node) }
    }

    /// The titles that the head declares, the likeliest first.
    fn declared_titles(&self) -> Vec<String> {
        let metas = self.meta(&["og:title", "twitter:title", "dc.title", "citation_title"]);
        let found = metas.into_iter().chain([self.title.as_str()]).chain(self.structured.headline.as_deref());
        found.map(decoded).filter(|title| !title.is_empty() && title.len() <= 4 * MAX_TITLE_BYTES).collect()
    }
}

/// The headline of a news article, which newsrooms write with care, whole where a heading goes on where it was cut.
fn news_title(headline: &str, headings: &[Heading]) -> Title {
    let headline = decoded(headline);
    let wanted = words(&headline);
    let same = headings.iter().find(|heading| heading.words.starts_with(&wanted));
    let alike = || headings.iter().max_by_key(|heading| likeness(&heading.words, &wanted));
    let text = same.map_or(headline, |heading| heading.text.clone());
    Title { text: Some(text), heading: same.or_else(alike).map(|heading| heading.node) }
}

/// A title without a label before it, and without sections and slogans behind a bar.
fn without_additions(title: &str) -> &str {
    const LABELS: [&str; 5] = ["Thread:", "Topic:", "Title:", "Collection:", "Category:"];
    // Forums of phpBB write their name, what the page is, and only then the title.
    let title = title.split_once("View topic - ").map_or(title, |(_, topic)| topic.trim());
    let title = LABELS.iter().find_map(|label| title.strip_prefix(label)).map_or(title, str::trim);
    match title.split_once(" | ") {
        Some((first, _)) if first.split_whitespace().nth(1).is_some() => first.trim(),
        _ => title,
    }
}

/// A declared text in which references may have been escaped twice.
pub(super) fn decoded(text: &str) -> String {
    let mut text = collapse(text);
    for _ in 0..2 {
        if !text.contains('&') {
            break;
        }
        text = collapse(&decode_value(&text));
    }
    // Titles of shops carry the marks of where a long word may break.
    if text.contains("<wbr") { text.replace("<wbr/>", "").replace("<wbr>", "") } else { text }
}

/// The main headings of a page that do not just name its site.
fn headings(page: &Page<'_>, site: Site<'_>) -> Vec<Heading> {
    let mut found: Vec<Heading> = Vec::new();
    for element in page.elements.iter().filter(|element| element.tag == Tag::H1) {
        let blocks = page.blocks.get(element.first_block as usize..element.end_block as usize).unwrap_or_default();
        if blocks.is_empty() || blocks.len() > 4 || blocks[0].ancestors & ancestor::HIDDEN != 0 {
            continue;
        }
        let joined: Vec<&str> = blocks.iter().map(|block| page.block_text(block)).collect();
        // Headings inside of headings share their text, which must not be read once for each.
        if joined.iter().map(|text| text.len()).sum::<usize>() > 4 * MAX_TITLE_BYTES {
            continue;
        }
        let text = collapse(&joined.join(" "));
        let text = text.trim_end_matches(['¶', '#', ' ', '§']).to_owned();
        let words = words(&text);
        let is_new = found.iter().all(|known| known.words != words);
        if !words.is_empty()
            && text.len() <= MAX_TITLE_BYTES
            && is_new
            && site_names(site).all(|name| name != letters(&text))
        {
            found.push(Heading { node: element.node, text, words });
        }
        if found.len() == MAX_HEADINGS {
            break;
        }
    }
    found
}

/// The words of a title in small letters.
fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.take(100).map(str::to_lowercase).collect()
}

fn contains(title: &[String], words: &[String]) -> bool {
    title.windows(words.len().max(1)).any(|window| window == words)
}

/// How many of a hundred words of the shorter one are in both.
fn likeness(heading: &[String], title: &[String]) -> usize {
    let both = heading.iter().filter(|word| title.contains(word)).count();
    100 * both / heading.len().min(title.len()).max(1)
}

/// The title without its last part, where that is the given text.
fn without_last_part(title: &str, last: &str) -> Option<String> {
    let split = SEPARATORS
        .iter()
        .find_map(|separator| title.rsplit_once(separator).filter(|(_, end)| words(end) == words(last)));
    split.map(|(rest, _)| rest.trim().to_owned()).filter(|rest| !rest.is_empty())
}

/// `Rain in May - The Paper` without its paper, by the site's name or its host's.
pub(super) fn strip_site_name(title: &str, site: Site<'_>) -> String {
    let mut title = title;
    for _ in 0..2 {
        let last = SEPARATORS.iter().filter_map(|mark| title.rfind(mark).map(|at| (at, mark.len()))).max();
        let Some((at, length)) = last else { break };
        let (rest, end) = (title[..at].trim(), &title[at + length..]);
        if rest.is_empty() || !(is_site(end, site) || is_host(end)) {
            break;
        }
        title = rest;
    }
    let title = without_first_part(title, site);
    let bracketed = title.strip_suffix(']').and_then(|rest| rest.rsplit_once(" ["));
    match bracketed {
        Some((rest, name)) if is_site(name, site) => rest.trim().to_owned(),
        _ => title.trim().to_owned(),
    }
}

/// `The Paper | Rain in May` without its paper, where enough is left to be a title.
fn without_first_part<'t>(title: &'t str, site: Site<'_>) -> &'t str {
    let first = SEPARATORS.iter().filter_map(|mark| title.find(mark).map(|at| (at, mark.len()))).min();
    match first {
        Some((at, length)) if is_site(&title[..at], site) => {
            let rest = title[at + length..].trim();
            if rest.split_whitespace().nth(1).is_some() { rest } else { title }
        }
        _ => title,
    }
}

/// Whether a part of a title is the name of a host: `Golem.de`.
fn is_host(part: &str) -> bool {
    let is_label = |label: &str| !label.is_empty() && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    part.trim().rsplit_once('.').is_some_and(|(name, suffix)| {
        let is_suffix = (2..=4).contains(&suffix.len()) && suffix.bytes().all(|byte| byte.is_ascii_lowercase());
        is_suffix && name.split('.').all(is_label) && name.bytes().any(|byte| byte.is_ascii_alphabetic())
    })
}

/// Whether a part of a title names the site.
fn is_site(part: &str, site: Site<'_>) -> bool {
    let part = letters(part);
    if part.is_empty() {
        return false;
    }
    site_names(site).any(|name| {
        let rest = part.strip_prefix(name.as_str()).filter(|_| name.len() > 2);
        part == name
            || rest.is_some_and(|rest| ADDITIONS.contains(&rest))
            || (part.len() > 3 && name.starts_with(&part))
    })
}

/// What sites add to their names: `Nike.com`, `Zotero Documentation`.
const ADDITIONS: [&str; 20] = [
    "com",
    "org",
    "net",
    "online",
    "documentation",
    "docs",
    "blog",
    "forum",
    "forums",
    "news",
    "magazine",
    "community",
    "official",
    "officialsite",
    "shop",
    "store",
    "support",
    "wiki",
    "homepage",
    "us",
];

/// The names of a site, letters and figures alone: `The Guardian` and `theguardian` are one.
fn site_names(site: Site<'_>) -> impl Iterator<Item = String> {
    let labels = site.host.into_iter().flat_map(|host| host.split('.')).filter(|label| label.len() > 2);
    site.name.into_iter().chain(site.host).chain(labels).map(letters).filter(|name| !name.is_empty())
}

/// Letters and figures, small.
fn letters(text: &str) -> String {
    text.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    #[test]
    fn titles_lose_the_name_of_their_site() {
        let strip = |title, name, host| strip_site_name(title, Site { name, host });
        let paper = Some("The Paper");
        assert_eq!(strip("Rain in May - The Paper", paper, None), "Rain in May");
        assert_eq!(strip("Rain - Sun", paper, None), "Rain - Sun");
        assert_eq!(strip("Rain | The Guardian", None, Some("theguardian.com")), "Rain");
        assert_eq!(strip("Rain - news-16.test", None, Some("news-16.test")), "Rain");
        assert_eq!(strip("Rain [Zotero Documentation]", None, Some("zotero.org")), "Rain");
        assert_eq!(strip("Rain | Koia – Koia Online", Some("Koia"), None), "Rain");
        assert_eq!(strip("The Paper", paper, Some("paper.org")), "The Paper");
        assert_eq!(strip("Rain: sun in May - Golem.de", None, None), "Rain: sun in May");
        assert_eq!(strip("Rain - version 2.10", None, None), "Rain - version 2.10");
        assert_eq!(strip("The Paper | Rain in May", paper, None), "Rain in May");
        assert_eq!(strip("The Paper - Rain", paper, None), "The Paper - Rain");
    }

    #[track_caller]
    fn check(html: &str, expected: &str) {
        let tree = Tree::parse(html);
        let head = Head::read(&tree);
        let page = Page::read(tree);
        let site = Site { name: None, host: Some("paper.org") };
        let title = head.title(&page, site, &Document::default());
        assert_eq!(title.text.as_deref(), Some(expected), "{html}");
    }

    #[test]
    fn the_heading_comes_before_the_title_of_the_window() {
        check("<title>Rain in May! | Weather | Paper</title><h1>Rain in <b>May</b>!</h1><p>x", "Rain in May!");
        check(
            "<title>Weather: the rain in May 2024</title><h1>Paper</h1><h1>Why the rain in May stayed</h1>",
            "Why the rain in May stayed",
        );
        check("<title>Traits - The Rust Book</title><h1>The Rust Book</h1><p>x", "Traits");
        check("<title>Rain &amp;amp; sun - Paper</title><p>x", "Rain & sun");
        check("<h1>Rain¶</h1>", "Rain");
        check("<title>Base test</title><h1>Lorem</h1><p>x", "Base test");
        let news =
            r#"<script type=application/ld+json>{"@type":"NewsArticle","headline":"Rain &amp; sun in May"}</script>"#;
        check(&format!("{news}<title>Paper</title><h1>Why May was wet</h1>"), "Rain & sun in May");
        check(
            &format!("{news}<title>Paper</title><h1>Rain &amp; sun in May and June</h1>"),
            "Rain & sun in May and June",
        );
        check("<title>Paper | Rain in May</title><h1>Rain in May</h1>", "Rain in May");
        check("<title>Rain in May | Weather and sun</title><p>x", "Rain in May");
        check("<title>Thread: Rain in May</title><p>x", "Rain in May");
        check("<title>Weather board • View topic - Rain in May</title><p>x", "Rain in May");
        check("<title>Paper - the heart of all</title><h1>Rain in May</h1>", "Rain in May");
    }
}

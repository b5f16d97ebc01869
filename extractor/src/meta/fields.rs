//! Metadata of a document: JSON-LD first, then OpenGraph and metas, then the page itself.

use url::Url;

use super::Head;
use super::byline::shown_author;
use super::names::{NameKind, clean_name, is_name};
use super::title::{Site, decoded};
use crate::blocks::Page;
use crate::tree::NodeId;
use crate::{Document, Language, PageType};

/// The score of a byline with two marks of its own right below the title.
const MIN_SCORE_ON_OFFERS: i32 = 5;

impl Head {
    /// Fills the metadata fields of a document.
    pub(crate) fn fill_metadata(&self, page: &Page<'_>, url: Option<&Url>, document: &mut Document) {
        let host = url.and_then(Url::host_str).map(|host| host.trim_start_matches("www."));
        let named = self.site();
        let title = self.title(page, Site { name: named.as_deref(), host }, document);
        document.title = title.text;
        document.author = self.author(page, title.heading, named.as_deref(), document.page_type);
        document.site = named.or_else(|| host.map(str::to_owned));
        document.published = self.published(page, title.heading, url.map_or("", Url::as_str));
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
            let declared = self.declared_language().and_then(Language::from_tag);
            document.language = declared.map(|language| language.tag().to_owned());
        }
    }

    /// The language that the page declares, as it is written.
    pub(crate) fn declared_language(&self) -> Option<&str> {
        self.language.as_deref().or_else(|| self.meta(&["og:locale", "content-language"]))
    }

    fn site(&self) -> Option<String> {
        let named = self.meta(&["og:site_name", "application-name", "twitter:site"]);
        named.map(str::to_owned).or_else(|| self.structured.site.clone())
    }

    /// The author: people that the structured data or the head name, else the byline that the page shows, else whatever
    /// name is declared. User names and the name of the site give way to a byline. What shops, offers and lists show is
    /// mostly the name of a reviewer, a customer or of somebody else's author.
    fn author(
        &self,
        page: &Page<'_>,
        heading: Option<NodeId>,
        site: Option<&str>,
        page_type: PageType,
    ) -> Option<String> {
        let structured = self.structured_authors();
        let declared = self.declared_author();
        let is_weak = |name: &str| is_weak_name(name, site);
        if self.structured.authors_are_people
            && let Some(names) = structured.as_deref().filter(|names| !is_weak(names))
        {
            return Some(names.to_owned());
        }
        if let Some(name) = declared.as_deref().filter(|name| !is_weak(name)) {
            return Some(name.to_owned());
        }
        let shown = shown_author(page, heading);
        let is_written =
            !matches!(page_type, PageType::Product | PageType::Collection | PageType::Listing | PageType::Service);
        if !is_written {
            return shown.filter(|shown| shown.score >= MIN_SCORE_ON_OFFERS).map(|shown| shown.name);
        }
        let sure = shown.as_ref().filter(|shown| shown.score >= 0).map(|shown| shown.name.clone());
        let unsure = shown.filter(|shown| shown.score > -8).map(|shown| shown.name);
        sure.or(structured).or(declared).or(unsure)
    }

    fn structured_authors(&self) -> Option<String> {
        let mut names: Vec<String> = Vec::new();
        for name in &self.structured.authors {
            let name = decoded(name);
            let name = clean_name(&name);
            if is_name(name, NameKind::Handle) && !name.contains('@') && !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        (!names.is_empty()).then(|| names.join(", "))
    }

    fn declared_author(&self) -> Option<String> {
        const NAMES: [&str; 8] = [
            "author",
            "article:author",
            "dc.creator",
            "citation_author",
            "byl",
            "parsely-author",
            "sailthru.author",
            "article:author_name",
        ];
        let usable = |value: &str| {
            let value = decoded(value);
            let name = clean_name(&value);
            let list = name.len() <= 100 && name.contains(',');
            ((is_name(name, NameKind::Handle) || list) && !name.contains("://") && !name.contains('@'))
                .then(|| name.to_owned())
        };
        NAMES.iter().find_map(|name| {
            let mut values = self.metas.iter().filter(|(key, _)| key == name).filter_map(|(_, value)| usable(value));
            if *name != "citation_author" {
                return values.next();
            }
            // Papers have a meta for each author.
            let all: Vec<String> = values.take(40).collect();
            (!all.is_empty()).then(|| all.join("; "))
        })
    }
}

/// Whether a declared name may well be no person's: one word, a user name, the name of the site.
fn is_weak_name(name: &str, site: Option<&str>) -> bool {
    let same = |site: &str| site.trim().eq_ignore_ascii_case(name);
    let is_one_word = !name.trim().contains(' ') && name.is_ascii();
    is_one_word || site.is_some_and(same)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::{Tag, Tree};

    #[track_caller]
    fn author(html: &str, expected: Option<&str>) {
        let tree = Tree::parse(html);
        let head = Head::read(&tree);
        let page = Page::read(tree);
        let heading = page.elements.iter().find(|element| element.tag == Tag::H1).map(|element| element.node);
        assert_eq!(head.author(&page, heading, Some("Paper"), PageType::Article).as_deref(), expected, "{html}");
    }

    #[test]
    fn a_reviewer_is_not_the_author_of_a_product() {
        let author = |html: &str, page_type| {
            let tree = Tree::parse(html);
            let head = Head::read(&tree);
            let page = Page::read(tree);
            let heading = page.elements.iter().find(|element| element.tag == Tag::H1).map(|element| element.node);
            head.author(&page, heading, None, page_type)
        };
        let review = "<h1>Umbrella</h1><p>Keeps you dry.</p><p class=author>Ana Lima</p><p>It does.</p>";
        assert_eq!(author(review, PageType::Product), None);
        assert_eq!(author(review, PageType::Forum).as_deref(), Some("Ana Lima"));
        let byline = "<h1>Ten umbrellas</h1><p class=byline>By Ana Lima</p><p>They keep you dry.</p>";
        assert_eq!(author(byline, PageType::Listing).as_deref(), Some("Ana Lima"));
    }

    #[test]
    fn people_come_before_organizations_and_user_names() {
        let byline = "<h1>Rain</h1><p class=byline>By Ana Lima</p>";
        let ld = |author: &str| {
            format!("<script type=application/ld+json>{{\"@type\":\"Article\",\"author\":{author}}}</script>{byline}")
        };
        author(&ld(r#"{"@type":"Person","name":"Bea Sun"}"#), Some("Bea Sun"));
        author(&ld(r#"{"@type":"Organization","name":"The Paper"}"#), Some("Ana Lima"));
        author(
            &ld(r#"[{"@type":"Organization","name":"The Paper"},{"@type":"Person","name":"Bea Sun"}]"#),
            Some("Bea Sun, The Paper"),
        );
        author(&ld(r#"{"@type":"Person","name":"kffanal"}"#), Some("Ana Lima"));
        author(&format!("<meta name=author content=Paper>{byline}"), Some("Ana Lima"));
        author("<meta name=author content=Paper><h1>Rain</h1>", Some("Paper"));
        author("<meta name=author content='By Bea Sun | 12.03.2024'><h1>Rain</h1>", Some("Bea Sun"));
    }

    #[test]
    fn authors_may_be_named_elsewhere_in_the_graph() {
        let html = r##"<script type=application/ld+json>{"@graph":[
            {"@type":"NewsArticle","headline":"Rain","author":[{"@id":"#ana"},{"@id":"#bea"}]},
            {"@type":"Person","@id":"#ana","name":"Ana Lima"},{"@type":"Person","@id":"#bea","name":"Bea &amp; Sun"}]}</script>"##;
        author(html, Some("Ana Lima, Bea & Sun"));
    }
}

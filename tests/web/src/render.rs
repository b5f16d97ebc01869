//! Content to HTML: navigation, advertisements, a cookie banner, related links and a footer around it.

use std::fmt::Write;
use std::sync::LazyLock;

use bytes::Bytes;

use crate::prose::{Block, Chrome, Content, PageType};
use crate::random::{Random, hash, share};
use crate::site::{Charset, Link, Site};

/// How the pages of one host are built.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Theme {
    /// `main`, `article`, `nav`, JSON-LD, OpenGraph.
    Semantic,
    /// `div` with class names.
    Divisions,
    /// A table for the layout, few class names, as twenty years ago.
    Tables,
}

/// A realistic page, encoded as its host encodes.
pub(crate) fn page(site: &Site, host: usize, number: usize, version: u64, nonce: u64) -> Bytes {
    let (source, source_number) = site.source(host, number);
    let home = &site.hosts[source];
    let content = site.content(host, number, version);
    let links = site.links(host, number, nonce);
    let plan = site.plan(host, number);
    let theme = match hash(&[site.config.seed, source as u64, 31]) % 3 {
        0 => Theme::Semantic,
        1 => Theme::Divisions,
        _ => Theme::Tables,
    };
    let mut page = Page {
        out: String::with_capacity(48 << 10),
        theme,
        chrome: &home.language.vocabulary().chrome,
        gap: home.language.between_sentences(),
        random: Random::new(&[site.config.seed, source as u64, source_number as u64, 32]),
    };
    // Sizes spread evenly in the logarithm between 5 and 100 KB, as far as the content allows.
    let spread = share(&[site.config.seed, source as u64, source_number as u64, 33]);
    let target = (5_000.0 * 20f64.powf(spread)) as usize;
    page.head(site, host, number, &content, target);
    page.top(&links);
    if plan.page_type == PageType::Listing {
        page.listing(&content, &site.items(host, number), |item| site.path(host, item));
    } else {
        page.content(&content, plan.page_type);
    }
    page.bottom(&links, target);
    encode(&page.out, home.charset)
}

fn encode(text: &str, charset: Charset) -> Bytes {
    let encoding = match charset {
        Charset::Utf8 => return Bytes::copy_from_slice(text.as_bytes()),
        Charset::Big5 => encoding_rs::BIG5,
        Charset::Gb18030 => encoding_rs::GB18030,
        Charset::Windows1252 => encoding_rs::WINDOWS_1252,
    };
    Bytes::from(encoding.encode(text).0.into_owned())
}

struct Page {
    out: String,
    theme: Theme,
    chrome: &'static Chrome,
    gap: &'static str,
    random: Random,
}

macro_rules! put {
    ($page:expr, $($arguments:tt)*) => { write!($page.out, $($arguments)*).expect("a String takes all") };
}

impl Page {
    fn head(&mut self, site: &Site, host: usize, number: usize, content: &Content, target: usize) {
        let (source, _) = site.source(host, number);
        let home = &site.hosts[source];
        let title = escape(&content.title);
        let language = home.language.tag();
        let name = &home.authority;
        put!(
            self,
            "<!DOCTYPE html>\n<html lang=\"{language}\">\n<head>\n<meta charset=\"{}\">\n",
            home.charset.label()
        );
        put!(self, "<title>{title} - {name}</title>\n<meta name=\"viewport\" content=\"width=device-width\">\n");
        if self.theme == Theme::Semantic {
            let date = date(content.day);
            put!(
                self,
                "<meta property=\"og:title\" content=\"{title}\">\n<meta property=\"og:site_name\" content=\"{name}\">\n"
            );
            put!(self, "<meta property=\"article:published_time\" content=\"{date}\">\n");
            put!(self, "<link rel=\"canonical\" href=\"{}\">\n", site.url(source, number));
            put!(
                self,
                "<script type=\"application/ld+json\">{{\"@context\":\"https://schema.org\",\"@type\":\"NewsArticle\",\"headline\":{:?},\"datePublished\":\"{date}\",\"author\":{{\"@type\":\"Person\",\"name\":{:?}}}}}</script>\n",
                content.title,
                content.author
            );
        } else {
            put!(self, "<meta name=\"author\" content=\"{}\">\n", content.author);
        }
        let styles = self.filler(&STYLES, target / 6);
        put!(self, "<style>\n{styles}</style>\n</head>\n");
    }

    fn top(&mut self, links: &[Link]) {
        let chrome = self.chrome;
        let labels = chrome.navigation;
        put!(
            self,
            "<body>\n<div class=\"cookie-banner\" role=\"dialog\"><p>{}</p><button>{}</button></div>\n",
            chrome.cookie,
            chrome.accept
        );
        let (open, close) = match self.theme {
            Theme::Semantic => ("<header><nav><ul>\n", "</ul></nav></header>\n<main>\n"),
            Theme::Divisions => (
                "<div id=\"header\"><div class=\"menu\"><ul>\n",
                "</ul></div></div>\n<div id=\"content\" class=\"wrap\">\n",
            ),
            Theme::Tables => (
                "<table width=\"100%\" border=\"0\"><tr><td width=\"160\" valign=\"top\"><ul>\n",
                "</ul></td><td valign=\"top\">\n",
            ),
        };
        self.out.push_str(open);
        for (index, label) in labels.iter().enumerate() {
            // The menu leads to real pages, so that following it is not in vain.
            let href = links.get(index).map_or("/", |link| link.href.as_str());
            put!(self, "<li><a href=\"{}\">{label}</a></li>\n", escape(href));
        }
        self.out.push_str(close);
        self.advertisement();
    }

    fn advertisement(&mut self) {
        let text = self.random.pick(self.chrome.advertisements);
        put!(self, "<div class=\"ad-slot banner\"><span>{text}</span></div>\n");
    }

    fn content(&mut self, content: &Content, page_type: PageType) {
        let (open, close) = match self.theme {
            Theme::Semantic => ("<article>\n", "</article>\n"),
            Theme::Divisions => ("<div class=\"post-body entry\">\n", "</div>\n"),
            Theme::Tables => ("<div>\n", "</div>\n"),
        };
        self.out.push_str(open);
        put!(self, "<h1>{}</h1>\n", escape(&content.title));
        if page_type == PageType::Article {
            put!(
                self,
                "<p class=\"byline\"><span class=\"author\">{}</span> <time>{}</time></p>\n",
                content.author,
                date(content.day)
            );
        }
        let middle = content.blocks.len() / 2;
        for (index, block) in content.blocks.iter().enumerate() {
            if index == middle && content.blocks.len() > 6 {
                self.advertisement();
            }
            self.block(block);
        }
        if page_type == PageType::Product {
            put!(self, "<form action=\"/basket\"><button>{}</button></form>\n", self.chrome.buy);
        }
        self.out.push_str(close);
    }

    fn block(&mut self, block: &Block) {
        match block {
            Block::Heading(text) => put!(self, "<h2>{}</h2>\n", escape(text)),
            Block::Paragraph(sentences) => put!(self, "<p>{}</p>\n", escape(&sentences.join(self.gap))),
            Block::List(items) => {
                self.out.push_str("<ol>\n");
                items.iter().for_each(|item| put!(self, "<li>{}</li>\n", escape(item)));
                self.out.push_str("</ol>\n");
            }
            Block::Table(rows) => {
                self.out.push_str("<table class=\"facts\">\n");
                rows.iter().for_each(|(name, value)| {
                    put!(self, "<tr><th>{}</th><td>{}</td></tr>\n", escape(name), escape(value));
                });
                self.out.push_str("</table>\n");
            }
            Block::Code(text) => put!(self, "<pre><code>{}</code></pre>\n", escape(text)),
            Block::Post { author, day, sentences } => {
                let reply = self.chrome.reply;
                put!(
                    self,
                    "<div class=\"comment\"><div class=\"meta\"><b>{author}</b> <span>{}</span></div>",
                    date(*day)
                );
                put!(self, "<div class=\"comment-body\"><p>{}</p></div>", escape(&sentences.join(self.gap)));
                put!(self, "<a href=\"#reply\">{reply}</a></div>\n");
            }
            Block::Item(..) => unreachable!("items stand on listings only"),
        }
    }

    fn listing(&mut self, content: &Content, items: &[(usize, String, String)], path: impl Fn(usize) -> String) {
        put!(self, "<div class=\"teasers\">\n");
        let more = self.chrome.more;
        for (page, title, teaser) in items {
            let path = path(*page);
            put!(
                self,
                "<div class=\"teaser\"><h3><a href=\"{path}\">{}</a></h3><p>{}</p>",
                escape(title),
                escape(teaser)
            );
            put!(self, "<a class=\"more\" href=\"{path}\">{more}</a></div>\n");
        }
        for block in content.blocks.iter().filter(|block| !matches!(block, Block::Item(..))) {
            self.block(block);
        }
        put!(self, "</div>\n");
    }

    fn bottom(&mut self, links: &[Link], target: usize) {
        let chrome = self.chrome;
        put!(self, "<div class=\"share\">{}</div>\n", chrome.share);
        let (open, close, end) = match self.theme {
            Theme::Semantic => ("</main>\n<aside>\n", "</aside>\n<footer>\n", "</footer>\n"),
            Theme::Divisions => ("</div>\n<div class=\"sidebar\">\n", "</div>\n<div id=\"footer\">\n", "</div>\n"),
            Theme::Tables => {
                ("</td><td width=\"200\" valign=\"top\">\n", "</td></tr></table>\n<center>\n", "</center>\n")
            }
        };
        put!(self, "{open}<h4>{}</h4>\n<ul>\n", chrome.related);
        for link in links {
            put!(self, "<li><a href=\"{}\">{}</a></li>\n", escape(&link.href), escape(&link.text));
        }
        put!(self, "</ul>\n<p>{}</p>\n", chrome.newsletter);
        self.advertisement();
        put!(self, "{close}<p>{}</p>\n{end}", chrome.footer);
        let missing = target.saturating_sub(self.out.len() + 60);
        let scripts = self.filler(&SCRIPTS, missing);
        put!(self, "<script>\n{scripts}</script>\n</body>\n</html>\n");
    }

    /// About so many bytes of a pool, from a random line on.
    fn filler(&mut self, pool: &'static str, bytes: usize) -> &'static str {
        let bytes = bytes.min(pool.len() / 2);
        let start = self.random.below(pool.len() / 2);
        let start = pool[start..].find('\n').map_or(0, |end| start + end + 1);
        let end = (start + bytes).min(pool.len());
        let end = pool[start..end].rfind('\n').map_or(start, |end| start + end + 1);
        &pool[start..end]
    }
}

/// A page of prose and links around a mean size, put together from shared pieces.
pub(crate) fn plain_page(site: &Site, host: usize, number: usize, mean_bytes: usize, nonce: u64) -> Vec<Bytes> {
    let mut head = String::with_capacity(8 << 10);
    let title = format!("Page {number} of host {host}");
    write!(head, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{title}</title>\n</head>\n<body>\n<h1>{title}</h1>\n<ul>\n")
        .expect("a String takes all");
    for link in site.links(host, number, nonce) {
        writeln!(head, "<li><a href=\"{}\">{}</a></li>", link.href, link.text).expect("a String takes all");
    }
    head.push_str("</ul>\n");
    // 0.44 to 1.66 of the mean, as the pages in the published measurements of other crawlers.
    let spread = 0.44 + 1.22 * share(&[site.config.seed, host as u64, number as u64, 34]);
    let target = ((mean_bytes as f64 * spread) as usize).saturating_sub(head.len());
    let mut random = Random::new(&[site.config.seed, host as u64, number as u64, 35]);
    let mut parts = vec![Bytes::from(head)];
    let mut left = target;
    // Many short pieces: two pages share some of them, never enough to look alike.
    while left > 0 {
        let index = random.below(PARAGRAPHS.len());
        let piece = &PARAGRAPHS[index];
        parts.push(piece.slice(..piece.len()));
        left = left.saturating_sub(piece.len());
    }
    parts.push(Bytes::from_static(b"</body>\n</html>\n"));
    parts
}

/// Paragraphs of English prose in pieces of about 4 KB, shared by all plain pages.
static PARAGRAPHS: LazyLock<Vec<Bytes>> = LazyLock::new(|| {
    use crate::prose::{Language, content};
    (0..2_000u64)
        .map(|number| {
            let mut piece = String::new();
            for part in 0.. {
                let text = content(PageType::Article, Language::English, &[number, part, 36]).text(Language::English);
                text.split("\n\n").for_each(|paragraph| {
                    writeln!(piece, "<p>{}</p>", escape(paragraph)).expect("a String takes all");
                });
                if piece.len() > 4_000 {
                    break;
                }
            }
            Bytes::from(piece)
        })
        .collect()
});

/// Style rules, as every page carries too many of them.
static STYLES: LazyLock<String> = LazyLock::new(|| {
    let mut random = Random::new(&[37]);
    let properties = ["margin", "padding", "font-size", "line-height", "border-width", "top", "width"];
    let names = ["menu", "teaser", "banner", "card", "grid", "row", "button", "footer", "meta", "icon"];
    let mut pool = String::new();
    while pool.len() < 64 << 10 {
        let (name, other, property) = (random.pick(&names), random.pick(&names), random.pick(&properties));
        let _ = writeln!(pool, ".{name}-{} .{other} {{ {property}: {}px }}", random.below(90), random.below(64));
    }
    pool
});

/// Script lines, as every page carries too many of them.
static SCRIPTS: LazyLock<String> = LazyLock::new(|| {
    let mut random = Random::new(&[38]);
    let calls = ["push", "track", "register", "load", "observe", "render"];
    let objects = ["window.dataLayer", "queue", "app.store", "metrics", "loader"];
    let mut pool = String::new();
    while pool.len() < 256 << 10 {
        let (object, call) = (random.pick(&objects), random.pick(&calls));
        let _ = writeln!(
            pool,
            "{object}.{call}({{id:\"{:012x}\",slot:{},lazy:true}});",
            random.next() >> 16,
            random.below(40)
        );
    }
    pool
});

/// `2026-03-14` for a number of days after the start of that year.
fn date(day: usize) -> String {
    const DAYS: [usize; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut day = day % 365;
    let mut month = 0;
    while day >= DAYS[month] {
        day -= DAYS[month];
        month += 1;
    }
    format!("2026-{:02}-{:02}", month + 1, day + 1)
}

pub(crate) fn escape(text: &str) -> String {
    if !text.contains(['&', '<', '>', '"']) {
        return text.to_owned();
    }
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

//! What the owners of pages say about their use: from what is stored with a page, and from the files of origins that an
//! archive holds.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::sync::LazyLock;

use pith_corpus::manifest::{CRAWL_RESERVED, Counts};
use pith_corpus::warc::Page;
use pith_crawler::Identity;
use pith_preferences::{KnownBefore, Preferences, RobotsPreferences, TDMREP_PATH, TdmRep, digest};
use serde_json::Value;
use url::{Position, Url};

use super::document::is_html;
use super::input::Source;

/// The name that statements for one crawler are looked for under, where a page was not fetched by us.
static PRODUCT: LazyLock<String> = LazyLock::new(|| Identity::default().product);

/// Origins of one archive whose files are kept; those of later ones are not read.
const MAX_ORIGINS: usize = 100_000;
/// And so many bytes of them.
const MAX_BYTES: usize = 64 << 20;

/// What the owner of a page says about its use.
pub fn preferences_of(page: &Page) -> Preferences {
    let known = page.preferences.as_deref().and_then(KnownBefore::from_json).unwrap_or_default();
    let agent = if known.agent.is_empty() { &PRODUCT } else { known.agent.as_str() };
    let headers = page.headers.iter().map(|(name, value)| (name.as_bytes(), value.as_slice()));
    known.judge_page(headers, is_html(page).then_some(&page.body), agent)
}

/// The robots.txt and tdmrep.json files that an archive holds, by origin. A page is judged by those that stand before it:
/// they were in force when it was fetched.
#[derive(Default)]
pub struct OriginFiles {
    by_origin: HashMap<String, OriginFile>,
    bytes: usize,
}

#[derive(Default)]
struct OriginFile {
    robots: RobotsPreferences,
    digest: Option<String>,
    tdmrep: TdmRep,
}

impl OriginFiles {
    /// Takes a file of an origin in, or says what is known of any other page that does not say so itself.
    pub fn read(&mut self, page: &mut Page) {
        let is_file = page.url.ends_with("/robots.txt") || page.url.ends_with(TDMREP_PATH);
        if !is_file && (self.by_origin.is_empty() || page.preferences.is_some()) {
            return;
        }
        let Ok(url) = Url::parse(&page.url) else { return };
        let origin = &url[..Position::BeforePath];
        match url.path() {
            "/robots.txt" => self.take(origin, page, |file, body| {
                file.robots = RobotsPreferences::parse(body, &PRODUCT);
                file.digest = (!body.is_empty()).then(|| digest(body));
            }),
            TDMREP_PATH => self.take(origin, page, |file, body| file.tdmrep = TdmRep::parse(body)),
            _ => {}
        }
        if let Some(file) = self.by_origin.get(origin).filter(|_| page.preferences.is_none()) {
            let path = &url[Position::BeforePath..Position::AfterQuery];
            let mut statements = file.robots.statements(path);
            statements.extend_from_slice(file.tdmrep.statements(path));
            let known = KnownBefore { agent: PRODUCT.clone(), robots: file.digest.clone(), statements };
            page.preferences = Some(known.to_json());
        }
    }

    fn take(&mut self, origin: &str, page: &Page, read: impl FnOnce(&mut OriginFile, &[u8])) {
        let body = match page.status {
            Some(200) | None if !page.body.is_empty() => page.body.as_slice(),
            Some(400..500) => b"",
            _ => return,
        };
        if !self.by_origin.contains_key(origin) && self.by_origin.len() >= MAX_ORIGINS || self.bytes > MAX_BYTES {
            return;
        }
        let file = self.by_origin.entry(origin.to_owned()).or_default();
        let before = file.robots.heap_bytes() + file.tdmrep.heap_bytes();
        read(file, body);
        self.bytes = (self.bytes + file.robots.heap_bytes() + file.tdmrep.heap_bytes()).saturating_sub(before);
    }
}

/// The URLs that the crawls of these sources have left out because their owners reserve them, by their reports.
pub fn left_out_by_crawls(sources: &[Source]) -> Counts {
    let paths = sources.iter().flat_map(Source::paths);
    let shards = paths.filter(|path| path.parent().is_some_and(|folder| folder.ends_with("pages")));
    let crawls: BTreeSet<_> = shards.filter_map(|path| Some(path.parent()?.parent()?.join("report.json"))).collect();
    let reports = crawls.iter().filter_map(|path| serde_json::from_slice::<Value>(&fs::read(path).ok()?).ok());
    let n_reserved: u64 = reports.filter_map(|report| report["outcomes"]["reserved"].as_u64()).sum();
    let counted = (n_reserved > 0).then(|| (CRAWL_RESERVED.to_owned(), n_reserved));
    counted.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::super::page_at_hand;
    use super::*;
    use pith_preferences::{Signal, Verdict};

    fn page(url: &str, body: &str) -> Page {
        let headers = vec![("Content-Type".to_owned(), b"text/html".to_vec())];
        page_at_hand(url.to_owned(), headers, body.as_bytes().to_vec())
    }

    #[test]
    fn a_page_is_judged_by_the_files_that_stand_before_it() {
        let mut files = OriginFiles::default();
        let mut judge = |url: &str, body: &str| {
            let mut page = page(url, body);
            files.read(&mut page);
            preferences_of(&page)
        };
        assert_eq!(judge("http://a.test/x", "<p>early").verdict.train, Verdict::Unstated);
        judge("http://a.test/robots.txt", "User-agent: *\nContent-Usage: /x train-ai=n\n");
        let judged = judge("http://a.test/x?q", "<meta name=robots content=noarchive>");
        assert_eq!((judged.verdict.train, judged.verdict.archive), (Verdict::Reserved, Verdict::Reserved));
        assert!(judged.robots.is_some_and(|digest| digest.starts_with("sha256:")));
        assert_eq!(judge("http://a.test/y", "").verdict.train, Verdict::Unstated);
        assert_eq!(judge("https://a.test/x", "").verdict.train, Verdict::Unstated, "another origin");
        judge("http://b.test/.well-known/tdmrep.json", r#"[{"location": "/", "tdm-reservation": 1}]"#);
        assert_eq!(judge("http://b.test/", "").statements[0].signal, Signal::TdmReservation);
        judge("http://a.test/robots.txt", "User-agent: *\n");
        assert_eq!(judge("http://a.test/x", "").verdict.train, Verdict::Unstated, "a later file");
    }

    #[test]
    fn what_is_stored_with_a_page_counts_before_what_the_archive_holds() {
        let mut files = OriginFiles::default();
        files.read(&mut page("http://a.test/robots.txt", "User-agent: *\nContent-Usage: train-ai=n\n"));
        let known = KnownBefore { agent: "other".into(), ..KnownBefore::default() };
        let mut stored = page("http://a.test/", "<meta name=other content=noai>");
        stored.preferences = Some(known.to_json());
        files.read(&mut stored);
        let judged = preferences_of(&stored);
        assert_eq!((judged.statements.len(), judged.statements[0].signal), (1, Signal::Robots));
    }
}

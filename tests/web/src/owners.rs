//! Hosts whose owners say what their pages may be used for: every signal there is, with the truth about each page.

use crate::answer::Answer;

/// A page, and what its owner reserves.
#[derive(Clone, Copy, Debug)]
pub struct OwnedPage {
    /// The host.
    pub host: &'static str,
    /// The path.
    pub path: &'static str,
    /// The status that it answers with.
    pub status: u16,
    /// The headers that say something.
    headers: &'static [(&'static str, &'static str)],
    /// The elements of the head that say something.
    head: &'static str,
    /// The purposes that a file of the host reserves it for: it is not to be fetched for them.
    pub known_before: &'static [&'static str],
    /// The purposes that it reserves itself: it is not to be stored for them.
    pub known_with_page: &'static [&'static str],
}

impl OwnedPage {
    /// Where it is.
    pub fn url(&self) -> String {
        format!("http://{}{}", self.host, self.path)
    }

    /// Whether it may be requested for a purpose.
    pub fn may_be_fetched(&self, purpose: &str) -> bool {
        !self.known_before.contains(&purpose)
    }

    /// Whether it may be stored for a purpose.
    pub fn may_be_stored(&self, purpose: &str) -> bool {
        self.status == 200 && self.may_be_fetched(purpose) && !self.known_with_page.contains(&purpose)
    }
}

/// The robots.txt of hosts that have one.
const ROBOTS: &[(&str, &str)] = &[
    ("usage.test", "User-Agent: *\nAllow: /\nContent-Usage: / train-ai=n\nContent-Usage: /ai-ok/ train-ai=y\n"),
    ("named.test", "User-agent: *\nContent-Usage: / train-ai=n\n\nUser-agent: pith\nContent-Usage: / train-ai=y\n"),
    ("signal.test", "User-Agent: *\nContent-signal: search=no,ai-train=no\nAllow: /\n"),
    ("outside.test", "Content-Signal: ai-train=no\n\nUser-agent: pith\nDisallow: /nothing\n"),
    ("contradiction.test", "User-agent: *\nContent-Usage: /a train-ai=y\nContent-Usage: /a train-ai=n\n"),
    ("malformed.test", "User-agent: *\nContent-Usage: / TRAIN=no!\nContent-Signal: ai-train\nContent-Usage\n"),
    ("license.test", "License: http://license.test/license.xml\nUser-agent: *\nAllow: /\n"),
    ("hidden.test", "User-agent: *\nDisallow: /.well-known/\n"),
];

/// The tdmrep.json of hosts that have one.
const TDMREP: &[(&str, &str)] = &[
    (
        "tdm.test",
        r#"[{"location": "/directory-a/", "tdm-reservation": 1, "tdm-policy": "http://tdm.test/policy.json"},
            {"location": "/directory-b/*.html", "tdm-reservation": 0}, {"location": "/", "tdm-reservation": 1}]"#,
    ),
    ("hidden.test", r#"[{"location": "/", "tdm-reservation": 1}]"#),
    ("broken.test", "<!DOCTYPE html><title>Not found</title>"),
];

const fn page(host: &'static str, path: &'static str) -> OwnedPage {
    OwnedPage { host, path, status: 200, headers: &[], head: "", known_before: &[], known_with_page: &[] }
}

const fn before(host: &'static str, path: &'static str, purposes: &'static [&'static str]) -> OwnedPage {
    OwnedPage { known_before: purposes, ..page(host, path) }
}

const fn header(
    path: &'static str,
    headers: &'static [(&'static str, &'static str)],
    purposes: &'static [&'static str],
) -> OwnedPage {
    OwnedPage { headers, known_with_page: purposes, ..page("headers.test", path) }
}

const fn html(path: &'static str, head: &'static str, purposes: &'static [&'static str]) -> OwnedPage {
    OwnedPage { head, known_with_page: purposes, ..page("html.test", path) }
}

/// Every page.
pub const OWNED_PAGES: &[OwnedPage] = &[
    page("silent.test", "/"),
    before("usage.test", "/", &["train"]),
    before("usage.test", "/essay.html", &["train"]),
    page("usage.test", "/ai-ok/essay.html"),
    page("named.test", "/"),
    before("signal.test", "/", &["train", "search"]),
    before("outside.test", "/", &["train"]),
    before("contradiction.test", "/a", &["train"]),
    page("contradiction.test", "/b"),
    page("malformed.test", "/"),
    page("license.test", "/"),
    before("tdm.test", "/directory-a/x", &["train"]),
    page("tdm.test", "/directory-b/x.html"),
    before("tdm.test", "/", &["train"]),
    before("moved.test", "/", &["train"]),
    page("hidden.test", "/"),
    page("broken.test", "/"),
    header("/", &[], &[]),
    header("/usage", &[("content-usage", "train-ai=n")], &["train"]),
    header("/usage-search", &[("content-usage", "train-ai=y, search=n")], &["search"]),
    header("/signal", &[("content-signal", "search=yes, ai-train=no")], &["train"]),
    header("/tdm", &[("tdm-reservation", "1"), ("tdm-policy", "http://headers.test/policy.json")], &["train"]),
    header("/tdm-open", &[("tdm-reservation", "0")], &[]),
    header("/noai", &[("x-robots-tag", "noai, noimageai")], &["train"]),
    header("/noai-for-us", &[("x-robots-tag", "pith: noai")], &["train"]),
    header("/noai-for-others", &[("x-robots-tag", "otherbot: noai")], &[]),
    header("/noindex", &[("x-robots-tag", "noindex")], &["search"]),
    header("/noarchive", &[("x-robots-tag", "noarchive")], &["archive"]),
    header("/license", &[("link", "<http://license.test/l.xml>; rel=\"license\"; type=\"application/rsl+xml\"")], &[]),
    header("/malformed", &[("tdm-reservation", "maybe"), ("content-usage", "train-ai=n,,")], &[]),
    html("/", "", &[]),
    html("/noai", "<meta name=\"robots\" content=\"noai, noimageai\">", &["train"]),
    html("/noai-for-us", "<meta name=\"Pith\" content=\"noai\">", &["train"]),
    html("/noai-for-others", "<meta name=\"otherbot\" content=\"noai\">", &[]),
    html("/noimageai", "<meta name=\"robots\" content=\"noimageai\">", &[]),
    html("/tdm", "<meta name=\"tdm-reservation\" content=\"1\">", &["train"]),
    html("/none", "<meta name=\"robots\" content=\"none\">", &["search"]),
    html("/noarchive", "<meta name=\"robots\" content=\"noarchive\">", &["archive"]),
    html("/comment", "<!-- <meta name=\"robots\" content=\"noai\"> -->", &[]),
    OwnedPage { status: 402, headers: &[("crawler-price", "USD 0.01")], ..page("paid.test", "/") },
];

/// What a request to one of these hosts gets.
pub(crate) fn answer(authority: &str, path: &str) -> Answer {
    let host = authority.rsplit_once(':').map_or(authority, |(name, _)| name);
    let found = |files: &[(&str, &str)]| {
        let file = files.iter().find(|(name, _)| *name == host);
        file.map_or_else(Answer::missing, |(_, text)| Answer::new(200, "text/plain", text.to_string()))
    };
    match (host, path) {
        ("moved.test", "/.well-known/tdmrep.json") => Answer::redirect(302, "/terms/tdmrep.json".to_owned()),
        ("moved.test", "/terms/tdmrep.json") => {
            Answer::new(200, "application/json", r#"[{"location": "/", "tdm-reservation": 1}]"#)
        }
        (_, "/robots.txt") => found(ROBOTS),
        (_, "/.well-known/tdmrep.json") => found(TDMREP),
        _ => match OWNED_PAGES.iter().find(|page| (page.host, page.path) == (host, path)) {
            Some(page) => page
                .headers
                .iter()
                .fold(Answer::html(page.status, text(page)), |answer, (name, value)| answer.with(name, *value)),
            None => Answer::missing(),
        },
    }
}

/// Prose enough to be extracted, and different on every page.
fn text(page: &OwnedPage) -> String {
    let url = page.url();
    let paragraphs: String = (1..=6)
        .map(|number| {
            format!(
                "<p>The owner of {url} has written paragraph {number} about rivers, harbours and the weather of the \
                 coast, and says elsewhere what may be done with it.</p>\n"
            )
        })
        .collect();
    format!(
        "<!DOCTYPE html>\n<html><head><title>A page of {url}</title>\n{}\n</head><body><article>\n<h1>A page of {url}</h1>\n{paragraphs}</article></body></html>\n",
        page.head
    )
}

//! robots.txt: the three suites of Google's own verdicts pass whole; the others differ where they follow other rules.

use std::collections::HashMap;

use pith_crawler::{MAX_ROBOTS_BYTES, Robots, parse_seed};
use serde_json::Value;

use super::suite::{Tally, bytes, cases, own_and, own_cases};

#[test]
fn written_for_this_project() {
    check_verdicts("robots (our own)", &own_cases("robots"));
}

#[test]
fn google() {
    verdicts("robots_google");
}

#[test]
fn google_specification() {
    verdicts("robots_google_spec_test");
}

#[test]
fn real_files_by_googles_parser() {
    let cases = own_and("robots_files", "robots_real_google_oracle");
    let mut tally = Tally::new("robots_real_google_oracle");
    for case in &cases {
        let text = bytes(case, "robots");
        let mut parsed: HashMap<&str, Robots> = HashMap::new();
        for check in case["checks"].as_array().unwrap() {
            let [agent, url] = [0, 1].map(|at| check[at].as_str().unwrap());
            let robots = parsed.entry(agent).or_insert_with(|| Robots::parse(&text, agent));
            let passed = robots.allows(url) == check[2].as_bool().unwrap();
            tally.count(passed, || None, || format!("{} {check}", case["id"]));
        }
    }
    tally.finish();
}

#[test]
fn crawler_commons() {
    verdicts("robots_crawler_commons");
}

#[test]
fn protego() {
    verdicts("robots_protego");
}

#[test]
fn reppy() {
    verdicts("robots_reppy");
}

#[test]
fn texting_robots() {
    verdicts("robots_texting_robots");
}

fn verdicts(name: &'static str) {
    if let Some(cases) = cases(name) {
        check_verdicts(name, &cases);
    }
}

fn check_verdicts(name: &'static str, cases: &[Value]) {
    let mut tally = Tally::new(name);
    for case in cases {
        let what = || {
            let mut short = case.clone();
            if let Some(text) = short["robots"].as_str().filter(|text| text.len() > 600) {
                short["robots"] = text.chars().take(600).collect::<String>().into();
            }
            short.to_string()
        };
        match case["kind"].as_str().unwrap_or("allowed") {
            "allowed" => {
                let passed = allowed(case) == case["allowed"].as_bool().unwrap();
                tally.count(passed, || verdict_reason(case), what);
            }
            "parse" => {
                tally.count(delay_and_sitemaps(case), || parse_reason(case), what);
            }
            "crawl_delay" => {
                let agent = case["args"][0].as_str().or(case["agent"].as_str()).unwrap();
                let delay = Robots::parse(&bytes(case, "robots"), agent).crawl_delay();
                let passed = delay.map(|delay| delay.as_secs_f64()) == case["expected"].as_f64();
                tally.count(passed, || parse_reason(case), what);
            }
            "sitemaps" => {
                let robots = Robots::parse(&bytes(case, "robots"), "pith");
                let expected: Vec<&str> = case["expected"].as_array().unwrap().iter().flat_map(Value::as_str).collect();
                tally.count(robots.sitemaps() == expected, || None, what);
            }
            "robots_url" => {
                let url = parse_seed(case["url"].as_str().unwrap()).unwrap();
                let passed = url.join("/robots.txt").unwrap().as_str() == case["expected"].as_str().unwrap();
                tally.count(passed, || None, what);
            }
            "request_rate" | "visit_time" => {
                tally.count(false, || Some("Request-rate and Visit-time are in no specification"), what);
            }
            "fetch_status" => tally.count(by_status(case), || status_reason(case), what),
            kind => panic!("unknown kind {kind}"),
        }
    }
    tally.finish();
}

fn agent(case: &Value) -> &str {
    case["agent"].as_str().or(case["agents"][0].as_str()).unwrap_or("")
}

fn allowed(case: &Value) -> bool {
    Robots::parse(&bytes(case, "robots"), agent(case)).allows(case["url"].as_str().unwrap())
}

/// Why a suite and we differ: where Google's parser, whom we follow, gives our verdict, the suite follows other rules.
fn verdict_reason(case: &Value) -> Option<&'static str> {
    let google = case["google_oracle_allowed"].as_bool()?;
    if google == case["allowed"].as_bool()? {
        return None;
    }
    if case["agents"].as_array().is_some_and(|agents| agents.len() > 1) {
        return Some("several agent names at once; a crawler has one");
    }
    Some("the suite's own rule; Google's parser gives our verdict")
}

fn delay_and_sitemaps(case: &Value) -> bool {
    let robots = Robots::parse(&bytes(case, "robots"), agent(case));
    let delay = robots.crawl_delay().map(|delay| delay.as_millis() as u64);
    let base = parse_seed("http://domain.com/").unwrap();
    let sitemaps: Vec<String> =
        robots.sitemaps().iter().filter_map(|map| base.join(map).ok()).map(String::from).collect();
    let expected: Vec<&str> = case["sitemaps"].as_array().unwrap().iter().flat_map(Value::as_str).collect();
    delay == case["crawl_delay_ms"].as_u64() && sitemaps == expected
}

/// Tests that ask for something else than RFC 9309, by name, and what it is.
const OTHER_RULES: &[(&str, &str)] = &[
    ("testBrokenKrugleRobotsTxtFile", "the agent is asked for with its version; we ask by product token"),
    ("testHeritrixCases", "several agent names at once; a crawler has one"),
    ("testHtmlMarkupInRobotsTxt", "`*<BR>` names no agent for Google's parser"),
    ("UTF16", "RFC 9309 files are UTF-8; one in UTF-16 has no rule we can read"),
    ("testSitemap", "a bare URL without `Sitemap:` is no rule"),
    ("test_no_leading_user_agent", "rules before any User-agent belong to nobody"),
];

fn parse_reason(case: &Value) -> Option<&'static str> {
    let test = case["test"].as_str()?;
    OTHER_RULES.iter().find(|(name, _)| test.contains(name)).map(|(_, reason)| *reason)
}

fn by_status(case: &Value) -> bool {
    let robots = match case["http_status"].as_u64().unwrap() {
        400..=499 => Robots::allow_all(),
        500.. => Robots::disallow_all(),
        _ => return false,
    };
    robots.allows("http://domain.com/") == (case["result"] == "allow_all")
}

fn status_reason(case: &Value) -> Option<&'static str> {
    let followed = (300..400).contains(&case["http_status"].as_u64()?);
    followed.then_some("redirects are followed by the fetcher before there is anything to decide")
}

#[test]
fn points_of_rfc_9309() {
    let cases = own_and("robots_points", "robots_rfc9309_points");
    let mut tally = Tally::new("robots_rfc9309_points");
    for case in &cases {
        let section = case["section"].as_str().unwrap();
        let holds = holds(section);
        let elsewhere = || holds.is_none().then_some("a point about fetching: `cargo test --test main crawl` shows it");
        tally.count(holds == Some(true), elsewhere, || case.to_string());
    }
    tally.finish();
}

/// Whether a point about the file holds; nothing for one about fetching it.
fn holds(section: &str) -> Option<bool> {
    let allows = |text: &str, url: &str| Robots::parse(text.as_bytes(), "pith").allows(url);
    let url = |path: &str| format!("http://a.test{path}");
    Some(match section {
        "2.2.1" => {
            let text = "user-agent: PITH\ndisallow: /a\nuser-agent: *\ndisallow: /b\nuser-agent: pith\ndisallow: /c\n";
            let other = "user-agent: other\ndisallow: /\n";
            !allows(text, &url("/a"))
                && allows(text, &url("/b"))
                && !allows(text, &url("/c"))
                && allows(other, &url("/"))
        }
        // That /robots.txt itself is allowed is the fetcher's business: it asks for it before there are rules.
        "2.2.2" => {
            let text = "user-agent: *\ndisallow: /\nallow: /page\ndisallow: /Page\nallow: /Page\ndisallow: /%7Euser\n";
            allows(text, &url("/page"))
                && allows(text, &url("/Page"))
                && !allows(text, &url("/%7Euser"))
                && !allows(text, &url("/x"))
        }
        "2.2.3" => {
            let text = "user-agent: * # all\ndisallow: /*.gif$ # pictures\ndisallow: /a*b\n";
            !allows(text, &url("/x.gif")) && allows(text, &url("/x.gif?y")) && !allows(text, &url("/a/c/b/d"))
        }
        "2.3" => !allows("\u{feff}user-agent: *\ndisallow: /ã\n", &url("/%C3%A3")),
        "2.3.1.5" => !allows("<html>\0nonsense\nuser-agent: *\n:::\ndisallow: /x\n", &url("/x")),
        "2.5" => {
            let padding = "# nothing to see here\n".repeat(500 * 1024 / 22);
            MAX_ROBOTS_BYTES >= 500 << 10 && !allows(&format!("{padding}user-agent: *\ndisallow: /x\n"), &url("/x"))
        }
        _ => return None,
    })
}

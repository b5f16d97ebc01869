//! What the user adds to requests: headers, passwords, cookies and delays, each for its own hosts; and which URLs are
//! asked for at all.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use pith_web::{Web, WebConfig};

use crate::crawl::{check_gaps, crawl_command, pith, stored};
use crate::pages::{Carrier, Entry, Pages};
use crate::program::{Run, run};

const OWN: &[Entry] = &[
    ("/", &[], "<p>Home.</p><a href=/away>1</a><a href=/in/side>2</a><a href=http://other.test/x>3</a>"),
    ("/away", &[("location", "http://other.test/landing")], ""),
    ("/in/side", &[("set-cookie", "given=1")], "<p>Inside.</p><a href=/in/deeper>on</a>"),
    ("/in/deeper", &[], "<p>Deeper.</p>"),
];
const OTHER: &[Entry] = &[
    ("/landing", &[], "<p>Elsewhere.</p><a href=http://own.test/in/back>back</a>"),
    ("/x", &[], "<p>Elsewhere, too.</p>"),
];

/// Crawls own.test, which links and redirects to other.test, each on a server of its own.
fn crawl(own: &Pages, other: &Pages, out: &Path, words: &[&str]) -> Run {
    let resolve = [format!("own.test={}", own.address), format!("other.test={}", other.address)];
    let usual = ["--scope", "any", "--delay", "0s", "--resolve", &resolve[0], "--resolve", &resolve[1]];
    run(pith().args(["crawl", "http://own.test/", "--out"]).arg(out).args(usual).args(words))
}

#[test]
fn headers_passwords_and_cookies_go_to_their_hosts_and_nowhere_else() {
    let (own, other) = (Pages::serve(Carrier::Plain, OWN), Pages::serve(Carrier::Plain, OTHER));
    let folder = tempfile::tempdir().unwrap();
    let jar = folder.path().join("cookies.txt");
    let cookies = "# Netscape HTTP Cookie File\n\
        own.test\tFALSE\t/\tFALSE\t0\tall\t1\n\
        .own.test\tTRUE\t/in\tFALSE\t0\tinside\t2\n\
        #HttpOnly_other.test\tFALSE\t/x\tFALSE\t0\ttheirs\t3\n\
        own.test\tFALSE\t/\tTRUE\t0\tsecure\t4\n";
    std::fs::write(&jar, cookies).unwrap();
    let words = [
        "--header",
        "X-Token=abc",
        "--header",
        "other.test:X-Theirs=def",
        "--auth",
        "own.test=me:sesame",
        "--cookie-file",
        jar.to_str().unwrap(),
    ];
    let done = crawl(&own, &other, &folder.path().join("crawl"), &words);
    assert!(matches!(done.code, 0 | 3), "{}", done.stderr);
    let (mine, theirs) = (own.requests(), other.requests());
    assert!(mine.iter().any(|request| request.path == "/robots.txt") && mine.len() >= 5, "{mine:?}");
    for request in &mine {
        let inside = if request.path.starts_with("/in") { "inside=2; all=1" } else { "all=1" };
        assert_eq!((request.header("x-token"), request.header("x-theirs")), ("abc", ""), "{request:?}");
        assert_eq!(request.header("cookie"), inside, "{request:?}");
        assert_eq!(request.header("authorization"), "Basic bWU6c2VzYW1l", "{request:?}");
    }
    assert!(theirs.iter().any(|request| request.path == "/landing"), "the redirect was followed: {theirs:?}");
    for request in &theirs {
        let cookie = if request.path == "/x" { "theirs=3" } else { "" };
        assert_eq!((request.header("x-token"), request.header("x-theirs")), ("", "def"), "{request:?}");
        assert_eq!((request.header("cookie"), request.header("authorization")), (cookie, ""), "{request:?}");
    }
    let report = std::fs::read_to_string(folder.path().join("crawl/report.json")).unwrap();
    assert!(!report.contains("sesame") && !report.contains("abc") && report.contains("X-Token=…"), "{report}");
}

#[test]
fn what_cannot_be_sent_is_refused_with_the_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let jar = folder.path().join("cookies.txt");
    std::fs::write(&jar, "own.test\tTRUE\n").unwrap();
    let check = |words: &[&str], expected: &str| {
        let refused = run(pith().args(["crawl", "http://own.test/", "--out"]).arg(folder.path().join("x")).args(words));
        assert!(refused.code == 2 && refused.stderr.contains(expected), "{words:?}: {}", refused.stderr);
    };
    check(&["--header", "User-Agent=me"], "--user-agent");
    check(&["--header", "X-Y"], "NAME=VALUE");
    check(&["--header", "Host=elsewhere.test"], "the crawler sets Host itself");
    check(&["--cookie-file", jar.to_str().unwrap()], "cookies.txt:1: expected seven fields");
    check(&["--cookie-file", "nowhere.txt"], "--cookie-file");
    check(&["--auth", "a b=me:you"], "is not a host name");
    check(&["--include", "re:("], "unclosed group");
    check(&["--delay", "own.test=soon"], "expected a time such as");
    assert!(!folder.path().join("x").exists(), "nothing was begun");
}

#[test]
fn one_host_may_have_a_delay_of_its_own() {
    let web = Web::start(WebConfig { hosts: 3, pages_per_host: 6, ..WebConfig::default() }).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let slow = web.hosts()[1].clone();
    let delay = format!("{}=300ms", slow.split(':').next().unwrap());
    let mut command = crawl_command(&web, folder.path(), &["--scope", "any", "--delay", "20ms", "--delay", &delay]);
    assert!(command.status().unwrap().success());
    check_gaps(&web, |host| Duration::from_millis(if host == slow { 300 } else { 20 }));
    let of_slow: Vec<_> = web.log().into_iter().filter(|request| request.host == slow).collect();
    let others = web.log().len() - of_slow.len();
    assert!(of_slow.len() >= 6 && others >= 12, "{} and {others}", of_slow.len());
}

#[test]
fn regular_expressions_choose_urls_beside_wildcards() {
    const SITE: &[Entry] = &[
        (
            "/",
            &[],
            "<p>Home.</p><a href=/2024/a>1</a><a href=/2024/a?print=1>2</a><a href=/x/2024/b>3</a><a href=/keep>4</a>",
        ),
        ("/2024/a", &[], "<p>A of the year.</p>"),
        ("/x/2024/b", &[], "<p>B.</p>"),
        ("/keep", &[], "<p>Kept.</p>"),
    ];
    let pages = Pages::serve(Carrier::Plain, SITE);
    let folder = tempfile::tempdir().unwrap();
    let (seed, out) = (format!("http://{}/", pages.address), folder.path().join("crawl"));
    let words = ["--include", "re:^http://[^/]+/20[0-9]{2}/", "--include", "*/keep", "--exclude", "re:[?&]print="];
    let done = run(pith().args(["crawl", &seed, "--delay", "0s", "--allow-private", "--out"]).arg(&out).args(words));
    assert!(matches!(done.code, 0 | 3), "{}", done.stderr);
    let paths: BTreeSet<String> = stored(&out).iter().map(|url| url[seed.len() - 1..].to_owned()).collect();
    assert_eq!(paths, ["/", "/2024/a", "/keep"].map(String::from).into());
}

#[test]
fn what_pages_and_manners_ask_for_is_said_once() {
    const ASKING: &[Entry] = &[
        ("/", &[], "<p>Home.</p><a href=/quiet>1</a><a href=/head>2</a>"),
        ("/quiet", &[], "<meta name=robots content=noindex><p>Do not keep me.</p>"),
        ("/head", &[("x-robots-tag", "noindex, nofollow")], "<p>My header asks.</p>"),
    ];
    let pages = Pages::serve(Carrier::Plain, ASKING);
    let folder = tempfile::tempdir().unwrap();
    let resolve = format!("own.test={}", pages.address);
    let crawl = |name: &str, words: &[&str]| {
        let usual = ["crawl", "http://own.test/", "--delay", "0s", "--resolve", &resolve, "--out"];
        run(pith().args(usual).arg(folder.path().join(name)).args(words)).stderr
    };
    let said = crawl("plain", &[]);
    assert!(said.contains("2 pages say noindex") && said.contains("`--noindex` obeys"), "{said}");
    assert!(said.contains("1 page says nofollow") && said.contains("`--contact`"), "{said}");
    assert!(!said.contains('\r'), "no line is redrawn where there is no terminal: {said:?}");
    assert_eq!(crawl("told", &["--noindex", "--nofollow", "--contact", "me@example.org"]), "");
    assert_eq!(crawl("quiet", &["--quiet"]), "");
}

//! `pith crawl` and the ways to a host: shared addresses, proxies, TLS, HTTP/2, passwords; and what pages ask for.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Output;
use std::time::{Duration, Instant};

use pith_web::{Addresses, Request, RunningWeb, Web, WebConfig};

use crate::crawl::{TOLERANCE, check_gaps, crawl_command, pith, report, stored};
use crate::pages::{Carrier, Entry, Pages, certificate};

/// A crawl of a web whose hosts are found without `--resolve`.
#[track_caller]
fn crawl_unresolved(seeds: &[String], out: &Path, words: &[&str]) -> Output {
    let output = pith().arg("crawl").args(seeds).arg("--out").arg(out).arg("--quiet").args(words).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 3)), "{:?}: {stderr}", output.status.code());
    output
}

fn distinct(urls: Vec<String>) -> BTreeSet<String> {
    let n_urls = urls.len();
    let distinct: BTreeSet<String> = urls.into_iter().collect();
    assert_eq!(distinct.len(), n_urls, "a page was stored twice");
    distinct
}

fn everything(web: &RunningWeb) -> BTreeSet<String> {
    let mut all = web.truth().reachable(web.seeds());
    all.extend(web.truth().orphans());
    all
}

/// The most requests that were open at one time.
fn most_at_once(requests: &[Request]) -> usize {
    let open_at =
        |at: Duration| requests.iter().filter(|one| one.at <= at && one.ended.is_none_or(|ended| ended > at)).count();
    requests.iter().map(|request| open_at(request.at)).max().unwrap_or(0)
}

#[test]
fn hosts_that_share_an_address_take_turns() {
    let config = WebConfig {
        hosts: 10,
        pages_per_host: 4,
        addresses: Addresses::Ports,
        latency: Duration::from_millis(150),
        ..WebConfig::default()
    };
    let delay = Duration::from_millis(240);
    for per_ip in [1, 3] {
        let web = Web::start(config.clone()).unwrap();
        let out = tempfile::tempdir().unwrap();
        let share = per_ip.to_string();
        let words = ["--delay", "240ms", "--per-ip", &share, "--allow-private", "--scope", "any"];
        crawl_unresolved(web.seeds(), out.path(), &words);
        assert_eq!(distinct(stored(out.path())), everything(&web));
        check_gaps(&web, |_| delay);
        let mut requests = web.log();
        assert!(most_at_once(&requests) <= per_ip, "{} at once, {per_ip} allowed", most_at_once(&requests));
        requests.sort_by_key(|request| request.at);
        for pair in requests.windows(2) {
            let gap = pair[1].at - pair[0].at;
            assert!(gap + TOLERANCE >= delay / per_ip as u32, "the address was asked again after {gap:?}");
        }
    }
}

#[test]
fn a_proxy_is_asked_for_everything() {
    let web = Web::start(WebConfig { hosts: 3, pages_per_host: 5, ..WebConfig::default() }).unwrap();
    let out = tempfile::tempdir().unwrap();
    // Only the proxy resolves these names.
    let proxy = format!("http://{}", web.address());
    crawl_unresolved(web.seeds(), out.path(), &["--proxy", &proxy, "--delay", "0s", "--scope", "any"]);
    assert_eq!(distinct(stored(out.path())), everything(&web));
}

#[test]
fn a_proxy_is_asked_for_no_address_that_is_not_public() {
    let proxy = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    proxy.set_nonblocking(true).unwrap();
    let name = format!("http://{}", proxy.local_addr().unwrap());
    let out = tempfile::tempdir().unwrap();
    let seeds = ["http://10.1.2.3/", "http://169.254.169.254/latest", "http://[fd00::1]/", "http://[3fff::1]/"];
    let words = ["--proxy", &name, "--delay", "0s", "--quiet", "--time", "20s", "--out"];
    let output = pith().arg("crawl").args(seeds).args(words).arg(out.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let asked = proxy.accept().map(|_| ()).map_err(|error| error.kind());
    assert_eq!(asked, Err(std::io::ErrorKind::WouldBlock), "the proxy was asked");
}

#[test]
fn a_password_goes_to_its_host_and_to_no_other() {
    let web = Web::start(WebConfig { hosts: 3, pages_per_host: 5, ..WebConfig::default() }).unwrap();
    let out = tempfile::tempdir().unwrap();
    let named = web.hosts()[1].clone();
    let auth = format!("{named}=user:secret");
    let output =
        crawl_command(&web, out.path(), &["--auth", &auth, "--delay", "0s", "--scope", "any"]).output().unwrap();
    assert!(output.status.success());
    let (mut n_with, mut n_without) = (0, 0);
    for request in web.log() {
        let sent = request.headers.get("authorization").map(|value| value.to_str().unwrap().to_owned());
        if request.host == named {
            assert_eq!(sent.as_deref(), Some("Basic dXNlcjpzZWNyZXQ="), "{}", request.path);
            n_with += 1;
        } else {
            assert_eq!(sent, None, "{} {}", request.host, request.path);
            n_without += 1;
        }
    }
    assert!(n_with > 0 && n_without > 0);
}

#[test]
fn an_interrupted_crawl_drains_and_goes_on() {
    let latency = Duration::from_millis(60);
    let web = Web::start(WebConfig { hosts: 8, pages_per_host: 30, latency, ..WebConfig::default() }).unwrap();
    let out = tempfile::tempdir().unwrap();
    let words = ["--delay", "0s", "--scope", "any", "--no-sitemaps"];
    let child = crawl_command(&web, out.path(), &words).spawn().unwrap();
    let started = Instant::now();
    while web.totals().requests < 60 && started.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let killed = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(report(out.path())["stopped"], "interrupted");
    let first = distinct(stored(out.path()));
    let expected = web.truth().reachable(web.seeds());
    assert!(!first.is_empty() && first.len() < expected.len(), "{} of {}", first.len(), expected.len());
    let answered = web.log().iter().filter(|request| request.status == 200 && request.path != "/robots.txt").count();
    assert_eq!(first.len(), answered, "what was on its way was kept");
    assert!(crawl_command(&web, out.path(), &words).status().unwrap().success());
    assert_eq!(distinct(stored(out.path())), expected);
    let asked: Vec<(String, String)> = web
        .log()
        .into_iter()
        .filter(|request| request.status == 200 && request.path != "/robots.txt")
        .map(|request| (request.host, request.path))
        .collect();
    assert_eq!(asked.iter().collect::<BTreeSet<_>>().len(), asked.len(), "a page was asked for twice");
}

#[test]
fn time_and_bytes_end_a_crawl() {
    let latency = Duration::from_millis(40);
    let web = Web::start(WebConfig { pages_per_host: 400, latency, ..WebConfig::default() }).unwrap();
    let out = tempfile::tempdir().unwrap();
    let started = Instant::now();
    let run = |words: &[&str]| {
        let mut all = vec!["--delay", "0s", "--scope", "any"];
        all.extend(words);
        assert!(crawl_command(&web, out.path(), &all).status().unwrap().success());
        report(out.path())
    };
    let first = run(&["--time", "1s"]);
    assert_eq!(first["stopped"], "time");
    assert!(started.elapsed() < Duration::from_secs(11), "it took {:?}", started.elapsed());
    let enough = first["bytes"].as_u64().unwrap() + 500_000;
    let second = run(&["--bytes", &enough.to_string()]);
    assert_eq!(second["stopped"], "bytes");
    let bytes = second["bytes"].as_u64().unwrap();
    // What was on its way when the limit was reached is kept: at most a page for each of the 12 hosts, twice over.
    assert!((enough..enough + 24 * 200_000).contains(&bytes), "{bytes} of {enough}");
    assert_eq!(distinct(stored(out.path())).len() as u64, second["pages"].as_u64().unwrap());
}

const ASKING: &[Entry] = &[
    (
        "/",
        &[],
        "<title>Home</title><p>Home of all.</p><a href=/quiet>a</a><a href=/shy>b</a><a href=/head>c</a>\
         <a rel=nofollow href=/sponsored>d</a><a href=/plain>e</a>",
    ),
    ("/quiet", &[], "<meta name=robots content=noindex><p>Do not keep me.</p><a href=/behind-quiet>on</a>"),
    ("/shy", &[], "<meta name=pith content=nofollow><p>Do not follow me.</p><a href=/behind-shy>on</a>"),
    ("/head", &[("x-robots-tag", "noindex, nofollow")], "<p>My header asks.</p><a href=/behind-head>on</a>"),
    ("/sponsored", &[], "<p>Somebody paid for this.</p>"),
    ("/plain", &[], "<p>Nothing is asked here.</p>"),
    ("/behind-quiet", &[], "<p>Behind the quiet page.</p>"),
    ("/behind-shy", &[], "<p>Behind the shy page.</p>"),
    ("/behind-head", &[], "<p>Behind the page whose header asks.</p>"),
];

#[test]
fn noindex_and_nofollow_are_obeyed_on_request() {
    let check = |words: &[&str], kept: &[&str], unasked: &[&str]| {
        let pages = Pages::serve(Carrier::Plain, ASKING);
        let out = tempfile::tempdir().unwrap();
        let seed = format!("http://{}/", pages.address);
        let mut all = vec!["--delay", "0s", "--allow-private"];
        all.extend(words);
        crawl_unresolved(std::slice::from_ref(&seed), out.path(), &all);
        let paths: BTreeSet<String> = stored(out.path()).iter().map(|url| url[seed.len() - 1..].to_owned()).collect();
        assert_eq!(
            paths.iter().map(String::as_str).collect::<BTreeSet<_>>(),
            kept.iter().copied().collect(),
            "{words:?}"
        );
        let asked = pages.asked();
        assert!(!unasked.iter().any(|path| asked.iter().any(|one| one == path)), "{words:?}: {asked:?}");
    };
    let all: Vec<&str> = ASKING.iter().map(|(path, ..)| *path).collect();
    check(&[], &all, &[]);
    let indexed: Vec<&str> = all.iter().copied().filter(|path| !["/quiet", "/head"].contains(path)).collect();
    check(&["--noindex"], &indexed, &[]);
    let behind = ["/sponsored", "/behind-shy", "/behind-head"];
    let followed: Vec<&str> = all.iter().copied().filter(|path| !behind.contains(path)).collect();
    check(&["--nofollow"], &followed, &behind);
}

const SECURE: &[Entry] = &[
    ("/", &[], "<title>Secure</title><p>The door.</p><a href=/one>1</a> <a href=https://www.secure.test/two>2</a>"),
    ("/one", &[], "<p>The first room.</p>"),
    ("/two", &[], "<p>The second room, under another name.</p>"),
];

/// A crawl of [`SECURE`], trusting the authority in a file.
fn crawl_secure(pages: &Pages, seed: &str, authority: &Path, out: &Path) -> Output {
    let resolve = format!("*={}", pages.address);
    pith()
        .args(["crawl", seed, "--resolve", &resolve, "--delay", "0s", "--scope", "domain", "--quiet", "--out"])
        .arg(out)
        .env("SSL_CERT_FILE", authority)
        .output()
        .unwrap()
}

#[test]
fn pages_come_over_tls_with_http_2_and_without() {
    for (carrier, version) in
        [(Carrier::Tls, hyper::Version::HTTP_2), (Carrier::TlsWithoutHttp2, hyper::Version::HTTP_11)]
    {
        let pages = Pages::serve(carrier, SECURE);
        let out = tempfile::tempdir().unwrap();
        let output = crawl_secure(&pages, "https://secure.test/", &certificate("authority.pem"), out.path());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let expected = ["https://secure.test/", "https://secure.test/one", "https://www.secure.test/two"];
        assert_eq!(distinct(stored(out.path())), expected.map(String::from).into());
        assert_eq!(pages.version(), Some(version), "{:?}", pages.asked());
    }
}

#[test]
fn a_certificate_that_is_not_to_be_trusted_ends_the_conversation() {
    let pages = Pages::serve(Carrier::Tls, SECURE);
    for (seed, authority) in [
        ("https://secure.test/", "/etc/ssl/certs/ca-certificates.crt".into()),
        ("https://other.test/", certificate("authority.pem")),
    ] {
        let out = tempfile::tempdir().unwrap();
        let output = crawl_secure(&pages, seed, &authority, out.path());
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        assert!(stderr.contains("tls-error"), "{stderr}");
        assert_eq!(pages.asked(), Vec::<String>::new(), "no request was sent to an unverified server");
    }
}

#[test]
fn a_robots_txt_that_leads_to_a_forbidden_address_closes_its_host() {
    // Whoever listens here must never be asked.
    let inside = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    inside.set_nonblocking(true).unwrap();
    let target: &'static str = format!("http://{}/robots.txt", inside.local_addr().unwrap()).leak();
    let headers: &'static [(&str, &str)] = vec![("location", target)].leak();
    let entries: &'static [Entry] = vec![("/robots.txt", headers, ""), ("/", &[], "<p>A page.</p>")].leak();
    let pages = Pages::serve(Carrier::Plain, entries);
    let out = tempfile::tempdir().unwrap();
    let resolve = format!("site.test={}", pages.address);
    let output = pith()
        .args(["crawl", "http://site.test/", "--delay", "0s", "--quiet", "--resolve", &resolve, "--out"])
        .arg(out.path())
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("1 robots-unreachable"), "{stderr}");
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(pages.asked().iter().all(|path| path == "/robots.txt"), "{:?}", pages.asked());
    let refused = inside.accept().map(|_| ()).map_err(|error| error.kind());
    assert_eq!(refused, Err(std::io::ErrorKind::WouldBlock), "somebody connected to {target}");
}

//! URLs: parsing, resolving and the one spelling.

use pith_crawler::{canonicalize, join, parse_seed, registrable_domain, resolve};
use serde_json::Value;
use url::Url;

use super::suite::{Tally, cases, own_and, text_or_hex};

#[test]
fn registrable_domains() {
    let cases = own_and("domains", "psl_registrable_domain");
    let mut tally = Tally::new("psl_registrable_domain");
    for case in &cases {
        // Hosts arrive here as the URL parser spells them: lower case, ASCII.
        let input = case["input"].as_str().unwrap_or("");
        let spelled = |text: &str| Url::parse(&format!("http://{text}/")).ok()?.host_str().map(str::to_owned);
        let domain = spelled(input).and_then(|host| registrable_domain(&host).map(str::to_owned));
        let expected = case["registrable_domain"].as_str().and_then(spelled);
        tally.count(domain == expected, || None, || format!("{case} got {domain:?}"));
    }
    tally.finish();
}

#[test]
fn crawler_commons_normal_forms() {
    let cases = own_and("seeds", "urlnorm_crawler_commons");
    let mut tally = Tally::new("urlnorm_crawler_commons");
    for case in &cases {
        let got = parse_seed(case["input"].as_str().unwrap()).map(String::from);
        let passed = got.as_deref() == case["expected"].as_str();
        tally.count(passed, || normal_form_reason(case), || format!("{case} got {got:?}"));
    }
    tally.finish();
}

fn is_http(value: &Value) -> bool {
    value.as_str().is_none_or(|url| url.starts_with("http:") || url.starts_with("https:"))
}

fn normal_form_reason(case: &Value) -> Option<&'static str> {
    let expected = case["expected"].as_str().unwrap_or("");
    if !is_http(&case["expected"]) {
        return Some("not http: a crawler does not fetch it");
    }
    if expected == "http:/" {
        return Some("no host: not a URL");
    }
    if !expected.is_ascii() {
        return Some("an option of the suite writes hosts in Unicode; we write the ASCII form that DNS knows");
    }
    expected.contains("[::ffff:").then_some("WHATWG writes an IPv4 address within IPv6 in hexadecimal")
}

#[test]
fn crawler_commons_resolution() {
    let cases = own_and("references", "urlresolve_crawler_commons");
    let mut tally = Tally::new("urlresolve_crawler_commons");
    for case in &cases {
        let [reference, base, expected] = [0, 1, 2].map(|at| case["row"][at].as_str().unwrap_or(""));
        let base = Url::parse(base).or_else(|_| Url::parse("http://base.invalid/")).unwrap();
        let got = resolve(&base, reference);
        // The expected URL in our spelling: fragments and the case of `%2f` are another suite's business.
        let passed = got == canonicalize(Url::parse(expected).unwrap());
        tally.count(passed, || None, || format!("{case} got {got:?}"));
    }
    tally.finish();
}

#[test]
fn w3lib_canonical() {
    let Some(cases) = cases("url_w3lib_canonicalize") else { return };
    let mut tally = Tally::new("url_w3lib_canonicalize");
    for case in &cases {
        let got = w3lib_input(&case["args"][0]).as_deref().and_then(parse_seed).map(String::from);
        let passed = got.as_deref() == case["expected"].as_str();
        tally.count(passed, || w3lib_reason(case), || format!("{case} got {got:?}"));
    }
    tally.finish();
}

#[test]
fn w3lib_safe() {
    let Some(cases) = cases("url_w3lib_safe_url") else { return };
    let mut tally = Tally::new("url_w3lib_safe_url");
    for case in &cases {
        let got = w3lib_input(&case["args"][0]).and_then(|text| Url::parse(&text).ok());
        // The library leaves out a lone slash and writes default ports: both texts must mean the same URL, or the
        // same page in our spelling.
        let expected = case["expected"].as_str().and_then(|text| Url::parse(text).ok());
        let page = |url: &Option<Url>| url.clone().and_then(canonicalize);
        let passed = got == expected || (page(&got).is_some() && page(&got) == page(&expected));
        tally.count(passed, || w3lib_reason(case), || format!("{case} got {got:?}"));
    }
    tally.finish();
}

/// Text, bytes, or the six parts of Python's `urlparse`.
fn w3lib_input(argument: &Value) -> Option<String> {
    if let Some(parts) = argument.as_array() {
        let [scheme, host, path, parameters, query, _] = [0, 1, 2, 3, 4, 5].map(|at| parts[at].as_str().unwrap_or(""));
        let parameters = if parameters.is_empty() { String::new() } else { format!(";{parameters}") };
        return Some(format!("{scheme}://{host}{path}{parameters}?{query}"));
    }
    text_or_hex(argument).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

fn w3lib_reason(case: &Value) -> Option<&'static str> {
    let [input, expected] = [&case["args"][0], &case["expected"]].map(|value| value.as_str().unwrap_or(""));
    if case["kwargs"].as_object().is_some_and(|options| !options.is_empty()) {
        return Some("with an option that we do not have");
    }
    if !is_http(&case["expected"]) {
        return Some("not http: a crawler does not fetch it");
    }
    if case["args"][0].is_object() {
        return Some("bytes that are not UTF-8; links are decoded by the page's encoding before they are parsed");
    }
    if input.contains("[v6a") {
        return Some("not an IPv6 address: not a URL");
    }
    if input.contains('@') {
        return Some("user information: never sent, or escaped by WHATWG's rules");
    }
    if case["test"].as_str()?.starts_with("test_keep_blank") {
        return Some("a parameter without a value is spelled without `=`");
    }
    if expected.contains(',') && input.contains("%2") {
        return Some("a reserved character and its escape may differ (RFC 3986 2.2); we keep them apart");
    }
    if !expected.is_ascii() {
        return Some("the library keeps a host that is no name; we refuse or encode it");
    }
    None
}

#[test]
fn web_platform_urls() {
    let cases = own_and("joined", "url_wpt_urltestdata");
    let mut tally = Tally::new("url_wpt_urltestdata");
    for case in &cases {
        let base = case["base"].as_str().map(Url::parse);
        let input = case["input"].as_str().unwrap();
        let got = match base {
            Some(Ok(base)) => join(&base, input, encoding_rs::UTF_8),
            Some(Err(_)) => None,
            None => Url::parse(input).ok(),
        };
        let passed = got.as_ref().map(Url::as_str) == case["href"].as_str();
        tally.count(passed, || platform_reason(case), || format!("{case} got {:?}", got.as_ref().map(Url::as_str)));
    }
    tally.finish();
}

fn platform_reason(case: &Value) -> Option<&'static str> {
    if !is_http(&case["href"]) {
        return Some("not http: a crawler does not fetch it");
    }
    broken_punycode(case["href"].as_str()?)
}

fn broken_punycode(text: &str) -> Option<&'static str> {
    text.contains("xn--")
        .then_some("the url crate refuses broken Punycode, as the standard did until 2024; no such host exists")
}

#[test]
fn web_platform_hosts() {
    let first = own_and("hosts", "url_wpt_toascii");
    let second = cases("url_wpt_idna_v2").unwrap_or_default();
    for (suite, cases) in [("url_wpt_toascii", first), ("url_wpt_idna_v2", second)] {
        let mut tally = Tally::new(suite);
        for case in &cases {
            let input = case["input"].as_str().unwrap();
            let got = Url::parse(&format!("https://{input}/x")).ok().and_then(|url| url.host_str().map(str::to_owned));
            let passed = got.as_deref() == case["output"].as_str().filter(|output| !output.is_empty());
            let reason = || {
                // Our own cases have no id, and no reason to differ.
                case["id"].as_str()?;
                match case["output"].as_str() {
                    Some(output) => broken_punycode(output),
                    None => Some("assigned in a later Unicode than the url crate's tables"),
                }
            };
            tally.count(passed, reason, || format!("{case} got {got:?}"));
        }
        tally.finish();
    }
}

#[test]
fn web_platform_percent_encoding() {
    let cases = own_and("queries", "url_wpt_percent_encoding");
    let mut tally = Tally::new("url_wpt_percent_encoding");
    for case in &cases {
        for (label, expected) in case["output"].as_object().unwrap() {
            let encoding = encoding_rs::Encoding::for_label(label.as_bytes()).unwrap();
            let base = Url::parse("http://x/").unwrap();
            let url = join(&base, &format!("?{}", case["input"].as_str().unwrap()), encoding);
            let got = url.and_then(|url| url.query().map(str::to_owned));
            tally.count(got.as_deref() == expected.as_str(), || None, || format!("{case} {label} got {got:?}"));
        }
    }
    tally.finish();
}

//! Charset detection on our own pages, and against the cases of html5lib, the Web Platform Tests and w3lib.
//!
//! A miss has a reason in the table of its suite; a new one fails the test.

mod shared;

use std::collections::BTreeMap;

use encoding_rs::Encoding;
use pith_extractor::charset;
use serde_json::Value;

type Misses = BTreeMap<&'static str, usize>;

/// Prints the figures of a suite and compares its misses with those accepted.
#[track_caller]
fn settle(suite: &str, n_cases: usize, misses: Misses, accepted: Misses) {
    let missed: usize = misses.values().sum();
    println!("{suite}: {} of {n_cases} passed", n_cases - missed);
    for (reason, count) in &misses {
        println!("  {count:4} {reason}");
    }
    assert_eq!(misses, accepted);
}

#[test]
fn labels_mean_what_their_names_say() {
    for (label, expected) in [
        ("utf8", Some("UTF-8")),
        ("Latin1", Some("windows-1252")),
        ("us-ascii", Some("windows-1252")),
        ("x-sjis", Some("Shift_JIS")),
        ("gb2312", Some("GBK")),
        ("big5-hkscs", Some("Big5")),
        ("ks_c_5601-1987", Some("EUC-KR")),
        ("koi8", Some("KOI8-R")),
        ("cp1250", Some("windows-1250")),
        ("utf-9", None),
        ("", None),
    ] {
        assert_eq!(charset::for_label(label).map(Encoding::name), expected, "{label}");
    }
}

#[track_caller]
fn check_sniffed(page: &[u8], content_type: Option<&str>, encoding: &str, text: &str) {
    let decoded = charset::decode(page, content_type);
    assert_eq!(decoded.encoding.name(), encoding);
    assert!(decoded.text.contains(text), "{} has no {text}", decoded.text);
}

#[test]
fn our_own_pages_are_decoded_as_they_say_or_as_their_bytes_do() {
    let by_header = Some("text/html; charset=windows-1250");
    check_sniffed(b"<p>\x8Ekola", by_header, "windows-1250", "Žkola");
    check_sniffed(b"<meta charset=koi8-r><p>\xD2\xC5\xCB\xC1", None, "KOI8-R", "река");
    check_sniffed(b"<META HTTP-EQUIV='Content-Type' CONTENT='text/html; charset=big5'>\xAAe", None, "Big5", "河");
    check_sniffed(b"<!-- <meta charset=koi8-r> --><meta charset=gbk>\xBA\xD3", None, "GBK", "河");
    check_sniffed(
        "<meta charset=koi8-r><p>Fähre über den See nach Königsförde".as_bytes(),
        None,
        "UTF-8",
        "Königsförde",
    );
    check_sniffed(b"\xEF\xBB\xBF<meta charset=koi8-r><p>tea", None, "UTF-8", "tea");
    check_sniffed(b"\xFF\xFE<\0p\0>\0\xB3\x6C", by_header, "UTF-16LE", "河");
    check_sniffed(b"<meta charset=utf-16><p>tea", None, "UTF-8", "tea");
}

#[test]
fn labels_mean_what_the_standard_says() {
    let Some(cases) = shared::cases("encoding_labels") else { return };
    let mut misses = Misses::new();
    for case in &cases {
        let label = case["label"].as_str().expect("label");
        let expected = case["name"].as_str().expect("name");
        let found = charset::for_label(label).map(Encoding::name);
        if found != Some(expected) {
            println!("{label}: {found:?}, expected {expected}");
            *misses.entry("not accepted").or_default() += 1;
        }
    }
    settle("encoding_labels", cases.len(), misses, Misses::new());
}

const IN_SCRIPT: &str = "a <meta> in a script: the Web Platform Tests say that it does not count";

const UNFIT: &str = "declared, but the bytes are UTF-8 throughout: the bytes win";

#[test]
fn encodings_are_sniffed_as_html5lib_says() {
    let Some(cases) = shared::cases("html_encoding_sniff") else { return };
    let mut misses = Misses::new();
    for case in &cases {
        let bytes = shared::base64(case["data_base64"].as_str().expect("data"));
        let expected = charset::for_label(case["encoding"].as_str().expect("encoding")).expect("a known encoding");
        let found = charset::decode(&bytes, None).encoding;
        if found != expected {
            let text = String::from_utf8_lossy(&bytes);
            let reason = if text.contains("<script type=\"text/plain\"><meta") {
                IN_SCRIPT
            } else if found == encoding_rs::UTF_8 && charset::declared(&bytes) == Some(expected) {
                UNFIT
            } else {
                "not accepted"
            };
            println!("{}: {}, expected {}: {:.120}", case["id"], found.name(), expected.name(), text);
            *misses.entry(reason).or_default() += 1;
        }
    }
    settle("html_encoding_sniff", cases.len(), misses, Misses::from([(IN_SCRIPT, 1), (UNFIT, 1)]));
}

#[test]
fn pages_of_the_web_platform_tests_are_decoded_as_browsers_do() {
    let Some(cases) = shared::cases("html_charset_pages_wpt") else { return };
    let mut misses = Misses::new();
    for case in &cases {
        let bytes = shared::base64(case["data_base64"].as_str().expect("data"));
        let decoded = charset::decode(&bytes, None);
        let text = decoded.text.as_ref();
        let passed = if let Some(expected) = case["characterSet"].as_str() {
            decoded.encoding.name() == expected
        } else if text.contains("Test: ") {
            // A reference page shows `ж`; the page either must look like it or must not.
            text.contains("Test: ж") == text.contains("rel=\"match\"")
        } else if case["file"] == "meta-commented-out.html" {
            decoded.encoding.name() != "ISO-8859-8"
        } else if case["file"] == "inheritance-bogus-meta-utf-8.html" {
            decoded.encoding.name() == "UTF-8"
        } else if case["file"] == "without-inheritance.html" {
            decoded.encoding.name() == "UTF-16LE"
        } else {
            decoded.encoding.name() == "windows-1253"
        };
        if !passed {
            println!("{}: {} {:?}", case["file"], decoded.encoding.name(), decoded.source);
            *misses.entry("not accepted").or_default() += 1;
        }
    }
    settle("html_charset_pages_wpt", cases.len(), misses, Misses::new());
}

const UTF_32: &str = "UTF-32: no browser reads it, and the standard has no such encoding";
const ASCII: &str = "ASCII or given default: w3lib names another encoding for the same text";
const PYTHON_NAME: &str = "a name that only Python knows";

const OTHER_META: &str = "which <meta> counts: w3lib is looser about spelling and stricter about place than browsers";
const UNMARKED: &str = "UTF-16 without a mark: the standard says little-endian";

#[test]
fn w3lib_agrees() {
    let Some(cases) = shared::cases("encoding_w3lib") else { return };
    let mut misses = Misses::new();
    for case in &cases {
        if let Err(found) = w3lib_case(case) {
            let written = case.to_string();
            let names = ["gb18030_2000", "utf-16-be", "utf-16-le", "big5hkscs"];
            let reason = if written.contains("utf-32") {
                UTF_32
            } else if case["kwargs"].as_object().is_some_and(|map| !map.is_empty()) || written.contains("\"utf8\"") {
                ASCII
            } else if names.iter().any(|name| case["args"].to_string().contains(name)) {
                PYTHON_NAME
            } else if case["fn"] == "html_body_declared_encoding" {
                OTHER_META
            } else if written.contains("utf-16") {
                UNMARKED
            } else {
                println!("{:.300}\n  found {found}", written);
                "not accepted"
            };
            *misses.entry(reason).or_default() += 1;
        }
    }
    let accepted = [(UTF_32, 8), (ASCII, 2), (PYTHON_NAME, 7), (OTHER_META, 5), (UNMARKED, 1)];
    settle("encoding_w3lib", cases.len(), misses, Misses::from(accepted));
}

/// Runs a case with our function for the same question.
fn w3lib_case(case: &Value) -> Result<(), String> {
    let argument = |index: usize| &case["args"][index];
    let expected = &case["expected"];
    let same = |found: Option<&'static Encoding>, expected: &Value| {
        let name = found.map(Encoding::name);
        if found == expected.as_str().and_then(python_encoding) { Ok(()) } else { Err(format!("{name:?}")) }
    };
    match case["fn"].as_str().expect("a function") {
        "http_content_type_encoding" => same(argument(0).as_str().and_then(charset::from_content_type), expected),
        "html_body_declared_encoding" => same(charset::declared(&bytes(argument(0))), expected),
        "resolve_encoding" => same(argument(0).as_str().and_then(|label| charset::for_label(label.trim())), expected),
        "read_bom" => {
            let bytes = bytes(argument(0));
            same(Encoding::for_bom(&bytes).map(|(encoding, _)| encoding), &expected[0])
        }
        "to_unicode" => {
            let encoding = argument(1).as_str().and_then(charset::for_label).ok_or("no such encoding")?;
            let bytes = bytes(argument(0));
            let (text, _) = encoding.decode_without_bom_handling(&bytes);
            if *expected == text.as_ref() { Ok(()) } else { Err(format!("{text:.80}")) }
        }
        "html_to_unicode" => {
            let bytes = bytes(argument(1));
            let decoded = charset::decode(&bytes, argument(0).as_str());
            same(Some(decoded.encoding), &expected[0])?;
            if expected[1] == decoded.text.as_ref() { Ok(()) } else { Err(decoded.text.into_owned()) }
        }
        other => Err(format!("unknown function {other}")),
    }
}

fn bytes(value: &Value) -> Vec<u8> {
    match value["hex"].as_str() {
        Some(hex) => (0..hex.len() / 2)
            .map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).expect("hexadecimal digits"))
            .collect(),
        None => value.as_str().unwrap_or_default().as_bytes().to_vec(),
    }
}

/// Our encoding for one of Python's.
fn python_encoding(name: &str) -> Option<&'static Encoding> {
    match name {
        "big5hkscs" => charset::for_label("big5"),
        // Python has no GBK as browsers read it; w3lib takes the larger one.
        "gb18030" => charset::for_label("gbk"),
        "utf-16-be" => charset::for_label("utf-16be"),
        "utf-16-le" => charset::for_label("utf-16le"),
        _ => charset::for_label(name),
    }
}

//! `pith extract --rules`: selectors for the sites that need them, for a page and for a batch.

use super::program::pith_in;

const PAGE: &str = "<title>Rain - The Paper</title><body><div>Menu of many other things to read elsewhere.</div>\
<h2 class=head>Rain in <i>May</i></h2><span class=who>Ana Lima</span><span class=when>10 de maio de 2022</span>\
<section id=story><p>It rained in the hills all day<sup class=note>1</sup>, and nobody minded.</p>\
<p class=advert>Buy an umbrella today and save a lot of money.</p><p>Then it stopped.</p></section>";

const RULES: &str = "# one site\n[\"example.com\"]\ncontent = [\"#story\"]\ndrop = [\".advert\", \"sup.note\"]\n\
title = \"h2.head\"\nauthor = \".who\"\ndate = \".when\"\n";

#[test]
fn a_page_of_the_site_is_read_by_its_rules_and_others_are_not() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("page.html"), PAGE).expect("a page");
    std::fs::write(folder.path().join("sites.toml"), RULES).expect("rules");
    let read = |url: &str| {
        let words = ["extract", "page.html", "--rules", "sites.toml", "--json", "--sentences", "0", "--url", url];
        let run = pith_in(folder.path(), &words);
        assert_eq!(run.code, 0, "{}", run.stderr);
        serde_json::from_str::<serde_json::Value>(&run.stdout).expect("a document")
    };
    let document = read("https://news.example.com/rain");
    assert_eq!(document["text"], "It rained in the hills all day, and nobody minded.\n\nThen it stopped.");
    assert_eq!(document["title"], "Rain in May");
    assert_eq!((&document["author"], &document["published"]), (&"Ana Lima".into(), &"2022-05-10".into()));
    let other = read("https://example.org/rain");
    assert_ne!(other["title"], "Rain in May");
}

#[test]
fn a_batch_takes_rules_and_remembers_them() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("page.html"), PAGE).expect("a page");
    std::fs::write(folder.path().join("sites.toml"), RULES).expect("rules");
    let run = || pith_in(folder.path(), &["extract", "page.html", "--out", "docs", "--rules", "sites.toml", "--quiet"]);
    let first = run();
    assert_eq!(first.code, 0, "{}", first.stderr);
    std::fs::write(folder.path().join("sites.toml"), RULES.replace("#story", "#tale")).expect("rules");
    let second = run();
    assert_ne!(second.code, 0, "documents made by other rules are not mixed: {}", second.stdout);
}

#[test]
fn a_bad_rule_is_named_with_its_file_and_line() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("page.html"), PAGE).expect("a page");
    std::fs::write(folder.path().join("sites.toml"), RULES.replace("h2.head", "h2..head")).expect("rules");
    let run = pith_in(folder.path(), &["extract", "page.html", "--rules", "sites.toml"]);
    assert_eq!(run.code, 2);
    for said in ["sites.toml", "line 5", "`h2..head` is no CSS selector", "hint:"] {
        assert!(run.stderr.contains(said), "no {said:?} in {}", run.stderr);
    }
    assert_eq!(pith_in(folder.path(), &["extract", "page.html", "--rules", "none.toml"]).code, 2);
}

//! `pith eval extraction` and `pith eval speed` on gold pages of our own, with a peer; `pith eval summaries` and `train-summaries` on
//! summaries of our own.

use std::path::Path;

use super::program::pith_in;

/// A folder with one set of three pages.
fn gold(folder: &Path) {
    let set = folder.join("gold/own");
    std::fs::create_dir_all(&set).expect("a folder");
    let (mut pages, mut truths) = (String::new(), String::new());
    for (id, lang, kind) in [("1", "en", "article"), ("2", "en", "forum"), ("3", "pt", "article")] {
        let text = format!("It rained in the hills all day, and nobody minded {id}. The river rose a little.");
        let html = format!("<title>t</title><nav><a href=/>Home</a></nav><article><p>{text}</p></article>");
        let url = format!("https://example.com/{id}");
        pages += &format!("{}\n", serde_json::json!({ "id": id, "url": url, "lang": lang, "html": html }));
        truths += &format!("{}\n", serde_json::json!({ "id": id, "text": text, "page_type": kind, "lang": lang }));
    }
    std::fs::write(set.join("pages.jsonl"), pages).expect("pages");
    std::fs::write(set.join("truth.jsonl"), truths).expect("truths");
}

#[test]
fn extraction_is_scored_beside_a_peer() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    gold(folder.path());
    // A peer that gives back what it was given: all of the page.
    let peer = "all=sed 's/\"html\":/\"text\":/'";
    let words = [
        "eval",
        "extraction",
        "--data",
        "gold",
        "--peer",
        peer,
        "--predictions",
        "texts",
        "--page",
        "worst.html",
        "--json",
    ];
    let run = pith_in(folder.path(), &words);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let report: serde_json::Value = serde_json::from_str(&run.stdout).expect("a report");
    let (ours, theirs) = (&report["sets"]["own"], &report["peers"]["all"]["sets"]["own"]);
    assert_eq!((&ours["pages"], &ours["page_types"]["article"]["pages"]), (&3.into(), &2.into()));
    assert!(ours["bow_f1"].as_f64() > theirs["bow_f1"].as_f64(), "{report}");
    assert!(theirs["behind_ours"]["low"].as_f64().is_some_and(|low| low > 0.0), "{report}");
    let texts = std::fs::read_to_string(folder.path().join("texts/own.jsonl")).expect("our texts");
    assert!(texts.lines().count() == 3 && texts.contains("It rained in the hills"));
    assert!(folder.path().join("texts/all/own.jsonl").is_file());
    let page = std::fs::read_to_string(folder.path().join("worst.html")).expect("a page");
    assert!(page.contains("<details>") && !page.contains("<nav>"));
}

#[test]
fn floors_are_pinned_and_held() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    gold(folder.path());
    let floors = ["eval", "extraction", "--data", "gold", "--floors", "floors.json"];
    let pinned = pith_in(folder.path(), &[&floors[..], &["--pin"]].concat());
    assert_eq!(pinned.code, 0, "{}", pinned.stderr);
    assert_eq!(pith_in(folder.path(), &floors).code, 0);
    let path = folder.path().join("floors.json");
    let file = std::fs::read_to_string(&path).expect("floors");
    let mut higher: serde_json::Value = serde_json::from_str(&file).expect("JSON");
    higher["sets"]["own"]["scores"]["bow_f1"] = 1.5.into();
    std::fs::write(&path, higher.to_string()).expect("floors");
    let fallen = pith_in(folder.path(), &floors);
    assert!(fallen.code == 1 && fallen.stderr.contains("own: bow_f1"), "{}", fallen.stderr);
}

#[test]
fn speeds_are_compared_with_a_peers_own_clock() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    gold(folder.path());
    let peer = "slow=sed 's/\"html\":.*/\"text\":\"\",\"seconds\":0.5}/'";
    let words = ["eval", "speed", "--data", "gold", "--every", "1", "--rounds", "2", "--peer", peer, "--json"];
    let run = pith_in(folder.path(), &words);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let report: serde_json::Value = serde_json::from_str(&run.stdout).expect("a report");
    let [ours, slow] = &report["methods"].as_array().expect("methods")[..] else { panic!("{report}") };
    assert_eq!((&ours["name"], &slow["pages_per_second"], &slow["empty"]), (&"pith".into(), &2.0.into(), &3.into()));
    assert!(ours["peak_rss_mb"].as_f64().is_some_and(|peak| peak > 1.0), "{report}");
    assert!(slow["times_slower_than_first"].as_f64().is_some_and(|ratio| ratio > 10.0), "{report}");
}

/// Two sets of six texts, each about a thing that its middle says the most of.
fn summaries(folder: &Path) {
    std::fs::create_dir_all(folder.join("sets")).expect("a folder");
    for set in ["rivers", "roads"] {
        let mut rows = String::new();
        for (id, thing) in ["north", "south", "east", "west", "upper", "lower"].into_iter().enumerate() {
            let sentences = [
                format!("Good morning to everybody in the {thing} hall."),
                format!(
                    "The {thing} {set} were closed after the storm, and the {thing} {set} stay closed until spring."
                ),
                "Nobody was hurt.".to_owned(),
                format!("The storm came over the {thing} hills at night."),
                format!("Engineers repair the {set} after every storm until spring."),
            ];
            let reference = format!("The storm closed the {thing} {set} until spring.");
            let row =
                serde_json::json!({"id": id.to_string(), "lang": "en", "sentences": sentences, "summary": reference});
            rows += &format!("{row}\n");
        }
        std::fs::write(folder.join(format!("sets/{set}.jsonl")), rows).expect("a set");
    }
}

#[test]
fn weights_are_fitted_written_and_the_same_again() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    summaries(folder.path());
    let words = ["eval", "train-summaries", "--data", "sets", "--json", "--out"];
    let run = pith_in(folder.path(), &[&words[..], &["once.rs"]].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    let report: serde_json::Value = serde_json::from_str(&run.stdout).expect("a report");
    assert_eq!(report["documents"], serde_json::json!({"rivers": 6, "roads": 6}));
    let rivals = report["lengths"]["3-sentences"]["rivals"].as_array().expect("rivals");
    assert!(rivals.iter().any(|rival| rival["name"] == "textrank") && rivals.len() == 12, "{report}");
    let again = pith_in(folder.path(), &[&words[..], &["again.rs"]].concat());
    assert_eq!(run.stdout, again.stdout);
    let source = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("the weights");
    assert_eq!(source("once.rs"), source("again.rs"));
    let first = report["weights"]["first"].as_f64().expect("a weight");
    assert!(source("once.rs").contains(&format!("first: {first:?}")), "{}", source("once.rs"));
}

#[test]
fn summaries_are_compared_by_pairs_and_what_is_left_out_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let sets = folder.path().join("sets");
    std::fs::create_dir(&sets).unwrap();
    let row = |id: &str, text: &str| serde_json::json!({"id": id, "lang": "en", "title": "The mill", "text": text, "summary": "The mill burned down in May."});
    let long = "The mill burned down in May. Nobody was hurt. The owner will build it again. It stood for a century. \
                The town had loved its mill. Bread will come from elsewhere.";
    let lines: Vec<String> = [row("a", long), row("b", &long.replace("May", "June")), row("short", "One. Two.")]
        .map(|v| v.to_string())
        .into();
    std::fs::write(sets.join("mills.jsonl"), lines.join("\n")).unwrap();
    let peer = "written=while read -r line; do id=$(printf %s \"$line\" | sed 's/.*\"id\":\"\\([^\"]*\\)\".*/\\1/'); \
                echo \"{\\\"id\\\":\\\"$id\\\",\\\"summary\\\":\\\"Fire took an old mill.\\\"}\"; done";
    let words = ["eval", "summaries", "--data", "sets", "--methods", "pith,lead", "--peer", peer];
    let run = pith_in(folder.path(), &[&words[..], &["--json", "--page", "page.html"]].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report["documents"]["mills"], 2);
    let left_out = &report["left_out"]["mills"]["fewer than 4 sentences"];
    assert_eq!((left_out["documents"].as_u64(), left_out["first"][0].as_str()), (Some(1), Some("short")));
    let length = &report["budgets"]["3-sentences"];
    assert_eq!(length["pairs"].as_array().unwrap().len(), 3, "pith, lead and the peer; the oracle stands aside");
    let written = &length["methods"][2];
    assert_eq!(written["name"], "written");
    assert!(written["measures"]["position"].is_null() && written["measures"]["coverage"].as_f64().unwrap() < 1.0);
    assert!(report["provenance"]["data"]["mills"].as_str().unwrap().starts_with("sha256:"));
    let page = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(page.contains("Fire took an old mill.") && page.contains("reference"), "{page}");
    for (format, sign) in [("csv", "rouge-lsum f1"), ("markdown", "| --- |"), ("latex", "\\begin{tabular}")] {
        let run = pith_in(folder.path(), &[&words[..], &["--format", format]].concat());
        assert!(run.code == 0 && run.stdout.contains(sign), "{format}: {}{}", run.stdout, run.stderr);
    }
}

#[test]
fn methods_are_compared_on_pages_that_have_no_references() {
    let folder = tempfile::tempdir().unwrap();
    let sentence =
        |n: usize| format!("Sentence {n} of this page tells what happened to mill number {} on the river. ", n * n);
    let text: String = (0..12).map(sentence).collect();
    let html = format!("<html lang=en><title>Mills</title><article><h1>Mills</h1><p>{text}</p></article>");
    std::fs::write(folder.path().join("page.html"), html).unwrap();
    let words = ["eval", "summaries", "--pages", "page.html", "--methods", "pith,lead", "--json"];
    let run = pith_in(folder.path(), &words);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report["documents"], 1);
    let lead = &report["budgets"]["3-sentences"][1];
    assert!(lead["measures"]["position"].as_f64().unwrap() < 0.2, "{lead}");
    let shared = lead["agreement"]["pith"].as_f64().unwrap();
    assert!((0.0..=1.0).contains(&shared), "{shared}");
    let run = pith_in(folder.path(), &["eval", "summaries"]);
    assert!(run.code == 2 && run.stderr.contains("--data"), "{}", run.stderr);
}

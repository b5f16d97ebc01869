//! Which documents count as near-duplicates: copies with small changes do, texts that go on to say more do not.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

/// Sentences that share no run of five words with each other, whatever their numbers.
fn sentences(numbers: std::ops::Range<usize>) -> String {
    let sentence = |n: usize| format!("In step {n} the field f{n} of table t{n} moves to place p{n}. ");
    numbers.map(sentence).collect()
}

/// The ids of the documents that `pith corpus dedup` keeps, in their order.
fn kept(documents: &[(&str, String)], flags: &[&str]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let (input, out) = (folder.path().join("documents.jsonl"), folder.path().join("out"));
    let line = |(id, text): &(&str, String)| json!({"id": id, "url": format!("https://{id}.example/"), "text": text});
    let lines: Vec<String> = documents.iter().map(|document| line(document).to_string()).collect();
    fs::write(&input, lines.join("\n")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_pith"));
    command.args(["corpus", "dedup"]).arg(&input).arg("--out").arg(&out).args(flags);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let id = |line: Value| line["id"].as_str().unwrap().to_owned();
    super::corpus::lines_of(&out).into_iter().map(id).collect()
}

/// The notes of a release, as they grow from one release to the next: those of 3.35.0 come again in 3.35.3, behind
/// what is new in it.
fn release_notes() -> [(&'static str, String); 2] {
    [("v3-35-0", sentences(0..60)), ("v3-35-3", sentences(900..946) + &sentences(0..60))]
}

#[test]
fn release_notes_that_repeat_those_before_them_stay_beside_them() {
    assert_eq!(kept(&release_notes(), &[]), ["v3-35-0", "v3-35-3"]);
    let mut reversed = release_notes();
    reversed.reverse();
    assert_eq!(kept(&reversed, &[]), ["v3-35-3", "v3-35-0"]);
    // By their similarity alone, .57 of all n-grams, one of them would go.
    assert_eq!(kept(&release_notes(), &["--containment", "0"]), ["v3-35-0"]);
}

#[test]
fn copies_with_small_changes_go() {
    let text = sentences(0..60);
    let replaced = sentences(0..51) + &sentences(900..909);
    let longer = text.clone() + &sentences(900..912);
    let words = text.replace("step 7 ", "stage 7 ").replace("table t31", "sheet t31").replace("place p50", "spot p50");
    for (change, copy) in [("a block of 15 %", replaced), ("a fifth more at the end", longer), ("words", words)] {
        let documents = [("base", text.clone()), ("copy", copy)];
        assert_eq!(kept(&documents, &[]), ["base"], "{change}");
    }
}

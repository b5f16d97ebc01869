//! `pith eval extraction`: main content against gold pages.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use pith_eval::Error;
use pith_eval::extraction::{GroupScore, SetScore, evaluate, read};

use crate::exit::{Exit, Failure};

/// The words of `pith eval extraction`.
#[derive(clap::Args, Debug)]
#[command(before_help = "Examples:
  pith eval extraction --data gold
  pith eval extraction --data gold --predictions texts --json > scores.json")]
pub struct Args {
    /// The folder of sets, each a folder with pages.jsonl.zst and truth.jsonl
    #[arg(long, value_name = "DIR")]
    pub data: PathBuf,
    /// Write every text to DIR/SET.jsonl as {id, text}
    #[arg(long, value_name = "DIR")]
    pub predictions: Option<PathBuf>,
    /// Print the scores as JSON
    #[arg(long)]
    pub json: bool,
}

/// Reads every gold page, scores it, prints.
pub fn run(args: Args) -> Result<Exit, Failure> {
    let mut files: BTreeMap<String, (PathBuf, BufWriter<File>)> = BTreeMap::new();
    if let Some(folder) = &args.predictions {
        std::fs::create_dir_all(folder).map_err(|source| Error::Write { path: folder.clone(), source })?;
    }
    let scores = evaluate(&args.data, read, |set, page, text| {
        let Some(folder) = &args.predictions else { return Ok(()) };
        if !files.contains_key(set) {
            let path = folder.join(format!("{set}.jsonl"));
            let file = File::create(&path).map_err(|source| Error::Write { path: path.clone(), source })?;
            files.insert(set.to_owned(), (path, BufWriter::new(file)));
        }
        let (path, file) = files.get_mut(set).expect("inserted above");
        writeln!(file, "{}", serde_json::json!({ "id": page.id, "text": text }))
            .map_err(|source| Error::Write { path: path.clone(), source })
    })?;
    for (path, file) in files.into_values() {
        file.into_inner().map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
    }
    eprintln!(
        "note: the compiled model was trained on gold pages; on those pages these are not scores of unseen pages"
    );
    let text = if args.json { format!("{}\n", serde_json::json!({ "sets": scores })) } else { table(&scores) };
    super::print(&text)
}

fn table(scores: &BTreeMap<String, SetScore>) -> String {
    let mut out = format!(
        "{:<24} {:>6}  {:>22}  {:>8}  {:>8}  {:>8}\n",
        "set", "pages", "words F1", "shingles", "ROUGE-L", "snippets"
    );
    for (name, set) in scores {
        line(&mut out, name, &set.all);
        for (kind, group) in set.page_types.iter().filter(|_| set.page_types.len() > 1) {
            line(&mut out, &format!("  {kind}"), group);
        }
        for (language, group) in set.languages.iter().filter(|(_, group)| set.languages.len() > 1 && group.pages >= 5) {
            line(&mut out, &format!("  lang {language}"), group);
        }
    }
    out
}

fn line(out: &mut String, name: &str, group: &GroupScore) {
    let number = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:.3}"));
    let interval = group.bow_f1_interval.map_or(String::new(), |(low, high)| format!(" ({low:.3}–{high:.3})"));
    let _ = writeln!(
        out,
        "{name:<24} {:>6}  {:>22}  {:>8}  {:>8}  {:>8}",
        group.pages,
        number(group.bow_f1) + &interval,
        number(group.shingle_f1),
        number(group.rouge_l),
        number(group.snippet_f1)
    );
}

//! `pith demo`: the whole pipeline, offline, on a web served from memory.
//!
//! Every stage is the command that a user would type: the demo prints it and runs it. What it adds is the web, and the
//! truth to score against.

use std::path::PathBuf;
use std::time::Instant;

use pith_web::{Request, Robots, RunningWeb, Traps, Web, WebConfig};
use serde_json::Value;

use crate::exit::{Exit, Failure};
use crate::invocation;

mod score;

/// The rankings that the demo compares; the last is the default of `pith extract`.
const METHODS: [&str; 3] = ["naive", "tfidf", "pith"];

/// The arguments of `pith demo`.
#[derive(clap::Args, Debug)]
#[command(before_help = "Examples:
  pith demo
  pith demo --out /tmp/first-look")]
pub struct Args {
    /// The folder to write to; it must not exist yet
    #[arg(long, value_name = "DIR", default_value = "pith-demo")]
    pub out: PathBuf,
}

/// Serves, crawls, extracts, summarizes, builds a corpus, scores.
pub fn run(args: Args) -> Result<Exit, Failure> {
    let started = Instant::now();
    if args.out.exists() {
        return Err(Failure::new(format!("{} already exists", args.out.display()))
            .hint("remove it, or choose another folder with `--out DIR`"));
    }
    std::fs::create_dir(&args.out).map_err(|error| {
        Failure::new(format!("{}: cannot make the folder: {error}", args.out.display()))
            .hint("choose another folder with `--out DIR`")
    })?;
    let web = Web::start(config()).map_err(|error| Failure::new(format!("cannot listen on 127.0.0.1: {error}")))?;
    let demo = Demo { folder: args.out, web };
    demo.introduce()?;
    demo.crawl()?;
    demo.extract()?;
    demo.build_corpus()?;
    demo.score()?;
    demo.print_next_steps(started)?;
    Ok(Exit::Done)
}

/// Twenty hosts in four languages and four encodings, with forbidden and repeated pages, redirect loops and some traps.
fn config() -> WebConfig {
    WebConfig {
        hosts: 20,
        pages_per_host: 20,
        links_per_page: 24,
        gzip: true,
        robots: Robots::Private,
        redirects: true,
        exact_duplicates: 0.05,
        near_duplicates: 0.05,
        traps: Traps { session_ids: true, mirror: true, soft_404: true, gzip_bomb: true, ..Traps::default() },
        ..WebConfig::default()
    }
}

struct Demo {
    folder: PathBuf,
    web: RunningWeb,
}

impl Demo {
    fn introduce(&self) -> Result<(), Failure> {
        outln!(
            "{} hosts are served from memory on {}: English, Portuguese and Chinese in four encodings,\n\
             robots.txt, sitemaps, redirects that never end, repeated pages, and four traps.",
            self.web.hosts().len(),
            self.web.address()
        );
        Ok(())
    }

    /// Crawls the web and compares what was asked for with what is there.
    fn crawl(&self) -> Result<(), Failure> {
        let seeds = self.path("seeds.txt");
        std::fs::write(&seeds, self.web.seeds().join("\n") + "\n")
            .map_err(|error| Failure::new(format!("{seeds}: {error}")))?;
        let (out, resolve) = (self.path("crawl"), self.web.resolve());
        let words =
            ["crawl", "--seeds", &seeds, "--out", &out, "--scope", "any", "--delay", "0s", "--resolve", &resolve];
        let report = self.pith(&words)?;
        let truth = self.web.truth();
        let mut there = truth.reachable(self.web.seeds());
        there.extend(truth.orphans());
        let log = self.web.log();
        let asked: std::collections::HashSet<String> =
            log.iter().map(|request| format!("http://{}{}", request.host, request.path)).collect();
        let ordinary = |url: &&String| truth.page(url).is_some_and(|page| page.trap.is_none());
        let there: Vec<&String> = there.iter().filter(ordinary).collect();
        let found = there.iter().filter(|url| asked.contains(**url)).count();
        // Traps have no robots.txt; the copied site repeats links to pages that are forbidden on the original alone.
        let traps: std::collections::HashSet<String> = truth.traps().into_iter().map(|(host, _)| host).collect();
        let is_forbidden = |request: &&Request| request.path.starts_with("/private/") && !traps.contains(&request.host);
        let forbidden = log.iter().filter(is_forbidden).count();
        outln!(
            "  {} pages stored; {found} of the {} pages outside traps found, {forbidden} forbidden pages asked for",
            report["pages"],
            there.len()
        );
        Ok(())
    }

    /// Extracts once per ranking.
    fn extract(&self) -> Result<(), Failure> {
        let crawl = self.path("crawl");
        for method in METHODS {
            let out = self.documents(method);
            let mut words = vec!["extract", crawl.as_str(), "--out", out.as_str(), "--sentences", "4"];
            if method != "pith" {
                words.extend(["--method", method]);
            }
            self.pith(&words)?;
        }
        outln!("  {} documents", score::documents(self.documents("pith").into())?.len());
        Ok(())
    }

    /// From documents to a dataset.
    fn build_corpus(&self) -> Result<(), Failure> {
        let documents = self.documents("pith");
        let [unique, clean, dataset] = ["unique", "clean", "dataset"].map(|name| self.path(name));
        self.pith(&["corpus", "dedup", &documents, "--out", &unique])?;
        outln!("  {} documents are left", score::documents(unique.clone().into())?.len());
        self.pith(&["corpus", "filter", &unique, "--out", &clean, "--min-characters", "200"])?;
        outln!("  {} documents are left", score::documents(clean.clone().into())?.len());
        let page = self.path("stats.html");
        self.pith(&["corpus", "stats", &clean, "--html", &page])?;
        self.pith(&["corpus", "export", &clean, "--out", &dataset, "--title", "The demo's web"])?;
        Ok(())
    }

    /// The documents against the truth.
    fn score(&self) -> Result<(), Failure> {
        let truth = self.web.truth();
        let documents = score::documents(self.documents("pith").into())?;
        outln!("\nmain text, words found and not made up (F1; 1 is perfect)");
        for (name, mean) in score::main_text(&documents, truth) {
            outln!("  {name:<16} {:>4} pages  {:.3}", mean.count, mean.value());
        }
        outln!("\nsummaries of 4 sentences against the 4 that each article was built around (mean of ROUGE-1, 2, L)");
        out!("  {:<10}", "language");
        for method in METHODS {
            out!(" {method:>8}");
        }
        outln!();
        let mut columns = Vec::new();
        for method in METHODS {
            let documents = score::documents(self.documents(method).into())?;
            columns.push(score::summaries(&documents, truth));
        }
        for language in columns[0].keys() {
            out!("  {language:<10}");
            for column in &columns {
                out!(" {:>8.3}", column.get(language).map_or(0.0, score::Mean::value));
            }
            outln!();
        }
        Ok(())
    }

    fn print_next_steps(&self, started: Instant) -> Result<(), Failure> {
        outln!("\nwritten to {} in {:.1} s:", self.folder.display(), started.elapsed().as_secs_f64());
        for (name, what) in [
            ("crawl/pages", "the pages as they came, WARC"),
            ("docs-pith", "text, metadata, links and summaries, JSON lines"),
            ("clean", "without duplicates and without short ones"),
            ("stats.html", "what is in there, with plots"),
            ("dataset", "Parquet with a card"),
        ] {
            outln!("  {:<28} {what}", self.path(name));
        }
        outln!("\nThese pages were made for showing, not for judging. What to type next:");
        outln!("  pith crawl https://example.org/ --out crawl --pages 100");
        outln!("  pith extract crawl --out docs");
        outln!("  pith inspect {}", self.path("crawl"));
        Ok(())
    }

    /// A path inside the demo's folder, as text for a command line.
    fn path(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    fn documents(&self, method: &str) -> String {
        self.path(&format!("docs-{method}"))
    }

    /// Runs one command as it would be typed, in a process of its own, and gives the JSON that it prints.
    fn pith(&self, words: &[&str]) -> Result<Value, Failure> {
        let typed = words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
        outln!("\n$ pith {typed}");
        let output = invocation::command().args(words).args(["--json", "--quiet", "--no-config"]).output()?;
        match output.status.code() {
            // With code 3 the work was done; what was lost is counted and was planted here.
            Some(0 | 3) => Ok(serde_json::from_slice(&output.stdout)?),
            _ => {
                let stderr = String::from_utf8_lossy(&output.stderr);
                Err(Failure::new(format!("`pith {typed}` failed: {}", stderr.trim())))
            }
        }
    }
}

fn quoted(word: &str) -> String {
    if word.contains(['*', ' ', '?', '&', '\'']) { format!("\"{word}\"") } else { word.to_owned() }
}

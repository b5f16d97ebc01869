//! The guides of `docs/guides`: every command in them is run, in order, and must print what the guide shows.
//!
//! A block of `bash` is run in the folder of the guide; a block of `text` right behind it is what the commands print, where
//! `…` stands for anything within a line, and for any lines on a line of its own. Of a block of `crontab` every
//! line's command is run as cron runs it. The names in the guides are hosts of the test web.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use pith_web::{Addresses, RunningWeb, Web, WebConfig};

/// The guides that the tests below follow.
const GUIDES: [&str; 8] =
    ["common-crawl", "compare-methods", "country", "language", "list-of-sites", "many-machines", "markdown", "recrawl"];

fn guides_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/guides")
}

/// One block of code of a guide.
#[derive(Debug)]
struct Block {
    language: String,
    code: String,
    /// The line of the guide that the code begins on.
    line: usize,
}

fn blocks(markdown: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    // A fence ends at one of its own length, so that what is shown may hold shorter ones.
    let mut fence = None;
    for (number, line) in (1..).zip(markdown.lines()) {
        let language = line.trim_start_matches('`');
        let ticks = line.len() - language.len();
        match fence {
            None if ticks >= 3 => {
                blocks.push(Block { language: language.to_owned(), code: String::new(), line: number + 1 });
                fence = Some(ticks);
            }
            Some(open) if ticks == open && language.is_empty() => fence = None,
            Some(_) => {
                let block = blocks.last_mut().expect("a block is open");
                block.code.push_str(line);
                block.code.push('\n');
            }
            None => {}
        }
    }
    assert!(fence.is_none(), "the last block does not end");
    blocks
}

/// Whether a line fits a pattern in which `…` stands for anything.
fn fits(line: &str, pattern: &str) -> bool {
    let mut pieces = pattern.split('…');
    let first = pieces.next().expect("a split has a first piece");
    let Some(mut rest) = line.strip_prefix(first) else { return false };
    let mut is_open_ended = false;
    for piece in pieces {
        let Some(at) = rest.find(piece) else { return false };
        is_open_ended = piece.is_empty();
        rest = &rest[at + piece.len()..];
    }
    rest.is_empty() || is_open_ended
}

/// Whether the lines fit the patterns, one for one; a pattern that is only `…` takes any number of lines.
fn all_fit(lines: &[&str], patterns: &[&str]) -> bool {
    match patterns.split_first() {
        None => lines.is_empty(),
        Some((&"…", rest)) => (0..=lines.len()).any(|skipped| all_fit(&lines[skipped..], rest)),
        Some((pattern, rest)) => lines.first().is_some_and(|line| fits(line, pattern)) && all_fit(&lines[1..], rest),
    }
}

/// A folder to follow a guide in, with the program on the path and the test web behind every name.
struct Place {
    folder: tempfile::TempDir,
    _web: RunningWeb,
}

impl Place {
    fn new() -> Place {
        let config = WebConfig {
            hosts: 20,
            addresses: Addresses::CountryNames,
            exact_duplicates: 0.1,
            near_duplicates: 0.1,
            ..WebConfig::default()
        };
        let web = Web::start(config).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let place = Place { folder, _web: web };
        fs::create_dir(place.path("bin")).unwrap();
        symlink(env!("CARGO_BIN_EXE_pith"), place.path("bin/pith")).unwrap();
        // Where the test web is, and that it need not be spared: what a reader's crawl does without.
        let resolve = place._web.resolve();
        let settings = format!("[crawl]\nresolve = [{resolve:?}]\ndelay = \"0s\"\n[text]\nresolve = [{resolve:?}]\n");
        fs::write(place.path("pith.toml"), settings).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A program of the outside world that the guide calls and the test stands in for.
    fn stand_in(&self, name: &str, script: &str) {
        let path = self.path("bin").join(name);
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Runs a script of the guide and gives what it prints, both streams in their order.
    fn run(&self, shell: &[&str], script: &str, what: &str) -> String {
        let path = format!("{}:{}", self.path("bin").display(), std::env::var("PATH").unwrap());
        let mut command = Command::new(shell[0]);
        command.args(&shell[1..]).arg(format!("exec 2>&1\n{script}")).current_dir(self.folder.path());
        // What settings or colours the developer has must not matter.
        command.env_clear().env("PATH", path).env("HOME", self.folder.path()).env("LANG", "C.UTF-8");
        let output = command.output().expect("the shell starts");
        let said = String::from_utf8(output.stdout).expect("guides print UTF-8");
        assert!(output.status.success(), "{what} ends with {}:\n{script}\n{said}", output.status);
        // The line about the settings that lead to the test web is not for readers.
        said.lines().filter(|line| !line.starts_with("pith.toml: ")).map(|line| format!("{line}\n")).collect()
    }

    /// Runs every command of a guide and compares what they print with what it shows.
    fn follow(&self, guide: &str) {
        let path = guides_folder().join(guide).with_extension("md");
        let markdown = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut printed = None;
        let mut n_run = 0;
        let mut mismatches = String::new();
        for block in blocks(&markdown) {
            let what = format!("{guide}.md:{}", block.line);
            match block.language.as_str() {
                "bash" => {
                    printed = Some(self.run(&["bash", "-euo", "pipefail", "-c"], &block.code, &what));
                    n_run += 1;
                }
                "crontab" => {
                    for line in block.code.lines().filter(|line| !line.starts_with('#')) {
                        // Five fields say when; cron gives the rest to `sh`.
                        let command = line.splitn(6, ' ').nth(5).unwrap_or_else(|| panic!("{what}: {line:?}"));
                        self.run(&["sh", "-c"], command, &what);
                    }
                    printed = None;
                }
                "text" => {
                    if let Some(printed) = printed.take() {
                        // Blanks at the ends of lines are nothing that a reader sees.
                        let [lines, patterns] =
                            [&printed, &block.code].map(|text| text.lines().map(str::trim_end).collect::<Vec<&str>>());
                        if !all_fit(&lines, &patterns) {
                            mismatches += &format!("{what} shows\n{}and not\n{printed}", block.code);
                        }
                    }
                }
                _ => printed = None,
            }
        }
        assert!(mismatches.is_empty(), "{mismatches}");
        assert!(n_run >= 2, "{guide} has too few commands: {n_run}");
    }
}

#[test]
fn every_guide_is_followed_by_a_test_and_named_in_the_summary() {
    let entries = fs::read_dir(guides_folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut names: Vec<String> = entries.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect();
    names.sort();
    assert_eq!(names, GUIDES);
    let summary = fs::read_to_string(guides_folder().join("../SUMMARY.md")).unwrap();
    for guide in GUIDES {
        assert!(summary.contains(&format!("(guides/{guide}.md)")), "SUMMARY.md does not name {guide}");
    }
}

#[test]
fn patterns_of_output_fit_what_they_show_and_nothing_else() {
    assert!(fits("24 pages in 0.3 seconds", "24 pages in … seconds") && fits("24 pages", "24 …") && fits("a", "a"));
    assert!(!fits("25 pages", "24 …") && !fits("24 pages in 0.3 seconds, more", "24 pages in … seconds"));
    assert!(all_fit(&["a", "b", "c"], &["a", "…", "c"]) && all_fit(&["a", "c"], &["a", "…", "c"]));
    assert!(!all_fit(&["a", "b"], &["a"]) && !all_fit(&["a"], &["a", "b"]) && !all_fit(&["b", "a"], &["a", "b"]));
}

#[test]
fn the_guide_to_a_list_of_sites_works_as_it_stands() {
    Place::new().follow("list-of-sites");
}

#[test]
fn the_guide_to_a_country_works_as_it_stands() {
    Place::new().follow("country");
}

#[test]
fn the_guide_to_markdown_works_as_it_stands() {
    Place::new().follow("markdown");
}

#[test]
fn the_guide_to_a_language_works_as_it_stands() {
    Place::new().follow("language");
}

#[test]
fn the_guide_to_recrawling_works_as_it_stands() {
    let place = Place::new();
    fs::create_dir(place.path("corpus")).unwrap();
    fs::copy(place.path("pith.toml"), place.path("corpus/pith.toml")).unwrap();
    place.follow("recrawl");
}

#[test]
fn the_guide_to_comparing_methods_works_as_it_stands() {
    Place::new().follow("compare-methods");
}

#[test]
fn the_guide_to_common_crawl_works_as_it_stands() {
    let place = Place::new();
    // Common Crawl's server, as far as the guide asks it: a list of files, and files.
    let crawl = "mkdir server && cd server
        pith crawl http://news-1.example.br/ --out crawl --shard-format warc.gz --quiet --config ../pith.toml
        mkdir -p crawl-data/CC-MAIN-2026-43/segments/1/warc
        mv crawl/pages/pages-00000.warc.gz crawl-data/CC-MAIN-2026-43/segments/1/warc/CC-MAIN-00000.warc.gz
        echo crawl-data/CC-MAIN-2026-43/segments/1/warc/CC-MAIN-00000.warc.gz |
            gzip > crawl-data/CC-MAIN-2026-43/warc.paths.gz";
    place.run(&["bash", "-euo", "pipefail", "-c"], crawl, "the files");
    let server = place.path("server");
    let curl = format!(
        "#!/bin/sh\nfor url; do :; done\ncat \"{}/${{url#https://data.commoncrawl.org/}}\"\n",
        server.display()
    );
    place.stand_in("curl", &curl);
    place.follow("common-crawl");
}

#[test]
fn the_guide_to_many_machines_works_as_it_stands() {
    if Command::new("parallel").arg("--version").output().is_err() {
        eprintln!("skipped: the guide to many machines, there is no GNU parallel");
        return;
    }
    let place = Place::new();
    let crawl = "mkdir archives
        for site in news-0.example.org news-1.example.br forum-4.example.org; do
            pith crawl http://$site/ --out crawl-$site --shard-format warc.gz --quiet
            mv crawl-$site/pages/pages-00000.warc.gz archives/$site.warc.gz
        done";
    place.run(&["bash", "-euo", "pipefail", "-c"], crawl, "the archives");
    place.follow("many-machines");
}

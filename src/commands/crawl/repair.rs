//! What a crawl holds and its frontier does not know: told, taken over, or rebuilt with `--repair`.

use std::fs;
use std::path::{Path, PathBuf};

use pith_corpus::folder::OwnedFolder;
use pith_corpus::warc::{self, LostShard, ShardPosition};
use pith_crawler::{Breadth, LocalFrontier, LocalOptions, Plan};

use crate::commands::corpus::failure;
use crate::exit::Failure;
use crate::sink::stored_pages;

/// The folders of a crawl.
pub(super) struct Folders<'a> {
    pub(super) out: &'a Path,
    pub(super) frontier: PathBuf,
    pub(super) pages: PathBuf,
}

impl Folders<'_> {
    pub(super) fn of(out: &Path) -> Folders<'_> {
        Folders { out, frontier: out.join("frontier"), pages: out.join("pages") }
    }

    /// A failure with the way out.
    pub(super) fn damaged(&self, message: impl Into<String>) -> Failure {
        let out = self.out.display();
        Failure::new(message).hint(format!(
            "`pith crawl --repair --out {out}` rebuilds what is known from the stored pages; nothing is deleted"
        ))
    }

    /// Adds the way out to an error of the frontier that tells of damage.
    pub(super) fn frontier_failure(&self, error: pith_crawler::Error) -> Failure {
        match error {
            pith_crawler::Error::Damaged { .. } => self.damaged(error.to_string()),
            error => error.into(),
        }
    }

    /// Adds the way out to an error of the shards that tells of damage.
    pub(super) fn shard_failure(&self, error: pith_corpus::Error) -> Failure {
        match error {
            pith_corpus::Error::Damaged { .. } => self.damaged(error.to_string()),
            error => error.into(),
        }
    }

    /// Refuses shards without a frontier: they would be crawled again.
    pub(super) fn check_frontier(&self) -> Result<(), Failure> {
        if LocalFrontier::exists(&self.frontier) || warc::pages_after(&self.pages, ShardPosition::default())?.is_empty()
        {
            return Ok(());
        }
        let journal = self.frontier.join("journal");
        Err(self
            .damaged(format!("{}: the journal is missing or cut short, and there are stored pages", journal.display())))
    }

    /// Refuses a folder with shards that are missing or shorter than what was acknowledged.
    pub(super) fn check_shards(&self, mark: &[u8]) -> Result<(), Failure> {
        if mark.is_empty() {
            return Ok(());
        }
        let lost = warc::lost_shards(&self.pages, ShardPosition::from_bytes(mark))?;
        let Some(first) = lost.first() else { return Ok(()) };
        lost.iter().skip(1).for_each(|shard| sayln!("{}", describe(shard)));
        Err(self.damaged(describe(first)))
    }

    /// Makes pages known that the shards hold and the frontier has not settled.
    pub(super) fn adopt(&self, plan: &Plan, frontier: &LocalFrontier, quiet: bool) -> Result<(), Failure> {
        let mark = ShardPosition::from_bytes(&frontier.sink_position());
        let pages = stored_pages(&self.pages, mark)?;
        let n_pages = pith_crawler::adopt(plan, frontier, pages).map_err(|error| self.frontier_failure(error))?;
        if n_pages > 0 && !quiet {
            sayln!("{n_pages} stored pages that the frontier did not know of are taken over");
        }
        Ok(())
    }

    /// Sets the frontier aside and begins a new one, which takes over all stored pages when the crawl goes on.
    pub(super) fn repair(&self, folder: &mut OwnedFolder, quiet: bool) -> Result<(), Failure> {
        let repaired = warc::repair_shards(&self.pages)?;
        let aside = self.set_frontier_aside(folder)?;
        drop(LocalFrontier::open(&self.frontier, LocalOptions::new(Box::new(Breadth)))?);
        if quiet {
            return Ok(());
        }
        if let Some(aside) = aside {
            sayln!("the old frontier is kept as {}", aside.display());
        }
        repaired.set_aside.iter().for_each(|path| sayln!("unreadable bytes are kept as {}", path.display()));
        sayln!(
            "{} pages in {} shards, {} damaged places; the next run with the seeds and flags of the crawl takes them over",
            repaired.n_pages,
            repaired.n_shards,
            repaired.n_damaged
        );
        Ok(())
    }

    /// Renames the folder of the frontier. The robots.txt files go over to the new one.
    fn set_frontier_aside(&self, folder: &mut OwnedFolder) -> Result<Option<PathBuf>, Failure> {
        if !self.frontier.exists() {
            return Ok(None);
        }
        let mut names = (1..).map(|number: u32| format!("frontier.damaged-{number}"));
        let name = names.find(|name| !self.out.join(name).exists()).expect("the numbers do not end");
        folder.claim([format!("{name}/").as_str()]).map_err(failure)?;
        let aside = self.out.join(name);
        let failed = |path: &Path| {
            let path = path.display().to_string();
            move |error: std::io::Error| Failure::new(format!("{path}: {error}"))
        };
        fs::rename(&self.frontier, &aside).map_err(failed(&self.frontier))?;
        let robots = aside.join("robots");
        if robots.exists() {
            fs::create_dir_all(&self.frontier).map_err(failed(&self.frontier))?;
            fs::copy(&robots, self.frontier.join("robots")).map_err(failed(&robots))?;
        }
        Ok(Some(aside))
    }
}

fn describe(shard: &LostShard) -> String {
    let pages = shard.pages.map_or(String::new(), |pages| format!(" of {pages} pages"));
    match shard.bytes_left {
        None => format!("{}: the shard{pages} is missing", shard.path.display()),
        Some(left) => {
            format!("{}: the shard{pages} is cut short, {left} bytes are left of {}", shard.path.display(), shard.bytes)
        }
    }
}

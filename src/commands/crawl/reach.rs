//! What a crawl wants of links, kept in its folder: a run that wants something else reads the links of the stored pages
//! again, so that it takes up what earlier runs left out.

use std::path::Path;

use pith_corpus::atomic_file::write_atomically;
use pith_corpus::warc::ShardPosition;
use pith_crawler::{Follow, Frontier, LocalFrontier, Plan};
use serde::{Deserialize, Serialize};

use super::flags::Args;
use super::repair::Folders;
use crate::exit::Failure;
use crate::sink::stored_pages;

/// The name of the file in the folder of a crawl.
pub(super) const REACH_NAME: &str = "reach.json";

/// The settings that decide which links of a page belong to a crawl.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Reach {
    scope: String,
    /// The seeds' hosts, which the scopes host and domain are made of.
    hosts: Vec<String>,
    include: Vec<String>,
    exclude: Vec<String>,
    depth: Option<u32>,
    follow: String,
    nofollow: bool,
    any_type: bool,
}

impl Reach {
    fn of(args: &Args, plan: &Plan) -> Reach {
        let mut hosts: Vec<String> = plan.seeds.iter().map(pith_crawler::host_of).collect();
        hosts.sort();
        hosts.dedup();
        Reach {
            scope: format!("{:?}", args.scope).to_lowercase(),
            hosts,
            include: args.include.clone(),
            exclude: args.exclude.clone(),
            depth: args.depth,
            follow: format!("{:?}", plan.follow).to_lowercase(),
            nofollow: args.nofollow,
            any_type: args.any_type,
        }
    }

    /// What differs, by the names of the flags.
    fn differences(&self, other: &Reach) -> Vec<&'static str> {
        let pairs = [
            ("--scope", self.scope != other.scope),
            ("seeds", self.hosts != other.hosts && !self.scope.starts_with("any")),
            ("--include", self.include != other.include),
            ("--exclude", self.exclude != other.exclude),
            ("--depth", self.depth != other.depth),
            ("--list or --sitemaps-only", self.follow != other.follow),
            ("--nofollow", self.nofollow != other.nofollow),
            ("--any-type", self.any_type != other.any_type),
        ];
        pairs.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name).collect()
    }
}

/// Reads the links of the stored pages again if this run wants others than the last one.
pub(super) fn take_up(args: &Args, plan: &Plan, folders: &Folders, frontier: &LocalFrontier) -> Result<(), Failure> {
    let path = folders.out.join(REACH_NAME);
    let now = Reach::of(args, plan);
    let before: Option<Reach> = std::fs::read(&path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    if let Some(before) = before {
        let changed = now.differences(&before);
        if changed.is_empty() {
            return Ok(());
        }
        if plan.follow == Follow::Links {
            read_links_again(args, plan, folders, frontier, &changed.join(", "))?;
        }
    }
    save(&path, &now)
}

fn read_links_again(
    args: &Args,
    plan: &Plan,
    folders: &Folders,
    frontier: &LocalFrontier,
    changed: &str,
) -> Result<(), Failure> {
    let known = frontier.gauges().known;
    let pages = stored_pages(&folders.pages, ShardPosition::default())?;
    let n_pages =
        pith_crawler::offer_links_again(plan, frontier, pages).map_err(|error| folders.frontier_failure(error))?;
    let n_new = frontier.gauges().known - known;
    if n_pages > 0 && !args.quiet {
        sayln!(
            "{changed} changed since the last run: the links of {n_pages} stored pages were read again, {n_new} URLs are new"
        );
    }
    Ok(())
}

fn save(path: &Path, reach: &Reach) -> Result<(), Failure> {
    let json = serde_json::to_string_pretty(reach)?;
    write_atomically(path, format!("{json}\n").as_bytes())?;
    Ok(())
}

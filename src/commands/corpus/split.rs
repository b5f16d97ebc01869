//! `pith corpus split`: parts that share no site.

use pith_corpus::jsonl;
use pith_corpus::split::{self, Settings};

use super::{Common, failure};
use crate::exit::{Exit, Failure};

/// The arguments of `pith corpus split`.
#[derive(clap::Args, Debug)]
#[command(before_help = "Examples:
  pith corpus split clean --out parts
  pith corpus split clean --out parts --parts train=90,validation=5,test=5 --seed 7")]
pub struct Args {
    #[command(flatten)]
    common: Common,

    /// The parts with their shares
    #[arg(long, value_name = "NAME=SHARE,…", default_value = "train=98,validation=1,test=1")]
    parts: String,

    /// Seed of the assignment of sites to parts
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

/// Writes the parts.
pub fn run(args: Args) -> Result<Exit, Failure> {
    let settings = Settings { parts: parts(&args.parts)?, seed: args.seed };
    let shards = jsonl::shards(&args.common.inputs).map_err(failure)?;
    args.common.run(|run| split::split(&shards, &settings, run))
}

fn parts(words: &str) -> Result<Vec<(String, f64)>, Failure> {
    let part = |word: &str| {
        let (name, share) = word.split_once('=')?;
        let share: f64 = share.trim().parse().ok().filter(|share| *share > 0.0 && f64::is_finite(*share))?;
        let name = name.trim();
        let plain = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        plain.then(|| (name.to_owned(), share))
    };
    let parts: Option<Vec<_>> = words.split(',').map(part).collect();
    parts.ok_or_else(|| {
        Failure::usage(format!("--parts {words}: not of the form train=98,test=2"))
            .hint("names are letters, digits, - and _; shares are numbers above zero")
    })
}

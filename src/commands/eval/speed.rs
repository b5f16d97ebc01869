//! `pith eval speed`: extraction speed, compared with other programs on the same pages.

use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use pith_eval::extraction::OURS;
use pith_eval::peer::Peer;
use pith_eval::speed::{Speed, compare_speeds, pages};

use crate::exit::{Exit, Failure};
use crate::invocation;

/// The arguments of `pith eval speed`.
#[derive(clap::Args, Debug)]
#[command(before_help = "Examples:
  pith eval speed --data gold --peer 'resiliparse=python3 bench/peers/resiliparse_peer.py'
  pith eval speed --data gold --every 4 --rounds 9 --json > speed.json")]
pub struct Args {
    /// The folder of sets, each a folder with pages.jsonl[.zst] and truth.jsonl
    #[arg(long, value_name = "DIR")]
    pub data: PathBuf,
    /// Another program: it reads {id, url, html} on each line and answers {id, text}, better {id, text, seconds}
    #[arg(long = "peer", value_name = "NAME=COMMAND")]
    pub peers: Vec<Peer>,
    /// Read one page in N
    #[arg(long, value_name = "N", default_value = "16")]
    pub every: NonZeroUsize,
    /// How often every program reads the pages; the median counts
    #[arg(long, value_name = "N", default_value = "5")]
    pub rounds: NonZeroUsize,
    /// Print the speeds as JSON
    #[arg(long)]
    pub json: bool,
}

/// Lets every program read the same pages in turns, and prints rates and ratios.
pub fn run(args: Args) -> Result<Exit, Failure> {
    let pages = pages(&args.data, args.every)?;
    let program = invocation::program().iter().map(|word| word.to_str().map(quoted)).collect::<Option<Vec<_>>>();
    let program = program.ok_or_else(|| Failure::new("this program's path is not UTF-8"))?.join(" ");
    let ours = Peer { name: OURS.into(), command: format!("exec {program} eval answer") };
    let methods: Vec<Peer> = std::iter::once(ours).chain(args.peers).collect();
    let n_bytes: usize = pages.iter().map(|page| page.html.len()).sum();
    sayln!("{} pages, {:.1} MB, {} rounds, one thread each, in turns", pages.len(), n_bytes as f64 / 1e6, args.rounds);
    let speeds = compare_speeds(&pages, &methods, args.rounds)?;
    if args.json {
        return super::print(&format!("{}\n", serde_json::json!({ "methods": speeds })));
    }
    super::print(&table(&speeds))
}

/// A word that the shell takes as it stands.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

fn table(speeds: &[Speed]) -> String {
    let mut out = format!(
        "{:<16} {:>9} {:>8} {:>15} {:>13} {:>8} {:>6}\n",
        "method", "pages/s", "MB/s", "slowest–fastest", "time ÷ ours", "peak MB", "empty"
    );
    for speed in speeds {
        let [slowest, fastest] = speed.mb_per_second_range;
        let _ = writeln!(
            out,
            "{:<16} {:>9.1} {:>8.2} {:>15} {:>13.2} {:>8} {:>6}",
            speed.name,
            speed.pages_per_second,
            speed.mb_per_second,
            format!("{slowest:.1}–{fastest:.1}"),
            speed.times_slower_than_first,
            speed.peak_rss_mb.map_or("-".into(), |peak| format!("{peak:.0}")),
            speed.empty
        );
    }
    out
}

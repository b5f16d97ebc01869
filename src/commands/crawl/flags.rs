//! The arguments of `pith crawl`, and how each is parsed.

use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use pith_crawler::{CustomHeader, DEFAULT_EXPLORE, Delay, HostName, Override, Pattern, Reach, Refresh};
use pith_preferences::Purpose;

use crate::log::LogArgs;

const EXAMPLES: &str = "Examples:
  pith crawl https://example.org/ --out crawl
  pith crawl --seeds seeds.txt --out crawl --scope domain --pages 100000 --contact me@example.org";

/// The arguments of `pith crawl`.
#[derive(clap::Args, Debug)]
#[command(before_help = EXAMPLES)]
pub struct Args {
    /// Where to begin; more seeds can stand in a file
    #[arg(value_name = "URL", required_unless_present_any = ["seeds", "repair"])]
    pub(super) urls: Vec<String>,
    /// A file with one seed per line, or `-` for stdin; empty lines and what stands behind a # are passed over, bad
    /// lines are named
    #[arg(long, value_name = "FILE")]
    pub(super) seeds: Vec<PathBuf>,
    /// Refuse a list of seeds with a bad line
    #[arg(long)]
    pub(super) strict: bool,
    /// Fetch the seeds, and what they redirect to, and nothing else
    #[arg(long, conflicts_with = "sitemaps_only")]
    pub(super) list: bool,
    /// Fetch what sitemaps list, and follow no links of pages
    #[arg(long, conflicts_with = "no_sitemaps")]
    pub(super) sitemaps_only: bool,
    /// The folder of the crawl; run again with the same folder to go on
    #[arg(long, value_name = "CRAWL")]
    pub(super) out: PathBuf,
    /// Forget what the folder holds and begin anew
    #[arg(long)]
    pub(super) fresh: bool,
    /// Rebuild what is known from the stored pages, where the frontier or a shard is damaged. The old frontier is kept
    /// beside the new one. Without a URL nothing is fetched
    #[arg(long, conflicts_with = "fresh")]
    pub(super) repair: bool,

    /// Share the crawl with other machines: the frontier on a Redis or Valkey server, redis://HOST:PORT#CRAWL. Each
    /// worker has a folder of its own
    #[cfg(feature = "redis")]
    #[arg(long, value_name = "URL", help_heading = "Many machines")]
    pub(super) frontier: Option<pith_crawler::RedisAddress>,
    /// The name of this worker [default: the one its folder had before, or the host's name and a number]
    #[cfg(feature = "redis")]
    #[arg(long, value_name = "NAME", requires = "frontier", help_heading = "Many machines")]
    pub(super) worker: Option<String>,
    /// How long a URL stays with a worker that is not heard of [default: --timeout and a minute]
    #[cfg(feature = "redis")]
    #[arg(long, value_name = "TIME", requires = "frontier", value_parser = duration, help_heading = "Many machines")]
    pub(super) lease: Option<Duration>,
    /// Use a server that keeps nothing on disk
    #[cfg(feature = "redis")]
    #[arg(long, requires = "frontier", help_heading = "Many machines")]
    pub(super) allow_volatile: bool,

    /// Which links belong to the crawl: host, domain, tld:NAME or any
    #[arg(long, default_value = "host", value_name = "SCOPE")]
    pub(super) scope: Reach,
    /// Only URLs that fit: * stands for anything, and without one the text is looked for anywhere; behind re: stands a
    /// regular expression
    #[arg(long, value_name = "PATTERN", value_parser = pattern)]
    pub(super) include: Vec<String>,
    /// No URLs that fit
    #[arg(long, value_name = "PATTERN", value_parser = pattern)]
    pub(super) exclude: Vec<String>,
    /// Which URL comes first [default: opic, or topic when one is given]
    #[arg(long, value_enum)]
    pub(super) order: Option<OrderArg>,
    /// Crawl for a topic: words that its pages have, as a list or as a file. Without words, the topic of the seeds
    #[arg(long, value_name = "WORDS|FILE")]
    pub(super) topic_words: Option<String>,
    /// How links to the topic are told from others [default: naive-bayes]
    #[arg(long, value_name = "MODEL", value_enum)]
    pub(super) topic_model: Option<TopicModelArg>,
    /// The share of pages, from 0 to 1, that is chosen at random from all that wait
    #[arg(long, value_name = "SHARE", default_value_t = DEFAULT_EXPLORE, value_parser = share)]
    pub(super) explore: f64,
    /// Seed of the random choice
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) explore_seed: u64,

    /// Ask again for pages of earlier runs that are likely to have changed
    #[arg(long)]
    pub(super) recrawl: bool,
    /// With --recrawl: the share of requests for pages at hand while new ones wait
    #[arg(long, value_name = "SHARE", default_value_t = Refresh::default().share, value_parser = share)]
    pub(super) refresh_share: f64,
    /// With --recrawl: leave a page alone this long
    #[arg(long, value_name = "TIME", default_value = "1d", value_parser = duration)]
    pub(super) refresh_after: Duration,
    /// With --recrawl: ask again for this many pages at most
    #[arg(long, value_name = "N")]
    pub(super) refreshes: Option<u64>,
    /// With --recrawl: which page is asked for again first
    #[arg(long, value_name = "POLICY", value_enum, default_value_t = RefreshPolicyArg::RateOptimal)]
    pub(super) refresh_policy: RefreshPolicyArg,

    /// End with this many pages
    #[arg(long, value_name = "N")]
    pub(super) pages: Option<u64>,
    /// Follow links at most this many clicks from a seed
    #[arg(long, value_name = "N")]
    pub(super) depth: Option<u32>,
    /// End after this long: 90s, 20m, 12h
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(super) time: Option<Duration>,
    /// End with this many bytes of pages: 500M, 2G
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(super) bytes: Option<u64>,
    /// Ask one host for at most this many URLs
    #[arg(long, value_name = "N")]
    pub(super) per_host: Option<u64>,

    /// Rest between a host's answer and the next request: a time, or `auto` for ten times the last answer's time,
    /// from 1 to 30 seconds; 0s switches it off. HOST=TIME is for one host, beside the other
    #[arg(long, default_value = "auto", value_name = "[HOST=]TIME", value_parser = host_delay)]
    pub(super) delay: Vec<(Option<HostName>, Delay)>,
    /// Requests on their way to one address at once
    #[arg(long, default_value_t = 4, value_name = "N")]
    pub(super) per_ip: usize,
    /// Requests on their way at once
    #[arg(long, default_value_t = 128, value_name = "N")]
    pub(super) slots: usize,
    /// Memory for bodies on their way, the rules of robots.txt and hosts; large pages wait for each other
    #[arg(long, value_name = "SIZE", default_value = "512M", value_parser = size)]
    pub(super) memory: u64,
    /// How often a URL is tried
    #[arg(long, default_value_t = 3, value_name = "N")]
    pub(super) attempts: u8,
    /// Fetch what robots.txt forbids; only for your own hosts
    #[arg(long)]
    pub(super) ignore_robots: bool,
    /// Obey rel=nofollow and robots meta tags with nofollow
    #[arg(long)]
    pub(super) nofollow: bool,
    /// Do not store pages that say noindex
    #[arg(long)]
    pub(super) noindex: bool,
    /// What the pages are for: train, search or archive. What owners reserve for it is not fetched, or not stored where
    /// only the page says so
    #[arg(long, value_name = "PURPOSE", default_value = "train")]
    pub(super) purpose: Purpose,
    /// Fetch and store what owners reserve; only for your own hosts
    #[arg(long, conflicts_with = "purpose")]
    pub(super) ignore_preferences: bool,
    /// Do not read the sitemaps that robots.txt names
    #[arg(long)]
    pub(super) no_sitemaps: bool,

    /// The name that the crawler goes by
    #[arg(long, value_name = "NAME", default_value = user_agent())]
    pub(super) user_agent: String,
    /// How to reach you, for the User-Agent header: a URL or a mail address
    #[arg(long, value_name = "URL")]
    pub(super) contact: Option<String>,
    /// Sign every request with this key (Web Bot Auth); `pith key new` makes one
    #[arg(long, value_name = "KEY")]
    pub(super) sign_key: Option<PathBuf>,
    /// Where the directory of the key is found, for the Signature-Agent header
    #[arg(long, value_name = "URL", requires = "sign_key")]
    pub(super) sign_agent: Option<url::Url>,
    /// Cut bodies behind this many bytes
    #[arg(long, value_name = "SIZE", default_value = "10M", value_parser = size)]
    pub(super) max_body: u64,
    /// Give an answer up after this long
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration)]
    pub(super) timeout: Duration,
    /// Keep everything that is served, and not only text
    #[arg(long)]
    pub(super) any_type: bool,

    /// Connect to an address for a host, or for every host with *: HOST=ADDRESS:PORT
    #[arg(long, value_name = "HOST=ADDRESS:PORT")]
    pub(super) resolve: Vec<Override>,
    /// Connect to addresses that are not public
    #[arg(long)]
    pub(super) allow_private: bool,
    /// Send everything through a proxy: http://, https:// or socks5://
    #[arg(long, value_name = "URL")]
    pub(super) proxy: Option<String>,
    /// HTTP basic authentication for a host, on every port unless one is named: HOST=USER:PASSWORD
    #[arg(long, value_name = "HOST=USER:PASSWORD", value_parser = credential)]
    pub(super) auth: Vec<(HostName, (String, String))>,
    /// A header for the hosts of the seeds, or for HOST alone; no other host gets it
    #[arg(long, value_name = "[HOST:]NAME=VALUE", value_parser = header)]
    pub(super) header: Vec<(Option<HostName>, CustomHeader)>,
    /// Cookies in the format of Netscape's cookies.txt, each for its own domain; what servers set is not kept
    #[arg(long, value_name = "FILE")]
    pub(super) cookie_file: Option<PathBuf>,

    /// How shards are packed
    #[arg(long, value_enum, default_value_t = ShardFormatArg::Zstd)]
    pub(super) shard_format: ShardFormatArg,
    /// A shard is closed at this size
    #[arg(long, value_name = "SIZE", default_value = "256M", value_parser = size)]
    pub(super) shard_size: u64,
    /// Compression level: 1 to 19 for zstd (default 3; 1 takes less time and 8 % more room), 1 to 9 for gzip (6)
    #[arg(long, value_name = "N")]
    pub(super) level: Option<i32>,
    /// Print the report as JSON on stdout
    #[arg(long)]
    pub(super) json: bool,
    /// Print nothing but errors
    #[arg(long)]
    pub(super) quiet: bool,
    #[command(flatten)]
    pub(super) log: LogArgs,
}

impl Args {
    /// Whether nothing is to be fetched: there is no seed.
    pub(super) fn is_repair_only(&self) -> bool {
        self.repair && self.urls.is_empty() && self.seeds.is_empty()
    }
}

/// The crawl orders, by the names that [`pith_crawler::order_named`] takes, and the focused one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum OrderArg {
    Opic,
    Breadth,
    Level,
    Largest,
    LeastVisited,
    Backlink,
    #[value(name = "pagerank")]
    PageRank,
    Topic,
}

impl OrderArg {
    /// The name on the command line.
    pub(super) fn name(self) -> String {
        self.to_possible_value().expect("no order is hidden").get_name().to_owned()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum TopicModelArg {
    NaiveBayes,
    FrequentTerms,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum RefreshPolicyArg {
    RateOptimal,
    Profit,
    Uniform,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ShardFormatArg {
    #[value(name = "warc.zst")]
    Zstd,
    #[value(name = "warc.gz")]
    Gzip,
}

/// The name that the program goes by unless told otherwise.
pub fn user_agent() -> &'static str {
    concat!("pith/", env!("CARGO_PKG_VERSION"))
}

/// A time with its unit: `30s`, `5m`.
pub fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let value: f64 = digits.parse().map_err(|_| "expected a time such as 500ms, 30s, 5m or 2h".to_owned())?;
    let factor = match &text[digits.len()..] {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        unit => return Err(format!("{unit:?} is no unit of time: use ms, s, m, h or d")),
    };
    Duration::try_from_secs_f64(value * factor).map_err(|error| error.to_string())
}

fn delay(text: &str) -> Result<Delay, String> {
    if text == "auto" { Ok(Delay::default()) } else { duration(text).map(Delay::Fixed) }
}

/// A delay, for one host if it stands before it.
fn host_delay(text: &str) -> Result<(Option<HostName>, Delay), String> {
    match text.rsplit_once('=') {
        Some((host, time)) => Ok((Some(host.parse()?), delay(time)?)),
        None => Ok((None, delay(text)?)),
    }
}

/// A pattern as it was written, once it is known to be one.
fn pattern(text: &str) -> Result<String, String> {
    text.parse::<Pattern>().map(|_| text.to_owned()).map_err(|error| error.to_string())
}

/// `NAME=VALUE`, or `HOST:NAME=VALUE`.
fn header(text: &str) -> Result<(Option<HostName>, CustomHeader), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE or HOST:NAME=VALUE")?;
    match name.rsplit_once(':') {
        Some((host, name)) => Ok((Some(host.parse()?), CustomHeader::new(name, value)?)),
        None => Ok((None, CustomHeader::new(name, value)?)),
    }
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "expected a share from 0 to 1, such as 0.02".to_owned())
}

/// A size with its unit: `500k`, `2G`.
pub fn size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let value: f64 = digits.parse().map_err(|_| "expected a size such as 500k, 20M or 2G".to_owned())?;
    let factor = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        "t" | "tb" => 1e12,
        unit => return Err(format!("{unit:?} is no unit of size: use k, M, G or T")),
    };
    if value < 0.0 { Err("a size is not negative".to_owned()) } else { Ok((value * factor) as u64) }
}

fn credential(text: &str) -> Result<(HostName, (String, String)), String> {
    let (host, both) = text.split_once('=').ok_or("expected HOST=USER:PASSWORD")?;
    let (user, password) = both.split_once(':').ok_or("expected HOST=USER:PASSWORD")?;
    Ok((host.parse()?, (user.to_owned(), password.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_of_the_library_can_be_chosen() {
        let names: Vec<String> = OrderArg::value_variants().iter().map(|order| order.name()).collect();
        let expected: Vec<&str> = pith_crawler::ORDER_NAMES.iter().copied().chain(["topic"]).collect();
        assert_eq!(names, expected);
    }

    #[test]
    fn times_and_sizes_have_units() {
        assert_eq!(duration("30s"), Ok(Duration::from_secs(30)));
        assert_eq!(duration("1.5h"), Ok(Duration::from_secs(5400)));
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        assert!(duration("soon").is_err() && duration("3 weeks").is_err() && duration("-1s").is_err());
        assert_eq!(size("10M"), Ok(10_000_000));
        assert_eq!(size("77"), Ok(77));
        assert!(size("-5").is_err() && size("5 apples").is_err());
        assert_eq!(delay("0s"), Ok(Delay::Fixed(Duration::ZERO)));
        assert_eq!(delay("auto"), Ok(Delay::default()));
        let own = host_delay("a.example:81=5s").unwrap();
        assert_eq!(own, (Some("a.example:81".parse().unwrap()), Delay::Fixed(Duration::from_secs(5))));
    }

    #[test]
    fn headers_may_name_their_host() {
        let cookie = CustomHeader::new("cookie", "a=b").unwrap();
        assert_eq!(header("Cookie=a=b"), Ok((None, cookie.clone())));
        assert_eq!(header("a.example:81:Cookie=a=b"), Ok((Some("a.example:81".parse().unwrap()), cookie)));
        assert!(header("User-Agent=me").unwrap_err().contains("--user-agent"));
        assert!(
            header("Host=a").is_err() && header("X Y=1").is_err() && header("X").is_err() && header("X=\r\n").is_err()
        );
    }
}

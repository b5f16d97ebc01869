//! From arguments to the plan of a crawl, its order, and how its shards are written.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use pith_corpus::warc::{Format, WriterOptions};
use pith_crawler::{
    Cookies, Follow, Harvest, HostName, Identity, Keep, Limits, OrderingPolicy, Plan, Refresh, RefreshPass,
    RefreshPolicy, RequestHeaders, Scope, Topic, TopicModel, TopicProfile, order_named,
};

use url::Url;

use super::flags::{Args, KeepArg, OrderArg, RefreshPolicyArg, ShardFormatArg, TopicModelArg};
use super::seeds::seeds;
use crate::exit::Failure;

/// What is to be crawled, and how.
pub(super) fn plan(args: &Args) -> Result<Plan, Failure> {
    let seeds = seeds(args)?;
    let patterns =
        |texts: &[String]| texts.iter().map(|text| text.parse().expect("the parser has checked it")).collect();
    let scope = Scope::new(args.scope.clone(), &seeds, patterns(&args.include), patterns(&args.exclude));
    let mut plan = Plan::new(seeds, scope);
    plan.limits = Limits { pages: args.pages, depth: args.depth, time: args.time, bytes: args.bytes };
    for (host, delay) in &args.delay {
        match host {
            Some(host) => plan.politeness.host_delays.push((host.clone(), *delay)),
            None => plan.politeness.delay = *delay,
        }
    }
    plan.politeness.per_address = args.per_ip;
    plan.politeness.robots = !args.ignore_robots;
    plan.politeness.nofollow = args.nofollow;
    plan.politeness.noindex = args.noindex;
    plan.politeness.sitemaps = !args.no_sitemaps && !args.list;
    plan.follow = match (args.list, args.sitemaps_only) {
        (true, _) => Follow::Redirects,
        (false, true) => Follow::Sitemaps,
        (false, false) => Follow::Links,
    };
    plan.keep = match args.keep {
        KeepArg::Pages => Keep::Pages,
        KeepArg::All => Keep::All,
    };
    plan.drop_low_quality = args.drop_low_quality;
    plan.identity = Identity::new(&args.user_agent, args.contact.as_deref());
    plan.response_limits.max_bytes = usize::try_from(args.max_body).unwrap_or(usize::MAX);
    plan.response_limits.max_time = args.timeout;
    plan.response_limits.any_type = args.any_type;
    plan.network.overrides = args.resolve.clone();
    plan.network.allow_private = args.allow_private;
    plan.network.proxy = args.proxy.clone();
    plan.network.headers = request_headers(args, &plan.seeds)?;
    plan.memory = usize::try_from(args.memory).unwrap_or(usize::MAX);
    plan.slots = args.slots.max(1);
    plan.attempts = args.attempts.max(1);
    Ok(plan)
}

/// What is added to requests. A header without a host is for the hosts of the seeds, with their ports.
fn request_headers(args: &Args, seeds: &[Url]) -> Result<RequestHeaders, Failure> {
    let mut hosts: Vec<HostName> = Vec::new();
    if args.header.iter().any(|(host, _)| host.is_none()) {
        hosts = seeds.iter().filter_map(HostName::of).collect::<BTreeSet<_>>().into_iter().collect();
    }
    let mut headers = Vec::new();
    for (host, header) in &args.header {
        let own = std::slice::from_ref(host).iter().flatten();
        let all = if host.is_some() { [].iter() } else { hosts.iter() };
        headers.extend(own.chain(all).map(|host| (host.clone(), header.clone())));
    }
    let cookies = args.cookie_file.as_deref().map_or(Ok(Cookies::default()), cookies)?;
    Ok(RequestHeaders { headers, credentials: args.auth.clone(), cookies })
}

fn cookies(path: &Path) -> Result<Cookies, Failure> {
    let text = fs::read_to_string(path).map_err(|error| {
        Failure::usage(format!("{}: cannot read the cookies: {error}", path.display()))
            .hint("`--cookie-file` takes a text file in the format of Netscape's cookies.txt")
    })?;
    Cookies::parse(&text).map_err(|(number, what)| {
        Failure::usage(format!("{}:{number}: {what}", path.display()))
            .hint("a line of `--cookie-file` is: domain, TRUE for its subdomains, path, TRUE for https only, end in seconds or 0, name, value")
    })
}

/// What a focused policy finds, while it finds it.
pub(super) type SharedHarvest = Arc<Mutex<Harvest>>;

/// The policy, and what a focused one finds.
pub(super) fn order(args: &Args) -> Result<(Box<dyn OrderingPolicy>, Option<SharedHarvest>), Failure> {
    let has_topic = args.topic_words.is_some() || args.topic_model.is_some();
    let order = args.order.unwrap_or(if has_topic { OrderArg::Topic } else { OrderArg::Opic });
    if order != OrderArg::Topic {
        let name = order.name();
        return match has_topic {
            true => Err(Failure::usage(format!("`--order {name}` knows of no topic"))
                .hint("leave `--order` out, or the words and the model")),
            false => Ok((order_named(&name).expect("the parser knows the names"), None)),
        };
    }
    let subject = match &args.topic_words {
        Some(words) => topic_words(words)?,
        None => TopicProfile::of_seeds(),
    };
    let model = match args.topic_model {
        Some(TopicModelArg::FrequentTerms) => TopicModel::FrequentTerms { n: 20 },
        Some(TopicModelArg::NaiveBayes) | None => TopicModel::NaiveBayes,
    };
    let topic = Topic::with_profile(model, subject);
    let harvest = topic.harvest();
    Ok((Box::new(topic), Some(harvest)))
}

/// The words of a topic: those of a file where there is one of that name, else the text itself.
fn topic_words(text: &str) -> Result<TopicProfile, Failure> {
    let path = Path::new(text);
    let words = match path.is_file() {
        true => fs::read_to_string(path)
            .map_err(|error| Failure::usage(format!("{text}: cannot read the words of the topic: {error}")))?,
        false => text.to_owned(),
    };
    let subject = TopicProfile::of_words([words]);
    if subject.words().is_empty() {
        return Err(Failure::usage(format!("{text:?} has no words to look for"))
            .hint("a word has two letters or more, such as --topic-words \"futebol, gol, jogador\""));
    }
    Ok(subject)
}

/// How pages of earlier runs are asked for again, if they are.
pub(super) fn refresh(args: &Args) -> Option<Refresh> {
    args.recrawl.then_some(Refresh {
        share: args.refresh_share,
        after: args.refresh_after,
        limit: args.refreshes,
        // With an end of its own, a run may ask for a page several times.
        pass: match args.refreshes.is_some() || args.time.is_some() {
            true => RefreshPass::Repeated,
            false => RefreshPass::Once,
        },
        policy: match args.refresh_policy {
            RefreshPolicyArg::RateOptimal => RefreshPolicy::RateOptimal,
            RefreshPolicyArg::Profit => RefreshPolicy::Profit,
            RefreshPolicyArg::Uniform => RefreshPolicy::Uniform,
        },
    })
}

/// How shards are written.
pub(super) fn shard_options(args: &Args) -> WriterOptions {
    let format = match args.shard_format {
        ShardFormatArg::Zstd => Format::Zstd,
        ShardFormatArg::Gzip => Format::Gzip,
    };
    let mut options = WriterOptions::new(format);
    options.shard_bytes = args.shard_size;
    if let Some(level) = args.level {
        options.level = level;
    }
    options
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        args: Args,
    }

    #[test]
    fn the_defaults_of_the_flags_are_those_of_the_libraries() {
        let args = Cli::parse_from(["crawl", "http://a.test/", "--out", "crawl"]).args;
        let made = plan(&args).unwrap();
        let library = Plan::new(made.seeds.clone(), made.scope.clone());
        assert_eq!(made.slots, library.slots);
        assert_eq!(made.attempts, library.attempts);
        assert_eq!(made.politeness.delay, library.politeness.delay);
        assert_eq!(made.politeness.per_address, library.politeness.per_address);
        assert_eq!(made.response_limits.max_bytes, library.response_limits.max_bytes);
        assert_eq!(made.response_limits.max_time, library.response_limits.max_time);
        assert_eq!(args.refresh_after, Refresh::default().after);
        assert_eq!(shard_options(&args).shard_bytes, WriterOptions::default().shard_bytes);
        assert_eq!(shard_options(&args).level, WriterOptions::default().level);
    }
}

//! What the words mean: the plan of a crawl, its order, and how its shards are written.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use pith_corpus::warc::{Format, WriterOptions};
use pith_crawler::{
    Harvest, Identity, Limits, ORDER_NAMES, Order, Pattern, Plan, Refresh, RefreshPolicy, Scope, Subject, Topic,
    TopicModel, canonicalize, order_named, parse_seed,
};
use url::Url;

use super::flags::Args;
use crate::exit::Failure;

/// What is to be crawled, and how.
pub(super) fn plan(args: &Args) -> Result<Plan, Failure> {
    let seeds = seeds(args)?;
    let patterns = |texts: &[String]| texts.iter().map(Pattern::new).collect();
    let scope = Scope::new(args.scope.clone(), &seeds, patterns(&args.include), patterns(&args.exclude));
    let mut plan = Plan::new(seeds, scope);
    plan.limits = Limits { pages: args.pages, depth: args.depth, time: args.time, bytes: args.bytes };
    plan.politeness.delay = args.delay;
    plan.politeness.per_address = args.per_ip;
    plan.politeness.robots = !args.ignore_robots;
    plan.politeness.nofollow = args.nofollow;
    plan.politeness.noindex = args.noindex;
    plan.politeness.sitemaps = !args.no_sitemaps;
    plan.identity = Identity::new(&args.user_agent, args.contact.as_deref());
    plan.answers.max_bytes = usize::try_from(args.max_body).unwrap_or(usize::MAX);
    plan.answers.max_time = args.timeout;
    plan.answers.any_type = args.any_type;
    plan.network.overrides = args.resolve.clone();
    plan.network.allow_private = args.allow_private;
    plan.network.proxy = args.proxy.clone();
    plan.network.credentials = args.auth.iter().cloned().collect::<HashMap<_, _>>();
    plan.slots = args.slots.max(1);
    plan.attempts = args.attempts.max(1);
    Ok(plan)
}

fn seeds(args: &Args) -> Result<Vec<Url>, Failure> {
    let mut texts = args.urls.clone();
    if let Some(path) = &args.seeds {
        let text = fs::read_to_string(path)
            .map_err(|error| Failure::usage(format!("{}: cannot read the seeds: {error}", path.display())))?;
        texts.extend(
            text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).map(String::from),
        );
    }
    let mut seeds = Vec::with_capacity(texts.len());
    for text in &texts {
        let url = parse_seed(text).and_then(canonicalize).ok_or_else(|| {
            Failure::usage(format!("bad seed: {text:?} is not an http or https URL"))
                .hint("a seed looks like https://example.org/")
        })?;
        seeds.push(url);
    }
    if seeds.is_empty() {
        return Err(Failure::usage("bad seed: no seed was given").hint("name a URL, or a file with `--seeds FILE`"));
    }
    Ok(seeds)
}

/// What a focused policy finds, while it finds it.
pub(super) type SharedHarvest = Arc<Mutex<Harvest>>;

/// The policy, and what a focused one finds.
pub(super) fn order(args: &Args) -> Result<(Box<dyn Order>, Option<SharedHarvest>), Failure> {
    let has_topic = args.topic_words.is_some() || args.topic_model.is_some();
    let name = args.order.as_deref().unwrap_or(if has_topic { "topic" } else { ORDER_NAMES[0] });
    if name != "topic" {
        return match has_topic {
            true => Err(Failure::usage(format!("`--order {name}` knows of no topic"))
                .hint("leave `--order` out, or the words and the model")),
            false => Ok((order_named(name).expect("the parser knows the names"), None)),
        };
    }
    let subject = match &args.topic_words {
        Some(words) => topic_words(words)?,
        None => Subject::of_seeds(),
    };
    let model = match args.topic_model.as_deref() {
        Some("frequent-terms") => TopicModel::FrequentTerms { n: 20 },
        _ => TopicModel::NaiveBayes,
    };
    let topic = Topic::about(model, subject);
    let harvest = topic.harvest();
    Ok((Box::new(topic), Some(harvest)))
}

/// The words of a topic: those of a file where there is one of that name, else the text itself.
fn topic_words(text: &str) -> Result<Subject, Failure> {
    let path = Path::new(text);
    let words = match path.is_file() {
        true => fs::read_to_string(path)
            .map_err(|error| Failure::usage(format!("{text}: cannot read the words of the topic: {error}")))?,
        false => text.to_owned(),
    };
    let subject = Subject::of_words([words]);
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
        policy: match args.refresh_policy.as_str() {
            "profit" => RefreshPolicy::Profit,
            "uniform" => RefreshPolicy::Uniform,
            _ => RefreshPolicy::RateOptimal,
        },
    })
}

/// How shards are written.
pub(super) fn shard_options(args: &Args) -> WriterOptions {
    let format = if args.shard_format == "warc.gz" { Format::Gzip } else { Format::Zstd };
    let mut options = WriterOptions::new(format);
    options.shard_bytes = args.shard_size;
    if let Some(level) = args.level {
        options.level = level;
    }
    options
}

//! Focused crawling: links that promise a page on the topic go first.

use std::sync::{Arc, Mutex};

use super::{Class, HostCounts, Order, Visit};
use crate::frontier::Link;
use crate::topic::{LinkModel, TermTable};

/// How a page that was fetched is judged.
pub type Judge = Box<dyn FnMut(&Visit<'_>) -> bool + Send>;

/// How a link is judged before it is followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TopicModel {
    /// An on-line naive Bayes over anchor, surroundings and address.
    #[default]
    NaiveBayes,
    /// The most frequent words of all fetched pages, looked for in the address.
    FrequentTerms {
        /// How many words.
        n: usize,
    },
}

/// What a focused crawl found so far; shared with whoever reports it.
#[derive(Clone, Debug, Default)]
pub struct Harvest {
    /// Pages judged.
    pub n_pages: u64,
    /// Of these, pages on the topic.
    pub n_on_topic: u64,
    /// The term table of the frequent-terms model, most frequent first.
    pub terms: Vec<(String, u32)>,
}

impl Harvest {
    /// The share of pages on the topic.
    pub fn rate(&self) -> f64 {
        self.n_on_topic as f64 / self.n_pages.max(1) as f64
    }
}

/// A score that says that the page was fetched, and what it was.
const ON_TOPIC: f32 = 1.0;
const OFF_TOPIC: f32 = -1.0;
/// The class of a link of which nothing is known.
const UNKNOWN: f32 = 128.0;
/// Classes that one unit of log odds is worth.
const CLASSES_PER_UNIT: f32 = 6.0;

/// The policy.
pub struct Topic {
    model: TopicModel,
    judge: Judge,
    links: LinkModel,
    terms: TermTable,
    from_topic: bool,
    harvest: Arc<Mutex<Harvest>>,
}

impl Topic {
    /// A focused order; `judge` says of each fetched page whether it is on the topic.
    pub fn new(model: TopicModel, judge: Judge) -> Topic {
        Topic {
            model,
            judge,
            links: LinkModel::default(),
            terms: TermTable::default(),
            from_topic: true,
            harvest: Arc::default(),
        }
    }

    /// What was found so far, also after the policy went into a crawl.
    pub fn harvest(&self) -> Arc<Mutex<Harvest>> {
        Arc::clone(&self.harvest)
    }

    fn class_of(&self, link: &Link) -> Class {
        let place = match self.model {
            TopicModel::NaiveBayes => UNKNOWN - CLASSES_PER_UNIT * self.links.log_odds(link, self.from_topic),
            TopicModel::FrequentTerms { .. } => UNKNOWN - self.terms.n_found(link.url.as_str()) as f32,
        };
        Class(place.clamp(1.0, 254.0) as u8)
    }
}

impl Order for Topic {
    fn name(&self) -> &'static str {
        "topic"
    }

    fn keeps_scores(&self) -> bool {
        true
    }

    fn reads_text(&self) -> bool {
        true
    }

    fn place(&mut self, link: &Link, _host: &HostCounts, _score: &mut f32) -> Class {
        if link.depth == 0 { Class::FIRST } else { self.class_of(link) }
    }

    fn place_again(&mut self, link: &Link, _host: &HostCounts, score: &mut f32) -> Class {
        // Where this link leads to is known by now: it is one more example.
        if *score != 0.0 {
            self.links.learn(link, self.from_topic, *score == ON_TOPIC);
        }
        self.class_of(link)
    }

    fn visit(&mut self, page: &Visit<'_>, _host: &HostCounts, score: &mut f32) {
        let on_topic = (self.judge)(page);
        *score = if on_topic { ON_TOPIC } else { OFF_TOPIC };
        self.links.learn(page.link, self.from_topic, on_topic);
        if let TopicModel::FrequentTerms { n } = self.model {
            self.terms.count(page.body, n);
        }
        self.from_topic = on_topic;
        let mut harvest = self.harvest.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        harvest.n_pages += 1;
        harvest.n_on_topic += u64::from(on_topic);
        harvest.terms = self.terms.top().map(|(term, count)| (term.to_owned(), count)).collect();
    }

    fn reviews(&self) -> bool {
        true
    }

    /// What was learnt since the link was placed may send it back.
    fn review(&mut self, link: &Link, _host: &HostCounts) -> Class {
        if link.depth == 0 { Class::FIRST } else { self.class_of(link) }
    }
}

//! Focused crawling: links that promise a page on the topic go first.

use std::sync::{Arc, Mutex};

use super::{Class, HostCounts, Order, Visit};
use crate::frontier::Link;
use crate::topic::{LinkModel, Subject, TermTable};

/// How a page that was fetched is judged.
pub type Judge = Box<dyn FnMut(&Visit<'_>) -> bool + Send>;

/// Terms kept in the table of the default model.
const N_TERMS: usize = 20;

enum Judging {
    By(Judge),
    About(Subject),
}

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
    /// The most frequent terms: of all pages for the frequent-terms model, else of the pages on the topic.
    pub terms: Vec<(String, u32)>,
    /// The words that make the topic, with their weights; empty when something else judges pages.
    pub words: Vec<(String, f32)>,
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

/// The policy. After a restart it knows its topic, and its model of links begins to learn anew; links keep their places.
pub struct Topic {
    model: TopicModel,
    judging: Judging,
    links: LinkModel,
    terms: TermTable,
    from_topic: bool,
    harvest: Arc<Mutex<Harvest>>,
}

impl Topic {
    /// A focused order; `judge` says of each fetched page whether it is on the topic.
    pub fn new(model: TopicModel, judge: Judge) -> Topic {
        Topic::judging(model, Judging::By(judge))
    }

    /// A focused order for a crawl, which judges pages by their words.
    pub fn about(model: TopicModel, subject: Subject) -> Topic {
        Topic::judging(model, Judging::About(subject))
    }

    fn judging(model: TopicModel, judging: Judging) -> Topic {
        Topic {
            model,
            judging,
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
        let on_topic = match &mut self.judging {
            Judging::By(judge) => judge(page),
            Judging::About(subject) => subject.judge(page.body, page.link.depth == 0),
        };
        *score = if on_topic { ON_TOPIC } else { OFF_TOPIC };
        self.links.learn(page.link, self.from_topic, on_topic);
        match self.model {
            TopicModel::FrequentTerms { n } => self.terms.count(page.body, n),
            TopicModel::NaiveBayes if on_topic => self.terms.count(page.body, N_TERMS),
            TopicModel::NaiveBayes => {}
        }
        self.from_topic = on_topic;
        let mut harvest = self.harvest.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        harvest.n_pages += 1;
        harvest.n_on_topic += u64::from(on_topic);
        // The lists change slowly, and nobody reads them after every page.
        if harvest.n_pages < 100 || harvest.n_pages.is_multiple_of(100) {
            harvest.terms = self.terms.top().map(|(term, count)| (term.to_owned(), count)).collect();
            if let Judging::About(subject) = &self.judging {
                harvest.words = subject.words().to_vec();
            }
        }
    }

    fn reviews(&self) -> bool {
        true
    }

    fn state(&self) -> Vec<u8> {
        let harvest = self.harvest.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let mut state = [harvest.n_pages.to_le_bytes(), harvest.n_on_topic.to_le_bytes()].concat();
        if let Judging::About(subject) = &self.judging {
            state.extend(subject.state());
        }
        state
    }

    fn resume(&mut self, state: &[u8]) {
        let Some((pages, rest)) = state.split_first_chunk() else { return };
        let Some((on_topic, words)) = rest.split_first_chunk() else { return };
        let mut harvest = self.harvest.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        (harvest.n_pages, harvest.n_on_topic) = (u64::from_le_bytes(*pages), u64::from_le_bytes(*on_topic));
        if let Judging::About(subject) = &mut self.judging {
            subject.resume(words);
            harvest.words = subject.words().to_vec();
        }
    }

    /// What was learnt since the link was placed may send it back.
    fn review(&mut self, link: &Link, _host: &HostCounts) -> Class {
        if link.depth == 0 { Class::FIRST } else { self.class_of(link) }
    }
}

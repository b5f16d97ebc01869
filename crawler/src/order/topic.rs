//! Focused crawling: links that probably lead to a page on the topic go first.

use std::sync::{Arc, Mutex};

use super::{FetchedPage, HostCounts, HostOrder, OrderingPolicy, Priority, ScoreOrder, SharedOrder};
use crate::frontier::Link;
use crate::topic::{LinkModel, TermTable, TopicProfile};

/// Decides whether a fetched page is on the topic.
pub type PageClassifier = Box<dyn FnMut(&FetchedPage<'_>) -> bool + Send>;

/// Terms kept in the table of the default model.
const N_TERMS: usize = 20;

enum Classifier {
    Custom(PageClassifier),
    Words(TopicProfile),
}

/// How the relevance of a link is predicted before it is followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TopicModel {
    /// An online naive Bayes classifier over anchor text, context and URL.
    #[default]
    NaiveBayes,
    /// The number of the most frequent words of all fetched pages that occur in the URL.
    FrequentTerms {
        /// How many words.
        n: usize,
    },
}

/// The result of a focused crawl so far; shared with the report.
#[derive(Clone, Debug, Default)]
pub struct Harvest {
    /// Pages classified.
    pub n_pages: u64,
    /// Of these, pages on the topic.
    pub n_on_topic: u64,
    /// The most frequent terms: of all pages for the frequent-terms model, else of the pages on the topic.
    pub terms: Vec<(String, u32)>,
    /// The words that make the topic, with their weights; empty for a custom classifier.
    pub words: Vec<(String, f32)>,
}

impl Harvest {
    /// The share of pages on the topic.
    pub fn rate(&self) -> f64 {
        self.n_on_topic as f64 / self.n_pages.max(1) as f64
    }
}

/// Scores of fetched pages: on the topic, or not. Zero means not fetched.
const ON_TOPIC: f32 = 1.0;
const OFF_TOPIC: f32 = -1.0;
/// The priority of a link without evidence.
const UNKNOWN: f32 = 128.0;
/// Priority steps per unit of log odds.
const STEPS_PER_UNIT: f32 = 6.0;

/// The focused policy. After a restart the topic is restored and waiting links keep their priorities; the link model
/// starts empty.
pub struct Topic {
    model: TopicModel,
    classifier: Classifier,
    links: LinkModel,
    terms: TermTable,
    from_on_topic: bool,
    harvest: Arc<Mutex<Harvest>>,
}

impl Topic {
    /// A focused policy with a custom page classifier.
    pub fn new(model: TopicModel, classify: PageClassifier) -> Topic {
        Topic::with_classifier(model, Classifier::Custom(classify))
    }

    /// A focused policy that classifies pages by their words.
    pub fn with_profile(model: TopicModel, profile: TopicProfile) -> Topic {
        Topic::with_classifier(model, Classifier::Words(profile))
    }

    fn with_classifier(model: TopicModel, classifier: Classifier) -> Topic {
        Topic {
            model,
            classifier,
            links: LinkModel::default(),
            terms: TermTable::default(),
            from_on_topic: true,
            harvest: Arc::default(),
        }
    }

    /// The harvest so far; it stays readable while a crawl owns the policy.
    pub fn harvest(&self) -> Arc<Mutex<Harvest>> {
        Arc::clone(&self.harvest)
    }

    fn priority_of(&self, link: &Link) -> Priority {
        let steps = match self.model {
            TopicModel::NaiveBayes => UNKNOWN - STEPS_PER_UNIT * self.links.log_odds(link, self.from_on_topic),
            TopicModel::FrequentTerms { .. } => UNKNOWN - self.terms.n_found(link.url.as_str()) as f32,
        };
        Priority(steps.clamp(1.0, 254.0) as u8)
    }
}

impl OrderingPolicy for Topic {
    fn name(&self) -> &'static str {
        "topic"
    }

    fn shared(&self) -> Option<SharedOrder> {
        Some(SharedOrder { hosts: HostOrder::Best, scores: ScoreOrder::Given })
    }

    fn keeps_scores(&self) -> bool {
        true
    }

    fn reads_text(&self) -> bool {
        true
    }

    fn prioritize(&mut self, link: &Link, _host: &HostCounts, _score: &mut f32) -> Priority {
        if link.depth == 0 { Priority::FIRST } else { self.priority_of(link) }
    }

    fn reprioritize(&mut self, link: &Link, _host: &HostCounts, score: &mut f32) -> Priority {
        // The target was fetched and classified: the link is another training example.
        if *score != 0.0 {
            self.links.learn(link, self.from_on_topic, *score == ON_TOPIC);
        }
        self.priority_of(link)
    }

    fn page_fetched(&mut self, page: &FetchedPage<'_>, _host: &HostCounts, score: &mut f32) {
        let on_topic = match &mut self.classifier {
            Classifier::Custom(classify) => classify(page),
            Classifier::Words(profile) => profile.classify(page.body, page.link.depth == 0),
        };
        *score = if on_topic { ON_TOPIC } else { OFF_TOPIC };
        self.links.learn(page.link, self.from_on_topic, on_topic);
        match self.model {
            TopicModel::FrequentTerms { n } => self.terms.count(page.body, n),
            TopicModel::NaiveBayes if on_topic => self.terms.count(page.body, N_TERMS),
            TopicModel::NaiveBayes => {}
        }
        self.from_on_topic = on_topic;
        let mut harvest = self.harvest.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        harvest.n_pages += 1;
        harvest.n_on_topic += u64::from(on_topic);
        // The lists change slowly and are not read after every page.
        if harvest.n_pages < 100 || harvest.n_pages.is_multiple_of(100) {
            harvest.terms = self.terms.top().map(|(term, count)| (term.to_owned(), count)).collect();
            if let Classifier::Words(profile) = &self.classifier {
                harvest.words = profile.words().to_vec();
            }
        }
    }

    fn reviews(&self) -> bool {
        true
    }

    fn state(&self) -> Vec<u8> {
        let harvest = self.harvest.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let mut state = [harvest.n_pages.to_le_bytes(), harvest.n_on_topic.to_le_bytes()].concat();
        if let Classifier::Words(profile) = &self.classifier {
            state.extend(profile.state());
        }
        state
    }

    fn resume(&mut self, state: &[u8]) {
        let Some((pages, rest)) = state.split_first_chunk() else { return };
        let Some((on_topic, words)) = rest.split_first_chunk() else { return };
        let mut harvest = self.harvest.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        (harvest.n_pages, harvest.n_on_topic) = (u64::from_le_bytes(*pages), u64::from_le_bytes(*on_topic));
        if let Classifier::Words(profile) = &mut self.classifier {
            profile.resume(words);
            harvest.words = profile.words().to_vec();
        }
    }

    /// The model has learnt since the link was queued and may rate it lower now.
    fn review(&mut self, link: &Link, _host: &HostCounts) -> Priority {
        if link.depth == 0 { Priority::FIRST } else { self.priority_of(link) }
    }
}

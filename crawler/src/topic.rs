//! What a page is about, and what a link to it promises: the models of focused crawling.

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_64;

use crate::frontier::Link;

/// Words kept by a model at most; the rarest are forgotten when there are more.
const MAX_WORDS: usize = 1 << 20;
/// Bytes of a page that are read for its words.
const MAX_PAGE_BYTES: usize = 1 << 18;

/// The words of a text: letters and figures, in lower case; of Chinese and Japanese, pairs of letters.
pub fn words(text: &str, mut take: impl FnMut(&str)) {
    let mut word = String::new();
    let mut previous: Option<char> = None;
    for letter in text.chars() {
        if is_ideograph(letter) {
            flush(&mut word, &mut take);
            if let Some(before) = previous {
                let mut pair = String::from(before);
                pair.push(letter);
                take(&pair);
            }
            previous = Some(letter);
        } else {
            previous = None;
            if letter.is_alphanumeric() {
                if word.len() < 64 {
                    word.extend(letter.to_lowercase());
                }
            } else {
                flush(&mut word, &mut take);
            }
        }
    }
    flush(&mut word, &mut take);
}

fn flush(word: &mut String, take: &mut impl FnMut(&str)) {
    if word.chars().nth(1).is_some() {
        take(word);
    }
    word.clear();
}

fn is_ideograph(letter: char) -> bool {
    matches!(letter, '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3134F}')
}

/// Words that say nothing in English, Portuguese and Spanish, and those of every web address.
const STOP_WORDS: &[&str] = &[
    "a", "about", "all", "also", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can", "do", "for",
    "from", "had", "has", "have", "he", "her", "his", "how", "if", "in", "into", "is", "it", "its", "more", "new",
    "no", "not", "of", "on", "one", "or", "other", "our", "out", "she", "so", "some", "than", "that", "the", "their",
    "them", "then", "there", "these", "they", "this", "to", "up", "use", "was", "we", "were", "what", "when", "which",
    "who", "will", "with", "would", "you", "your", "ao", "aos", "até", "com", "como", "da", "das", "de", "dele", "do",
    "dos", "e", "ela", "ele", "em", "entre", "era", "essa", "esse", "esta", "este", "está", "eu", "foi", "foram", "há",
    "isso", "já", "la", "las", "lo", "los", "mais", "mas", "me", "mesmo", "muito", "na", "nas", "nem", "no", "nos",
    "não", "os", "ou", "para", "pela", "pelas", "pelo", "pelos", "por", "qual", "quando", "que", "quem", "se", "sem",
    "ser", "seu", "seus", "sobre", "sua", "suas", "são", "só", "também", "te", "tem", "um", "uma", "umas", "uns",
    "você", "às", "el", "en", "es", "son", "su", "una", "del", "http", "https", "www", "html", "htm", "php", "index",
    "com", "org", "net", "br", "cn", "nbsp", "amp", "href", "src", "div", "span", "class", "id", "li", "ul", "td",
    "tr", "img", "script",
];

fn says_nothing(word: &str) -> bool {
    STOP_WORDS.contains(&word) || word.bytes().all(|byte| byte.is_ascii_digit())
}

/// The text of a page without its tags, for counting words.
fn page_words(body: &[u8], mut take: impl FnMut(&str)) {
    let body = String::from_utf8_lossy(&body[..body.len().min(MAX_PAGE_BYTES)]);
    let mut rest = &*body;
    while !rest.is_empty() {
        let open = rest.find('<').unwrap_or(rest.len());
        words(&rest[..open], &mut take);
        rest = &rest[open..];
        let hidden = ["<script", "<style"]
            .iter()
            .any(|name| rest.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)));
        let end = if hidden { rest[1..].find("</").map(|at| at + 1) } else { rest.find('>').map(|at| at + 1) };
        rest = &rest[end.unwrap_or(rest.len())..];
    }
}

/// How often words occur, with the most frequent ones at hand.
#[derive(Default)]
pub struct TermTable {
    counts: HashMap<String, u32>,
    top: Vec<String>,
    n_pages: usize,
}

impl TermTable {
    /// Counts the words of a page.
    pub fn count(&mut self, body: &[u8], n_terms: usize) {
        page_words(body, |word| {
            if !says_nothing(word) {
                if let Some(count) = self.counts.get_mut(word) {
                    *count += 1;
                } else if self.counts.len() < MAX_WORDS {
                    self.counts.insert(word.to_owned(), 1);
                }
            }
        });
        self.n_pages += 1;
        // The list changes ever more slowly: it is made anew on page 1, 2, 3, … 16 and then every sixteenth.
        if self.n_pages <= 16 || self.n_pages.is_multiple_of(16) {
            let mut all: Vec<(&String, &u32)> = self.counts.iter().collect();
            all.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
            self.top = all.into_iter().take(n_terms).map(|(word, _)| word.clone()).collect();
        }
    }

    /// The most frequent terms, the first first, with their counts.
    pub fn top(&self) -> impl Iterator<Item = (&str, u32)> {
        self.top.iter().map(|word| (word.as_str(), self.counts.get(word).copied().unwrap_or(0)))
    }

    /// How many of the most frequent terms stand in a URL.
    pub fn n_found(&self, url: &str) -> usize {
        let url = url.to_lowercase();
        self.top.iter().filter(|term| url.contains(term.as_str())).count()
    }
}

/// An on-line naive Bayes over what can be known of a link before it is followed.
#[derive(Default)]
pub struct LinkModel {
    /// For each feature how often it led to a page on the topic and how often to another.
    counts: HashMap<u64, [f32; 2]>,
    totals: [f32; 2],
    examples: [f32; 2],
}

impl LinkModel {
    /// Learns where a link led to.
    pub fn learn(&mut self, link: &Link, from_topic: bool, on_topic: bool) {
        let side = usize::from(!on_topic);
        self.examples[side] += 1.0;
        let (counts, totals) = (&mut self.counts, &mut self.totals);
        features(link, from_topic, |feature| {
            if counts.len() < MAX_WORDS || counts.contains_key(&feature) {
                counts.entry(feature).or_default()[side] += 1.0;
                totals[side] += 1.0;
            }
        });
    }

    /// How much sooner a page on the topic is behind the link than another: the logarithm of the odds, 0 when nothing
    /// is known.
    pub fn log_odds(&self, link: &Link, from_topic: bool) -> f32 {
        let prior = ((self.examples[0] + 1.0) / (self.examples[1] + 1.0)).ln();
        let size = self.counts.len() as f32 + 1.0;
        let mut sum = 0.0;
        features(link, from_topic, |feature| {
            let [on, off] = self.counts.get(&feature).copied().unwrap_or([0.0; 2]);
            if on + off > 0.0 {
                sum += ((on + 0.5) / (self.totals[0] + 0.5 * size)).ln()
                    - ((off + 0.5) / (self.totals[1] + 0.5 * size)).ln();
            }
        });
        prior + sum
    }
}

/// What is seen of a link: words of its text, of the text around it and of its address, and whether the page it stands
/// on was on the topic. The same word counts apart in each place.
fn features(link: &Link, from_topic: bool, mut take: impl FnMut(u64)) {
    let mut place = |kind: u8, text: &str| {
        words(text, |word| {
            if kind == b'u' || !says_nothing(word) {
                let mut key = Vec::with_capacity(word.len() + 1);
                key.push(kind);
                key.extend(word.bytes());
                take(xxh3_64(&key));
            }
        });
    };
    place(b'a', &link.anchor);
    place(b'c', &link.context);
    place(b'u', link.url.path());
    place(b'h', link.url.host_str().unwrap_or(""));
    take(xxh3_64(if from_topic { b"p+" } else { b"p-" }));
}

/// What a topic is: words that a page on it has.
#[derive(Clone, Debug)]
pub struct TopicWords {
    words: Vec<String>,
}

impl TopicWords {
    /// A topic of these words.
    pub fn new(list: impl IntoIterator<Item = impl AsRef<str>>) -> TopicWords {
        let mut found = Vec::new();
        for text in list {
            words(text.as_ref(), |word| found.push(word.to_owned()));
        }
        found.sort();
        found.dedup();
        TopicWords { words: found }
    }

    /// The topic of some pages: their most frequent words.
    pub fn of_pages<'p>(pages: impl IntoIterator<Item = &'p [u8]>, n_words: usize) -> TopicWords {
        let mut table = TermTable::default();
        pages.into_iter().for_each(|page| table.count(page, n_words));
        TopicWords { words: table.top.clone() }
    }

    /// The words.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Whether a page is on the topic: a third of the words, and one at least, stand in it.
    pub fn fits(&self, body: &[u8]) -> bool {
        let mut found = vec![false; self.words.len()];
        page_words(body, |word| {
            if let Some(place) = self.words.iter().position(|known| known == word) {
                found[place] = true;
            }
        });
        let n_found = found.iter().filter(|found| **found).count();
        n_found > 0 && n_found * 3 >= self.words.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(url: &str, anchor: &str) -> Link {
        Link { anchor: anchor.into(), ..Link::page(url.parse().unwrap(), 1) }
    }

    #[test]
    fn a_model_learns_which_words_lead_to_the_topic() {
        let mut model = LinkModel::default();
        assert_eq!(model.log_odds(&link("http://x.org/a", "anything"), false), 0.0);
        for n in 0..20 {
            model.learn(&link(&format!("http://x.org/courses/{n}"), "course notes"), true, true);
            model.learn(&link(&format!("http://x.org/people/{n}"), "home page"), true, false);
        }
        let on = model.log_odds(&link("http://x.org/courses/z", "notes"), true);
        let off = model.log_odds(&link("http://x.org/people/z", "page"), true);
        assert!(on > 1.0 && off < -1.0, "{on} {off}");
    }

    #[test]
    fn frequent_terms_are_looked_for_in_addresses() {
        let mut table = TermTable::default();
        table.count(b"<p>Futebol, o futebol e a bola.</p><script>var futebol</script>", 2);
        assert_eq!(table.top().next(), Some(("futebol", 2)));
        assert_eq!(table.n_found("http://x.br/futebol/bola"), 2);
    }

    #[test]
    fn topics_are_told_in_any_script() {
        let topic = TopicWords::new(["\u{8db3}\u{7403}", "gol"]);
        assert!(topic.fits("<p>\u{4eca}\u{5929}\u{8db3}\u{7403}\u{6bd4}\u{8d5b}</p>".as_bytes()));
        assert!(!topic.fits(b"<p>nothing of it</p>"));
    }
}

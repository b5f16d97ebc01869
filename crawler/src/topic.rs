//! The models of focused crawling: whether a page is on the topic, and whether a link leads to one.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use pith_notation::{is_han, is_kana};
use xxhash_rust::xxh3::xxh3_64;

use crate::frontier::Link;

/// The largest number of words in a model; further ones are not added.
const MAX_WORDS: usize = 1 << 20;
/// Bytes of a page that are read for its words.
const MAX_PAGE_BYTES: usize = 1 << 18;
/// Different words of one page that are counted.
const MAX_PAGE_WORDS: usize = 1 << 14;
/// Words that a topic learnt from its seeds has.
const N_LEARNT_WORDS: usize = 20;

/// The words of a text: letters and digits, in lower case; for Chinese and Japanese, character bigrams.
pub fn words(text: &str, mut take: impl FnMut(&str)) {
    let mut word = String::new();
    let mut previous: Option<char> = None;
    for letter in text.chars() {
        if is_han(letter) || is_kana(letter) {
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

/// Stop words by language; for Chinese, character bigrams.
const STOP_WORDS: [(&str, &str); 6] = [
    (
        "en",
        "a about after again all also an and any are as at back be because been before being between both but by can \
         could did do does down each even every few first for from get had has have he her here him his how i if in \
         into is it its just last like made make many may me more most much must my new no not now of off on one only \
         or other our out over own people said same see she should since so some still such than that the their them \
         then there these they this those through time to too two under up us use used very was way we well were what \
         when where which while who why will with would year years you your",
    ),
    (
        "pt",
        "a ainda algo alguns além ano anos antes ao aos após aqui as assim até bem cada com como contra cá da das de \
         dela dele deles depois desde dessa desse desta deste dia disse do dois dos duas e ela elas ele eles em enquanto \
         entre era essa essas esse esses esta estas estava este estes está estão eu fazer foi fora foram há isso isto já \
         lhe lá maior mais mas me menos mesma mesmo meu minha muita muito na nas nem neste no nos nossa nosso nova novo \
         não nós nunca o onde os ou outra outras outro outros para pela pelas pelo pelos pode podem por porque pouco \
         quais qual quando quanto que quem se sem sempre ser seu seus sido sobre sua suas são só também te tem ter teve \
         toda todas todo todos três tudo têm um uma umas uns vai vem vez você vocês à às é",
    ),
    (
        "es",
        "a al algo algunos antes años aquí así aunque bien cada como con contra cual cuando de del desde donde dos durante \
         e el ella ellos en entre era es esa ese eso esta estas este esto estos está están fue fueron ha hace hacia han \
         hasta hay la las le les lo los luego me mi mientras mismo mucho muy más nada ni no nos nosotros o otra otro \
         otros para parte pero poco por porque puede que quien se sea ser si sido sin sobre son su sus también tan tanto \
         te tiene tienen todo todos tras tu un una uno unos usted y ya yo él",
    ),
    (
        "fr",
        "a alors au aucun aussi autre autres aux avant avec avoir c ce cela ces cet cette chez comme comment d dans de des \
         deux donc du elle elles en encore entre est et eu fait faire fut ici il ils je l la le les leur leurs lui là \
         mais me mes moi moins mon même n ne nous on ont ou où par pas peu peut plus pour pourquoi qu quand que quel \
         quelle qui s sa sans se ses si son sont sous sur ta te tous tout toute toutes trois très tu un une vers vos \
         votre vous y à été être",
    ),
    (
        "de",
        "aber alle allem allen aller alles als also am an andere auch auf aus bei bin bis bist da damit dann das dass dem \
         den der des die dies diese diesem diesen dieser doch dort du durch ein eine einem einen einer eines er es etwas \
         euch für gegen haben hat hatte hier ich ihm ihn ihnen ihr ihre im in ins ist ja jede jeder kann kein keine können \
         man mehr mein meine mich mir mit muss nach nicht nichts noch nur ob oder ohne sehr sein seine sich sie sind so \
         sondern um und uns unter vom von vor war waren was weil wenn wer werden wie wieder wir wird wo wurde zu zum zur \
         über",
    ),
    (
        "zh",
        "我们 我們 你们 你們 他们 他們 她们 自己 大家 这个 這個 那个 那個 这些 這些 那些 这样 這樣 那样 什么 什麼 怎么 怎麼 \
         为什 為什 一个 一個 一些 一种 一種 一样 一樣 一下 不是 不能 不会 不會 没有 沒有 就是 还是 還是 但是 可是 因为 因為 \
         所以 如果 虽然 雖然 而且 或者 以及 并且 並且 可以 可能 应该 應該 能够 能夠 需要 已经 已經 正在 现在 現在 时候 時候 \
         的时 的時 之后 之後 以后 以後 之前 以前 然后 然後 非常 很多 更多 最后 最後 其中 其他 由于 由於 对于 對於 关于 關於 \
         通过 通過 进行 進行 表示 来说 來說 也是 都是 的是 是一 了一 的一 也不 都不",
    ),
];
/// Words of URLs and markup, which are stop words in every language.
const WEB_WORDS: &[&str] = &[
    "http", "https", "www", "html", "htm", "php", "asp", "aspx", "index", "com", "org", "net", "br", "cn", "nbsp",
    "amp", "quot", "copy", "href", "src", "div", "span", "class", "id", "li", "ul", "td", "tr", "img", "script",
    "home", "page", "menu", "login", "click",
];

static STOP_SETS: LazyLock<Vec<HashSet<&'static str>>> =
    LazyLock::new(|| STOP_WORDS.iter().map(|(_, list)| list.split_whitespace().collect()).collect());

/// Whether a word is a stop word in any language, for texts too short to detect theirs.
fn is_stop_word(word: &str) -> bool {
    is_web_word(word) || STOP_SETS.iter().any(|list| list.contains(word))
}

fn is_web_word(word: &str) -> bool {
    WEB_WORDS.contains(&word) || word.bytes().all(|byte| byte.is_ascii_digit())
}

/// The words of a page without stop words, with their counts. The language of the page is the one with the most stop
/// word hits.
fn content_words(body: &[u8]) -> HashMap<String, u32> {
    let mut counts: HashMap<String, u32> = HashMap::new();
    page_words(body, |word| {
        if let Some(count) = counts.get_mut(word) {
            *count += 1;
        } else if counts.len() < MAX_PAGE_WORDS {
            counts.insert(word.to_owned(), 1);
        }
    });
    let hits = |list: &HashSet<&str>| list.iter().filter_map(|word| counts.get(*word)).sum::<u32>();
    let language = STOP_SETS.iter().max_by_key(|list| hits(list));
    counts.retain(|word, _| !is_web_word(word) && language.is_none_or(|list| !list.contains(word.as_str())));
    counts
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

/// Word counts over pages, with a list of the most frequent words.
#[derive(Default)]
pub struct TermTable {
    counts: HashMap<String, u32>,
    top: Vec<String>,
    n_pages: usize,
}

impl TermTable {
    /// Counts the words of a page.
    pub fn count(&mut self, body: &[u8], n_terms: usize) {
        for (word, count) in content_words(body) {
            if let Some(sum) = self.counts.get_mut(&word) {
                *sum += count;
            } else if self.counts.len() < MAX_WORDS {
                self.counts.insert(word, count);
            }
        }
        self.n_pages += 1;
        // The list changes ever more slowly: it is rebuilt on each of the first 16 pages and then every 16 pages.
        if self.n_pages <= 16 || self.n_pages.is_multiple_of(16) {
            let mut all: Vec<(&String, &u32)> = self.counts.iter().collect();
            all.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
            self.top = all.into_iter().take(n_terms).map(|(word, _)| word.clone()).collect();
        }
    }

    /// The most frequent terms with their counts, in descending order.
    pub fn top(&self) -> impl Iterator<Item = (&str, u32)> {
        self.top.iter().map(|word| (word.as_str(), self.counts.get(word).copied().unwrap_or(0)))
    }

    /// How many of the most frequent terms occur in a URL.
    pub fn n_found(&self, url: &str) -> usize {
        let url = url.to_lowercase();
        self.top.iter().filter(|term| url.contains(term.as_str())).count()
    }
}

/// An online naive Bayes classifier over the features of a link.
#[derive(Default)]
pub struct LinkModel {
    /// For each feature, how often it led to a page on the topic and how often to another.
    counts: HashMap<u64, [f32; 2]>,
    totals: [f32; 2],
    examples: [f32; 2],
}

impl LinkModel {
    /// Trains with a link whose target was classified.
    pub fn learn(&mut self, link: &Link, from_on_topic: bool, on_topic: bool) {
        let side = usize::from(!on_topic);
        self.examples[side] += 1.0;
        let (counts, totals) = (&mut self.counts, &mut self.totals);
        features(link, from_on_topic, |feature| {
            if counts.len() < MAX_WORDS || counts.contains_key(&feature) {
                counts.entry(feature).or_default()[side] += 1.0;
                totals[side] += 1.0;
            }
        });
    }

    /// The log odds that the link leads to a page on the topic; 0 without training.
    pub fn log_odds(&self, link: &Link, from_on_topic: bool) -> f32 {
        let prior = ((self.examples[0] + 1.0) / (self.examples[1] + 1.0)).ln();
        let size = self.counts.len() as f32 + 1.0;
        let mut sum = 0.0;
        features(link, from_on_topic, |feature| {
            let [on, off] = self.counts.get(&feature).copied().unwrap_or([0.0; 2]);
            if on + off > 0.0 {
                sum += ((on + 0.5) / (self.totals[0] + 0.5 * size)).ln()
                    - ((off + 0.5) / (self.totals[1] + 0.5 * size)).ln();
            }
        });
        prior + sum
    }
}

/// The features of a link: words of the anchor, the context and the URL, and whether the linking page was on the topic.
/// The same word is a different feature in each field.
fn features(link: &Link, from_on_topic: bool, mut take: impl FnMut(u64)) {
    let mut add_words = |kind: u8, text: &str| {
        words(text, |word| {
            if kind == b'u' || !is_stop_word(word) {
                let mut key = Vec::with_capacity(word.len() + 1);
                key.push(kind);
                key.extend(word.bytes());
                take(xxh3_64(&key));
            }
        });
    };
    add_words(b'a', &link.anchor);
    add_words(b'c', &link.context);
    add_words(b'u', link.url.path());
    add_words(b'h', link.url.host_str().unwrap_or(""));
    take(xxh3_64(if from_on_topic { b"p+" } else { b"p-" }));
}

/// A topic: the words of its pages, with weights.
#[derive(Clone, Debug, Default)]
pub struct TopicProfile {
    words: Vec<(String, f32)>,
    /// Words given by the user do not change.
    is_fixed: bool,
    /// Document frequency of each word: in seeds and in other pages.
    document_counts: HashMap<String, [u32; 2]>,
    n_pages: [u32; 2],
}

impl TopicProfile {
    /// A topic of these words.
    pub fn of_words(list: impl IntoIterator<Item = impl AsRef<str>>) -> TopicProfile {
        let mut found = Vec::new();
        for text in list {
            words(text.as_ref(), |word| found.push((word.to_owned(), 1.0)));
        }
        found.sort_by(|a, b| a.0.cmp(&b.0));
        found.dedup_by(|a, b| a.0 == b.0);
        TopicProfile { words: found, is_fixed: true, ..TopicProfile::default() }
    }

    /// A topic learnt during the crawl: words that are frequent in the seeds and rare in other pages.
    pub fn of_seeds() -> TopicProfile {
        TopicProfile::default()
    }

    /// The words with their weights, heaviest first.
    pub fn words(&self) -> &[(String, f32)] {
        &self.words
    }

    /// Whether a page is on the topic. It must contain a third of the given words, or three; of learnt words a third by
    /// weight. Seeds are always on a learnt topic.
    pub fn classify(&mut self, body: &[u8], is_seed: bool) -> bool {
        let found = profile_words(body, self.is_fixed);
        if self.is_fixed {
            let n_found = self.words.iter().filter(|(word, _)| found.contains_key(word)).count();
            return n_found > 0 && (n_found >= 3 || n_found * 3 >= self.words.len());
        }
        self.learn(&found, is_seed);
        let weight: f32 = self.words.iter().map(|(_, weight)| weight).sum();
        let has: f32 = self.words.iter().filter(|(word, _)| found.contains_key(word)).map(|(_, weight)| weight).sum();
        is_seed || (has > 0.0 && has * 3.0 >= weight)
    }

    fn learn(&mut self, found: &HashMap<String, u32>, is_seed: bool) {
        let side = usize::from(!is_seed);
        self.n_pages[side] = self.n_pages[side].saturating_add(1);
        for word in found.keys() {
            if let Some(counts) = self.document_counts.get_mut(word) {
                counts[side] += 1;
            } else if is_seed && self.document_counts.len() < MAX_WORDS {
                // Only words of seeds can become words of the topic.
                self.document_counts.insert(word.clone(), [1, 0]);
            }
        }
        let n_all: u32 = self.n_pages.iter().sum();
        if !self.document_counts.is_empty() && (is_seed || n_all.is_multiple_of(16)) {
            let share = |n: u32, of: u32| n as f32 / of.max(1) as f32;
            let weight = |counts: &[u32; 2]| {
                let (inside, outside) = (share(counts[0], self.n_pages[0]), share(counts[1], self.n_pages[1]));
                inside * ((inside + 0.02) / (outside + 0.02)).ln()
            };
            let mut all: Vec<(&String, f32)> =
                self.document_counts.iter().map(|(word, counts)| (word, weight(counts))).collect();
            all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
            let best = all.into_iter().take(N_LEARNT_WORDS).filter(|(_, weight)| *weight > 0.0);
            self.words = best.map(|(word, weight)| (word.clone(), weight)).collect();
        }
    }

    /// The words and weights, to be restored after a restart.
    pub(crate) fn state(&self) -> Vec<u8> {
        let lines: String = self.words.iter().map(|(word, weight)| format!("{word}\t{weight}\n")).collect();
        lines.into_bytes()
    }

    /// Restores saved words, unless the user has given some.
    pub(crate) fn resume(&mut self, state: &[u8]) {
        if !self.is_fixed {
            let lines = String::from_utf8_lossy(state).into_owned();
            let words = lines.lines().filter_map(|line| line.split_once('\t'));
            self.words = words.filter_map(|(word, weight)| Some((word.to_owned(), weight.parse().ok()?))).collect();
        }
    }
}

/// The words of a page to compare with a profile: all words for given ones, which may be stop words of the page's
/// language.
fn profile_words(body: &[u8], all: bool) -> HashMap<String, u32> {
    if !all {
        return content_words(body);
    }
    let mut found = HashMap::new();
    page_words(body, |word| {
        if !found.contains_key(word) && found.len() < MAX_PAGE_WORDS {
            found.insert(word.to_owned(), 1);
        }
    });
    found
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
        let mut topic = TopicProfile::of_words(["足球", "gol"]);
        assert!(topic.classify("<p>今天足球比赛</p>".as_bytes(), false));
        assert!(!topic.classify(b"<p>nothing of it</p>", false));
    }

    #[test]
    fn stop_words_are_those_of_the_pages_language() {
        let words = |text: &str| {
            let mut words: Vec<String> = content_words(text.as_bytes()).into_keys().collect();
            words.sort();
            words
        };
        assert_eq!(words("o gol do time foi bonito e o jogador também"), ["bonito", "gol", "jogador", "time"]);
        assert_eq!(words("the time of the goal was two minutes"), ["goal", "minutes"]);
        assert_eq!(words("我们的足球"), ["们的", "的足", "足球"]);
    }

    #[test]
    fn a_topic_is_learnt_from_seeds_against_the_other_pages() {
        let mut topic = TopicProfile::of_seeds();
        for seed in ["futebol gol campeonato contato", "futebol gol jogador contato"] {
            assert!(topic.classify(seed.as_bytes(), true));
        }
        for page in 0..40 {
            let other = format!("receita bolo contato cozinha{page}");
            assert!(!topic.classify(other.as_bytes(), false) || page < 16, "page {page}");
        }
        let best: Vec<&str> = topic.words().iter().take(2).map(|(word, _)| word.as_str()).collect();
        assert_eq!(best, ["futebol", "gol"]);
        assert!(topic.classify(b"o futebol e o gol de ontem", false));
        let mut again = TopicProfile::of_seeds();
        again.resume(&topic.state());
        assert!(again.classify(b"o futebol e o gol de ontem", false) && !again.classify(b"bolo e contato", false));
    }
}

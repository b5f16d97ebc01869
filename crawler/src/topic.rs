//! What a page is about, and what a link to it promises: the models of focused crawling.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use xxhash_rust::xxh3::xxh3_64;

use crate::frontier::Link;

/// Words kept by a model at most; the rarest are forgotten when there are more.
const MAX_WORDS: usize = 1 << 20;
/// Bytes of a page that are read for its words.
const MAX_PAGE_BYTES: usize = 1 << 18;
/// Different words of one page that are counted.
const MAX_PAGE_WORDS: usize = 1 << 14;
/// Words that a topic learnt from its seeds has.
const N_LEARNT_WORDS: usize = 20;

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

/// Words that say nothing, by language; of Chinese, pairs of letters.
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
/// Words of addresses and of markup, which say nothing in any language.
const WEB_WORDS: &[&str] = &[
    "http", "https", "www", "html", "htm", "php", "asp", "aspx", "index", "com", "org", "net", "br", "cn", "nbsp",
    "amp", "quot", "copy", "href", "src", "div", "span", "class", "id", "li", "ul", "td", "tr", "img", "script",
    "home", "page", "menu", "login", "click",
];

static STOP_SETS: LazyLock<Vec<HashSet<&'static str>>> =
    LazyLock::new(|| STOP_WORDS.iter().map(|(_, list)| list.split_whitespace().collect()).collect());

/// Whether a word says nothing in some language: for texts too short to tell theirs.
fn says_nothing(word: &str) -> bool {
    is_of_the_web(word) || STOP_SETS.iter().any(|list| list.contains(word))
}

fn is_of_the_web(word: &str) -> bool {
    WEB_WORDS.contains(&word) || word.bytes().all(|byte| byte.is_ascii_digit())
}

/// The words of a page that say something, with how often they stand there. The page's language is the one whose stop
/// words it has most.
fn telling_words(body: &[u8]) -> HashMap<String, u32> {
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
    counts.retain(|word, _| !is_of_the_web(word) && language.is_none_or(|list| !list.contains(word.as_str())));
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
        for (word, count) in telling_words(body) {
            if let Some(sum) = self.counts.get_mut(&word) {
                *sum += count;
            } else if self.counts.len() < MAX_WORDS {
                self.counts.insert(word, count);
            }
        }
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

/// What a topic is: words that a page on it has, each with its weight.
#[derive(Clone, Debug, Default)]
pub struct Subject {
    words: Vec<(String, f32)>,
    /// Given words stay what they are.
    is_given: bool,
    /// For each word in how many seeds and in how many other pages it stands.
    stands_in: HashMap<String, [u32; 2]>,
    n_pages: [u32; 2],
}

impl Subject {
    /// A topic of these words.
    pub fn of_words(list: impl IntoIterator<Item = impl AsRef<str>>) -> Subject {
        let mut found = Vec::new();
        for text in list {
            words(text.as_ref(), |word| found.push((word.to_owned(), 1.0)));
        }
        found.sort_by(|a, b| a.0.cmp(&b.0));
        found.dedup_by(|a, b| a.0 == b.0);
        Subject { words: found, is_given: true, ..Subject::default() }
    }

    /// The topic that the seeds have in common: words that stand in them and seldom in other pages. It is learnt while
    /// the crawl goes on.
    pub fn of_seeds() -> Subject {
        Subject::default()
    }

    /// The words and what each counts, the heaviest first.
    pub fn words(&self) -> &[(String, f32)] {
        &self.words
    }

    /// Whether a page is on the topic. Of given words a third must stand in it, and never more than three; of learnt
    /// ones a third by weight. Where the topic is learnt the seeds are on it.
    pub fn judge(&mut self, body: &[u8], is_seed: bool) -> bool {
        let found = telling_words_or_all(body, self.is_given);
        if self.is_given {
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
            if let Some(counts) = self.stands_in.get_mut(word) {
                counts[side] += 1;
            } else if is_seed && self.stands_in.len() < MAX_WORDS {
                // Words that no seed has cannot become words of the topic.
                self.stands_in.insert(word.clone(), [1, 0]);
            }
        }
        let n_all: u32 = self.n_pages.iter().sum();
        if !self.stands_in.is_empty() && (is_seed || n_all.is_multiple_of(16)) {
            let share = |n: u32, of: u32| n as f32 / of.max(1) as f32;
            let weight = |counts: &[u32; 2]| {
                let (inside, outside) = (share(counts[0], self.n_pages[0]), share(counts[1], self.n_pages[1]));
                inside * ((inside + 0.02) / (outside + 0.02)).ln()
            };
            let mut all: Vec<(&String, f32)> =
                self.stands_in.iter().map(|(word, counts)| (word, weight(counts))).collect();
            all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
            let best = all.into_iter().take(N_LEARNT_WORDS).filter(|(_, weight)| *weight > 0.0);
            self.words = best.map(|(word, weight)| (word.clone(), weight)).collect();
        }
    }

    /// What it takes to go on after a restart: the words and their weights.
    pub(crate) fn state(&self) -> Vec<u8> {
        let lines: String = self.words.iter().map(|(word, weight)| format!("{word}\t{weight}\n")).collect();
        lines.into_bytes()
    }

    /// Goes on with the words of before, unless other ones are given.
    pub(crate) fn resume(&mut self, state: &[u8]) {
        if !self.is_given {
            let lines = String::from_utf8_lossy(state).into_owned();
            let words = lines.lines().filter_map(|line| line.split_once('\t'));
            self.words = words.filter_map(|(word, weight)| Some((word.to_owned(), weight.parse().ok()?))).collect();
        }
    }
}

/// Given words are looked for as they are, also where they say nothing in the language of the page.
fn telling_words_or_all(body: &[u8], all: bool) -> HashMap<String, u32> {
    if !all {
        return telling_words(body);
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
        let mut topic = Subject::of_words(["足球", "gol"]);
        assert!(topic.judge("<p>今天足球比赛</p>".as_bytes(), false));
        assert!(!topic.judge(b"<p>nothing of it</p>", false));
    }

    #[test]
    fn stop_words_are_those_of_the_pages_language() {
        let words = |text: &str| {
            let mut words: Vec<String> = telling_words(text.as_bytes()).into_keys().collect();
            words.sort();
            words
        };
        assert_eq!(words("o gol do time foi bonito e o jogador também"), ["bonito", "gol", "jogador", "time"]);
        assert_eq!(words("the time of the goal was two minutes"), ["goal", "minutes"]);
        assert_eq!(words("我们的足球"), ["们的", "的足", "足球"]);
    }

    #[test]
    fn a_topic_is_learnt_from_seeds_against_the_other_pages() {
        let mut topic = Subject::of_seeds();
        for seed in ["futebol gol campeonato contato", "futebol gol jogador contato"] {
            assert!(topic.judge(seed.as_bytes(), true));
        }
        for page in 0..40 {
            let other = format!("receita bolo contato cozinha{page}");
            assert!(!topic.judge(other.as_bytes(), false) || page < 16, "page {page}");
        }
        let best: Vec<&str> = topic.words().iter().take(2).map(|(word, _)| word.as_str()).collect();
        assert_eq!(best, ["futebol", "gol"]);
        assert!(topic.judge(b"o futebol e o gol de ontem", false));
        let mut again = Subject::of_seeds();
        again.resume(&topic.state());
        assert!(again.judge(b"o futebol e o gol de ontem", false) && !again.judge(b"bolo e contato", false));
    }
}

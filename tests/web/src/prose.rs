//! Content whose truth is known: templates filled from a page's own facts, in each language.

use crate::random::Random;

mod english;
mod portuguese;
mod simplified;
mod traditional;

/// The languages of the test web.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// English.
    English,
    /// Brazilian Portuguese.
    Portuguese,
    /// Chinese in traditional characters.
    Traditional,
    /// Chinese in simplified characters.
    Simplified,
}

impl Language {
    /// Every language, in the order in which hosts take them.
    pub const ALL: [Language; 4] =
        [Language::English, Language::Portuguese, Language::Traditional, Language::Simplified];

    /// The tag that pages carry: `en`, `pt-BR`, `zh-Hant`, `zh-Hans`.
    pub fn tag(self) -> &'static str {
        match self {
            Language::English => "en",
            Language::Portuguese => "pt-BR",
            Language::Traditional => "zh-Hant",
            Language::Simplified => "zh-Hans",
        }
    }

    pub(crate) fn vocabulary(self) -> &'static Vocabulary {
        match self {
            Language::English => &english::VOCABULARY,
            Language::Portuguese => &portuguese::VOCABULARY,
            Language::Traditional => &traditional::VOCABULARY,
            Language::Simplified => &simplified::VOCABULARY,
        }
    }

    /// What stands between two sentences of one paragraph.
    pub(crate) fn between_sentences(self) -> &'static str {
        match self {
            Language::English | Language::Portuguese => " ",
            Language::Traditional | Language::Simplified => "",
        }
    }
}

/// What a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PageType {
    /// A story with a lead, paragraphs and headings.
    Article,
    /// A question and the answers of others.
    Forum,
    /// Titles and teasers of other pages.
    Listing,
    /// One thing for sale.
    Product,
    /// How to use something, with lists and code.
    Documentation,
}

impl PageType {
    /// The word for it, as in the documents that pith writes.
    pub fn name(self) -> &'static str {
        match self {
            PageType::Article => "article",
            PageType::Forum => "forum",
            PageType::Listing => "listing",
            PageType::Product => "product",
            PageType::Documentation => "documentation",
        }
    }
}

/// The words of one language. Templates have slots in braces, filled from [`Facts`].
pub(crate) struct Vocabulary {
    pub topics: &'static [Topic],
    pub people: &'static [&'static str],
    pub places: &'static [&'static str],
    pub organizations: &'static [&'static str],
    pub titles: &'static [&'static str],
    /// What happened: the first sentence of a story.
    pub leads: &'static [&'static str],
    pub causes: &'static [&'static str],
    pub effects: &'static [&'static str],
    pub plans: &'static [&'static str],
    pub details: &'static [&'static str],
    pub asides: &'static [&'static str],
    pub quotes: &'static [&'static str],
    pub headings: &'static [&'static str],
    pub questions: &'static [&'static str],
    pub answers: &'static [&'static str],
    pub product_titles: &'static [&'static str],
    pub product_texts: &'static [&'static str],
    pub product_rows: &'static [(&'static str, &'static str)],
    pub reviews: &'static [&'static str],
    pub guide_titles: &'static [&'static str],
    pub guide_texts: &'static [&'static str],
    pub steps: &'static [&'static str],
    pub chrome: Chrome,
}

/// The words around the content.
pub(crate) struct Chrome {
    pub navigation: &'static [&'static str],
    pub cookie: &'static str,
    pub accept: &'static str,
    pub advertisements: &'static [&'static str],
    pub related: &'static str,
    pub share: &'static str,
    pub newsletter: &'static str,
    pub footer: &'static str,
    pub reply: &'static str,
    pub buy: &'static str,
    pub missing: &'static str,
    pub more: &'static str,
}

/// Something to write about.
pub(crate) struct Topic {
    pub subject: &'static str,
    pub terms: &'static [&'static str],
}

/// What is true in one page; every sentence about it uses the same values.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    language: Language,
    topic: usize,
    person: &'static str,
    place: &'static str,
    organization: &'static str,
    large: usize,
    small: usize,
    percent: usize,
    year: usize,
}

impl Facts {
    pub fn generate(language: Language, random: &mut Random) -> Self {
        let words = language.vocabulary();
        Facts {
            language,
            topic: random.below(words.topics.len()),
            person: random.pick(words.people),
            place: random.pick(words.places),
            organization: random.pick(words.organizations),
            large: random.between(12, 98) * 100,
            small: random.between(2, 48),
            percent: random.between(11, 89),
            year: random.between(2027, 2034),
        }
    }

    fn topic(&self) -> &'static Topic {
        &self.language.vocabulary().topics[self.topic]
    }

    /// Fills the slots of a template; `{term}` takes another term of the topic each time.
    pub fn fill(&self, template: &str, random: &mut Random) -> String {
        let mut text = String::with_capacity(template.len() + 40);
        let mut rest = template;
        while let Some((before, slot)) = rest.split_once('{') {
            let (name, after) = slot.split_once('}').expect("every slot of a template is closed");
            text.push_str(before);
            match name {
                "person" => text.push_str(self.person),
                "place" => text.push_str(self.place),
                "org" => text.push_str(self.organization),
                "subject" => text.push_str(self.topic().subject),
                "term" => text.push_str(random.pick(self.topic().terms)),
                "n" => text.push_str(&self.large.to_string()),
                "m" => text.push_str(&self.small.to_string()),
                "pct" => text.push_str(&self.percent.to_string()),
                "year" => text.push_str(&self.year.to_string()),
                "any" => text.push_str(&random.between(3, 96).to_string()),
                other => unreachable!("a template has the unknown slot {other:?}"),
            }
            rest = after;
        }
        text.push_str(rest);
        capitalized(text)
    }
}

/// A sentence starts with a capital even where a slot with a small letter came first.
fn capitalized(text: String) -> String {
    match text.chars().next() {
        Some(first) if first.is_ascii_lowercase() => first.to_uppercase().chain(text.chars().skip(1)).collect(),
        _ => text,
    }
}

/// One piece of main content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Block {
    Heading(String),
    Paragraph(Vec<String>),
    List(Vec<String>),
    Table(Vec<(String, String)>),
    Code(String),
    Post {
        author: &'static str,
        day: usize,
        sentences: Vec<String>,
    },
    /// Another page, on a listing: its title and its first sentences.
    Item(String, String),
}

/// The main content of one page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Content {
    pub title: String,
    pub author: &'static str,
    /// Days after 2026-01-01.
    pub day: usize,
    pub blocks: Vec<Block>,
    /// The sentences that say what the page is about; empty where no such sentences exist.
    pub summary: Vec<String>,
}

impl Content {
    /// The main text: one block per paragraph, blank lines between.
    pub fn text(&self, language: Language) -> String {
        let gap = language.between_sentences();
        let blocks: Vec<String> = self
            .blocks
            .iter()
            .map(|block| match block {
                Block::Heading(text) | Block::Code(text) => text.clone(),
                Block::Paragraph(sentences) | Block::Post { sentences, .. } => sentences.join(gap),
                Block::List(items) => items.join("\n"),
                Block::Item(title, teaser) => format!("{title}\n{teaser}"),
                Block::Table(rows) => {
                    rows.iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join("\n")
                }
            })
            .collect();
        blocks.join("\n\n")
    }
}

/// The title of a page, without the work of writing the rest.
pub(crate) fn title(page_type: PageType, language: Language, key: &[u64]) -> String {
    let mut random = Random::new(key);
    let facts = Facts::generate(language, &mut random);
    let words = language.vocabulary();
    let templates = match page_type {
        PageType::Article | PageType::Forum | PageType::Listing => words.titles,
        PageType::Product => words.product_titles,
        PageType::Documentation => words.guide_titles,
    };
    let template = random.pick(templates);
    facts.fill(template, &mut random)
}

/// Writes the main content of a page. A listing has none of its own: it shows other pages.
pub(crate) fn content(page_type: PageType, language: Language, key: &[u64]) -> Content {
    let mut random = Random::new(key);
    let facts = Facts::generate(language, &mut random);
    let mut writer = Writer { facts, words: language.vocabulary(), random: Random::new(&[random.next(), 1]) };
    let title = title(page_type, language, key);
    let (blocks, summary) = match page_type {
        PageType::Article => writer.article(),
        PageType::Forum => writer.forum(),
        PageType::Product => writer.product(),
        PageType::Documentation => writer.guide(),
        PageType::Listing => (Vec::new(), Vec::new()),
    };
    let author = writer.random.pick(writer.words.people);
    Content { title, author, day: writer.random.below(330), blocks, summary }
}

/// Changes a few words the way a copy with another date or counter differs.
pub(crate) fn almost(mut content: Content, language: Language, key: &[u64]) -> Content {
    let mut random = Random::new(key);
    let facts = Facts::generate(language, &mut random);
    let aside = random.pick(language.vocabulary().asides);
    content.blocks.push(Block::Paragraph(vec![facts.fill(aside, &mut random)]));
    content
}

struct Writer {
    facts: Facts,
    words: &'static Vocabulary,
    random: Random,
}

impl Writer {
    fn say(&mut self, templates: &[&'static str]) -> String {
        let template = self.random.pick(templates);
        self.facts.fill(template, &mut self.random)
    }

    /// So many sentences, no template twice until all were used.
    fn several(&mut self, templates: &[&'static str], count: usize) -> Vec<String> {
        let mut deck: Vec<&'static str> = Vec::new();
        (0..count)
            .map(|_| {
                if deck.is_empty() {
                    deck = templates.to_vec();
                    self.random.shuffle(&mut deck);
                }
                let template = deck.pop().expect("the deck was just filled");
                self.facts.fill(template, &mut self.random)
            })
            .collect()
    }

    /// Sentences in paragraphs of two to five.
    fn paragraphs(&mut self, sentences: Vec<String>) -> Vec<Vec<String>> {
        let mut paragraphs = Vec::new();
        let mut sentences = sentences.into_iter().peekable();
        while sentences.peek().is_some() {
            let size = self.random.between(2, 5);
            paragraphs.push(sentences.by_ref().take(size).collect());
        }
        paragraphs
    }

    /// A lead that says what happened, then details, asides and quotes; cause, effect and plan each open a paragraph
    /// somewhere in the story, so that they are not found by position alone.
    fn article(&mut self) -> (Vec<Block>, Vec<String>) {
        let words = self.words;
        let lead = self.say(words.leads);
        let keys = vec![self.say(words.causes), self.say(words.effects), self.say(words.plans)];
        let n_details = self.random.between(6, 20);
        let n_asides = self.random.between(3, 10);
        let n_quotes = self.random.between(1, 4);
        let mut sentences = self.several(words.details, n_details);
        sentences.extend(self.several(words.asides, n_asides));
        sentences.extend(self.several(words.quotes, n_quotes));
        self.random.shuffle(&mut sentences);
        let mut paragraphs = self.paragraphs(sentences);
        for (index, key) in keys.iter().enumerate() {
            let place = (index * paragraphs.len() / keys.len()).min(paragraphs.len() - 1);
            paragraphs[place].insert(0, key.clone());
        }
        let mut blocks = vec![Block::Paragraph(vec![lead.clone()])];
        for (index, paragraph) in paragraphs.into_iter().enumerate() {
            if index % 3 == 2 {
                blocks.push(Block::Heading(self.say(words.headings)));
            }
            blocks.push(Block::Paragraph(paragraph));
        }
        let mut summary = vec![lead];
        summary.extend(keys);
        (blocks, summary)
    }

    fn forum(&mut self) -> (Vec<Block>, Vec<String>) {
        let words = self.words;
        let mut day = self.random.below(300);
        let n_question = self.random.between(3, 6);
        let question = self.several(words.questions, n_question);
        let mut blocks = vec![Block::Post { author: self.random.pick(words.people), day, sentences: question }];
        for _ in 0..self.random.between(3, 14) {
            let n_answer = self.random.between(1, 5);
            let sentences = self.several(words.answers, n_answer);
            day += self.random.below(3);
            blocks.push(Block::Post { author: self.random.pick(words.people), day, sentences });
        }
        (blocks, Vec::new())
    }

    fn product(&mut self) -> (Vec<Block>, Vec<String>) {
        let words = self.words;
        let n_texts = self.random.between(5, words.product_texts.len());
        let texts = self.several(words.product_texts, n_texts);
        let mut blocks: Vec<Block> = self.paragraphs(texts).into_iter().map(Block::Paragraph).collect();
        let rows = words
            .product_rows
            .iter()
            .map(|(name, value)| (self.facts.fill(name, &mut self.random), self.facts.fill(value, &mut self.random)));
        blocks.push(Block::Table(rows.collect()));
        for _ in 0..self.random.between(1, 5) {
            let author = self.random.pick(words.people);
            let n_reviews = self.random.between(2, 4);
            let day = self.random.below(330);
            blocks.push(Block::Post { author, day, sentences: self.several(words.reviews, n_reviews) });
        }
        (blocks, Vec::new())
    }

    fn guide(&mut self) -> (Vec<Block>, Vec<String>) {
        let words = self.words;
        let mut blocks = Vec::new();
        for section in 0..self.random.between(3, 7) {
            if section > 0 {
                blocks.push(Block::Heading(self.say(words.guide_titles)));
            }
            let n_texts = self.random.between(3, 6);
            blocks.push(Block::Paragraph(self.several(words.guide_texts, n_texts)));
            match self.random.below(3) {
                0 => {
                    let n_steps = self.random.between(3, 6);
                    blocks.push(Block::List(self.several(words.steps, n_steps)));
                }
                1 => blocks.push(Block::Code(self.code())),
                _ => {}
            }
        }
        (blocks, Vec::new())
    }

    fn code(&mut self) -> String {
        let verbs = ["open", "load", "check", "write", "send", "close"];
        let nouns = ["table", "record", "queue", "client", "report", "index"];
        let mut lines = Vec::new();
        for _ in 0..self.random.between(3, 8) {
            let (verb, noun) = (self.random.pick(&verbs), self.random.pick(&nouns));
            lines.push(format!("{noun} = {verb}_{noun}(limit={})", self.random.between(1, 500)));
        }
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TYPES: [PageType; 4] = [PageType::Article, PageType::Forum, PageType::Product, PageType::Documentation];

    #[test]
    fn every_template_of_every_language_can_be_filled() {
        for language in Language::ALL {
            for page_type in TYPES {
                for number in 0..200 {
                    let content = content(page_type, language, &[number]);
                    let text = content.text(language);
                    assert!(!content.title.is_empty() && text.chars().count() > 100, "{language:?} {page_type:?}");
                    assert!(!text.contains(['{', '}']), "{text}");
                }
            }
        }
    }

    #[test]
    fn the_summary_of_an_article_stands_in_its_text() {
        for language in Language::ALL {
            let content = content(PageType::Article, language, &[3]);
            assert_eq!(content.summary.len(), 4);
            let text = content.text(language);
            assert!(content.summary.iter().all(|sentence| text.contains(sentence)));
        }
    }

    #[test]
    fn a_title_is_the_same_with_and_without_its_page() {
        for page_type in TYPES {
            assert_eq!(
                content(page_type, Language::Portuguese, &[9]).title,
                title(page_type, Language::Portuguese, &[9])
            );
        }
    }

    #[test]
    fn two_pages_are_rarely_the_same() {
        let texts: std::collections::HashSet<String> = (0..500)
            .map(|number| content(PageType::Article, Language::English, &[number]).text(Language::English))
            .collect();
        assert_eq!(texts.len(), 500);
    }
}

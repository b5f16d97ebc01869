//! What kind of page it is: the same bytes for all of its blocks.

use super::{Evidence, Matrix, Sums, count, is_long, log, rate, share, sum};
use crate::blocks::lexicon::{N_THEMES, Role};
use crate::blocks::{Page, place};
use crate::tree::Tag;

/// Adds what is known about the page as a whole.
pub(super) fn values(page: &Page<'_>, sums: &Sums, evidence: &Evidence, matrix: &mut Matrix<'_>) {
    let total = sums.page();
    let words = total[sum::WORDS];
    let n_blocks = page.blocks.len() as u32;
    let mut values = vec![
        log(words),
        log(n_blocks),
        log(words.checked_div(n_blocks).unwrap_or(0)),
        share(total[sum::LINK_WORDS], words),
        share(total[sum::STOP_WORDS], words),
        rate(total[sum::STOPS], words, 300),
        share(total[sum::LONG_WORDS], words),
        share(total[sum::PARAGRAPH_WORDS], words),
        share(total[sum::THEME_WORDS], words),
        log(total[sum::HEADINGS]),
        log(total[sum::PICTURES]),
        log(total[sum::FIELDS]),
        log(total[sum::LINKS]),
        log(total[sum::MONEY]),
        rate(total[sum::PICTURES], words, 400),
    ];
    values.extend(tag_counts(page));
    values.extend(word_shares(page, words));
    values.extend(address(&evidence.address));
    values.push(kind(&evidence.kind));
    values.extend(schema(&evidence.schema_types));
    values.push(log(evidence.body.len() as u32));
    values.push(log(evidence.title.len() as u32));
    values.into_iter().for_each(|value| matrix.push_shared(value));
}

fn tag_counts(page: &Page<'_>) -> [u8; 8] {
    let mut counts = [0u32; Tag::COUNT];
    for element in &page.elements {
        counts[element.tag as usize] += 1;
    }
    [Tag::Article, Tag::Table, Tag::H1, Tag::Main, Tag::Li, Tag::Pre, Tag::P, Tag::Blockquote]
        .map(|tag| log(counts[tag as usize]))
}

/// Shares of words by theme, place and role of the elements around them.
fn word_shares(page: &Page<'_>, words: u32) -> Vec<u8> {
    const PLACES: [u32; 8] =
        [place::ARTICLE, place::MAIN, place::HIDDEN, place::TABLE, place::LIST, place::CODE, place::NAV, place::FORM];
    const ROLES: [Role; 9] = [
        Role::Comment,
        Role::Forum,
        Role::Product,
        Role::Card,
        Role::Article,
        Role::Content,
        Role::Sidebar,
        Role::Related,
        Role::Review,
    ];
    let mut above = vec![0u32; page.elements.len()];
    for (index, element) in page.elements.iter().enumerate() {
        above[index] = above[element.parent as usize] | element.roles;
    }
    let (mut long, mut long_said, mut long_reviewed) = (0u32, 0u32, 0u32);
    let (mut themes, mut places, mut roles, mut unspaced) = ([0u32; N_THEMES], [0u32; 8], [0u32; 9], 0u32);
    for block in &page.blocks {
        let n_words = block.n_words();
        for (sum, hits) in themes.iter_mut().zip(block.themes) {
            *sum += u32::from(hits);
        }
        for (sum, bit) in places.iter_mut().zip(PLACES) {
            *sum += if block.places & bit != 0 { n_words } else { 0 };
        }
        for (sum, role) in roles.iter_mut().zip(ROLES) {
            *sum += if above[block.element as usize] & (1 << role as u32) != 0 { n_words } else { 0 };
        }
        unspaced += block.unspaced;
        if is_long(block) {
            let above = above[block.element as usize];
            let said = above & (1 << Role::Comment as u32 | 1 << Role::Forum as u32) != 0;
            let reviewed = above & (1 << Role::Review as u32) != 0;
            long += n_words;
            long_said += if said { n_words } else { 0 };
            long_reviewed += if reviewed { n_words } else { 0 };
        }
    }
    let mut shares: Vec<u8> = themes[1..].iter().map(|hits| rate(*hits, words, 600)).collect();
    shares.extend(places.iter().chain(&roles).map(|sum| share(*sum, words)));
    shares.push(share(unspaced, words));
    // What would be left without what visitors say.
    shares.extend([
        share(long_said, long),
        log(long - long_said),
        share(long_reviewed, long),
        log(long - long_reviewed),
    ]);
    shares
}

/// What the address looks like.
fn address(address: &str) -> [u8; 12] {
    let path = address.split_once("://").and_then(|(_, rest)| rest.split_once('/')).map_or("", |(_, path)| path);
    let small = path.to_ascii_lowercase();
    let has = |words: &[&str]| u8::from(words.iter().any(|word| small.contains(word)));
    let digits = small.bytes().filter(u8::is_ascii_digit).count() as u32;
    let last = small.trim_end_matches('/').rsplit('/').next().unwrap_or("");
    [
        count(small.split('/').filter(|part| !part.is_empty()).count() as u32),
        count(digits),
        log(small.len() as u32),
        count(last.bytes().filter(|byte| matches!(byte, b'-' | b'_')).count() as u32),
        u8::from(small.contains('?')),
        u8::from(small.is_empty()) + 2 * u8::from(address.is_empty()),
        has(&["forum", "thread", "topic", "question", "discussion", "t/", "comments", "bbs"]),
        has(&["product", "item", "dp/", "p/", "shop", "itm", "sku"]),
        has(&["categor", "collection", "tag", "search", "c/", "archive", "catalog", "browse", "list"]),
        has(&["doc", "wiki", "guide", "reference", "manual", "api", "tutorial", "learn", "help"]),
        has(&["blog", "news", "article", "story", "post", "/20"]),
        has(&["about", "service", "pricing", "contact", "feature", "solution", "company", "team", "index"]),
    ]
}

fn kind(kind: &str) -> u8 {
    match kind.trim().to_ascii_lowercase().as_str() {
        "" => 0,
        "article" | "news" | "blog" | "news_article" => 1,
        "website" => 3,
        kind if kind.contains("product") => 2,
        _ => 4,
    }
}

fn schema(types: &str) -> [u8; 6] {
    let has = |words: &[&str]| u8::from(words.iter().any(|word| types.contains(word)));
    [
        has(&["Article", "BlogPosting", "Report"]),
        has(&["Product", "Offer"]),
        has(&["DiscussionForum", "QAPage", "Question", "Comment"]),
        has(&["ItemList", "CollectionPage", "SearchResults"]),
        has(&["Organization", "LocalBusiness", "Service"]),
        has(&["Recipe", "HowTo", "TechArticle"]),
    ]
}

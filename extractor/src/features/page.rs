//! Page features, the same for all blocks: sizes, shares of words, URL, structured data.

use super::{Matrix, PageMetadata, PrefixSums, count, is_prose, log, rate, share, sum};
use crate::blocks::lexicon::{N_THEMES, Role};
use crate::blocks::{Page, ancestor};
use crate::tree::Tag;

/// Adds the features of the page as a whole.
pub(super) fn values(page: &Page<'_>, sums: &PrefixSums, metadata: &PageMetadata, matrix: &mut Matrix<'_>) {
    let total = sums.page();
    let words = total[sum::WORDS];
    let n_blocks = page.blocks.len() as u32;
    let mut values = vec![
        log(words),
        log(n_blocks),
        log(words.checked_div(n_blocks).unwrap_or(0)),
        share(total[sum::LINK_WORDS], words),
        share(total[sum::STOP_WORDS], words),
        rate(total[sum::SENTENCE_MARKS], words, 300),
        share(total[sum::PROSE_WORDS], words),
        share(total[sum::PARAGRAPH_WORDS], words),
        share(total[sum::THEME_WORDS], words),
        log(total[sum::HEADINGS]),
        log(total[sum::IMAGES]),
        log(total[sum::FORM_FIELDS]),
        log(total[sum::LINKS]),
        log(total[sum::CURRENCY_SIGNS]),
        rate(total[sum::IMAGES], words, 400),
    ];
    values.extend(tag_counts(page));
    values.extend(word_shares(page, words));
    values.extend(url_features(&metadata.url));
    values.push(og_type(&metadata.og_type));
    values.extend(schema_features(&metadata.schema_types));
    values.push(log(metadata.body.len() as u32));
    values.push(log(metadata.title.len() as u32));
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

/// Shares of words by theme, and by ancestors and roles of the elements around them.
fn word_shares(page: &Page<'_>, words: u32) -> Vec<u8> {
    const ANCESTORS: [u32; 8] = [
        ancestor::ARTICLE,
        ancestor::MAIN,
        ancestor::HIDDEN,
        ancestor::TABLE,
        ancestor::LIST,
        ancestor::CODE,
        ancestor::NAV,
        ancestor::FORM,
    ];
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
    let mut roles_around = vec![0u32; page.elements.len()];
    for (index, element) in page.elements.iter().enumerate() {
        roles_around[index] = roles_around[element.parent as usize] | element.roles;
    }
    let (mut prose, mut prose_in_comments, mut prose_in_reviews) = (0u32, 0u32, 0u32);
    let (mut themes, mut ancestors, mut roles, mut unspaced) = ([0u32; N_THEMES], [0u32; 8], [0u32; 9], 0u32);
    for block in &page.blocks {
        let n_words = block.n_words();
        for (sum, hits) in themes.iter_mut().zip(block.themes) {
            *sum += u32::from(hits);
        }
        for (sum, bit) in ancestors.iter_mut().zip(ANCESTORS) {
            *sum += if block.ancestors & bit != 0 { n_words } else { 0 };
        }
        for (sum, role) in roles.iter_mut().zip(ROLES) {
            *sum += if roles_around[block.element as usize] & (1 << role as u32) != 0 { n_words } else { 0 };
        }
        unspaced += block.unspaced;
        if is_prose(block) {
            let roles_around = roles_around[block.element as usize];
            let in_comments = roles_around & (1 << Role::Comment as u32 | 1 << Role::Forum as u32) != 0;
            let in_reviews = roles_around & (1 << Role::Review as u32) != 0;
            prose += n_words;
            prose_in_comments += if in_comments { n_words } else { 0 };
            prose_in_reviews += if in_reviews { n_words } else { 0 };
        }
    }
    let mut shares: Vec<u8> = themes[1..].iter().map(|hits| rate(*hits, words, 600)).collect();
    shares.extend(ancestors.iter().chain(&roles).map(|sum| share(*sum, words)));
    shares.push(share(unspaced, words));
    // The prose of comments and reviews, and what remains without it.
    shares.extend([
        share(prose_in_comments, prose),
        log(prose - prose_in_comments),
        share(prose_in_reviews, prose),
        log(prose - prose_in_reviews),
    ]);
    shares
}

/// Features of the URL.
fn url_features(url: &str) -> [u8; 12] {
    let path = url.split_once("://").and_then(|(_, rest)| rest.split_once('/')).map_or("", |(_, path)| path);
    let lower = path.to_ascii_lowercase();
    let has = |words: &[&str]| u8::from(words.iter().any(|word| lower.contains(word)));
    let digits = lower.bytes().filter(u8::is_ascii_digit).count() as u32;
    let last = lower.trim_end_matches('/').rsplit('/').next().unwrap_or("");
    [
        count(lower.split('/').filter(|part| !part.is_empty()).count() as u32),
        count(digits),
        log(lower.len() as u32),
        count(last.bytes().filter(|byte| matches!(byte, b'-' | b'_')).count() as u32),
        u8::from(lower.contains('?')),
        u8::from(lower.is_empty()) + 2 * u8::from(url.is_empty()),
        has(&["forum", "thread", "topic", "question", "discussion", "t/", "comments", "bbs"]),
        has(&["product", "item", "dp/", "p/", "shop", "itm", "sku"]),
        has(&["categor", "collection", "tag", "search", "c/", "archive", "catalog", "browse", "list"]),
        has(&["doc", "wiki", "guide", "reference", "manual", "api", "tutorial", "learn", "help"]),
        has(&["blog", "news", "article", "story", "post", "/20"]),
        has(&["about", "service", "pricing", "contact", "feature", "solution", "company", "team", "index"]),
    ]
}

fn og_type(og_type: &str) -> u8 {
    match og_type.trim().to_ascii_lowercase().as_str() {
        "" => 0,
        "article" | "news" | "blog" | "news_article" => 1,
        "website" => 3,
        kind if kind.contains("product") => 2,
        _ => 4,
    }
}

fn schema_features(types: &str) -> [u8; 6] {
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

//! What stands before and after a block: neighbours, windows, the heading above, the densest region.

use super::elements::wider;
use super::{Evidence, LONG, Matrix, Sums, count, is_long, log, rate, share, signed_log, sum};
use crate::blocks::lexicon::Theme;
use crate::blocks::{Block, Page, RawLink};
use crate::tree::read_value;

/// Adds the columns about what surrounds each block in reading order.
pub(super) fn columns(page: &Page<'_>, sums: &Sums, evidence: &Evidence, matrix: &mut Matrix<'_>) {
    position(page, sums, matrix);
    neighbours(page, matrix);
    windows(page, sums, matrix);
    headings(page, sums, matrix);
    densest(page, sums, matrix);
    links(page, evidence, matrix);
}

fn position(page: &Page<'_>, sums: &Sums, matrix: &mut Matrix<'_>) {
    let n_blocks = page.blocks.len();
    let total = sums.page()[sum::WORDS];
    matrix.push((0..n_blocks).map(|block| share(block as u32, n_blocks as u32)));
    matrix.push((0..n_blocks).map(|block| share(sums.words_before(block), total)));
    matrix.push((0..n_blocks).map(|block| log(sums.words_before(block))));
    matrix.push((0..n_blocks).map(|block| log(total - sums.words_before(block + 1))));
    // Sentences before and after: inside the content there are some on both sides.
    let long = sums.page()[sum::LONG_WORDS];
    matrix.push((0..n_blocks).map(|block| log(sums.rows[block][sum::LONG_WORDS])));
    matrix.push((0..n_blocks).map(|block| log(long - sums.rows[block + 1][sum::LONG_WORDS])));
    matrix.push((0..n_blocks).map(|block| share(sums.rows[block][sum::LONG_WORDS], long)));
    for forwards in [false, true] {
        since(page, matrix, forwards, is_long);
        since(page, matrix, forwards, |block| block.ending == 2 && block.n_words() >= 5);
        since(page, matrix, forwards, |block| block.link_words * 4 < block.n_words() * 3);
    }
}

/// Adds how many words stand between each block and the nearest earlier or later one that passes.
fn since(page: &Page<'_>, matrix: &mut Matrix<'_>, forwards: bool, passes: impl Fn(&Block) -> bool) {
    if !matrix.is_next_asked() {
        return matrix.push_nothing();
    }
    let mut column = vec![0u8; page.blocks.len()];
    let mut words = u32::MAX;
    let mut visit = |index: usize| {
        column[index] = log(words);
        let block = &page.blocks[index];
        words = if passes(block) { 0 } else { words.saturating_add(block.n_words().max(1)) };
    };
    if forwards {
        (0..page.blocks.len()).rev().for_each(&mut visit);
    } else {
        (0..page.blocks.len()).for_each(&mut visit);
    }
    matrix.push(column.into_iter());
}

fn neighbours(page: &Page<'_>, matrix: &mut Matrix<'_>) {
    let n_blocks = page.blocks.len() as i64;
    let column = |value: fn(&Block) -> u8| page.blocks.iter().map(value).collect::<Vec<u8>>();
    let columns = [
        column(|block| log(block.n_words())),
        column(|block| share(block.link_words, block.n_words())),
        column(|block| share(u32::from(block.themes[0]), block.n_words())),
        column(|block| 1 + block.heading),
        column(|block| 1 + block.ending),
    ];
    for offset in [-1i64, 1] {
        let at = |index: usize| {
            let other = index as i64 + offset;
            (0..n_blocks).contains(&other).then(|| &page.blocks[other as usize])
        };
        for column in &columns {
            // The column moved by some blocks, with nothing beyond the ends of the page.
            let beyond = std::iter::repeat_n(0, offset.unsigned_abs() as usize);
            match usize::try_from(offset) {
                Ok(offset) => matrix.push(column.iter().copied().skip(offset).chain(beyond)),
                Err(_) => matrix.push(beyond.chain(column.iter().copied())),
            }
        }
        matrix.push(
            (0..page.blocks.len())
                .map(|index| at(index).map_or(0, |other| 1 + u8::from(other.element == page.blocks[index].element))),
        );
    }
}

fn windows(page: &Page<'_>, sums: &Sums, matrix: &mut Matrix<'_>) {
    for radius in [3usize, 8, 20] {
        let over: Vec<[u32; sum::COUNT]> =
            (0..page.blocks.len()).map(|block| sums.over(block.saturating_sub(radius), block + radius + 1)).collect();
        let part = |column: usize| over.iter().map(move |inside| share(inside[column], inside[sum::WORDS]));
        matrix.push(over.iter().map(|inside| log(inside[sum::WORDS])));
        matrix.push(part(sum::LINK_WORDS));
        matrix.push(part(sum::STOP_WORDS));
        matrix.push(part(sum::LONG_WORDS));
        matrix.push(part(sum::THEME_WORDS));
        matrix.push(over.iter().map(|inside| rate(inside[sum::SPEAKER_WORDS], inside[sum::WORDS], 400)));
        matrix.push(over.iter().map(|inside| count(inside[sum::HEADINGS])));
    }
}

/// The heading above: how far, how high, and what it announces.
fn headings(page: &Page<'_>, sums: &Sums, matrix: &mut Matrix<'_>) {
    let mut last = None;
    let above: Vec<Option<usize>> = page
        .blocks
        .iter()
        .enumerate()
        .map(|(index, block)| {
            let above = last;
            if block.heading > 0 {
                last = Some(index);
            }
            above
        })
        .collect();
    let columns = above.iter().enumerate();
    matrix.push(
        columns
            .clone()
            .map(|(index, above)| above.map_or(0, |above| log(sums.words_before(index) - sums.words_before(above)))),
    );
    matrix.push(columns.map(|(index, above)| above.map_or(0, |above| count((index - above) as u32))));
    // What a heading says is said once, for all blocks below it.
    let mut last = (None, [0; PER_HEADING]);
    let rows: Vec<[u8; PER_HEADING]> = above
        .iter()
        .map(|above| {
            if last.0 != *above {
                last = (*above, above.map_or([0; PER_HEADING], |above| heading_row(&page.blocks[above])));
            }
            last.1
        })
        .collect();
    for feature in 0..PER_HEADING {
        matrix.push(rows.iter().map(|row| row[feature]));
    }
    outline(page, sums, matrix);
    // The last words before that announce comments or other pages, heading or not.
    for theme in [Theme::Comment, Theme::Related, Theme::Legal, Theme::Review] {
        since(page, matrix, false, |block| {
            block.n_words() <= 8 && block.themes[theme as usize] > 0 && block.stops == 0
        });
    }
}

/// What a heading says about the blocks below it: its level, its length and its themes.
const PER_HEADING: usize = 9;

fn heading_row(heading: &Block) -> [u8; PER_HEADING] {
    let theme = |theme: Theme| share(u32::from(heading.themes[theme as usize]), heading.n_words());
    [
        heading.heading,
        log(heading.n_words()),
        theme(Theme::Comment),
        theme(Theme::Related),
        theme(Theme::Share),
        theme(Theme::Account),
        theme(Theme::Legal),
        theme(Theme::Shop),
        theme(Theme::Review),
    ]
}

/// The headings that a block stands under, those of sections that have ended not among them: what they announce, how
/// many they are, and how far above the highest is. The title announces nothing.
fn outline(page: &Page<'_>, sums: &Sums, matrix: &mut Matrix<'_>) {
    const THEMES: [Theme; 6] =
        [Theme::Comment, Theme::Related, Theme::Account, Theme::Legal, Theme::Shop, Theme::Review];
    /// The level of the title.
    const TITLE: usize = 1;
    // The last heading of each level: its block, and what it and those above it announce.
    let mut open: [Option<(usize, [u8; THEMES.len()])>; 7] = [None; 7];
    let mut rows = Vec::with_capacity(page.blocks.len());
    for (index, block) in page.blocks.iter().enumerate() {
        let level = usize::from(block.heading);
        if level > 0 {
            open[level..].fill(None);
        }
        let mut above = open[TITLE + 1..].iter().flatten();
        let depth = above.clone().count() as u8;
        let highest =
            above.clone().next().map_or(0, |(heading, _)| log(sums.words_before(index) - sums.words_before(*heading)));
        let themes = above.next_back().map_or([0; THEMES.len()], |(_, themes)| *themes);
        rows.push((depth, highest, themes));
        if level > TITLE {
            let mut with_own = themes;
            for (most, theme) in with_own.iter_mut().zip(THEMES) {
                *most = (*most).max(share(u32::from(block.themes[theme as usize]), block.n_words()));
            }
            open[level] = Some((index, with_own));
        }
    }
    matrix.push(rows.iter().map(|(depth, ..)| *depth));
    matrix.push(rows.iter().map(|(_, highest, _)| *highest));
    for theme in 0..THEMES.len() {
        matrix.push(rows.iter().map(|(.., themes)| themes[theme]));
    }
}

/// The element that holds most sentences most directly, and where each block stands to it.
fn densest(page: &Page<'_>, sums: &Sums, matrix: &mut Matrix<'_>) {
    let wider = wider(page);
    let mut scores = vec![0.0f32; page.elements.len()];
    for block in &page.blocks {
        let words = block.n_words();
        if words < LONG || block.link_words * 3 > words {
            continue;
        }
        let (mut element, mut part) = (block.element as usize, words as f32);
        for _ in 0..4 {
            scores[element] += part;
            part *= 0.6;
            let next = wider[element] as usize;
            if next == element {
                break;
            }
            element = next;
        }
    }
    let best = (0..scores.len()).max_by(|a, b| scores[*a].total_cmp(&scores[*b]).then(b.cmp(a))).unwrap_or(0);
    let region = &page.elements[best];
    let (start, end) = (region.first_block as usize, region.end_block as usize);
    let inside = sums.over(start, end);
    matrix.push((0..page.blocks.len()).map(|block| u8::from((start..end).contains(&block))));
    matrix.push((0..page.blocks.len()).map(|block| {
        let here = i64::from(sums.words_before(block));
        signed_log(if block < start {
            here - i64::from(sums.words_before(start))
        } else {
            (here - i64::from(sums.words_before(end))).max(0)
        })
    }));
    matrix.push_shared(share(inside[sum::WORDS], sums.page()[sum::WORDS]));
    matrix.push_shared(log(inside[sum::LONG_WORDS]));
    matrix.push_shared(share(inside[sum::LONG_WORDS], sums.page()[sum::LONG_WORDS]));
}

/// Where the first link of a block leads.
fn links(page: &Page<'_>, evidence: &Evidence, matrix: &mut Matrix<'_>) {
    let own_host = host(&evidence.address);
    let mut targets = vec![[0u8; 3]; page.blocks.len()];
    for RawLink { target, block, .. } in &page.links {
        // Every target has a kind; the first that a block has is the one that counts.
        let Some(row) = targets.get_mut(*block as usize).filter(|row| row[0] == 0) else { continue };
        let target = read_value(target);
        let path = after(&target, "://").unwrap_or(&target);
        let head = &path.as_bytes()[..path.len().min(256)];
        let joints = head.iter().map(|byte| u32::from(matches!(byte, b'/' | b'-' | b'_' | b'='))).sum();
        *row = [target_kind(&target, own_host), count(joints), log(path.len() as u32)];
    }
    for feature in 0..3 {
        matrix.push(targets.iter().map(|row| row[feature]));
    }
    matrix.push(page.blocks.iter().map(|block| rate(block.links, block.n_words(), 60)));
}

fn host(address: &str) -> &str {
    let rest = after(address, "//").unwrap_or("");
    let end = rest.bytes().position(|byte| matches!(byte, b'/' | b'?' | b'#')).unwrap_or(rest.len());
    let mut host = &rest[..end];
    while let Some(shorter) = host.strip_prefix("www.") {
        host = shorter;
    }
    host
}

/// What follows the first mark; pages hold too many addresses for a general search.
fn after<'t>(text: &'t str, mark: &str) -> Option<&'t str> {
    let bytes = text.as_bytes();
    let mut places = memchr::memchr_iter(mark.as_bytes()[0], bytes);
    places.find(|at| bytes[*at..].starts_with(mark.as_bytes())).map(|at| &text[at + mark.len()..])
}

/// 1 this page, 2 an action, 3 this site, 4 elsewhere, 5 a social network.
fn target_kind(target: &str, own_host: &str) -> u8 {
    const SOCIAL: [&str; 8] =
        ["facebook", "twitter", "linkedin", "pinterest", "instagram", "youtube", "reddit", "whatsapp"];
    let target = target.trim_start();
    if target.is_empty() || target.starts_with('#') {
        return 1;
    }
    if target.starts_with("javascript:") || target.starts_with("mailto:") || target.starts_with("tel:") {
        return 2;
    }
    if !target.starts_with("//") && !target.starts_with("http") {
        return 3;
    }
    let other = host(target);
    if !own_host.is_empty() && (other.ends_with(own_host) || own_host.ends_with(other)) {
        return 3;
    }
    if other == "t.me" || other.split('.').any(|label| SOCIAL.contains(&label)) { 5 } else { 4 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    #[test]
    fn a_card_stands_under_the_heading_of_its_section() {
        let page = Page::read(Tree::parse(
            "<h1>A shelf</h1><h2>Related items</h2><h3>A chair</h3><p>Blue<h2>Notes</h2><p>Screws",
        ));
        let mut matrix = Matrix::of_rows(page.blocks.len());
        outline(&page, &Sums::count(&page), &mut matrix);
        let column = |feature| (0..page.blocks.len()).map(|block| matrix.value(feature, block)).collect::<Vec<u8>>();
        assert_eq!(column(0), [0, 0, 1, 2, 0, 1]);
        let related: Vec<bool> = column(3).iter().map(|share| *share > 1).collect();
        assert_eq!(related, [false, false, true, true, false, false]);
    }
}

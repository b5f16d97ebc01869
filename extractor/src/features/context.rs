//! Features of what surrounds a block in reading order: neighbours, windows, headings, the densest region, links.

use super::ancestors::larger_ancestors;
use super::{MIN_PROSE_WORDS, Matrix, PageMetadata, PrefixSums, count, is_prose, log, rate, share, signed_log, sum};
use crate::blocks::lexicon::Theme;
use crate::blocks::{Block, Page, RawLink};
use crate::tree::decode_value;

/// Adds the columns about what surrounds each block in reading order.
pub(super) fn columns(page: &Page<'_>, sums: &PrefixSums, metadata: &PageMetadata, matrix: &mut Matrix<'_>) {
    position(page, sums, matrix);
    neighbours(page, matrix);
    windows(page, sums, matrix);
    headings(page, sums, matrix);
    densest_region(page, sums, matrix);
    links(page, metadata, matrix);
}

fn position(page: &Page<'_>, sums: &PrefixSums, matrix: &mut Matrix<'_>) {
    let n_blocks = page.blocks.len();
    let total = sums.page()[sum::WORDS];
    matrix.push((0..n_blocks).map(|block| share(block as u32, n_blocks as u32)));
    matrix.push((0..n_blocks).map(|block| share(sums.words_before(block), total)));
    matrix.push((0..n_blocks).map(|block| log(sums.words_before(block))));
    matrix.push((0..n_blocks).map(|block| log(total - sums.words_before(block + 1))));
    // Prose before and after: inside the main content there is some on both sides.
    let prose = sums.page()[sum::PROSE_WORDS];
    matrix.push((0..n_blocks).map(|block| log(sums.rows[block][sum::PROSE_WORDS])));
    matrix.push((0..n_blocks).map(|block| log(prose - sums.rows[block + 1][sum::PROSE_WORDS])));
    matrix.push((0..n_blocks).map(|block| share(sums.rows[block][sum::PROSE_WORDS], prose)));
    for forwards in [false, true] {
        word_distance(page, matrix, forwards, is_prose);
        word_distance(page, matrix, forwards, |block| block.ending == 2 && block.n_words() >= 5);
        word_distance(page, matrix, forwards, |block| block.link_words * 4 < block.n_words() * 3);
    }
}

/// Adds the number of words between each block and the nearest earlier or later one that passes.
fn word_distance(page: &Page<'_>, matrix: &mut Matrix<'_>, forwards: bool, passes: impl Fn(&Block) -> bool) {
    if !matrix.is_next_used() {
        return matrix.push_zeros();
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
            // The column shifted by `offset` blocks, 0 beyond the ends of the page.
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

fn windows(page: &Page<'_>, sums: &PrefixSums, matrix: &mut Matrix<'_>) {
    for radius in [3usize, 8, 20] {
        let over: Vec<[u32; sum::COUNT]> =
            (0..page.blocks.len()).map(|block| sums.over(block.saturating_sub(radius), block + radius + 1)).collect();
        let part = |column: usize| over.iter().map(move |inside| share(inside[column], inside[sum::WORDS]));
        matrix.push(over.iter().map(|inside| log(inside[sum::WORDS])));
        matrix.push(part(sum::LINK_WORDS));
        matrix.push(part(sum::STOP_WORDS));
        matrix.push(part(sum::PROSE_WORDS));
        matrix.push(part(sum::THEME_WORDS));
        matrix.push(over.iter().map(|inside| rate(inside[sum::FIRST_PERSON_WORDS], inside[sum::WORDS], 400)));
        matrix.push(over.iter().map(|inside| count(inside[sum::HEADINGS])));
    }
}

/// The last heading before a block: its distance, level and themes.
fn headings(page: &Page<'_>, sums: &PrefixSums, matrix: &mut Matrix<'_>) {
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
    // The row of a heading is computed once for all blocks below it.
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
    // The distance to the last short label of a theme, heading or not.
    for theme in [Theme::Comment, Theme::Related, Theme::Legal, Theme::Review] {
        word_distance(page, matrix, false, |block| {
            block.n_words() <= 8 && block.themes[theme as usize] > 0 && block.sentence_marks == 0
        });
    }
}

/// Features of a heading: its level, its length and its themes.
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

/// The section headings above a block, without those of sections that have ended: their themes, their number, and the
/// distance to the highest. The title of the page (h1) does not count.
fn outline(page: &Page<'_>, sums: &PrefixSums, matrix: &mut Matrix<'_>) {
    const THEMES: [Theme; 6] =
        [Theme::Comment, Theme::Related, Theme::Account, Theme::Legal, Theme::Shop, Theme::Review];
    /// The level of the title.
    const TITLE: usize = 1;
    // The last heading of each level: its block, and the themes of it and of those above it.
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

/// The densest region: the element with the most prose, where each ancestor counts less, and the relation of each block
/// to it.
fn densest_region(page: &Page<'_>, sums: &PrefixSums, matrix: &mut Matrix<'_>) {
    let larger_ancestors = larger_ancestors(page);
    let mut scores = vec![0.0f32; page.elements.len()];
    for block in &page.blocks {
        let words = block.n_words();
        if words < MIN_PROSE_WORDS || block.link_words * 3 > words {
            continue;
        }
        let (mut element, mut part) = (block.element as usize, words as f32);
        for _ in 0..4 {
            scores[element] += part;
            part *= 0.6;
            let next = larger_ancestors[element] as usize;
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
    matrix.push_shared(log(inside[sum::PROSE_WORDS]));
    matrix.push_shared(share(inside[sum::PROSE_WORDS], sums.page()[sum::PROSE_WORDS]));
}

/// The target of the first link of a block.
fn links(page: &Page<'_>, metadata: &PageMetadata, matrix: &mut Matrix<'_>) {
    let own_host = host(&metadata.url);
    let mut targets = vec![[0u8; 3]; page.blocks.len()];
    for RawLink { target, block, .. } in &page.links {
        // Every target has a kind above 0; the first link of a block counts.
        let Some(row) = targets.get_mut(*block as usize).filter(|row| row[0] == 0) else { continue };
        let target = decode_value(target);
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

/// The text after the first occurrence of `mark`; pages hold too many URLs for a general search.
fn after<'t>(text: &'t str, mark: &str) -> Option<&'t str> {
    let bytes = text.as_bytes();
    let mut offsets = memchr::memchr_iter(mark.as_bytes()[0], bytes);
    offsets.find(|at| bytes[*at..].starts_with(mark.as_bytes())).map(|at| &text[at + mark.len()..])
}

/// 1 a fragment of this page, 2 an action, 3 the same site, 4 another site, 5 a social network.
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
    fn a_card_is_under_the_heading_of_its_section() {
        let page = Page::read(Tree::parse(
            "<h1>A shelf</h1><h2>Related items</h2><h3>A chair</h3><p>Blue<h2>Notes</h2><p>Screws",
        ));
        let mut matrix = Matrix::of_rows(page.blocks.len());
        outline(&page, &PrefixSums::count(&page), &mut matrix);
        let column = |feature| (0..page.blocks.len()).map(|block| matrix.value(feature, block)).collect::<Vec<u8>>();
        assert_eq!(column(0), [0, 0, 1, 2, 0, 1]);
        let related: Vec<bool> = column(3).iter().map(|share| *share > 1).collect();
        assert_eq!(related, [false, false, true, true, false, false]);
    }
}

//! Content containers: elements that probably hold the main content, and the position of each block relative to them.
//!
//! There are three: the element whose class names have the highest log-odds of content, the first whose names have high
//! log-odds, and the first `<article>`. Elements that share the deciding class name or tag are of one kind, as the posts
//! of a thread are.

use super::{Matrix, PrefixSums, log, share, signed_log, sum};
use crate::blocks::{Element, Page};
use crate::model::NameTable;
use crate::tree::Tag;

/// The log-odds from which on names count as those of a container.
const MIN_LOG_ODDS: f32 = 1.0;

/// Elements with fewer words are not containers.
const MIN_WORDS: u32 = 20;

/// What the elements of one kind have in common.
#[derive(Clone, Copy)]
enum Kind {
    /// A class name.
    Name(u32),
    /// The tag.
    Tag(Tag),
}

impl Kind {
    fn matches(self, page: &Page<'_>, element: &Element) -> bool {
        match self {
            Kind::Name(name) => page.names_of(element).contains(&name),
            Kind::Tag(tag) => element.tag == tag,
        }
    }

    /// The kind of the element's class name with the highest log-odds.
    fn by_name(page: &Page<'_>, element: &Element, names: &NameTable) -> Kind {
        let value = |name: &&u32| names.get(**name).unwrap_or(f32::MIN);
        let best = page.names_of(element).iter().max_by(|a, b| value(a).total_cmp(&value(b)));
        Kind::Name(best.copied().unwrap_or_default())
    }
}

/// Adds the position of each block relative to the containers; `name_scores` has the mean log-odds of each element's own
/// names.
pub(super) fn columns(
    page: &Page<'_>,
    sums: &PrefixSums,
    names: &NameTable,
    name_scores: &[f32],
    matrix: &mut Matrix<'_>,
) {
    let (mut best, mut first, mut article) = (None, None, None);
    let mut highest = 0.0;
    for (element, name_score) in page.elements.iter().zip(name_scores).skip(1) {
        let is_article = element.tag == Tag::Article;
        if (*name_score <= 0.0 && !is_article) || words(element, sum::WORDS, sums) < MIN_WORDS {
            continue;
        }
        if is_article {
            article.get_or_insert((element, Kind::Tag(Tag::Article)));
        }
        if *name_score > highest {
            highest = *name_score;
            best = Some((element, Kind::by_name(page, element, names)));
        }
        if *name_score >= MIN_LOG_ODDS {
            first.get_or_insert_with(|| (element, Kind::by_name(page, element, names)));
        }
    }
    for container in [best, first, article] {
        match container {
            Some((container, kind)) => container_features(page, sums, container, kind, matrix),
            None => {
                (0..N_COLUMNS).for_each(|_| matrix.push_zeros());
                (0..N_SHARED).for_each(|_| matrix.push_shared(0));
            }
        }
    }
}

/// Block features of one container.
const N_COLUMNS: usize = 2;

/// Page features of one container.
const N_SHARED: usize = 3;

/// The relation of each block to a container: before it (1), in it (2), after it in another of its kind (3), after it (4);
/// the distance in words; and the shares of the page's prose that the container and its kind hold.
fn container_features(page: &Page<'_>, sums: &PrefixSums, container: &Element, kind: Kind, matrix: &mut Matrix<'_>) {
    let (start, end) = (container.first_block as usize, container.end_block as usize);
    let mut in_same_kind = vec![false; page.elements.len()];
    let (mut n_same_kind, mut prose_in_kind) = (0, 0);
    for (index, element) in page.elements.iter().enumerate().skip(1) {
        in_same_kind[index] = in_same_kind[element.parent as usize];
        if !in_same_kind[index] && element.end_block > element.first_block && kind.matches(page, element) {
            in_same_kind[index] = true;
            n_same_kind += 1;
            prose_in_kind += words(element, sum::PROSE_WORDS, sums);
        }
    }
    matrix.push(page.blocks.iter().enumerate().map(|(index, block)| match index {
        _ if index < start => 1,
        _ if index < end => 2,
        _ if in_same_kind[block.element as usize] => 3,
        _ => 4,
    }));
    let before = |block: usize| i64::from(sums.words_before(block));
    matrix.push((0..page.blocks.len()).map(|block| match block {
        _ if block < start => signed_log(before(block) - before(start)),
        _ if block < end => signed_log(0),
        _ => signed_log(before(block) - before(end)),
    }));
    let prose = sums.page()[sum::PROSE_WORDS];
    matrix.push_shared(share(words(container, sum::PROSE_WORDS, sums), prose).max(1));
    matrix.push_shared(share(prose_in_kind, prose).max(1));
    matrix.push_shared(log(n_same_kind));
}

fn words(element: &Element, column: usize, sums: &PrefixSums) -> u32 {
    sums.of(column, element.first_block as usize, element.end_block as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::lexicon::hash;
    use crate::tree::Tree;

    #[test]
    fn blocks_are_before_in_and_after_a_container_and_in_others_of_its_kind() {
        let text = "word ".repeat(30);
        let html = format!(
            "<p>Menu of all our pages<div class='post first'><p>{text}</div><p>Share<div class='post'><p>{text}</div><p>Legal"
        );
        let page = Page::read(Tree::parse(&html));
        let names = NameTable::new(vec![(hash("post"), 32)]);
        let name_score = |element: &Element| if page.names_of(element).is_empty() { 0.0 } else { 2.0 };
        let name_scores: Vec<f32> = page.elements.iter().map(name_score).collect();
        let mut matrix = Matrix::of_rows(page.blocks.len());
        columns(&page, &PrefixSums::count(&page), &names, &name_scores, &mut matrix);
        let column = |feature| (0..page.blocks.len()).map(|block| matrix.value(feature, block)).collect::<Vec<u8>>();
        assert_eq!(column(0), [1, 2, 4, 3, 4]);
        assert_eq!(column(2), column(0), "the first with high log-odds also has the highest");
        assert_eq!(column(4), [0; 5], "there is no <article>");
        let away = column(1);
        assert!(away[0] < 32 && away[1] == 32 && away[2] == 32 && away[3] < away[4], "{away:?}");
    }
}

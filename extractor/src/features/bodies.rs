//! Bodies by name: the elements that promise to hold the content, and where each block stands to them.
//!
//! Three are looked for: the first whose class names promise the most, the first whose names promise enough, and the
//! first `<article>`. Posts of a thread are of one kind, whatever else their names say.

use super::{Matrix, Sums, log, share, signed_log, sum};
use crate::blocks::{Element, Page};
use crate::model::NameTable;
use crate::tree::Tag;

/// Log-odds of names that promise enough.
const ENOUGH: f32 = 1.0;

/// Elements with fewer words are no bodies.
const MIN_WORDS: u32 = 20;

/// What elements of one kind have in common.
#[derive(Clone, Copy)]
enum Kind {
    /// A class name.
    Name(u32),
    /// The tag.
    Tag(Tag),
}

impl Kind {
    fn is_of(self, page: &Page<'_>, element: &Element) -> bool {
        match self {
            Kind::Name(name) => page.names_of(element).contains(&name),
            Kind::Tag(tag) => element.tag == tag,
        }
    }

    /// The class name that promises the most.
    fn by_name(page: &Page<'_>, element: &Element, names: &NameTable) -> Kind {
        let value = |name: &&u32| names.get(**name).unwrap_or(f32::MIN);
        let best = page.names_of(element).iter().max_by(|a, b| value(a).total_cmp(&value(b)));
        Kind::Name(best.copied().unwrap_or_default())
    }
}

/// Adds where each block stands to the bodies; `promises` has for each element what its own names say.
pub(super) fn columns(page: &Page<'_>, sums: &Sums, names: &NameTable, promises: &[f32], matrix: &mut Matrix<'_>) {
    let (mut most, mut enough, mut article) = (None, None, None);
    let mut highest = 0.0;
    for (element, promise) in page.elements.iter().zip(promises).skip(1) {
        let is_article = element.tag == Tag::Article;
        if (*promise <= 0.0 && !is_article) || words(element, sum::WORDS, sums) < MIN_WORDS {
            continue;
        }
        if is_article {
            article.get_or_insert((element, Kind::Tag(Tag::Article)));
        }
        if *promise > highest {
            highest = *promise;
            most = Some((element, Kind::by_name(page, element, names)));
        }
        if *promise >= ENOUGH {
            enough.get_or_insert_with(|| (element, Kind::by_name(page, element, names)));
        }
    }
    for body in [most, enough, article] {
        match body {
            Some((body, kind)) => stand(page, sums, body, kind, matrix),
            None => {
                (0..COLUMNS).for_each(|_| matrix.push_nothing());
                (0..SHARED).for_each(|_| matrix.push_shared(0));
            }
        }
    }
}

/// Columns for one body.
const COLUMNS: usize = 2;

/// Features for one body that all blocks share.
const SHARED: usize = 3;

/// Where each block stands to a body: before it (1), in it (2), behind it in another of its kind (3), behind it (4); how
/// many words away; and what share of the sentences the body and its kind hold.
fn stand(page: &Page<'_>, sums: &Sums, body: &Element, kind: Kind, matrix: &mut Matrix<'_>) {
    let (start, end) = (body.first_block as usize, body.end_block as usize);
    let mut in_kind = vec![false; page.elements.len()];
    let (mut n_kind, mut long_in_kind) = (0, 0);
    for (index, element) in page.elements.iter().enumerate().skip(1) {
        in_kind[index] = in_kind[element.parent as usize];
        if !in_kind[index] && element.end_block > element.first_block && kind.is_of(page, element) {
            in_kind[index] = true;
            n_kind += 1;
            long_in_kind += words(element, sum::LONG_WORDS, sums);
        }
    }
    matrix.push(page.blocks.iter().enumerate().map(|(index, block)| match index {
        _ if index < start => 1,
        _ if index < end => 2,
        _ if in_kind[block.element as usize] => 3,
        _ => 4,
    }));
    let before = |block: usize| i64::from(sums.words_before(block));
    matrix.push((0..page.blocks.len()).map(|block| match block {
        _ if block < start => signed_log(before(block) - before(start)),
        _ if block < end => signed_log(0),
        _ => signed_log(before(block) - before(end)),
    }));
    let long = sums.page()[sum::LONG_WORDS];
    matrix.push_shared(share(words(body, sum::LONG_WORDS, sums), long).max(1));
    matrix.push_shared(share(long_in_kind, long).max(1));
    matrix.push_shared(log(n_kind));
}

fn words(element: &Element, column: usize, sums: &Sums) -> u32 {
    sums.of(column, element.first_block as usize, element.end_block as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::lexicon::hash;
    use crate::tree::Tree;

    #[test]
    fn blocks_stand_before_in_and_behind_a_body_and_in_others_of_its_kind() {
        let text = "word ".repeat(30);
        let html = format!(
            "<p>Menu of all our pages<div class='post first'><p>{text}</div><p>Share<div class='post'><p>{text}</div><p>Legal"
        );
        let page = Page::read(Tree::parse(&html));
        let names = NameTable::new(vec![(hash("post"), 32)]);
        let promise = |element: &Element| if page.names_of(element).is_empty() { 0.0 } else { 2.0 };
        let promises: Vec<f32> = page.elements.iter().map(promise).collect();
        let mut matrix = Matrix::of_rows(page.blocks.len());
        columns(&page, &Sums::count(&page), &names, &promises, &mut matrix);
        let column = |feature| (0..page.blocks.len()).map(|block| matrix.value(feature, block)).collect::<Vec<u8>>();
        assert_eq!(column(0), [1, 2, 4, 3, 4]);
        assert_eq!(column(2), column(0), "the first that promises enough is also the one that promises most");
        assert_eq!(column(4), [0; 5], "there is no <article>");
        let away = column(1);
        assert!(away[0] < 32 && away[1] == 32 && away[2] == 32 && away[3] < away[4], "{away:?}");
    }
}

//! Features of repeated structure: siblings of the same signature (cards, posts, rows, results) and templates.

use super::{GroupedByKey, Matrix, PrefixSums, count, log, rate, share, sum};
use crate::blocks::Page;
use crate::blocks::lexicon::Theme;

/// A group of siblings with the same tag and class names.
#[derive(Clone, Copy, Default)]
struct Group {
    members: u32,
    sums: [u32; sum::COUNT],
}

impl Group {
    fn row(&self, page_words: u32) -> [u8; PER_GROUP] {
        let words = self.sums[sum::WORDS];
        [
            log(self.members),
            log(words / self.members.max(1)),
            share(self.sums[sum::LINK_WORDS], words),
            share(words, page_words),
            rate(self.sums[sum::IMAGES], self.members, 8),
            rate(self.sums[sum::HEADINGS], self.members, 16),
            rate(self.sums[sum::CURRENCY_SIGNS], self.members, 16),
            rate(self.sums[sum::SENTENCE_MARKS], words, 300),
            rate(self.sums[sum::FIRST_PERSON_WORDS], words, 400),
            share(self.sums[sum::PROSE_WORDS], words),
        ]
    }
}

/// Fewer siblings of one signature are not a group.
const MIN_MEMBERS: usize = 3;

/// Features of a group, the same for all of its members.
const PER_GROUP: usize = 10;

/// Adds the columns about the nearest and the largest group that each block belongs to.
#[expect(clippy::needless_range_loop, reason = "one column of many rows at a time")]
pub(super) fn columns(page: &Page<'_>, sums: &PrefixSums, matrix: &mut Matrix<'_>) {
    let groups = Groups::of(page, sums);
    let page_words = sums.page()[sum::WORDS];
    let rows: Vec<[u8; PER_GROUP]> = groups.all.iter().map(|group| group.row(page_words)).collect();
    let (nearest, largest) = groups.nearest_and_largest(page);
    for choice in [&nearest, &largest] {
        let members: Vec<u32> = page.blocks.iter().map(|block| choice[block.element as usize]).collect();
        // The first group has no members.
        let group = |member: &u32| if *member == 0 { 0 } else { groups.group[*member as usize] as usize };
        let of_members: Vec<usize> = members.iter().map(group).collect();
        for feature in 0..PER_GROUP {
            matrix.push(of_members.iter().map(|group| rows[*group][feature]));
        }
        let or_zero = |member: &u32, value: u8| if *member == 0 { 0 } else { value };
        matrix.push(members.iter().map(|member| {
            let element = &page.elements[*member as usize];
            or_zero(member, log(sums.of(sum::WORDS, element.first_block as usize, element.end_block as usize)))
        }));
        matrix.push(members.iter().zip(0u32..).map(|(member, block)| {
            or_zero(member, count(block.saturating_sub(page.elements[*member as usize].first_block)))
        }));
        matrix.push(members.iter().map(|member| or_zero(member, log(groups.order[*member as usize]))));
    }
    templates(page, page_words, matrix);
    // The group with the most words is typical of the page type.
    let strongest = groups.all.iter().max_by_key(|group| group.sums[sum::WORDS]).copied().unwrap_or_default();
    matrix.push_shared(log(strongest.members));
    matrix.push_shared(share(strongest.sums[sum::WORDS], page_words));
    matrix.push_shared(log(strongest.sums[sum::WORDS].checked_div(strongest.members).unwrap_or(0)));
    matrix.push_shared(share(strongest.sums[sum::LINK_WORDS], strongest.sums[sum::WORDS]));
    matrix.push_shared(rate(strongest.sums[sum::IMAGES], strongest.members, 8));
}

/// Blocks with the same path of tags and class names, anywhere on the page: the prices of all cards, the texts of all
/// posts.
#[derive(Clone, Copy, Default)]
struct Template {
    blocks: u32,
    words: u32,
    link_words: u32,
    sentence_marks: u32,
    first_person_words: u32,
}

/// Features of a template; the last is the position of a block in it.
const PER_TEMPLATE: usize = 7;

impl Template {
    fn row(&self, page_words: u32) -> [u8; PER_TEMPLATE] {
        [
            log(self.blocks),
            log(self.words / self.blocks.max(1)),
            share(self.words, page_words),
            share(self.link_words, self.words),
            rate(self.sentence_marks, self.words, 300),
            rate(self.first_person_words, self.words, 400),
            0,
        ]
    }
}

fn templates(page: &Page<'_>, page_words: u32, matrix: &mut Matrix<'_>) {
    let mut paths = vec![0u32; page.elements.len()];
    for (index, element) in page.elements.iter().enumerate().skip(1) {
        let above = paths[element.parent as usize];
        paths[index] = (above ^ element.signature).wrapping_mul(0x0100_0193).rotate_left(5);
    }
    let order =
        GroupedByKey::sorted(page.blocks.iter().map(|block| paths[block.element as usize] ^ u32::from(block.heading)));
    let mut rows = vec![[0; PER_TEMPLATE]; page.blocks.len()];
    for run in order.runs() {
        let mut template = Template::default();
        for index in GroupedByKey::indices(run) {
            let block = &page.blocks[index];
            template.blocks += 1;
            template.words += block.n_words();
            template.link_words += block.link_words;
            template.sentence_marks += block.sentence_marks;
            template.first_person_words += u32::from(block.themes[Theme::FirstPerson as usize]);
        }
        let mut row = template.row(page_words);
        for (position, index) in GroupedByKey::indices(run).enumerate() {
            row[PER_TEMPLATE - 1] = log(position as u32);
            rows[index] = row;
        }
    }
    for feature in 0..PER_TEMPLATE {
        matrix.push(rows.iter().map(|row| row[feature]));
    }
}

struct Groups {
    all: Vec<Group>,
    /// The group of each element.
    group: Vec<u32>,
    /// The position of each element in its group.
    order: Vec<u32>,
}

impl Groups {
    fn of(page: &Page<'_>, sums: &PrefixSums) -> Groups {
        let with_blocks =
            || page.elements.iter().enumerate().filter(|(_, element)| element.end_block > element.first_block);
        // Most elements have too few siblings for a group and need not be sorted.
        let mut n_children = vec![0u32; page.elements.len()];
        with_blocks().for_each(|(_, element)| n_children[element.parent as usize] += 1);
        let mut keys: Vec<(u64, u32)> = with_blocks()
            .filter(|(_, element)| n_children[element.parent as usize] as usize >= MIN_MEMBERS)
            .map(|(index, element)| ((u64::from(element.parent) << 32) | u64::from(element.signature), index as u32))
            .collect();
        keys.sort_unstable();
        let mut groups = Groups {
            all: vec![Group::default()],
            group: vec![0; page.elements.len()],
            order: vec![0; page.elements.len()],
        };
        for run in keys.chunk_by(|a, b| a.0 == b.0).filter(|run| run.len() >= MIN_MEMBERS) {
            let mut group = Group::default();
            for (position, (_, index)) in run.iter().enumerate() {
                let element = &page.elements[*index as usize];
                let inside = sums.over(element.first_block as usize, element.end_block as usize);
                for (total, value) in group.sums.iter_mut().zip(inside) {
                    *total = total.saturating_add(value);
                }
                group.members += 1;
                groups.group[*index as usize] = groups.all.len() as u32;
                groups.order[*index as usize] = position as u32;
            }
            groups.all.push(group);
        }
        groups
    }

    fn of_element(&self, element: u32) -> &Group {
        &self.all[self.group[element as usize] as usize]
    }

    /// For each element, the nearest and the largest group member among it and its ancestors; 0 when there is none.
    fn nearest_and_largest(&self, page: &Page<'_>) -> (Vec<u32>, Vec<u32>) {
        let mut nearest = vec![0u32; page.elements.len()];
        let mut largest = vec![0u32; page.elements.len()];
        for (index, element) in page.elements.iter().enumerate().skip(1) {
            let above = (nearest[element.parent as usize], largest[element.parent as usize]);
            let own = self.of_element(index as u32);
            let repeated = own.members > 0;
            nearest[index] = if repeated { index as u32 } else { above.0 };
            let larger = repeated && (above.1 == 0 || own.sums[sum::WORDS] > self.of_element(above.1).sums[sum::WORDS]);
            largest[index] = if larger { index as u32 } else { above.1 };
        }
        (nearest, largest)
    }
}

//! Features that compare blocks with the metadata of the page: title, description, structured data.

use pith_notation::is_spaceless;

use super::{Matrix, PrefixSums, count, log, share, signed_log, sum};
use crate::blocks::lexicon::{SEED, hash, mix};
use crate::blocks::{Page, lowercase_ascii};

/// The metadata of a page that features are computed from. Every field may be empty.
#[derive(Clone, Debug, Default)]
pub struct PageMetadata {
    /// The title.
    pub title: String,
    /// The description.
    pub description: String,
    /// The text of the article, where structured data holds it.
    pub body: String,
    /// `og:type`.
    pub og_type: String,
    /// The types of the structured data, separated by spaces.
    pub schema_types: String,
    /// The URL.
    pub url: String,
}

/// Adds the columns about similarity to title, description and structured data.
pub(super) fn columns(page: &Page<'_>, sums: &PrefixSums, metadata: &PageMetadata, matrix: &mut Matrix<'_>) {
    let title = word_hashes(&metadata.title);
    let scores = title_scores(page, &title);
    matrix.push(scores.iter().copied());
    let heading = page.blocks.iter().position(|block| block.heading == 1);
    let title_block = title_block(page, &scores);
    title_proximity(page, sums, title_block.or(heading), matrix);
    for origin in [title_block, heading] {
        let from = origin.map(|origin| i64::from(page.blocks[origin].first_word));
        matrix.push(
            page.blocks.iter().map(|block| from.map_or(0, |from| signed_log(i64::from(block.first_word) - from))),
        );
    }
    for text in [&metadata.description, &metadata.body] {
        let shingles = HashSet32::of(word_hashes(text).windows(3).map(shingle).collect());
        if shingles.sorted.is_empty() {
            matrix.push_zeros();
            continue;
        }
        matrix.push(page.blocks.iter().map(|block| {
            let words = page.block_words(block);
            let found = words.windows(3).filter(|window| shingles.contains(shingle(window))).count();
            share(found as u32, words.len().saturating_sub(2) as u32)
        }));
    }
}

/// The Dice similarity of a block's words to those of the title: 63 is the title and nothing else.
fn title_scores(page: &Page<'_>, title: &[u32]) -> Vec<u8> {
    let known = HashSet32::of(title.to_vec());
    page.blocks
        .iter()
        .map(|block| {
            let words = page.block_words(block);
            if title.is_empty() || words.is_empty() || words.len() > 4 * title.len() + 8 {
                return 0;
            }
            let found = words.iter().filter(|word| known.contains(**word)).count();
            share(2 * found as u32, (words.len() + title.len()) as u32)
        })
        .collect()
}

/// The proximity of each block to the title in the tree: how many words their lowest common ancestor holds, and how far
/// below it the block is.
fn title_proximity(page: &Page<'_>, sums: &PrefixSums, title: Option<usize>, matrix: &mut Matrix<'_>) {
    let Some(title) = title else {
        return (0..3).for_each(|_| matrix.push((0..page.blocks.len()).map(|_| 0)));
    };
    let parent = |element: u32| page.elements[element as usize].parent;
    let depth = |element: u32| usize::from(page.elements[element as usize].depth);
    // The elements around the title, by their depth.
    let mut chain = vec![page.blocks[title].element];
    while let Some(last) = chain.last().filter(|last| parent(**last) != **last) {
        chain.push(parent(*last));
    }
    chain.reverse();
    // For each element its lowest ancestor that is also around the title; the root is around everything.
    let mut shared = vec![0; page.elements.len()];
    for (index, element) in page.elements.iter().enumerate().skip(1) {
        let around_title = chain.get(usize::from(element.depth)) == Some(&(index as u32));
        shared[index] = if around_title { index as u32 } else { shared[element.parent as usize] };
    }
    let common: Vec<u32> = page.blocks.iter().map(|block| shared[block.element as usize]).collect();
    let words = |around: &u32| {
        let around = &page.elements[*around as usize];
        sums.of(sum::WORDS, around.first_block as usize, around.end_block as usize)
    };
    let total = sums.page()[sum::WORDS];
    matrix.push(common.iter().map(|around| log(words(around)).max(1)));
    matrix.push(common.iter().map(|around| share(words(around), total)));
    matrix.push(
        page.blocks
            .iter()
            .zip(&common)
            .map(|(block, around)| count(1 + (depth(block.element).saturating_sub(depth(*around))) as u32)),
    );
}

/// The block most similar to the title, headings preferred; `None` when no block is similar.
fn title_block(page: &Page<'_>, scores: &[u8]) -> Option<usize> {
    let best = (0..scores.len()).max_by_key(|index| {
        let heading = page.blocks[*index].heading;
        (scores[*index] + if heading > 0 { 12 } else { 0 }, std::cmp::Reverse(*index))
    })?;
    (scores[best] >= 25).then_some(best)
}

/// The hashes of the words of a text, as [`Page::words`] has those of its blocks.
pub fn word_hashes(text: &str) -> Vec<u32> {
    let mut words = Vec::new();
    let mut word = None;
    let mut buffer = [0; 4];
    for character in text.chars() {
        if let Some(small) = lowercase_ascii(character) {
            word = Some(mix(word.unwrap_or(SEED), small));
            continue;
        }
        let single = is_spaceless(character);
        if !character.is_ascii() && !single && character.is_alphanumeric() {
            let small = character.to_lowercase().next().unwrap_or(character);
            word = Some(small.encode_utf8(&mut buffer).bytes().fold(word.unwrap_or(SEED), mix));
            continue;
        }
        words.extend(word.take().map(|hash: u32| hash.max(1)));
        if single {
            words.push(hash(character.encode_utf8(&mut buffer)));
        }
    }
    words.extend(word.map(|hash| hash.max(1)));
    words
}

fn shingle(words: &[u32]) -> u32 {
    words.iter().fold(SEED, |hash, word| (hash ^ word).wrapping_mul(0x0100_0193).rotate_left(7))
}

/// A set of hashes, with a bit filter that rejects most hashes that are not in it.
struct HashSet32 {
    sorted: Vec<u32>,
    bits: [u64; 64],
}

impl HashSet32 {
    fn of(mut hashes: Vec<u32>) -> HashSet32 {
        hashes.sort_unstable();
        let mut bits = [0; 64];
        for hash in &hashes {
            let (word, bit) = HashSet32::bit(*hash);
            bits[word] |= bit;
        }
        HashSet32 { sorted: hashes, bits }
    }

    #[inline]
    fn bit(hash: u32) -> (usize, u64) {
        ((hash >> 26) as usize, 1 << ((hash >> 20) & 63))
    }

    #[inline]
    fn contains(&self, hash: u32) -> bool {
        let (word, bit) = HashSet32::bit(hash);
        self.bits[word] & bit != 0 && self.sorted.binary_search(&hash).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    #[test]
    fn blocks_near_the_title_share_a_small_element_with_it() {
        let page = Page::read(Tree::parse(
            "<body><div><h1>A white shelf</h1><p>For many books.</div><ul><li>Home and garden tools<li>More</ul>",
        ));
        let sums = PrefixSums::count(&page);
        let columns = |title| {
            let mut matrix = Matrix::of_rows(page.blocks.len());
            title_proximity(&page, &sums, title, &mut matrix);
            (0..page.blocks.len()).map(|block| matrix.value(1, block)).collect::<Vec<u8>>()
        };
        let shares = columns(Some(0));
        assert!(shares[0] < shares[1] && shares[1] < 63, "{shares:?}");
        assert_eq!(shares[2..], [63, 63], "only the whole page holds both");
        assert_eq!(columns(None), [0; 4]);
    }
}

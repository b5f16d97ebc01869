//! What a page shows is compared with a text of its data: does it show only the beginning of it?
//!
//! Letters and digits are compared, so that neither spaces nor signs matter. The shown blocks must stand in the text, in
//! their order and from its beginning on, and nothing of what follows may be anywhere on the page: a page that shows its
//! whole text, of which the classifier drops a part, is not cut short.

use std::cell::OnceCell;

use memchr::memmem;

use crate::blocks::Page;

/// Blocks of fewer bytes are labels: they are kept, and not looked for.
const MIN_BLOCK_BYTES: usize = 40;

/// A page that shows more blocks than this is no beginning.
const MAX_BLOCKS: usize = 48;

/// This share of the shown letters must be found.
const MIN_FOUND: f32 = 0.8;

/// The first block must be found within so many letters, every other within so many behind the one before.
const MAX_BEFORE: usize = 200;
const MAX_BETWEEN: usize = 200;

/// The rest must have so many letters, and this share of those found.
const MIN_REST: usize = 200;
const MIN_REST_SHARE: f32 = 0.25;

/// So many letters of the rest are looked for on the page, at two places.
const PROBE: usize = 48;

/// So many bytes of the last block are looked for in a script before it is read.
const SAMPLE: usize = 24;

/// The prose that is kept of a page.
pub(super) struct Shown<'p, 'a> {
    page: &'p Page<'a>,
    blocks: Vec<&'p str>,
    /// Their letters, once they are needed.
    letters: OnceCell<Vec<String>>,
    /// Whether it is the last that is kept at all.
    is_end: bool,
    n_bytes: usize,
}

/// How a text goes on behind what is shown.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Continuation {
    /// The rest of the text.
    text: String,
    /// Whether it goes on in the paragraph that the shown text ends with.
    is_same_paragraph: bool,
}

impl Continuation {
    /// Adds the rest to a text that shows the beginning.
    pub(crate) fn append_to(&self, shown: &mut String) {
        if self.is_same_paragraph {
            shown.truncate(shown.trim_end_matches(['…', '.', ' ']).len());
        } else {
            shown.push_str("\n\n");
        }
        shown.push_str(&self.text);
    }
}

impl<'p, 'a> Shown<'p, 'a> {
    /// The kept prose; nothing where there is none, or too much for a beginning.
    pub(super) fn of(page: &'p Page<'a>, kept: &[bool]) -> Option<Shown<'p, 'a>> {
        let mut shown = Shown { page, blocks: Vec::new(), letters: OnceCell::new(), is_end: false, n_bytes: 0 };
        for (block, _) in page.blocks.iter().zip(kept).filter(|(_, kept)| **kept) {
            let text = page.block_text(block);
            let is_prose = text.len() >= MIN_BLOCK_BYTES;
            shown.is_end = is_prose;
            if is_prose {
                if shown.blocks.len() == MAX_BLOCKS {
                    return None;
                }
                shown.blocks.push(text);
                shown.n_bytes += text.len();
            }
        }
        (!shown.blocks.is_empty()).then_some(shown)
    }

    pub(super) fn n_bytes(&self) -> usize {
        self.n_bytes
    }

    /// Whether a script is worth reading: it is longer than what is shown and holds words of the last block as they are.
    pub(super) fn may_be_continued_by(&self, script: &str) -> bool {
        if script.len() < self.n_bytes + self.n_bytes / 4 + MIN_REST {
            return false;
        }
        let last = self.blocks.last().copied().unwrap_or_default();
        // Signs may be escaped in a script, letters beyond ASCII too, and markup may divide it.
        let runs = || last.split(|sign: char| !sign.is_alphanumeric() && sign != ' ' && sign != ',');
        let longest = |is_plain: fn(&str) -> bool| runs().filter(|run| is_plain(run)).max_by_key(|run| run.len());
        let run = longest(str::is_ascii).filter(|run| run.len() >= SAMPLE).or_else(|| longest(|_| true));
        run.is_some_and(|run| memmem::find(script.as_bytes(), middle(run).as_bytes()).is_some())
    }

    /// How a text of the data goes on, where the page shows the beginning of it.
    pub(super) fn continued_by(&self, text: &str) -> Option<Continuation> {
        let whole = letters(text);
        let (mut end, mut n_found, mut n_shown) = (0, 0, 0);
        let blocks = self.letters.get_or_init(|| self.blocks.iter().map(|block| letters(block)).collect());
        for (index, block) in blocks.iter().enumerate() {
            n_shown += block.len();
            let Some((at, length)) = find(&whole[end..], block, index + 1 == blocks.len()) else { continue };
            let most = if n_found == 0 { MAX_BEFORE } else { MAX_BETWEEN };
            if at > most {
                return None;
            }
            n_found += block.len();
            end += at + length;
        }
        let rest = &whole[end..];
        let is_part = n_found as f32 >= MIN_FOUND * n_shown as f32;
        let goes_on = rest.len() >= MIN_REST.max((MIN_REST_SHARE * n_found as f32) as usize);
        if !is_part || !goes_on || self.shows(rest) {
            return None;
        }
        let (before, rest) = text.split_at(letter_offset(text, end));
        let mark = rest.find(char::is_alphanumeric).unwrap_or(rest.len());
        let is_same_paragraph = self.is_end && !rest[..mark].contains('\n') && !before.is_empty();
        let rest = if is_same_paragraph { rest.trim_end() } else { rest[mark..].trim_end() };
        if is_data(rest) {
            return None;
        }
        Some(Continuation { text: rest.to_owned(), is_same_paragraph })
    }

    /// Whether the page shows its rest as well, kept or not.
    fn shows(&self, rest: &str) -> bool {
        let page = letters(&self.page.text);
        [0, rest.len() / 2].into_iter().any(|from| {
            let start = boundary(rest, from);
            let end = boundary(rest, start + PROBE);
            memmem::find(page.as_bytes(), &rest.as_bytes()[start..end]).is_some()
        })
    }
}

/// Whether a text has the signs of data or code where prose has words.
fn is_data(text: &str) -> bool {
    let n_signs = text.bytes().filter(|byte| matches!(byte, b'{' | b'}' | b'=' | b'<' | b'\\')).count();
    n_signs + 4 * memmem::find_iter(text.as_bytes(), "\":").count() > text.len() / 100
}

/// The nearest place at or before an offset where a text can be divided.
fn boundary(text: &str, offset: usize) -> usize {
    (0..=offset.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// A sample from the middle of a text.
fn middle(text: &str) -> &str {
    let start = boundary(text, text.len().saturating_sub(SAMPLE) / 2);
    &text[start..boundary(text, start + SAMPLE)]
}

/// Where a block stands in a text, and how much of it: of the last block the beginning is enough, because "Read more" may
/// stand behind it.
fn find(text: &str, block: &str, is_last: bool) -> Option<(usize, usize)> {
    if let Some(at) = memmem::find(text.as_bytes(), block.as_bytes()) {
        return Some((at, block.len()));
    }
    let half = &block[..boundary(block, block.len() / 2)];
    let at = memmem::find(text.as_bytes(), half.as_bytes()).filter(|_| is_last && !half.is_empty())?;
    let shared = text[at..].chars().zip(block.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
    Some((at, shared))
}

/// The letters and digits of a text, in lower case.
fn letters(text: &str) -> String {
    text.chars().filter(|character| character.is_alphanumeric()).map(lower).collect()
}

/// One character for one, so that places can be found again.
fn lower(character: char) -> char {
    if character.is_ascii() {
        return character.to_ascii_lowercase();
    }
    character.to_lowercase().next().unwrap_or(character)
}

/// The offset behind so many bytes of the letters of a text.
fn letter_offset(text: &str, n_bytes: usize) -> usize {
    let mut passed = 0;
    for (at, character) in text.char_indices().filter(|(_, character)| character.is_alphanumeric()) {
        if passed >= n_bytes {
            return at
                - text[..at]
                    .chars()
                    .rev()
                    .take_while(|sign| !sign.is_alphanumeric())
                    .map(char::len_utf8)
                    .sum::<usize>();
        }
        passed += lower(character).len_utf8();
    }
    text.len()
}

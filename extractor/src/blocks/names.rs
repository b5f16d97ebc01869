//! Class names, ids and itemprops as words: their hashes, and the roles that they announce.

use super::lexicon::{HashBits, NAME_ROLES, SEED, mix};
use crate::tree::read_value;

/// The words of all names of a page, and the values seen before: most elements of a page share a few.
pub(super) struct Names<'a> {
    /// Hashes of the words, element by element.
    pub(super) all: Vec<u32>,
    known: Vec<KnownNames<'a>>,
    roles: &'static HashBits,
}

impl<'a> Names<'a> {
    /// Room for the names of a page with so many nodes.
    pub(super) fn for_page(n_nodes: usize) -> Self {
        let known = vec![KnownNames::default(); N_KNOWN];
        Names { all: Vec::with_capacity(n_nodes / 4), known, roles: &NAME_ROLES }
    }

    /// Splits a class, id or itemprop, as it is written, into words; keeps their hashes and tells what they announce.
    pub(super) fn read(&mut self, raw: &'a str) -> u32 {
        let slot = slot_of(raw);
        let known = self.known[slot];
        if known.raw == raw {
            self.all.extend_from_within(known.first_name as usize..known.end_name as usize);
            return known.roles;
        }
        let first_name = self.all.len() as u32;
        let roles = split_names(read_value(raw).as_bytes(), &mut self.all, self.roles);
        self.known[slot] = KnownNames { raw, first_name, end_name: self.all.len() as u32, roles };
        roles
    }
}

/// What a value of `class`, `id` or `itemprop` was split into.
#[derive(Clone, Copy, Default)]
struct KnownNames<'a> {
    raw: &'a str,
    first_name: u32,
    end_name: u32,
    roles: u32,
}

/// How many values are remembered, a power of two.
const N_KNOWN: usize = 256;

/// Where a value is remembered, by a few of its letters.
fn slot_of(value: &str) -> usize {
    let bytes = value.as_bytes();
    let letter = |index: usize| bytes.get(index).map_or(0, |byte| usize::from(*byte));
    let last = bytes.len().saturating_sub(1);
    (bytes.len() + 31 * letter(last) + 7 * letter(last / 2) + 3 * letter(last / 4) + letter(0)) % N_KNOWN
}

/// At most this many words per attribute are kept: more say nothing new.
const MAX_NAMES: usize = 32;

/// Names of more than one word begin their hash here, so that `mainnav` is not `main-nav`.
const JOINED: u32 = SEED ^ 0x5A5A_5A5A;

/// Words of letters, split where the case changes, and whole names of more than one word; their hashes go to `names`.
fn split_names(mut value: &[u8], names: &mut Vec<u32>, name_roles: &HashBits) -> u32 {
    let mut roles = 0;
    let end = names.len() + MAX_NAMES;
    while !value.is_empty() && names.len() < end {
        roles |= split_name(&mut value, names, name_roles);
    }
    names.truncate(end);
    roles
}

/// Reads one name and the white space behind it off the value.
fn split_name(value: &mut &[u8], names: &mut Vec<u32>, name_roles: &HashBits) -> u32 {
    let mut roles = 0;
    let mut joined = JOINED;
    let mut n_words = 0;
    while let Some((&first, rest)) = value.split_first() {
        if SMALL[usize::from(first)] == 0 {
            *value = rest;
            if first.is_ascii_whitespace() {
                break;
            }
            continue;
        }
        let word = Word::read(value, name_roles);
        *value = &value[word.length..];
        n_words += 1;
        joined = (joined ^ word.hash).wrapping_mul(0x0100_0193).rotate_left(9);
        if (2..20).contains(&word.length) {
            roles |= word.roles;
            if word.length >= 3 {
                names.push(word.hash.max(1));
            }
        }
    }
    if n_words > 1 {
        names.push(joined.max(1));
    }
    roles
}

/// A run of letters, up to where small ones are followed by a capital one.
struct Word {
    length: usize,
    hash: u32,
    roles: u32,
}

impl Word {
    /// The word that some bytes begin with.
    #[inline]
    fn read(bytes: &[u8], name_roles: &HashBits) -> Word {
        let mut word = Word { length: 0, hash: SEED, roles: 0 };
        for (at, &byte) in bytes.iter().enumerate() {
            let small = SMALL[usize::from(byte)];
            if small == 0 || (small != byte && at > 0 && bytes[at - 1].is_ascii_lowercase()) {
                break;
            }
            word.hash = mix(word.hash, small);
            word.length = at + 1;
            // `sidebarleft` announces what `sidebar` does: every beginning of a word is looked up on the way.
            if word.length >= 4 && name_roles.may_hold(word.hash) {
                word.roles |= name_roles.get(word.hash);
            }
        }
        if word.length < 4 {
            word.roles = name_roles.get(word.hash);
        }
        word
    }
}

/// The small letter of each letter, 0 for all other bytes.
const SMALL: [u8; 256] = {
    let mut small = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        let character = byte as u8;
        if character.is_ascii_alphabetic() {
            small[byte] = character.to_ascii_lowercase();
        }
        byte += 1;
    }
    small
};

//! Class names, ids and itemprops as words: their hashes, and the roles that they announce.

use std::borrow::Cow;

use super::lexicon::{HashBits, NAME_ROLES, SEED, mix};

/// The words of all names of a page, and the values seen before: most elements of a page share a few.
pub(super) struct Names<'a> {
    /// Hashes of the words, element by element.
    pub(super) all: Vec<u32>,
    known: Vec<KnownNames<'a>>,
}

impl<'a> Names<'a> {
    /// Room for the names of a page with so many nodes.
    pub(super) fn for_page(n_nodes: usize) -> Self {
        Names { all: Vec::with_capacity(n_nodes / 4), known: vec![KnownNames::default(); N_KNOWN] }
    }

    /// Splits class, id or itemprop into words; keeps their hashes and tells what they announce.
    pub(super) fn read(&mut self, value: Cow<'a, str>) -> u32 {
        let Cow::Borrowed(value) = value else {
            return split_names(&value, &mut self.all);
        };
        let slot = slot_of(value);
        let known = self.known[slot];
        if known.value == value {
            self.all.extend_from_within(known.first_name as usize..known.end_name as usize);
            return known.roles;
        }
        let first_name = self.all.len() as u32;
        let roles = split_names(value, &mut self.all);
        self.known[slot] = KnownNames { value, first_name, end_name: self.all.len() as u32, roles };
        roles
    }
}

/// What a value of `class`, `id` or `itemprop` was split into.
#[derive(Clone, Copy, Default)]
struct KnownNames<'a> {
    value: &'a str,
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
fn split_names(value: &str, names: &mut Vec<u32>) -> u32 {
    let mut roles = 0;
    let end = names.len() + MAX_NAMES;
    for name in value.split_ascii_whitespace() {
        if names.len() >= end {
            break;
        }
        roles |= split_name(name.as_bytes(), names);
    }
    names.truncate(end);
    roles
}

fn split_name(bytes: &[u8], names: &mut Vec<u32>) -> u32 {
    let name_roles: &HashBits = &NAME_ROLES;
    let mut roles = 0;
    let mut joined = JOINED;
    let mut n_words = 0;
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_alphabetic() {
            at += 1;
            continue;
        }
        let start = at;
        let mut hash = SEED;
        let mut prefix_roles = 0;
        while at < bytes.len() && bytes[at].is_ascii_alphabetic() {
            let camel = at > start && bytes[at].is_ascii_uppercase() && bytes[at - 1].is_ascii_lowercase();
            if camel {
                break;
            }
            hash = mix(hash, bytes[at].to_ascii_lowercase());
            at += 1;
            if at - start >= 4 {
                // `sidebarleft` announces what `sidebar` does: every beginning of a word is looked up on the way.
                prefix_roles |= name_roles.get(hash);
            }
        }
        n_words += 1;
        joined = (joined ^ hash).wrapping_mul(0x0100_0193).rotate_left(9);
        let length = at - start;
        if (2..20).contains(&length) {
            roles |= prefix_roles | name_roles.get(hash);
            if length >= 3 {
                names.push(hash.max(1));
            }
        }
    }
    if n_words > 1 {
        names.push(joined.max(1));
    }
    roles
}

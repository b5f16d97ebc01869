//! Tokenizes class names, ids and itemprops: the hashes of their tokens, and their roles.

use super::lexicon::{HashBits, NAME_ROLES, Role, SEED, hash, mix};
use super::markup;
use crate::tree::decode_value;

/// The class-name tokens of a page, with a cache of attribute values: most elements of a page share a few.
pub(super) struct Names<'a> {
    /// The hashes of the tokens, element by element.
    pub(super) all: Vec<u32>,
    cached: Vec<CachedNames<'a>>,
    roles: &'static HashBits,
}

impl<'a> Names<'a> {
    /// Room for the names of a page with so many nodes.
    pub(super) fn for_page(n_nodes: usize) -> Self {
        let cached = vec![CachedNames::default(); CACHE_SIZE];
        Names { all: Vec::with_capacity(n_nodes / 4), cached, roles: &NAME_ROLES }
    }

    /// Tokenizes the raw value of a class, id or itemprop, adds the hashes of its tokens and returns its roles.
    pub(super) fn read(&mut self, raw: &'a str) -> u32 {
        let slot = self.tokenize(raw);
        self.cached[slot].roles
    }

    /// Reads the value of a class: its roles, and its kinds of markup.
    pub(super) fn read_class(&mut self, raw: &'a str) -> (u32, u8) {
        let slot = self.tokenize(raw);
        let cached = &mut self.cached[slot];
        let kinds = *cached.kinds.get_or_insert_with(|| markup::kinds_of_class(&decode_value(raw)));
        (cached.roles, kinds)
    }

    /// Adds the hashes of a value's tokens; answers where it is cached.
    fn tokenize(&mut self, raw: &'a str) -> usize {
        let slot = slot_of(raw);
        let cached = self.cached[slot];
        if cached.raw == raw {
            self.all.extend_from_within(cached.first_name as usize..cached.end_name as usize);
            return slot;
        }
        let first_name = self.all.len() as u32;
        let value = decode_value(raw);
        let roles = tokenize_names(value.as_bytes(), &mut self.all, self.roles);
        self.cached[slot] = CachedNames { raw, first_name, end_name: self.all.len() as u32, roles, kinds: None };
        slot
    }
}

/// What a value of `class`, `id` or `itemprop` was split into.
#[derive(Clone, Copy, Default)]
struct CachedNames<'a> {
    raw: &'a str,
    first_name: u32,
    end_name: u32,
    roles: u32,
    /// Known once it was read as a class.
    kinds: Option<u8>,
}

/// The number of cached values, a power of two.
const CACHE_SIZE: usize = 256;

/// The cache slot of a value, by a few of its letters.
fn slot_of(value: &str) -> usize {
    let bytes = value.as_bytes();
    let letter = |index: usize| bytes.get(index).map_or(0, |byte| usize::from(*byte));
    let last = bytes.len().saturating_sub(1);
    (bytes.len() + 31 * letter(last) + 7 * letter(last / 2) + 3 * letter(last / 4) + letter(0)) % CACHE_SIZE
}

/// The most tokens of one attribute; further ones are left out.
pub(crate) const MAX_NAMES: usize = 32;

/// The seed of the hash of a name of several tokens, so that `main-nav` differs from `mainnav`.
const COMPOUND_SEED: u32 = SEED ^ 0x5A5A_5A5A;

/// What a theme writes before the name of a label that an author chose: `tag-signature-sessions`, `category-comments`.
const LABEL_PREFIXES: [u32; 5] = [hash("tag"), hash("category"), hash("cat"), hash("term"), hash("taxonomy")];

/// The roles by which rules drop text. They are never those of a label.
const ROLES_THAT_DROP: u32 = 1 << Role::Comment as u32 | 1 << Role::Signature as u32;

/// Adds the hashes of the tokens (runs of letters, split where the case changes) and of names of several tokens.
fn tokenize_names(mut value: &[u8], names: &mut Vec<u32>, name_roles: &HashBits) -> u32 {
    let mut roles = 0;
    let end = names.len() + MAX_NAMES;
    while !value.is_empty() && names.len() < end {
        roles |= tokenize_name(&mut value, names, name_roles);
    }
    names.truncate(end);
    roles
}

/// Reads one name and the white space behind it off the value.
fn tokenize_name(value: &mut &[u8], names: &mut Vec<u32>, name_roles: &HashBits) -> u32 {
    let mut roles = 0;
    let mut compound = COMPOUND_SEED;
    let mut n_words = 0;
    let mut is_label = false;
    while let Some((&first, rest)) = value.split_first() {
        if LOWERCASE[usize::from(first)] == 0 {
            *value = rest;
            if first.is_ascii_whitespace() {
                break;
            }
            continue;
        }
        let word = Word::read(value, name_roles);
        *value = &value[word.length..];
        n_words += 1;
        compound = (compound ^ word.hash).wrapping_mul(0x0100_0193).rotate_left(9);
        if (2..20).contains(&word.length) {
            roles |= if is_label { word.roles & !ROLES_THAT_DROP } else { word.roles };
            is_label |= LABEL_PREFIXES.contains(&word.hash);
            if word.length >= 3 {
                names.push(word.hash.max(1));
            }
        }
    }
    if n_words > 1 {
        names.push(compound.max(1));
    }
    roles
}

/// A run of letters that ends before a change from lower to upper case.
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
            let lower = LOWERCASE[usize::from(byte)];
            if lower == 0 || (lower != byte && at > 0 && bytes[at - 1].is_ascii_lowercase()) {
                break;
            }
            word.hash = mix(word.hash, lower);
            word.length = at + 1;
            // `sidebarleft` has the role of `sidebar`: every prefix of a token is looked up.
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

/// The lower case of each ASCII letter, 0 for all other bytes.
const LOWERCASE: [u8; 256] = {
    let mut lower = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        let character = byte as u8;
        if character.is_ascii_alphabetic() {
            lower[byte] = character.to_ascii_lowercase();
        }
        byte += 1;
    }
    lower
};

#[cfg(test)]
mod tests {
    use super::*;

    fn roles(class: &str) -> u32 {
        tokenize_names(class.as_bytes(), &mut Vec::new(), &NAME_ROLES)
    }

    #[test]
    fn labels_that_authors_chose_drop_nothing() {
        for class in ["tag-signature-sessions", "category-comments", "post tag-reply hentry", "term-feedback"] {
            assert_eq!(roles(class) & ROLES_THAT_DROP, 0, "{class}");
        }
        for class in ["post-signature", "comments", "tag-list comment", "memberSignature"] {
            assert_ne!(roles(class) & ROLES_THAT_DROP, 0, "{class}");
        }
    }
}

//! Rules in a form that is matched in a time that hardly grows with their number.
//!
//! Of all rules that match, the longest pattern decides, and of two of the same length the one that allows. Patterns
//! without a star are sorted: the ones that match a path are the prefixes of its neighbour in that order, each of which
//! knows the next shorter one. Patterns with a star are tried one after the other, longest first, within a bound on
//! the work for one path.

use memchr::{memchr, memmem};

/// The most patterns with a star inside that are tried. The most in 2 962 files of well-known sites is 506.
const MAX_WILDCARDS: usize = 5_000;
/// The work for one path, in about nanoseconds. A path that takes more counts as disallowed.
const MAX_WORK: usize = 1 << 18;
/// The work of looking for one piece of a pattern, and how many bytes are looked through for one more.
const WORK_PER_PIECE: usize = 32;
const BYTES_PER_WORK: usize = 8;

/// One line of a robots.txt: a pattern with `*` for anything and a last `$` for the end of the path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rule {
    pub(super) pattern: Box<[u8]>,
    pub(super) allow: bool,
}

/// The precedence of a rule: its length, then whether it allows. 0 is that of no rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Rank(u32);

impl Rank {
    fn of(rule: &Rule) -> Rank {
        Rank(((rule.pattern.len() as u32) << 1) | u32::from(rule.allow))
    }

    fn allows(self) -> bool {
        self == Rank::default() || self.0 & 1 == 1
    }
}

/// The rules of one group.
#[derive(Clone, Debug, Default)]
pub(super) struct RuleSet {
    /// The bytes of all patterns.
    bytes: Vec<u8>,
    /// Patterns that match whatever begins with them, sorted.
    prefixes: Vec<Prefix>,
    /// Patterns that match one path, sorted.
    exact: Vec<(Key, Rank)>,
    /// Patterns with a star inside, by falling rank.
    wildcards: Vec<Wildcard>,
}

/// A range of the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    start: u32,
    length: u32,
}

#[derive(Clone, Copy, Debug)]
struct Prefix {
    key: Key,
    /// The longest other prefix that this one begins with.
    parent: Option<u32>,
    /// The highest rank among this one and all that it begins with.
    rank: Rank,
}

#[derive(Clone, Copy, Debug)]
struct Wildcard {
    key: Key,
    is_anchored: bool,
    rank: Rank,
    /// Pairs of bytes that a path must have.
    pairs: Pairs,
}

/// A set of pairs of neighbouring bytes, by a hash of 128 values.
#[derive(Clone, Copy, Debug, Default)]
struct Pairs(u128);

impl Pairs {
    fn of(bytes: &[u8]) -> Pairs {
        let bit = |pair: &[u8]| 1 << ((usize::from(pair[0]) * 37 + usize::from(pair[1]) * 11) % 128);
        Pairs(bytes.windows(2).fold(0, |set, pair| set | bit(pair)))
    }

    fn contains(self, other: Pairs) -> bool {
        other.0 & !self.0 == 0
    }
}

/// What a pattern asks for, without stars that change nothing.
enum Form {
    Prefix(Vec<u8>),
    Exact(Vec<u8>),
    Wildcard(Vec<u8>, bool),
}

impl Form {
    fn of(pattern: &[u8]) -> Form {
        let (pattern, is_anchored) = match pattern.split_last() {
            Some((b'$', rest)) => (rest, true),
            _ => (pattern, false),
        };
        let mut form = Vec::with_capacity(pattern.len());
        for &byte in pattern {
            if byte != b'*' || form.last() != Some(&b'*') {
                form.push(byte);
            }
        }
        // Whatever ends with a star matches all that begins as it does, also where the end is asked for.
        let is_open = form.pop_if(|last| *last == b'*').is_some();
        match (memchr(b'*', &form).is_some(), is_anchored && !is_open) {
            (false, false) => Form::Prefix(form),
            (false, true) => Form::Exact(form),
            (true, is_anchored) => Form::Wildcard(form, is_anchored),
        }
    }
}

impl RuleSet {
    pub(super) fn new(rules: &[Rule]) -> RuleSet {
        let (mut prefixes, mut exact, mut wildcards) = (Vec::new(), Vec::new(), Vec::new());
        for rule in rules {
            let rank = Rank::of(rule);
            match Form::of(&rule.pattern) {
                Form::Prefix(key) => prefixes.push((key, rank)),
                Form::Exact(key) => exact.push((key, rank)),
                Form::Wildcard(key, is_anchored) => wildcards.push((key, is_anchored, rank)),
            }
        }
        wildcards.sort_by(|a, b| (b.2, &a.0, a.1).cmp(&(a.2, &b.0, b.1)));
        wildcards.dedup();
        // What is not tried disallows all that begins as it does: rather too much than too little.
        for (key, _, rank) in wildcards.drain(MAX_WILDCARDS.min(wildcards.len())..).filter(|(.., rank)| !rank.allows())
        {
            let star = memchr(b'*', &key).unwrap_or(key.len());
            prefixes.push((key[..star].to_vec(), rank));
        }
        let mut set = RuleSet::default();
        set.add_prefixes(prefixes);
        set.exact = highest_of_each(exact).into_iter().map(|(key, rank)| (set.add_bytes(&key), rank)).collect();
        for (key, is_anchored, rank) in wildcards {
            let pairs =
                key.split(|byte| *byte == b'*').fold(Pairs::default(), |set, piece| Pairs(set.0 | Pairs::of(piece).0));
            let key = set.add_bytes(&key);
            set.wildcards.push(Wildcard { key, is_anchored, rank, pairs });
        }
        set.bytes.shrink_to_fit();
        set
    }

    fn add_prefixes(&mut self, prefixes: Vec<(Vec<u8>, Rank)>) {
        let mut open: Vec<u32> = Vec::new();
        for (key, own) in highest_of_each(prefixes) {
            while open.pop_if(|last| !key.starts_with(self.key(self.prefixes[*last as usize].key))).is_some() {}
            let parent = open.last().copied();
            let inherited = parent.map_or(Rank::default(), |parent| self.prefixes[parent as usize].rank);
            open.push(self.prefixes.len() as u32);
            let key = self.add_bytes(&key);
            self.prefixes.push(Prefix { key, parent, rank: own.max(inherited) });
        }
    }

    fn add_bytes(&mut self, bytes: &[u8]) -> Key {
        let key = Key { start: self.bytes.len() as u32, length: bytes.len() as u32 };
        self.bytes.extend_from_slice(bytes);
        key
    }

    fn key(&self, key: Key) -> &[u8] {
        &self.bytes[key.start as usize..][..key.length as usize]
    }

    /// Whether a path may be fetched.
    pub(super) fn allows(&self, path: &[u8]) -> bool {
        let rank = self.prefix_rank(path).max(self.exact_rank(path));
        if self.wildcards.first().is_none_or(|first| first.rank <= rank) {
            return rank.allows();
        }
        let pairs = Pairs::of(path);
        let mut work = MAX_WORK;
        for wildcard in self.wildcards.iter().take_while(|wildcard| wildcard.rank > rank) {
            if !pairs.contains(wildcard.pairs) {
                continue;
            }
            match matches(path, self.key(wildcard.key), wildcard.is_anchored, &mut work) {
                Some(true) => return wildcard.rank.allows(),
                Some(false) => {}
                None => return false,
            }
        }
        rank.allows()
    }

    fn prefix_rank(&self, path: &[u8]) -> Rank {
        let behind = self.prefixes.partition_point(|prefix| self.key(prefix.key) <= path);
        let Some(mut prefix) = behind.checked_sub(1).map(|index| &self.prefixes[index]) else { return Rank::default() };
        let common = self.key(prefix.key).iter().zip(path).take_while(|(a, b)| a == b).count() as u32;
        while prefix.key.length > common {
            match prefix.parent {
                Some(parent) => prefix = &self.prefixes[parent as usize],
                None => return Rank::default(),
            }
        }
        prefix.rank
    }

    fn exact_rank(&self, path: &[u8]) -> Rank {
        let found = self.exact.binary_search_by(|(key, _)| self.key(*key).cmp(path));
        found.map_or(Rank::default(), |index| self.exact[index].1)
    }

    /// The bytes on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        self.bytes.capacity()
            + self.prefixes.capacity() * size_of::<Prefix>()
            + self.exact.capacity() * size_of::<(Key, Rank)>()
            + self.wildcards.capacity() * size_of::<Wildcard>()
    }
}

/// The patterns in order, each once with its highest rank.
fn highest_of_each(mut keys: Vec<(Vec<u8>, Rank)>) -> Vec<(Vec<u8>, Rank)> {
    keys.sort_by(|a, b| (&a.0, b.1).cmp(&(&b.0, a.1)));
    keys.dedup_by(|later, earlier| later.0 == earlier.0);
    keys
}

/// Whether a pattern with stars inside matches a beginning of the path, or all of it; `None` when the work is used up.
///
/// The pieces between stars are searched one after the other, each at its leftmost position. That finds every match
/// without backtracking.
fn matches(path: &[u8], pattern: &[u8], is_anchored: bool, work: &mut usize) -> Option<bool> {
    let mut pieces = pattern.split(|byte| *byte == b'*');
    let Some(mut rest) = path.strip_prefix(pieces.next().unwrap_or(b"")) else { return Some(false) };
    let Some(last) = pieces.next_back() else { return Some(true) };
    let mut find = |rest: &mut &[u8], piece: &[u8]| {
        let found = memmem::find(rest, piece);
        let looked_through = found.map_or(rest.len(), |at| at + piece.len());
        *rest = &rest[looked_through..];
        *work = work.checked_sub(WORK_PER_PIECE + looked_through / BYTES_PER_WORK)?;
        Some(found.is_some())
    };
    for piece in pieces {
        if !find(&mut rest, piece)? {
            return Some(false);
        }
    }
    if is_anchored { Some(rest.ends_with(last)) } else { find(&mut rest, last) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Google's way: every rule is tried, the longest that matches decides.
    fn allows_by_trying_all(rules: &[Rule], path: &[u8]) -> bool {
        let matching = rules.iter().filter(|rule| matches_by_trying_all(path, &rule.pattern));
        matching.map(Rank::of).max().unwrap_or_default().allows()
    }

    /// The matcher of Google's parser: the positions that the pattern may have come to, byte by byte.
    fn matches_by_trying_all(path: &[u8], pattern: &[u8]) -> bool {
        let mut positions = vec![0];
        for (index, &byte) in pattern.iter().enumerate() {
            if byte == b'$' && index + 1 == pattern.len() {
                return positions.last() == Some(&path.len());
            }
            positions = match byte {
                b'*' => (positions[0]..=path.len()).collect(),
                _ => positions.into_iter().filter(|at| path.get(*at) == Some(&byte)).map(|at| at + 1).collect(),
            };
            if positions.is_empty() {
                return false;
            }
        }
        true
    }

    fn rules(lines: &[(String, bool)]) -> Vec<Rule> {
        lines.iter().map(|(text, allow)| Rule { pattern: text.as_bytes().into(), allow: *allow }).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn any_rules_match_as_if_every_one_were_tried(
            lines in prop::collection::vec(("[/ab*$]{0,6}", any::<bool>()), 0..12),
            path in "/[ab/$*]{0,8}",
        ) {
            let rules = rules(&lines);
            let expected = allows_by_trying_all(&rules, path.as_bytes());
            prop_assert_eq!(RuleSet::new(&rules).allows(path.as_bytes()), expected, "{:?} {}", lines, path);
        }
    }

    #[test]
    fn what_takes_too_much_work_is_disallowed() {
        let lines: Vec<_> =
            (0..MAX_WILDCARDS).map(|index| (format!("/*a*{}", "ab".repeat(index % 40 + 1)), true)).collect();
        let mut lines: Vec<_> =
            lines.into_iter().enumerate().map(|(index, (text, allow))| (format!("{text}{index}"), allow)).collect();
        lines.push(("/".to_owned(), true));
        let set = RuleSet::new(&rules(&lines));
        assert!(set.allows(b"/a/page.html"));
        let digits: String = (0..3000).map(|number| format!("ab{number}")).collect();
        assert!(!set.allows(format!("/{digits}!").as_bytes()), "too long to try all");
    }

    #[test]
    fn patterns_beyond_the_bound_disallow_what_they_begin_with() {
        let mut lines: Vec<_> = (0..MAX_WILDCARDS).map(|index| (format!("/long/pattern/*{index:06}"), false)).collect();
        lines.push(("/b/*c".to_owned(), false));
        lines.push(("/d/*c".to_owned(), true));
        let set = RuleSet::new(&rules(&lines));
        assert!(!set.allows(b"/b/x"));
        assert!(set.allows(b"/d/x") && set.allows(b"/e"));
        assert!(!set.allows(b"/long/pattern/000123") && set.allows(b"/long/pattern/x"));
    }

    #[test]
    fn one_star_is_as_good_as_many() {
        let stars = format!("/{}b$", "*".repeat(16_000));
        let set = RuleSet::new(&rules(&[(stars, false)]));
        assert!(!set.allows(b"/aab") && set.allows(b"/aaba"));
        assert!(set.heap_bytes() < 32_000);
    }
}

//! The pieces of a text that a summary has taken over, in time linear in both (a suffix automaton: A. Blumer and others,
//! 1985).

use std::collections::HashMap;

#[derive(Default)]
struct State {
    next: HashMap<u32, u32>,
    suffix: Option<u32>,
    length: u32,
}

/// Knows every piece of a text.
pub(super) struct Fragments {
    states: Vec<State>,
    last: u32,
}

impl Fragments {
    pub(super) fn of(tokens: &[u32]) -> Fragments {
        let mut fragments = Fragments { states: vec![State::default()], last: 0 };
        tokens.iter().for_each(|token| fragments.push(*token));
        fragments
    }

    fn push(&mut self, token: u32) {
        let length = self.states[self.last as usize].length + 1;
        let new = self.add(State { length, ..State::default() });
        let mut at = Some(self.last);
        while let Some(state) = at.filter(|state| !self.states[*state as usize].next.contains_key(&token)) {
            self.states[state as usize].next.insert(token, new);
            at = self.states[state as usize].suffix;
        }
        self.states[new as usize].suffix = Some(at.map_or(0, |state| self.continuation(state, token)));
        self.last = new;
    }

    /// The state behind `state` and `token` that holds nothing longer: the one that is there, or a copy of it.
    fn continuation(&mut self, state: u32, token: u32) -> u32 {
        let target = self.states[state as usize].next[&token];
        let length = self.states[state as usize].length + 1;
        if self.states[target as usize].length == length {
            return target;
        }
        let original = &self.states[target as usize];
        let copy = State { next: original.next.clone(), suffix: original.suffix, length };
        let copy = self.add(copy);
        self.states[target as usize].suffix = Some(copy);
        let mut at = Some(state);
        while let Some(state) = at.filter(|state| self.states[*state as usize].next.get(&token) == Some(&target)) {
            self.states[state as usize].next.insert(token, copy);
            at = self.states[state as usize].suffix;
        }
        copy
    }

    fn add(&mut self, state: State) -> u32 {
        self.states.push(state);
        u32::try_from(self.states.len() - 1).expect("a text has fewer tokens than that")
    }

    /// The lengths of the pieces of a summary that stand in the text, each the longest from where the last one ended
    /// (M. Grusky and others, *Newsroom*, 2018).
    pub(super) fn lengths_in(&self, summary: &[u32]) -> Vec<usize> {
        let mut lengths = Vec::new();
        let mut start = 0;
        while start < summary.len() {
            let mut state = 0;
            let known = summary[start..].iter().take_while(|token| {
                let next = self.states[state as usize].next.get(*token);
                next.is_some_and(|next| {
                    state = *next;
                    true
                })
            });
            let length = known.count();
            lengths.extend((length > 0).then_some(length));
            start += length.max(1);
        }
        lengths
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_pieces_are_found() {
        let fragments = Fragments::of(&[1, 2, 3, 4, 2, 3, 5, 1]);
        assert_eq!(fragments.lengths_in(&[2, 3, 5, 9, 1, 2, 3, 4, 4, 1]), [3, 4, 1, 1]);
        assert_eq!(fragments.lengths_in(&[8, 9]), [] as [usize; 0]);
        assert_eq!(Fragments::of(&[]).lengths_in(&[1]), [] as [usize; 0]);
    }

    #[test]
    fn pieces_are_those_that_a_search_of_every_place_finds() {
        let mut state = 3u32;
        let mut next = |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % below
        };
        for _ in 0..200 {
            let text: Vec<u32> = (0..40).map(|_| next(4)).collect();
            let summary: Vec<u32> = (0..12).map(|_| next(5)).collect();
            let mut expected = Vec::new();
            let mut start = 0;
            while start < summary.len() {
                let holds =
                    |length: &usize| text.windows(*length).any(|piece| piece == &summary[start..start + length]);
                let longest = (1..=summary.len() - start).rev().find(holds).unwrap_or(0);
                expected.extend((longest > 0).then_some(longest));
                start += longest.max(1);
            }
            assert_eq!(Fragments::of(&text).lengths_in(&summary), expected);
        }
    }

    #[test]
    fn a_text_that_repeats_one_token_takes_no_longer_than_any_other() {
        let fragments = Fragments::of(&vec![7; 50_000]);
        assert!(fragments.states.len() <= 100_000);
        assert_eq!(fragments.lengths_in(&vec![7; 120_000]), [50_000, 50_000, 20_000]);
    }
}

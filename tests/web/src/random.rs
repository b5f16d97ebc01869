//! Numbers from numbers: the same seed gives the same web on every machine.

/// Mixes the parts into one well spread number.
pub(crate) fn hash(parts: &[u64]) -> u64 {
    parts.iter().fold(0x9e37_79b9_7f4a_7c15, |state, part| mix(state ^ mix(*part)))
}

/// A number in 0..1, from the parts alone.
pub(crate) fn share(parts: &[u64]) -> f64 {
    (hash(parts) >> 11) as f64 / (1u64 << 53) as f64
}

fn mix(mut state: u64) -> u64 {
    state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

/// A stream of numbers that starts from the parts.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub fn new(parts: &[u64]) -> Self {
        Random(hash(parts))
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// A number below `bound`; 0 when there is none.
    pub fn below(&mut self, bound: usize) -> usize {
        if bound == 0 { 0 } else { ((u128::from(self.next()) * bound as u128) >> 64) as usize }
    }

    /// A number in `low..=high`.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    pub fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_parts_give_the_same_numbers_and_others_do_not() {
        let numbers = |seed| (0..8).map(|i| hash(&[seed, i])).collect::<Vec<_>>();
        assert_eq!(numbers(1), numbers(1));
        assert_ne!(numbers(1), numbers(2));
        assert!((0..10_000).all(|i| (0.0..1.0).contains(&share(&[i]))));
    }

    #[test]
    fn numbers_are_spread_over_their_range() {
        let mut random = Random::new(&[7]);
        let mut counts = [0usize; 10];
        (0..10_000).for_each(|_| counts[random.below(10)] += 1);
        assert!(counts.iter().all(|count| (850..1150).contains(count)), "{counts:?}");
    }
}

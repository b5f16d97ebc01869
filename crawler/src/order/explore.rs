//! Exploration: a small share of all pages is chosen at random, so that pages which the policy underrates are fetched
//! too.

/// The share of pages that `pith crawl` chooses at random.
pub const DEFAULT_EXPLORE: f64 = 0.02;

/// Which pages are chosen at random. The same seed gives the same choices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Explore {
    /// The share of pages, from 0 to 1.
    pub share: f64,
    /// The seed of the random choice.
    pub seed: u64,
}

impl Explore {
    /// No exploration.
    pub const NOTHING: Explore = Explore { share: 0.0, seed: 0 };

    /// The random numbers for choosing the `n`-th page, or nothing when the policy chooses it. They depend on the seed
    /// and `n` alone, so a page that was leased and given back does not change later choices.
    pub fn sample(&self, n: u64) -> Option<SplitMix64> {
        if self.share <= 0.0 {
            return None;
        }
        let mut random = SplitMix64(self.seed ^ n.wrapping_mul(0xD1B5_4A32_D192_ED03));
        ((random.next() >> 11) as f64 / (1u64 << 53) as f64 <= self.share).then_some(random)
    }
}

/// The random number generator SplitMix64.
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// The numbers of a seed.
    pub fn new(seed: u64) -> SplitMix64 {
        SplitMix64(seed)
    }

    /// A number below `n`, which is not zero.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_is_sampled_and_the_same_seed_samples_alike() {
        let explore = Explore { share: 0.1, seed: 7 };
        let n_sampled = (0..10_000).filter(|n| explore.sample(*n).is_some()).count();
        assert!((900..1100).contains(&n_sampled), "{n_sampled}");
        let first =
            |seed| (0..10_000).find_map(|n| Explore { seed, ..explore }.sample(n)).map(|mut random| random.below(1000));
        assert_eq!(first(7), first(7));
        assert_ne!(first(7), first(8));
        assert!((0..1000).all(|n| Explore::NOTHING.sample(n).is_none()));
        assert!((0..1000).all(|n| Explore { share: 1.0, seed: 1 }.sample(n).is_some()));
    }
}

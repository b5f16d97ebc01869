//! A small part of all pages is chosen by lot, so that no policy can be blind for ever.

/// The share of pages that `pith crawl` chooses by lot.
pub const DEFAULT_EXPLORE: f64 = 0.02;

/// Which pages are chosen by lot, and how the lot falls: the same for the same seed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Explore {
    /// The share of pages, from 0 to 1.
    pub share: f64,
    /// Another number, another lot.
    pub seed: u64,
}

impl Explore {
    /// Nothing is left to chance.
    pub const NOTHING: Explore = Explore { share: 0.0, seed: 0 };

    /// The lot for the `n`-th page, or nothing when the policy chooses it. It depends on the number alone, so a page
    /// that was handed out and not asked for does not change what comes after it.
    pub fn draw(&self, n: u64) -> Option<Draw> {
        if self.share <= 0.0 {
            return None;
        }
        let mut draw = Draw(self.seed ^ n.wrapping_mul(0xD1B5_4A32_D192_ED03));
        ((draw.next() >> 11) as f64 / (1u64 << 53) as f64 <= self.share).then_some(draw)
    }
}

/// Numbers drawn by lot (SplitMix64).
#[derive(Clone, Debug)]
pub struct Draw(u64);

impl Draw {
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
    fn the_lot_falls_as_often_as_it_should_and_always_alike() {
        let explore = Explore { share: 0.1, seed: 7 };
        let n_drawn = (0..10_000).filter(|n| explore.draw(*n).is_some()).count();
        assert!((900..1100).contains(&n_drawn), "{n_drawn}");
        let first =
            |seed| (0..10_000).find_map(|n| Explore { seed, ..explore }.draw(n)).map(|mut draw| draw.below(1000));
        assert_eq!(first(7), first(7));
        assert_ne!(first(7), first(8));
        assert!((0..1000).all(|n| Explore::NOTHING.draw(n).is_none()));
        assert!((0..1000).all(|n| Explore { share: 1.0, seed: 1 }.draw(n).is_some()));
    }
}

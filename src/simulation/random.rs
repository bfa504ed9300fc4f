//! The randomness of a simulation: SplitMix64, seeded.
//!
//! Invariant: the same seed gives the same numbers on every machine, for ever; seeds in test failures stay good.

/// A small generator. Not for secrets.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The generator of a seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
    pub const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`; 0 where nothing is below it.
    pub const fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 { 0 } else { self.bits() % bound }
    }

    /// True in `percent` of 100 cases.
    pub const fn chance(&mut self, percent: u8) -> bool {
        self.below(100) < percent as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_published_sequence() {
        let mut random = Random::new(1_234_567);
        assert_eq!(random.bits(), 6_457_827_717_110_365_317);
        assert_eq!(random.bits(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn never_and_always_are_exact() {
        let mut random = Random::new(7);
        assert!((0..1000).all(|_| !random.chance(0)));
        assert!((0..1000).all(|_| random.chance(100)));
    }
}

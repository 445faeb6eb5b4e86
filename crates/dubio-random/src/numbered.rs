//! Generators by number, where a named stream for each would cost more than what is drawn from it.

use std::convert::Infallible;

use rand::{Rng, TryRng};

use crate::stream::Stream;

/// A family of generators, one for each number, from one stream.
pub struct Numbered(u64);

impl Numbered {
    /// The family of a stream.
    pub fn new(stream: &Stream) -> Self {
        Self(stream.generator().next_u64())
    }

    /// The key that all of its generators are made from, so that other devices can make them.
    pub fn key(&self) -> u64 {
        self.0
    }

    /// The generator of the `index`-th thing.
    #[inline]
    pub fn nth(&self, index: usize) -> SplitMix {
        // Mixed, so that neighbours' counters lie far apart.
        let mut start = SplitMix(self.0 ^ index as u64);
        SplitMix(start.bits())
    }
}

/// SplitMix64, Steele et al. 2014: a counter, mixed.
pub struct SplitMix(u64);

impl SplitMix {
    /// The next 64 bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

impl TryRng for SplitMix {
    type Error = Infallible;

    #[inline]
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.bits() >> 32) as u32)
    }
    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.bits())
    }
    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.bits().to_le_bytes()[..chunk.len()]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_published_generator() {
        // The first outputs for the seed 1234567, as given with the reference implementation.
        let mut generator = SplitMix(1_234_567);
        let expected =
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!(expected.map(|_| generator.bits()), expected);
    }

    #[test]
    fn generators_of_neighbours_have_nothing_in_common() {
        let family = Numbered::new(&Stream::root(5));
        let mut seen = std::collections::HashSet::new();
        for index in 0..1000 {
            let mut generator = family.nth(index);
            assert!((0..100).all(|_| seen.insert(generator.bits())), "{index}");
        }
    }
}

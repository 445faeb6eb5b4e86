//! Uniform random numbers, whole numbers and random orders.

use rand::Rng;

/// A number in `[0, 1)`, a multiple of `2^-53`.
#[inline(always)]
pub fn uniform(generator: &mut impl Rng) -> f64 {
    (generator.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
}

/// A whole number below `n`, by the high half of a product: biased by less than `n / 2^64`.
#[inline]
pub fn below(generator: &mut impl Rng, n: u64) -> u64 {
    ((u128::from(generator.next_u64()) * u128::from(n)) >> 64) as u64
}

/// A whole number below `n <= 2^32` from half as many random bits: biased by less than `n / 2^32`.
#[inline]
pub fn below_32(generator: &mut impl Rng, n: u64) -> u64 {
    (u64::from(generator.next_u32()) * n) >> 32
}

/// Puts the values into a random order, every order equally likely (Fisher and Yates 1938); `below(n)` gives
/// whole numbers below `n`.
pub fn shuffle<T>(values: &mut [T], mut below: impl FnMut(u64) -> u64) {
    for i in (1..values.len()).rev() {
        values.swap(i, below(i as u64 + 1) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::Stream;

    #[test]
    fn uniform_numbers_fill_the_unit_interval_evenly() {
        let mut generator = Stream::root(1).generator();
        let mut counts = [0_u32; 10];
        for _ in 0..100_000 {
            counts[(10.0 * uniform(&mut generator)) as usize] += 1;
        }
        // Six standard deviations of a count of mean 10,000.
        assert!(counts.iter().all(|&count| count.abs_diff(10_000) < 570), "{counts:?}");
    }

    #[test]
    fn every_order_of_three_is_as_likely() {
        let mut generator = Stream::root(2).generator();
        let mut counts = std::collections::HashMap::new();
        for draw in 0..60_000 {
            let mut values = [0, 1, 2];
            shuffle(&mut values, |n| match draw % 2 {
                0 => below(&mut generator, n),
                _ => below_32(&mut generator, n),
            });
            *counts.entry((draw % 2, values)).or_insert(0_u32) += 1;
        }
        assert_eq!(counts.len(), 12);
        // Six standard deviations of a count of mean 5,000.
        assert!(counts.values().all(|count| count.abs_diff(5_000) < 390), "{counts:?}");
    }
}

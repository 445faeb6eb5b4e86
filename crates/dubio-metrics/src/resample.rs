//! Drawing examples with replacement, for many resamples side by side.

use dubio_random::generators::Generators;
use dubio_random::uniform::below;
use multiversion::multiversion;
use rand::Rng;

use crate::weights::{Count, LANES};

/// Number of counts that one example can come to, from 1 on. Twelve of them have a chance above `2^-32`.
const COUNTS: usize = 12;

/// Draws as many times as there are examples, in each lane, and gives the counts of the examples.
///
/// Independent Poisson counts of mean 1 are, given that they sum to `n`, the counts of `n` draws. So
/// each is drawn on its own, from 32 bits, and a sum that came out otherwise, by some `sqrt(n)`, is
/// corrected: missing draws are made one by one, and surplus ones, chosen at random, are put back.
pub(crate) fn draw(counts: &mut [[Count; LANES]], generator: &mut impl Rng) {
    let sums = poisson(&limits(), counts, Generators::seeded(generator));
    for (lane, sum) in sums.into_iter().enumerate() {
        correct(counts, lane, sum as usize, generator);
    }
}

/// `2^32 P(X < k)` for `k` from 1 on, `X` a Poisson count of mean 1.
fn limits() -> [u32; COUNTS] {
    let (mut chance, mut below) = ((-1.0_f64).exp(), 0.0);
    std::array::from_fn(|k| {
        below += chance;
        chance /= (k + 1) as f64;
        (below * 2_f64.powi(32)).round() as u32
    })
}

/// A Poisson count for each example and lane, the number of limits that 32 random bits reach;
/// returns the sum of each lane.
#[multiversion(targets = "simd")]
fn poisson(
    limits: &[u32; COUNTS],
    counts: &mut [[Count; LANES]],
    mut generators: Generators<LANES>,
) -> [u32; LANES] {
    let mut sums = [0; LANES];
    let (usual, rare) = limits.split_at(5);
    for row in counts {
        let bits = generators.next_bits();
        let mut reached = [0; LANES];
        count_reached(usual, &bits, &mut reached);
        // A count above five is rare, even among sixteen.
        let highest = bits.iter().fold(0, |highest, bits| highest.max(*bits));
        if highest >= rare[0] {
            count_reached(rare, &bits, &mut reached);
        }
        for l in 0..LANES {
            sums[l] += reached[l];
            row[l] = reached[l] as Count;
        }
    }
    sums
}

#[inline(always)]
fn count_reached(limits: &[u32], bits: &[u32; LANES], reached: &mut [u32; LANES]) {
    for l in 0..LANES {
        for limit in limits {
            reached[l] += u32::from(bits[l] >= *limit);
        }
    }
}

/// Makes a lane's counts sum to the number of examples.
fn correct(counts: &mut [[Count; LANES]], lane: usize, sum: usize, generator: &mut impl Rng) {
    let size = counts.len();
    for _ in sum..size {
        let count = &mut counts[below(generator, size as u64) as usize][lane];
        *count = count.saturating_add(1);
    }
    let mut surplus = sum.saturating_sub(size);
    while surplus > 0 {
        // An example is taken with a chance in proportion to its count, which is at most COUNTS.
        let (example, chance) = (below(generator, size as u64), below(generator, COUNTS as u64));
        let count = &mut counts[example as usize][lane];
        if chance < u64::from(*count) {
            *count -= 1;
            surplus -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dubio_random::stream::Stream;

    /// How often each of the `3^3 = 27` draws of three from three gives the counts `(a, b, c)`:
    /// `3! / (a! b! c!)`.
    #[test]
    fn counts_are_those_of_draws_with_replacement() {
        let expected = |counts: &[usize; 3]| {
            let factorial = |k: usize| (1..=k).product::<usize>() as f64;
            6.0 / counts.iter().map(|&k| factorial(k)).product::<f64>() / 27.0
        };
        let mut seen = std::collections::HashMap::new();
        let (mut generator, blocks) = (Stream::root(5).generator(), 20_000);
        for _ in 0..blocks {
            let mut counts = [[0; LANES]; 3];
            draw(&mut counts, &mut generator);
            for lane in 0..LANES {
                *seen.entry(counts.map(|count| usize::from(count[lane]))).or_insert(0.0) += 1.0;
            }
        }
        let draws = (blocks * LANES) as f64;
        assert_eq!(seen.len(), 10, "all ways to write 3 as an ordered sum of three");
        // Pearson's statistic: below 27.9 in all but one of a thousand, nine degrees of freedom.
        let cells = seen.iter().map(|(counts, times)| {
            let mean = draws * expected(counts);
            (times - mean) * (times - mean) / mean
        });
        assert!(cells.sum::<f64>() < 27.9, "{seen:?}");
    }

    #[test]
    fn every_lane_is_a_whole_resample_of_its_own() {
        for size in [1, 2, 63, 64, 65, 1000] {
            let mut counts = vec![[0; LANES]; size];
            draw(&mut counts, &mut Stream::root(size as u64).generator());
            let lane = |l: usize| counts.iter().map(|count| count[l]).collect::<Vec<Count>>();
            for l in 0..LANES {
                assert_eq!(lane(l).iter().map(|&c| usize::from(c)).sum::<usize>(), size);
                assert!(size < 63 || (0..l).all(|other| lane(other) != lane(l)));
            }
        }
    }
}

//! Order statistics and partial sums of many values without sorting them.
//!
//! Values are counted in up to two thousand buckets, spaced by the values' bits and so nearly by
//! their logarithms. The bucket of the k-th smallest value follows from the counts; only the
//! values of such buckets are then put in order, a few in a hundred. The values stay where they are
//! and are gone through again when a bucket is opened.

use multiversion::multiversion;

/// Buckets, at most.
const BUCKETS: usize = 2048;

/// Start of a bucket that is not open.
const CLOSED: u32 = u32::MAX;

/// Values that are not negative. It can be filled again and keeps its memory.
#[derive(Default)]
pub(crate) struct Histogram<'a> {
    parts: Vec<&'a [f64]>,
    len: usize,
    /// The smallest value by its bits, whose order as whole numbers is that of the values.
    lowest: u64,
    /// `(key - lowest) >> shift` is a value's bucket.
    shift: u32,
    /// Number of values below each bucket, and the number of all values.
    below: Vec<u32>,
    /// Sum of each bucket.
    sum: Vec<f64>,
    /// The values of the open buckets, ascending in each, and where the values of each bucket start.
    sorted: Vec<u64>,
    start: Vec<u32>,
}

/// The bits of a value.
#[inline(always)]
fn key(value: f64) -> u64 {
    (value + 0.0).to_bits() // adding 0 turns -0 into 0
}

impl<'a> Histogram<'a> {
    /// Replaces the values that it held.
    pub(crate) fn fill(&mut self, parts: impl Iterator<Item = &'a [f64]>) {
        self.parts.clear();
        self.parts.extend(parts);
        self.len = self.parts.iter().map(|part| part.len()).sum();
        let (mut lowest, mut highest) = (u64::MAX, 0);
        for part in &self.parts {
            let (low, high) = ends(part);
            (lowest, highest) = (lowest.min(low), highest.max(high));
        }
        let range = highest.saturating_sub(lowest);
        // About as many buckets as values: clearing more of them would cost more than counting.
        let most = self.len.next_power_of_two().clamp(2, BUCKETS);
        self.lowest = lowest;
        self.shift = (u64::BITS - range.leading_zeros()).saturating_sub(most.ilog2());
        let buckets = (range >> self.shift) as usize + 1;
        self.below.clear();
        self.below.resize(buckets + 1, 0);
        self.sum.clear();
        self.sum.resize(buckets, 0.0);
        let bucket = self.buckets();
        for &value in self.parts.iter().copied().flatten() {
            let bucket = bucket(key(value));
            self.below[bucket + 1] += 1;
            self.sum[bucket] += value;
        }
        for bucket in 0..buckets {
            self.below[bucket + 1] += self.below[bucket];
        }
        self.start.clear();
        self.start.resize(buckets, CLOSED);
        self.sorted.clear();
    }

    /// The bucket of each key.
    fn buckets(&self) -> impl Fn(u64) -> usize + use<> {
        let (lowest, shift) = (self.lowest, self.shift);
        move |key| ((key - lowest) >> shift) as usize
    }

    /// Number of values.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Number of values that are not above a limit.
    pub(crate) fn up_to(&self, limit: f64) -> usize {
        self.parts.iter().map(|part| count_up_to(part, limit)).sum()
    }

    /// Sorts the values around these limits and places (of ascending values, from 0). One call for
    /// many saves time, but no call is needed.
    pub(crate) fn open(&mut self, limits: &[f64], places: &[usize]) {
        let around = limits.iter().filter_map(|&limit| self.bucket_of(limit));
        let at = places.iter().filter(|&&place| place < self.len()).map(|&p| self.bucket_at(p));
        let mut new: Vec<usize> = around.chain(at).collect();
        new.sort_unstable();
        new.dedup();
        new.retain(|&bucket| self.start[bucket] == CLOSED);
        if new.is_empty() {
            return;
        }
        let mut end = self.sorted.len();
        let mut next = vec![CLOSED; self.start.len()];
        for &bucket in &new {
            (self.start[bucket], next[bucket]) = (end as u32, end as u32);
            end += (self.below[bucket + 1] - self.below[bucket]) as usize;
        }
        self.sorted.resize(end, 0);
        let bucket = self.buckets();
        for &value in self.parts.iter().copied().flatten() {
            let key = key(value);
            let place = &mut next[bucket(key)];
            if *place != CLOSED {
                self.sorted[*place as usize] = key;
                *place += 1;
            }
        }
        for &bucket in &new {
            let start = self.start[bucket] as usize;
            self.sorted[start..next[bucket] as usize].sort_unstable();
        }
    }

    /// The bucket around a limit; `None` when all values are above it, or all below.
    fn bucket_of(&self, limit: f64) -> Option<usize> {
        let above = key(limit).checked_sub(self.lowest)?;
        let bucket = (above >> self.shift) as usize;
        (bucket < self.start.len()).then_some(bucket)
    }

    /// The bucket of the value at a place.
    fn bucket_at(&self, place: usize) -> usize {
        self.below.partition_point(|&below| below as usize <= place) - 1
    }

    /// The values of a bucket, ascending, and the place of the first.
    fn opened(&mut self, place: usize) -> (&[u64], usize) {
        self.open(&[], &[place]);
        let bucket = self.bucket_at(place);
        let (below, end) = (self.below[bucket] as usize, self.below[bucket + 1] as usize);
        let start = self.start[bucket] as usize;
        (&self.sorted[start..start + end - below], below)
    }

    /// The value at a place.
    pub(crate) fn at(&mut self, place: usize) -> f64 {
        let (values, first) = self.opened(place);
        f64::from_bits(values[place - first])
    }

    /// The places of the values that equal the one at a place.
    pub(crate) fn equals(&mut self, place: usize) -> std::ops::Range<usize> {
        let (values, first) = self.opened(place);
        let own = values[place - first];
        let before = values.partition_point(|&value| value < own);
        first + before..first + values.partition_point(|&value| value <= own)
    }

    /// For each of some ascending limits, the first place in ascending order whose value is above it.
    pub(crate) fn above(&mut self, limits: &[f64]) -> Vec<usize> {
        self.open(limits, &[]);
        let place = |&limit: &f64| match self.bucket_of(limit) {
            None => {
                if key(limit) < self.lowest {
                    0
                } else {
                    self.len()
                }
            }
            Some(bucket) => {
                let (below, end) = (self.below[bucket] as usize, self.below[bucket + 1] as usize);
                let start = self.start[bucket] as usize;
                let values = &self.sorted[start..start + end - below];
                below + values.partition_point(|&value| value <= key(limit))
            }
        };
        limits.iter().map(place).collect()
    }

    /// The sums of the values from each of some ascending places to the next, and from the last to the end.
    pub(crate) fn sums(&mut self, places: &[usize]) -> Vec<f64> {
        self.open(&[], places);
        let ends = places[1..].iter().copied().chain([self.len()]);
        places.iter().zip(ends).map(|(&from, to)| self.sum_between(from, to)).collect()
    }

    fn sum_between(&self, from: usize, to: usize) -> f64 {
        if from == to {
            return 0.0;
        }
        let last = if to == self.len() { self.sum.len() } else { self.bucket_at(to) };
        let first = self.bucket_at(from);
        let part = |bucket: usize, from: usize, to: usize| {
            let start = self.start[bucket] as usize;
            let below = self.below[bucket] as usize;
            let values = &self.sorted[start + from - below..start + to - below];
            values.iter().map(|&key| f64::from_bits(key)).sum::<f64>()
        };
        if first == last {
            return part(first, from, to);
        }
        let head = part(first, from, self.below[first + 1] as usize);
        let whole = self.sum[first + 1..last].iter().sum::<f64>();
        let tail = if to == self.len() { 0.0 } else { part(last, self.below[last] as usize, to) };
        head + whole + tail
    }
}

/// The smallest and the largest key of some values.
#[multiversion(targets = "simd")]
fn ends(values: &[f64]) -> (u64, u64) {
    let (mut low, mut high) = (u64::MAX, 0);
    // Plain loops: closures are not compiled for the vector unit at hand.
    for &value in values {
        let key = key(value);
        low = if key < low { key } else { low };
        high = if key > high { key } else { high };
    }
    (low, high)
}

#[multiversion(targets = "simd")]
fn count_up_to(values: &[f64], limit: f64) -> usize {
    let mut count = 0;
    for &value in values {
        count += usize::from(value <= limit);
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_sums_are_those_of_sorted_values() {
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as f64 / 2_f64.powi(31)
        };
        for case in 0..60 {
            let n = case * case;
            // Spread over many powers of two, or with many equals, or with zeros.
            let values: Vec<f64> = (0..n)
                .map(|_| match case % 3 {
                    0 => (-60.0 * next()).exp(),
                    1 => (9.0 * next()).floor() / 9.0,
                    _ => (next() - 0.5).max(-0.0),
                })
                .collect();
            let mut histogram = Histogram::default();
            histogram.fill(values.chunks(7));
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            for place in (0..n).step_by(1 + n / 9) {
                let value = sorted[place];
                assert_eq!(histogram.at(place), value);
                let up_to = sorted.partition_point(|&v| v <= value);
                assert_eq!(histogram.equals(place), sorted.partition_point(|&v| v < value)..up_to);
                assert_eq!(histogram.up_to(value), up_to);
                let limits = [value, 0.5 * (value + 1.0)];
                assert_eq!(histogram.above(&limits)[0], up_to);
                let sums = histogram.sums(&[place / 2, place]);
                for (sum, part) in sums.iter().zip([&sorted[place / 2..place], &sorted[place..]]) {
                    assert!((sum - part.iter().sum::<f64>()).abs() <= 1e-12 * sum);
                }
            }
        }
        let mut histogram = Histogram::default();
        histogram.fill([].into_iter());
        assert_eq!((histogram.len(), histogram.above(&[0.5])), (0, vec![0]));
        assert_eq!(histogram.sums(&[0]), [0.0]);
    }
}

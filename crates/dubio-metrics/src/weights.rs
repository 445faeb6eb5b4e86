//! How often each example counts, and what several statistics make of that.

use std::any::Any;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use multiversion::multiversion;

/// Resamples that are worked on side by side.
pub const LANES: usize = 16;

/// How often an example counts. A byte, so that the counts of a whole resample stay in the cache;
/// in `n` draws from `n` examples, none comes up 256 times.
pub type Count = u8;

/// The counts of an example as numbers to work with.
#[inline(always)]
pub(crate) fn wide<const L: usize>(counts: &[Count; L]) -> [f64; L] {
    counts.map(f64::from)
}

/// The weights of the examples in some lanes, each a resample: `counts()[i][l]` says how often
/// example `i` counts in lane `l`. At least one is positive in every lane.
///
/// Scores overlap: three are areas under one curve, three come from the same bins. What one
/// statistic has made of the weights the next one finds here.
pub struct Weights<'a, const L: usize> {
    counts: &'a [[Count; L]],
    total: OnceLock<[f64; L]>,
    sums: Vec<(&'a [f64], [f64; L])>,
    /// What was prepared from the examples, and what was made of that and these weights. The first
    /// is kept as well: as long as it is, nothing else can have its address.
    known: Mutex<Vec<[Arc<dyn Any + Send + Sync>; 2]>>,
}

impl<'a, const L: usize> Weights<'a, L> {
    /// The weights that these counts make.
    pub fn new(counts: &'a [[Count; L]]) -> Self {
        Self { counts, total: OnceLock::new(), sums: Vec::new(), known: Mutex::default() }
    }

    /// The counts of every example, in the examples' own order.
    pub fn counts(&self) -> &'a [[Count; L]] {
        self.counts
    }

    /// The sum of the weights in each lane.
    pub fn total(&self) -> [f64; L] {
        *self.total.get_or_init(|| total(self.counts))
    }

    /// The same weights, with the sums of some terms already known.
    pub(crate) fn with_sums(mut self, terms: &[&'a [f64]]) -> Self {
        let rest = self.add_sums::<8>(terms);
        let rest = self.add_sums::<4>(rest);
        let rest = self.add_sums::<2>(rest);
        self.add_sums::<1>(rest);
        self
    }

    /// Sums terms, `T` at a time; returns those that are left.
    fn add_sums<'t, const T: usize>(&mut self, terms: &'t [&'a [f64]]) -> &'t [&'a [f64]] {
        let (some, rest) = terms.as_chunks::<T>();
        for terms in some {
            self.sums.extend(terms.iter().copied().zip(weighted_sums(terms, self.counts)));
        }
        rest
    }

    /// The weighted sum of a finite number of each example, in each lane.
    pub(crate) fn sum(&self, term: &[f64]) -> [f64; L] {
        let known = self.sums.iter().find(|(known, _)| std::ptr::eq(*known, term));
        known.map_or_else(|| weighted_sums(&[term], self.counts)[0], |(_, sum)| *sum)
    }

    /// The weight of the examples that are marked, in each lane.
    pub(crate) fn of_marked(&self, marked: &Arc<Vec<bool>>) -> [f64; L] {
        *self.shared(marked, || marked_weight(marked, self.counts))
    }

    /// What `work` makes of these weights and `prepared`, worked out once.
    pub(crate) fn shared<P: Any + Send + Sync, T: Any + Send + Sync>(
        &self,
        prepared: &Arc<P>,
        work: impl FnOnce() -> T,
    ) -> Arc<T> {
        self.find(prepared).unwrap_or_else(|| self.keep(prepared, work()))
    }

    /// What was made of these weights and `prepared`, if it was.
    pub(crate) fn find<P, T: Any + Send + Sync>(&self, prepared: &Arc<P>) -> Option<Arc<T>> {
        let known = locked(&self.known);
        let same = |[of, made]: &&[Arc<dyn Any + Send + Sync>; 2]| {
            std::ptr::addr_eq(Arc::as_ptr(of), Arc::as_ptr(prepared)) && made.is::<T>()
        };
        known.iter().find(same).and_then(|[_, made]| made.clone().downcast().ok())
    }

    /// Keeps what was made of these weights and `prepared` for other statistics.
    pub(crate) fn keep<P: Any + Send + Sync, T: Any + Send + Sync>(
        &self,
        prepared: &Arc<P>,
        made: T,
    ) -> Arc<T> {
        let made = Arc::new(made);
        locked(&self.known).push([prepared.clone(), made.clone()]);
        made
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[multiversion(targets = "simd")]
fn total<const L: usize>(weights: &[[Count; L]]) -> [f64; L] {
    let mut totals = [0_u32; L];
    for weight in weights {
        for l in 0..L {
            totals[l] += u32::from(weight[l]);
        }
    }
    totals.map(f64::from)
}

/// The weight of the examples that are marked, in each lane.
#[multiversion(targets = "simd")]
fn marked_weight<const L: usize>(marked: &[bool], counts: &[[Count; L]]) -> [f64; L] {
    let mut sums = [0_u32; L];
    for (&marked, count) in marked.iter().zip(counts) {
        let mask = u32::from(marked).wrapping_neg();
        for l in 0..L {
            sums[l] += u32::from(count[l]) & mask;
        }
    }
    sums.map(f64::from)
}

/// Several at a time, because converting counts to floating point takes longer than multiplying them.
#[multiversion(targets = "simd")]
fn weighted_sums<const L: usize, const T: usize>(
    terms: &[&[f64]; T],
    counts: &[[Count; L]],
) -> [[f64; L]; T] {
    let mut sums = [[0.0; L]; T];
    for (i, count) in counts.iter().enumerate() {
        let weight = wide(count);
        for t in 0..T {
            let value = terms[t][i];
            for l in 0..L {
                sums[t][l] += weight[l] * value;
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shared_is_worked_out_once_and_told_apart_by_what_it_is_made_of() {
        let counts = [[2, 0], [1, 3]];
        let weights = Weights::new(&counts);
        assert_eq!(weights.total(), [3.0, 3.0]);
        let (a, b) = (Arc::new("a"), Arc::new("b"));
        assert_eq!(*weights.shared(&a, || 1), 1);
        assert_eq!(*weights.shared(&a, || 2), 1);
        assert_eq!(*weights.shared(&b, || 3), 3);
        assert_eq!(*weights.shared(&a, || "of another type"), "of another type");
        assert_eq!(weights.find::<_, u8>(&a), None);
    }
}

//! Examples in order.

use std::sync::Arc;

use rayon::prelude::*;

/// Examples in the order of a number, with the runs of equal numbers known.
#[derive(Clone, Debug)]
pub struct Ranking {
    /// Example indices, largest number first. Rankings that agree in it share it.
    pub order: Arc<Vec<u32>>,
    /// Whether a run of equal numbers ends at each place of the order.
    pub closes: Vec<bool>,
}

/// Two computed numbers that ought to be equal, or in the order of two others, can be out of order by
/// this much, relatively.
const ROUNDING: f64 = 1e-15;

impl Ranking {
    /// Ranks by a number that is not NaN; equal numbers keep the order of their indices.
    pub fn descending(values: &[f64]) -> Self {
        Self::within(values, |_| 0.0)
    }

    /// The same, where neighbours that differ by no more than `tolerance(larger)` are equal.
    pub fn within(values: &[f64], tolerance: impl Fn(f64) -> f64 + Sync) -> Self {
        // Keys whose integer order is the descending order of the numbers.
        let key = |v: f64| {
            let bits = (v + 0.0).to_bits();
            let ascending = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
            !ascending
        };
        let mut keyed: Vec<(u64, u32)> =
            values.par_iter().enumerate().map(|(i, &v)| (key(v), i as u32)).collect();
        keyed.par_sort_unstable();
        let order: Vec<u32> = keyed.into_par_iter().map(|(_, index)| index).collect();
        let closes = closes(&ranked(&order, values), tolerance);
        Self { order: Arc::new(order), closes }
    }

    /// The same, by an order that is likely to be right: it is kept if it is, up to rounding. One
    /// sort then serves all numbers that rise and fall together.
    pub(crate) fn likely(
        guess: Option<&Arc<Vec<u32>>>,
        values: &[f64],
        tolerance: impl Fn(f64) -> f64 + Sync,
    ) -> Self {
        if let Some(order) = guess {
            let ranked = ranked(order, values);
            if ranked.par_windows(2).all(|pair| pair[0] >= pair[1] - ROUNDING * pair[1].abs()) {
                return Self { order: order.clone(), closes: closes(&ranked, tolerance) };
            }
        }
        Self::within(values, tolerance)
    }

    /// The places of the runs of equal numbers, largest first.
    pub(crate) fn run_places(&self) -> impl Iterator<Item = std::ops::Range<usize>> {
        let ends = self.closes.iter().enumerate().filter(|(_, closes)| **closes);
        ends.scan(0, |start, (place, _)| {
            let run = *start..place + 1;
            *start = run.end;
            Some(run)
        })
    }

    /// The runs of equal numbers, largest first.
    pub fn runs(&self) -> impl Iterator<Item = &[u32]> {
        self.run_places().map(|run| &self.order[run])
    }

    /// Maps every example, in the order of the ranking.
    pub(crate) fn collect<T: Send>(&self, of: impl Fn(usize) -> T + Sync) -> Vec<T> {
        self.order.par_iter().map(|&example| of(example as usize)).collect()
    }
}

fn ranked(order: &[u32], values: &[f64]) -> Vec<f64> {
    order.par_iter().map(|&example| values[example as usize]).collect()
}

/// For each of some falling numbers, whether a run of equals ends with it.
fn closes(ranked: &[f64], tolerance: impl Fn(f64) -> f64 + Sync) -> Vec<bool> {
    let ends = |place: usize| match ranked[place..] {
        [above, below, ..] => above != below && above - below > tolerance(above),
        _ => true,
    };
    (0..ranked.len()).into_par_iter().map(ends).collect()
}

/// Two entropies of equal distributions can differ by this much, relatively, when their terms are
/// summed in another order; such rows are tied.
pub(crate) fn entropy_tolerance(entropy: f64) -> f64 {
    1e-13 * entropy
}

/// The error of a mutual information is that of the entropies that it is a difference of.
pub(crate) fn information_tolerance(_: f64) -> f64 {
    1e-14
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ranking_sorts_downwards_and_finds_runs_of_equals() {
        let ranking = Ranking::descending(&[0.5, -1.0, 0.5, 2.0, 0.0, -0.0]);
        let runs: Vec<&[u32]> = ranking.runs().collect();
        assert_eq!(runs, [&[3][..], &[0, 2], &[4, 5], &[1]]);
        assert_eq!(Ranking::descending(&[]).runs().count(), 0);
    }

    #[test]
    fn an_order_is_taken_over_only_where_it_is_right() {
        let values = [0.3, 0.1, 0.2];
        let right = Ranking::descending(&values).order;
        let same = Ranking::likely(Some(&right), &values.map(f64::exp), |_| 0.0);
        assert!(Arc::ptr_eq(&same.order, &right));
        let other = Ranking::likely(Some(&right), &values.map(|v: f64| -v), |_| 0.0);
        assert_eq!(other.order[..], [1, 2, 0]);
    }
}

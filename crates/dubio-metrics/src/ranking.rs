//! Examples in order.

/// Examples in the order of a number, with the runs of equal numbers known.
#[derive(Clone, Debug)]
pub struct Ranking {
    /// Example indices, largest number first.
    pub order: Vec<u32>,
    /// `ends[r]` is where run `r` of equal numbers ends in `order`.
    pub ends: Vec<u32>,
}

impl Ranking {
    /// Ranks by a number that is not NaN; equal numbers keep the order of their indices.
    pub fn descending(values: &[f64]) -> Self {
        Self::within(values, |_| 0.0)
    }

    /// The same, where neighbours that differ by no more than `tolerance(larger)` are equal.
    pub fn within(values: &[f64], tolerance: impl Fn(f64) -> f64) -> Self {
        // Keys whose integer order is the descending order of the numbers.
        let key = |v: f64| {
            let bits = (v + 0.0).to_bits();
            let ascending = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
            !ascending
        };
        let mut keyed: Vec<(u64, u32)> =
            values.iter().enumerate().map(|(i, &v)| (key(v), i as u32)).collect();
        keyed.sort_unstable();
        let mut ends: Vec<u32> = (1..keyed.len())
            .filter(|&i| {
                let (above, below) = (keyed[i - 1], keyed[i]);
                let value = |(_, index): (u64, u32)| values[index as usize];
                above.0 != below.0 && value(above) - value(below) > tolerance(value(above))
            })
            .map(|i| i as u32)
            .collect();
        ends.push(keyed.len() as u32);
        Self { order: keyed.into_iter().map(|(_, index)| index).collect(), ends }
    }

    /// By the entropy of a distribution. Two entropies of equal distributions can come out apart by
    /// this much, relatively, when their terms are summed in another order; such rows are tied.
    pub(crate) fn by_entropy(values: &[f64]) -> Self {
        Self::within(values, |entropy| 1e-13 * entropy)
    }

    /// By the mutual information, whose error is that of the entropies that it is a difference of.
    pub(crate) fn by_information(values: &[f64]) -> Self {
        Self::within(values, |_| 1e-14)
    }

    /// The runs of equal numbers, largest first.
    pub fn runs(&self) -> impl Iterator<Item = &[u32]> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let run = &self.order[start..end as usize];
            start = end as usize;
            run
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ranking_sorts_downwards_and_finds_runs_of_equals() {
        let ranking = Ranking::descending(&[0.5, -1.0, 0.5, 2.0, 0.0, -0.0]);
        let runs: Vec<&[u32]> = ranking.runs().collect();
        assert_eq!(runs, [&[3][..], &[0, 2], &[4, 5], &[1]]);
    }
}

//! Bins of equal mass, cut so that the order of the rows cannot matter.
//!
//! Sorted values are cut into `bins` runs of `n / bins`, the remainder in the last. Examples with
//! equal values cannot be told apart, so a run of equals that a cut goes through is split in
//! proportion: each bin it touches gets its part of the run's sums. That is the same as giving
//! each of them the run's mean label.

use std::ops::Range;

use super::histogram::Histogram;
use super::partition_point;

/// Where the cuts lie. Cells `0..bins` are the insides of the bins; each further cell is an atom,
/// a value that one or more cuts go through.
#[derive(Clone, Debug, PartialEq)]
pub struct Cuts {
    bins: usize,
    /// First value of each bin but the first, ascending; none where all values are in the last bin.
    starts: Box<[f64]>,
    /// Values that a cut goes through, ascending, without repeats.
    atoms: Box<[f64]>,
    /// `(atom, bin, weight: fraction of the atom's mass)`.
    weights: Box<[(usize, usize, f64)]>,
}

impl Cuts {
    /// Cuts of the values of a histogram from the `first`-th smallest on, and the sum of the
    /// values in each bin.
    pub(crate) fn new(
        histogram: &mut Histogram<'_>,
        first: usize,
        bins: usize,
    ) -> (Self, Vec<f64>) {
        let count = histogram.len() - first;
        let size = count / bins;
        if size == 0 || bins == 1 {
            // Fewer values than bins: all of them are the remainder.
            let mut sums = vec![0.0; bins];
            sums[bins - 1] = histogram.sums(&[first])[0];
            return (Self::at(first, count, bins, |_| (0.0, 0..0)), sums);
        }
        let places: Vec<usize> = (0..bins).map(|bin| first + bin * size).collect();
        let sums = histogram.sums(&places);
        let equals = |place: usize| (histogram.at(place), histogram.equals(place));
        (Self::at(first, count, bins, equals), sums)
    }

    /// Cuts of `count` ascending values, of which `at(place)` is one.
    pub(crate) fn of_ascending(count: usize, bins: usize, at: impl Fn(usize) -> f64) -> Self {
        Self::at(0, count, bins, |place| {
            let own = at(place);
            let before = partition_point(place, |other| at(other) < own);
            (own, before..place + partition_point(count - place, |other| at(place + other) <= own))
        })
    }

    /// Cuts of the `count` values from the `first` place on. `equals(place)` is the value at a place,
    /// and the places of those that are equal to it.
    fn at(
        first: usize,
        count: usize,
        bins: usize,
        mut equals: impl FnMut(usize) -> (f64, Range<usize>),
    ) -> Self {
        let size = count / bins;
        if size == 0 || bins == 1 {
            let (starts, atoms, weights) = Default::default();
            return Self { bins, starts, atoms, weights };
        }
        let place = |bin: usize| first + bin * size;
        let (mut starts, mut atoms): (Vec<f64>, Vec<f64>) = Default::default();
        let mut weights = Vec::new();
        for own in (1..bins).map(place) {
            let (start, run) = equals(own);
            starts.push(start);
            let run = run.start.max(first)..run.end;
            if run.start == own || atoms.last() == Some(&start) {
                continue;
            }
            let bin = |place: usize| ((place - first) / size).min(bins - 1);
            for bin in bin(run.start)..=bin(run.end - 1) {
                let end = if bin + 1 == bins { run.end } else { place(bin + 1) };
                let held = run.end.min(end) - run.start.max(place(bin));
                weights.push((atoms.len(), bin, held as f64 / run.len() as f64));
            }
            atoms.push(start);
        }
        Self { bins, starts: starts.into(), atoms: atoms.into(), weights: weights.into() }
    }

    /// Number of bins.
    pub fn bins(&self) -> usize {
        self.bins
    }

    /// Number of cells: bins and atoms.
    pub fn cells(&self) -> usize {
        self.bins() + self.atoms.len()
    }

    /// The cell of a value.
    pub fn cell(&self, value: f64) -> usize {
        let atom = self.atoms.partition_point(|&a| a < value);
        if atom < self.atoms.len() && self.atoms[atom] == value {
            return self.bins() + atom;
        }
        let before = self.starts.iter().filter(|&&start| start <= value).count();
        if self.starts.is_empty() { self.bins - 1 } else { before }
    }

    /// Values from which on, or just above which, another cell begins.
    pub(crate) fn boundaries(&self) -> impl Iterator<Item = f64> {
        let sides = self.atoms.iter().flat_map(|&atom| [atom, atom.next_up()]);
        self.starts.iter().copied().chain(sides)
    }

    /// Each bin that a cell counts in, with its weight; the weights sum to 1.
    pub(crate) fn weights_of(&self, cell: usize) -> impl Iterator<Item = (usize, f64)> {
        let whole = (cell < self.bins()).then_some((cell, 1.0));
        let atom = cell.checked_sub(self.bins());
        let own = self.weights.iter().filter(move |(of, ..)| Some(*of) == atom);
        whole.into_iter().chain(own.map(|&(_, bin, weight)| (bin, weight)))
    }

    /// Hands each bin its part of the atoms: turns sums per cell into sums per bin.
    pub fn spread<const L: usize>(&self, sums: &mut [[f64; L]]) {
        for &(atom, bin, weight) in &self.weights {
            let mass = sums[self.bins() + atom];
            for l in 0..L {
                sums[bin][l] += weight * mass[l];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mass per bin by the definition: sort, cut, and give each run of equals its mean.
    fn plain(values: &[f64], labels: &[f64], bins: usize) -> Vec<f64> {
        let mut pairs: Vec<(f64, f64)> =
            values.iter().copied().zip(labels.iter().copied()).collect();
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mean = |v: f64| {
            let run: Vec<f64> = pairs.iter().filter(|p| p.0 == v).map(|p| p.1).collect();
            run.iter().sum::<f64>() / run.len() as f64
        };
        let size = values.len() / bins;
        let mut sums = vec![0.0; bins];
        for (i, (v, _)) in pairs.iter().enumerate() {
            let bin = i.checked_div(size).unwrap_or(bins).min(bins - 1);
            sums[bin] += mean(*v);
        }
        sums
    }

    #[test]
    fn splitting_runs_in_proportion_equals_giving_each_its_mean() {
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as f64
        };
        for case in 0..400 {
            let n = 1 + case % 83;
            let values: Vec<f64> = (0..n).map(|_| next() % (1.0 + case as f64 / 9.0)).collect();
            let labels: Vec<f64> = (0..n).map(|_| next() % 2.0).collect();
            for bins in [1, 2, 3, 7, 15] {
                let mut histogram = Histogram::default();
                histogram.fill([&values[..]].into_iter());
                let (cuts, bin_sums) = Cuts::new(&mut histogram, 0, bins);
                for (a, b) in bin_sums.iter().zip(plain(&values, &values, bins)) {
                    assert!((a - b).abs() < 1e-9 * (1.0 + b), "{values:?} {bins}: {bin_sums:?}");
                }
                let mut sums = vec![[0.0]; cuts.cells()];
                for (&v, &y) in values.iter().zip(&labels) {
                    sums[cuts.cell(v)][0] += y;
                }
                cuts.spread(&mut sums);
                let got: Vec<f64> = sums[..bins].iter().map(|s| s[0]).collect();
                for (a, b) in got.iter().zip(plain(&values, &labels, bins)) {
                    assert!((a - b).abs() < 1e-9, "{values:?} {bins}: {got:?}");
                }
            }
        }
    }
}

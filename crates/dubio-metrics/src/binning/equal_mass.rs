//! Bins of equal mass, cut so that the order of the rows cannot matter.
//!
//! Sorted values are cut into `bins` runs of `n / bins`, the remainder in the last. Examples with
//! equal values cannot be told apart, so a run of equals that a cut goes through is split in
//! proportion: each bin it touches gets its share of the run's sums. That is the same as giving
//! each of them the run's mean label.

/// Where the cuts lie. Cells `0..bins` are the insides of the bins; each further cell is an atom,
/// a value that one or more cuts go through.
#[derive(Clone, Debug, PartialEq)]
pub struct Cuts {
    /// First value of each bin but the first, ascending.
    starts: Vec<f64>,
    /// Values that a cut goes through, ascending, without repeats.
    atoms: Vec<f64>,
    /// `(atom, bin, share of the atom's mass)`.
    shares: Vec<(usize, usize, f64)>,
}

/// The bits of a probability, whose order as whole numbers is that of the probabilities.
#[inline(always)]
pub(crate) fn key(p: f64) -> u64 {
    (p + 0.0).to_bits() // adding 0 turns -0 into 0
}

impl Cuts {
    /// Cuts for values that are not negative, given by their [`key`]s. Leaves the keys of bin `b`
    /// at `[b * size, (b + 1) * size)`, `size = n / bins`; the last bin's reach to the end.
    pub(crate) fn new(values: &mut [u64], bins: usize) -> Self {
        let size = values.len() / bins;
        if size == 0 || bins == 1 {
            // Fewer values than bins: all of them are the remainder.
            let starts = vec![f64::NEG_INFINITY; bins - 1];
            return Self { starts, atoms: Vec::new(), shares: Vec::new() };
        }
        let places: Vec<usize> = (1..bins).map(|bin| bin * size).collect();
        select(values, 0, &places);
        let starts: Vec<u64> = places.iter().map(|&place| values[place]).collect();
        // Selection leaves the values of bin b between its cuts, so what reaches over a cut is
        // seen by looking at the neighbours' insides.
        let mut atoms: Vec<u64> = Vec::new();
        for (place, &start) in places.iter().zip(&starts) {
            let below = &values[place - size..*place];
            if atoms.last() != Some(&start) && below.contains(&start) {
                atoms.push(start);
            }
        }
        let mut shares = Vec::new();
        for (atom, &value) in atoms.iter().enumerate() {
            let held = |bin: usize| {
                let end = if bin + 1 == bins { values.len() } else { (bin + 1) * size };
                values[bin * size..end].iter().filter(|&&v| v == value).count()
            };
            // The first bin that starts with the value, and its neighbour below, to the last one.
            let first = starts.partition_point(|&s| s < value);
            let last = starts.partition_point(|&s| s <= value);
            let counts: Vec<usize> = (first..=last).map(held).collect();
            let all: usize = counts.iter().sum();
            for (offset, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
                shares.push((atom, first + offset, count as f64 / all as f64));
            }
        }
        let floats = |keys: Vec<u64>| keys.into_iter().map(f64::from_bits).collect();
        Self { starts: floats(starts), atoms: floats(atoms), shares }
    }

    /// Number of bins.
    pub fn bins(&self) -> usize {
        self.starts.len() + 1
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
        self.starts.iter().filter(|&&start| start <= value).count()
    }

    /// Calls `give(bin, share)` for each bin that a value counts in; the shares sum to 1.
    pub(crate) fn place(&self, value: f64, mut give: impl FnMut(usize, f64)) {
        let cell = self.cell(value);
        match cell.checked_sub(self.bins()) {
            None => give(cell, 1.0),
            Some(atom) => {
                let own = self.shares.iter().filter(|(of, ..)| *of == atom);
                own.for_each(|&(_, bin, share)| give(bin, share));
            }
        }
    }

    /// Hands each bin its share of the atoms: turns sums per cell into sums per bin.
    pub fn spread<const L: usize>(&self, sums: &mut [[f64; L]]) {
        for &(atom, bin, share) in &self.shares {
            let mass = sums[self.bins() + atom];
            for l in 0..L {
                sums[bin][l] += share * mass[l];
            }
        }
    }
}

/// Puts the values that belong at the given places (ascending, relative to `base`) there, smaller
/// ones before and larger ones behind each.
fn select(values: &mut [u64], base: usize, places: &[usize]) {
    if places.is_empty() {
        return;
    }
    let middle = places.len() / 2;
    let place = places[middle] - base;
    let (below, _, above) = values.select_nth_unstable(place);
    select(below, base, &places[..middle]);
    select(above, base + place + 1, &places[middle + 1..]);
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
                let mut keys: Vec<u64> = values.iter().map(|&v| key(v)).collect();
                let cuts = Cuts::new(&mut keys, bins);
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

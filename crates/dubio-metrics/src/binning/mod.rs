//! Histograms: which cell an example falls into, and the weighted sums per cell.

pub mod edges;
pub mod equal_mass;
pub(crate) mod histogram;

use multiversion::multiversion;

pub use edges::Edges;

use crate::score::{Count, wide};

/// Each example's cell and a number to be summed there.
pub(crate) struct Binned {
    /// Cell of each example; `cells` itself for an example that no bin takes.
    pub cell: Vec<u32>,
    /// Number of cells.
    pub cells: usize,
    /// What is summed.
    pub value: Vec<f64>,
}

/// Weighted sums per cell; the last entry belongs to the examples that no bin takes.
pub(crate) struct CellSums<const L: usize> {
    /// Sum of weight times value.
    pub value: Vec<[f64; L]>,
    /// Sum of weights.
    pub weight: Vec<[f64; L]>,
}

impl Binned {
    pub(crate) fn sums<const L: usize>(&self, weights: &[[Count; L]]) -> CellSums<L> {
        let mut sums = CellSums {
            value: vec![[0.0; L]; self.cells + 1],
            weight: vec![[0.0; L]; self.cells + 1],
        };
        add(&self.cell, &self.value, weights, &mut sums);
        sums
    }
}

#[multiversion(targets = "simd")]
fn add<const L: usize>(
    cells: &[u32],
    values: &[f64],
    weights: &[[Count; L]],
    sums: &mut CellSums<L>,
) {
    for ((&cell, &x), w) in cells.iter().zip(values).zip(weights) {
        let (value, weight) = (&mut sums.value[cell as usize], &mut sums.weight[cell as usize]);
        let w = wide(w);
        for l in 0..L {
            value[l] += w[l] * x;
            weight[l] += w[l];
        }
    }
}

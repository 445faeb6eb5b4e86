//! Histograms: which cell an example falls into, and the weighted sums per cell.

pub mod edges;
pub mod equal_mass;
pub(crate) mod histogram;

use std::sync::Arc;

use multiversion::multiversion;

pub use edges::Edges;

use crate::ranking::Ranking;
use crate::weights::{Count, Weights, wide};

/// Examples in cells, with `K` numbers of each to be summed there.
#[derive(Debug)]
pub(crate) struct Binned<const K: usize> {
    /// The order in which the examples are gone through; `None` for as they lie. In the order of
    /// what the cells are bins of, each cell is one stretch.
    ranking: Option<Arc<Ranking>>,
    stretches: Vec<Stretch>,
    /// Number of cells.
    pub cells: usize,
    /// What is summed, in that order.
    values: Vec<[f64; K]>,
}

/// Neighbours in one cell.
#[derive(Debug)]
struct Stretch {
    cell: u32,
    end: u32,
}

/// Weighted sums per cell; the last entry belongs to the examples that no bin takes.
pub(crate) struct CellSums<const K: usize, const L: usize> {
    /// Sums of weight times value.
    pub values: [Vec<[f64; L]>; K],
    /// Sum of weights.
    pub weight: Vec<[f64; L]>,
}

impl<const K: usize> Binned<K> {
    /// From each example's cell (`cells` itself if no bin takes it) and values, in their own order.
    pub(crate) fn new(cell: &[u32], cells: usize, values: Vec<[f64; K]>) -> Self {
        let stretches = stretches(cell.iter().copied());
        Self { ranking: None, stretches, cells, values }
    }

    /// The same, gone through in the order of a ranking.
    pub(crate) fn ranked(
        ranking: &Arc<Ranking>,
        cell: &[u32],
        cells: usize,
        values: impl Fn(usize) -> [f64; K],
    ) -> Self {
        let order = ranking.order.iter().map(|&i| i as usize);
        let stretches = stretches(order.clone().map(|i| cell[i]));
        Self {
            ranking: Some(ranking.clone()),
            stretches,
            cells,
            values: order.map(values).collect(),
        }
    }

    pub(crate) fn sums<const L: usize>(&self, weights: &Weights<'_, L>) -> CellSums<K, L> {
        let mut sums = vec![Sums { values: [[0.0; L]; K], weight: [0; L] }; self.cells + 1];
        match &self.ranking {
            None => add(self, weights.counts(), &mut sums),
            Some(ranking) => add(self, &weights.in_order(ranking), &mut sums),
        }
        CellSums {
            values: std::array::from_fn(|k| sums.iter().map(|cell| cell.values[k]).collect()),
            weight: sums.iter().map(|cell| cell.weight.map(f64::from)).collect(),
        }
    }
}

fn stretches(cells: impl Iterator<Item = u32>) -> Vec<Stretch> {
    let mut stretches: Vec<Stretch> = Vec::new();
    for (place, cell) in cells.enumerate() {
        let end = place as u32 + 1;
        match stretches.last_mut() {
            Some(last) if last.cell == cell => last.end = end,
            _ => stretches.push(Stretch { cell, end }),
        }
    }
    stretches
}

/// The sums of one cell.
#[derive(Clone, Copy)]
struct Sums<const K: usize, const L: usize> {
    values: [[f64; L]; K],
    weight: [u32; L],
}

#[multiversion(targets = "simd")]
fn add<const K: usize, const L: usize>(
    binned: &Binned<K>,
    counts: &[[Count; L]],
    sums: &mut [Sums<K, L>],
) {
    let mut start = 0;
    for &Stretch { cell, end } in &binned.stretches {
        let stretch = start..end as usize;
        start = stretch.end;
        let mut sum = sums[cell as usize]; // a copy: the sums of a stretch stay in registers
        for (values, count) in binned.values[stretch.clone()].iter().zip(&counts[stretch]) {
            let wide = wide(count);
            for l in 0..L {
                for k in 0..K {
                    sum.values[k][l] += wide[l] * values[k];
                }
                sum.weight[l] += u32::from(count[l]);
            }
        }
        sums[cell as usize] = sum;
    }
}

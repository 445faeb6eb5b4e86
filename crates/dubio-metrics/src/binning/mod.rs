//! Histograms: which cell an example falls into, and the weight of each cell.

pub(crate) mod dense;
pub mod edges;
pub mod equal_mass;
pub(crate) mod histogram;

use multiversion::multiversion;

pub use edges::Edges;

use crate::weights::{Count, Weights};

/// Examples in cells.
#[derive(Debug)]
pub(crate) struct Binned {
    stretches: Vec<Stretch>,
    /// Number of cells.
    cells: usize,
}

/// Neighbours in one cell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretch {
    pub cell: u32,
    pub end: u32,
}

impl Binned {
    /// From each example's cell (`cells` itself if no bin takes it).
    pub(crate) fn new(cell: impl Iterator<Item = u32>, cells: usize) -> Self {
        Self { stretches: stretches(cell), cells }
    }

    /// The weight of each cell; the last entry belongs to the examples that no bin takes.
    pub(crate) fn weight<const L: usize>(&self, weights: &Weights<'_, L>) -> Vec<[f64; L]> {
        let mut sums = vec![[0; L]; self.cells + 1];
        add(self, weights.counts(), &mut sums);
        sums.iter().map(|sum| sum.map(f64::from)).collect()
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

/// The first of `0..count` for which `holds` is false; it must be false from there on.
pub(crate) fn partition_point(count: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

#[multiversion(targets = "simd")]
fn add<const L: usize>(binned: &Binned, counts: &[[Count; L]], sums: &mut [[u32; L]]) {
    let mut start = 0;
    for &Stretch { cell, end } in &binned.stretches {
        let stretch = start..end as usize;
        start = stretch.end;
        let mut sum = sums[cell as usize]; // a copy: the sums of a stretch stay in registers
        for count in &counts[stretch] {
            for l in 0..L {
                sum[l] += u32::from(count[l]);
            }
        }
        sums[cell as usize] = sum;
    }
}

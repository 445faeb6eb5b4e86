//! Where the bins of a class begin, of all binnings together.

use super::{Binning, Sweep};
use crate::binning::edges::{edge, right_closed};
use crate::binning::equal_mass::Cuts;

/// Pieces of `[0, 1]` on each of which every binning of a class has one cell, so that a
/// probability is looked up, and counted, once for all of them.
#[derive(Debug)]
pub(super) struct Partition {
    /// The least value of each piece but the first, ascending.
    starts: Vec<f64>,
    /// The cell of each piece in each binning; `None` where no bin takes it.
    cells: Vec<[Option<usize>; 3]>,
    cuts: [Cuts; 2],
    bins: usize,
}

impl Partition {
    /// That of a class.
    pub(super) fn new(sweep: &Sweep, class: usize) -> Self {
        let (bins, threshold, cuts) = (sweep.bins, sweep.threshold, &sweep.classes[class].cuts);
        // Edges and the threshold belong to the bin below.
        let edges = (1..bins).map(|k| edge(k, bins)).chain([threshold]).map(f64::next_up);
        let mut starts: Vec<f64> = edges.chain(cuts.iter().flat_map(Cuts::boundaries)).collect();
        starts.retain(|&start| start > 0.0);
        starts.sort_unstable_by(f64::total_cmp);
        starts.dedup();
        let cells = |least: &f64| {
            let above = (*least > threshold).then(|| cuts[1].cell(*least));
            [Some(right_closed(*least, bins)), Some(cuts[0].cell(*least)), above]
        };
        let cells = [0.0].iter().chain(&starts).map(cells).collect();
        Self { starts, cells, cuts: cuts.clone(), bins }
    }

    /// Number of pieces.
    pub(super) fn pieces(&self) -> usize {
        self.cells.len()
    }

    /// The piece that a probability is in.
    pub(super) fn piece(&self, p: f64) -> usize {
        self.starts.partition_point(|&start| start <= p)
    }

    /// The sum over a binning's bins of the absolute value of a sum, from the sums over pieces.
    pub(super) fn absolute<const L: usize>(
        &self,
        binning: Binning,
        pieces: &[[f64; L]],
    ) -> [f64; L] {
        let cuts = match binning {
            Binning::Width => None,
            Binning::Mass => Some(&self.cuts[0]),
            Binning::MassAbove => Some(&self.cuts[1]),
        };
        let mut sums = vec![[0.0; L]; cuts.map_or(self.bins, Cuts::cells)];
        for (cells, piece) in self.cells.iter().zip(pieces) {
            let Some(cell) = cells[binning as usize] else { continue };
            for l in 0..L {
                sums[cell][l] += piece[l];
            }
        }
        if let Some(cuts) = cuts {
            cuts.spread(&mut sums);
        }
        let mut absolute = [0.0; L];
        for sum in &sums[..self.bins] {
            for l in 0..L {
                absolute[l] += sum[l].abs();
            }
        }
        absolute
    }
}

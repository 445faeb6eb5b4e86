//! Where the bins of a class begin, in all binnings together.

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
}

impl Partition {
    /// The partition of a class.
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
        Self { starts, cells, cuts: cuts.clone() }
    }

    /// The piece that a probability is in.
    pub(super) fn piece(&self, p: f64) -> usize {
        self.starts.partition_point(|&start| start <= p)
    }

    /// What the bins are made of, where only some pieces hold a probability: there may be many more pieces
    /// than examples. `used` are those pieces, ascending; they are numbered by their places in `used`.
    pub(super) fn bins(&self, used: &[u64]) -> Bins {
        let mut parts: [Vec<Part>; 3] = Default::default();
        for (piece, &of_all) in used.iter().enumerate() {
            let piece = piece as u32;
            let [width, mass, above] = self.cells[of_all as usize];
            if let Some(bin) = width {
                parts[0].push(Part { bin, piece, weight: 1.0 });
            }
            for ((cuts, cell), parts) in self.cuts.iter().zip([mass, above]).zip(&mut parts[1..]) {
                let weights = cell.into_iter().flat_map(|cell| cuts.weights_of(cell));
                parts.extend(weights.map(|(bin, weight)| Part { bin, piece, weight }));
            }
        }
        parts.iter_mut().for_each(|parts| parts.sort_by_key(|part| part.bin));
        Bins(parts)
    }
}

/// What the bins of a class are made of, for each binning.
#[derive(Debug)]
pub(super) struct Bins([Vec<Part>; 3]);

/// The part of a piece that is in a bin.
#[derive(Debug)]
struct Part {
    bin: usize,
    piece: u32,
    weight: f64,
}

impl Bins {
    /// The sum over a binning's bins of the absolute value of a sum, from the sums over pieces.
    pub(super) fn absolute<const L: usize>(
        &self,
        binning: Binning,
        pieces: &[[f64; L]],
    ) -> [f64; L] {
        let mut absolute = [0.0; L];
        for bin in self.0[binning as usize].chunk_by(|a, b| a.bin == b.bin) {
            let mut sum = [0.0; L];
            for Part { piece, weight, .. } in bin {
                for l in 0..L {
                    sum[l] += weight * pieces[*piece as usize][l];
                }
            }
            for l in 0..L {
                absolute[l] += sum[l].abs();
            }
        }
        absolute
    }
}

//! The gaps of all classes in many resamples.

use std::ops::Range;

use multiversion::multiversion;
use rayon::prelude::*;

use super::partition::{Bins, Partition};
use super::{Binning, LabelGaps, Sweep};
use crate::binning::dense::dense;
use crate::examples::Examples;
use crate::remember::remember;
use crate::transposed::Transposed;
use crate::weights::{Count, LANES};

/// Numbers of classes that are resampled side by side.
const SIZES: [usize; 4] = [8, 4, 2, 1];

/// Blocks of resamples for which the data of a few examples are read from memory once.
const BLOCKS: usize = 8;

/// Maximum number of examples that are summed in f32, unless eight times the number of pieces is more.
const STRETCH: usize = 512;

/// Maximum number of probabilities whose pieces, once looked up, are kept for later blocks: 128 MiB.
const KEPT: usize = 1 << 24;

/// The sum over classes and bins of the absolute gap, for each binning.
pub(super) type Gaps = [[f64; LANES]; Binning::ALL.len()];

/// The gaps in blocks of resamples, a group of classes at a time: the pieces of all probabilities
/// would take more memory than the probabilities.
pub(super) fn resampled_gaps(
    examples: &Examples,
    known: &LabelGaps,
    blocks: &[&[[Count; LANES]]],
) -> Vec<Gaps> {
    let mut gaps = vec![[[0.0; LANES]; 3]; blocks.len()];
    let few = examples.len() * examples.classes <= KEPT;
    for group in examples.columns.groups() {
        let only = group.len() == examples.classes;
        let new = || teams(examples, &known.sweep, group);
        let teams = if few && only { remember(&known.teams, new) } else { &new() };
        let some = gaps.par_chunks_mut(BLOCKS).zip(blocks.par_chunks(BLOCKS));
        some.for_each(|(gaps, blocks)| teams.iter().for_each(|team| team.add(blocks, gaps)));
    }
    gaps
}

/// The classes of a group in teams.
fn teams(examples: &Examples, sweep: &Sweep, group: Range<usize>) -> Vec<Team> {
    let transposed = examples.columns.transposed(group.clone());
    let mut next = group.start;
    let mut classes: Vec<Range<usize>> = Vec::new();
    while let Some(size) = SIZES.into_iter().find(|size| next + size <= group.end) {
        classes.push(next..next + size);
        next += size;
    }
    let new = |own: Range<usize>| {
        let column = own.start - group.start;
        Team::new(sweep, &examples.labels, own, &transposed, column)
    };
    classes.into_par_iter().map(new).collect()
}

/// What resampling needs of a few classes.
#[derive(Debug)]
pub(super) struct Team {
    classes: Vec<Bins>,
    /// Number of pieces that hold a probability, of the class that has most of them.
    pieces: usize,
    /// One entry for each class, example after example.
    entries: Vec<Entry>,
}

/// An example's gap `p - [y = c]` in a class, in f32, since only intervals are made of it, and its
/// piece.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    gap: f32,
    piece: u32,
}

impl Team {
    /// Some classes, whose columns start at the `column`-th.
    fn new(
        sweep: &Sweep,
        labels: &[u32],
        classes: Range<usize>,
        transposed: &Transposed,
        column: usize,
    ) -> Self {
        let width = classes.len();
        let mut entries = vec![Entry::default(); width * labels.len()];
        let (mut pieces, mut bins) = (0, Vec::with_capacity(width));
        for (place, class) in classes.enumerate() {
            let partition = Partition::new(sweep, class);
            let column = transposed.column(column + place).flatten();
            let own = || (place..width * labels.len()).step_by(width);
            for ((entry, &p), &label) in own().zip(column).zip(labels) {
                let hit = f64::from(u8::from(label as usize == class));
                let piece = partition.piece(p) as u32;
                entries[entry] = Entry { gap: (p - hit) as f32, piece };
            }
            let pieces_of: Vec<u32> = own().map(|entry| entries[entry].piece).collect();
            let (used, which) = dense(&pieces_of);
            for (entry, piece) in own().zip(which) {
                entries[entry].piece = piece;
            }
            pieces = pieces.max(used.len());
            bins.push(partition.bins(&used));
        }
        Self { classes: bins, pieces, entries }
    }

    /// Adds the gaps of these classes in each resample of some blocks.
    fn add(&self, blocks: &[&[[Count; LANES]]], gaps: &mut [Gaps]) {
        let size = self.classes.len() * self.pieces;
        let mut sums = vec![[0.0; LANES]; size * blocks.len()];
        match self.classes.len() {
            8 => weighted_gaps::<8>(self, blocks, &mut sums),
            4 => weighted_gaps::<4>(self, blocks, &mut sums),
            2 => weighted_gaps::<2>(self, blocks, &mut sums),
            _ => weighted_gaps::<1>(self, blocks, &mut sums),
        }
        for (sums, gaps) in sums.chunks_exact(size).zip(gaps) {
            for (class, pieces) in self.classes.iter().zip(sums.chunks_exact(self.pieces)) {
                for binning in Binning::ALL {
                    let own = class.absolute(binning, pieces);
                    for l in 0..LANES {
                        gaps[binning as usize][l] += own[l];
                    }
                }
            }
        }
    }
}

/// A sum in each lane, within one cache line.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct CacheLine([f32; LANES]);

/// Sums of weight times gap, `[block][class][piece]`. In f32 for a few hundred examples at a time,
/// then in f64.
#[multiversion(targets = "simd")]
fn weighted_gaps<const SIZE: usize>(
    team: &Team,
    blocks: &[&[[Count; LANES]]],
    sums: &mut [[f64; LANES]],
) {
    let pieces = team.pieces;
    let mut parts = vec![CacheLine([0.0; LANES]); SIZE * pieces];
    let stretch = STRETCH.max(8 * pieces);
    let (entries, _) = team.entries.as_chunks::<SIZE>();
    for (index, entries) in entries.chunks(stretch).enumerate() {
        for (block, sums) in blocks.iter().zip(sums.chunks_exact_mut(parts.len())) {
            for (entries, weight) in entries.iter().zip(&block[index * stretch..]) {
                let weight = weight.map(f32::from);
                for place in 0..SIZE {
                    let Entry { gap, piece } = entries[place];
                    let part = &mut parts[place * pieces + piece as usize];
                    let CacheLine(mut sum) = *part; // a copy, so that the compiler sees that lanes are independent
                    for l in 0..LANES {
                        sum[l] += weight[l] * gap;
                    }
                    *part = CacheLine(sum);
                }
            }
            for (sum, part) in sums.iter_mut().zip(&mut parts) {
                for l in 0..LANES {
                    sum[l] += f64::from(part.0[l]);
                }
                *part = CacheLine([0.0; LANES]);
            }
        }
    }
}

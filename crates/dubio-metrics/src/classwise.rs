//! Gaps between probability and frequency, class by class: what `sce`, `ace` and `tace` share.
//!
//! The three are worked out in one sweep over the columns of probabilities, because turning rows
//! into columns costs as much as the scores themselves.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use multiversion::multiversion;
use rayon::prelude::*;

use crate::binning::edges::right_closed;
use crate::binning::equal_mass::{Cuts, key};
use crate::columns::CHUNK;
use crate::examples::Examples;
use crate::score::{LANES, Options, Prepared, total};
use crate::softmax;

/// Classes whose columns are held at a time.
const GROUP: usize = 128;

/// Which of the three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binning {
    /// Bins of equal width: `sce`.
    Width,
    /// Bins of equal mass: `ace`.
    Mass,
    /// Bins of equal mass among the probabilities above a threshold: `tace`.
    MassAbove,
}

/// What one sweep over the columns gives.
#[derive(Debug)]
pub(crate) struct Sweep {
    bins: usize,
    threshold: f64,
    /// `sum_c sum_m |sum over the bin of p - [y = c]|`, for each binning.
    gaps: [f64; 3],
    /// Cuts of each class's probabilities, all of them and those above the threshold.
    cuts: Vec<[Cuts; 2]>,
}

impl Sweep {
    fn new(examples: &Examples, options: &Options) -> Self {
        let (bins, threshold) = (options.bins, options.threshold);
        let by_label = rows_by_label(examples);
        let mut gaps = [0.0; 3];
        let mut cuts = Vec::with_capacity(examples.classes);
        for start in (0..examples.classes).step_by(GROUP) {
            let group = start..examples.classes.min(start + GROUP);
            let turned = Turned::new(examples, group.clone());
            let swept: Vec<([f64; 3], [Cuts; 2])> = group
                .clone()
                .into_par_iter()
                .map_init(Vec::new, |keys, class| {
                    let hits =
                        by_label[class].iter().map(|&i| turned.at(i as usize, class - start));
                    sweep_class(&turned, class - start, &hits.collect::<Vec<f64>>(), options, keys)
                })
                .collect();
            for (own, class_cuts) in swept {
                (0..3).for_each(|b| gaps[b] += own[b]);
                cuts.push(class_cuts);
            }
        }
        Self { bins, threshold, gaps, cuts }
    }
}

/// The gaps of one class, from its column and the probabilities of the examples labelled so.
fn sweep_class(
    turned: &Turned,
    class: usize,
    hits: &[f64],
    options: &Options,
    keys: &mut Vec<u64>,
) -> ([f64; 3], [Cuts; 2]) {
    let mut width = vec![0.0; options.bins];
    keys.clear();
    for column in turned.column(class) {
        add_by_width(column, &mut width);
        append_keys(column, keys);
    }
    for &p in hits {
        width[right_closed(p, options.bins)] -= 1.0;
    }
    let (all, mass) = gap_by_mass(keys, hits, options.bins);
    keys.retain(|&k| f64::from_bits(k) > options.threshold);
    let hits: Vec<f64> = hits.iter().copied().filter(|&p| p > options.threshold).collect();
    let (above, mass_above) = gap_by_mass(keys, &hits, options.bins);
    ([width.iter().map(|gap| gap.abs()).sum(), mass, mass_above], [all, above])
}

#[multiversion(targets = "simd")]
fn append_keys(column: &[f64], keys: &mut Vec<u64>) {
    keys.extend(column.iter().map(|&p| key(p)));
}

/// Adds probabilities to their bins of equal width. Nearly all of them are in the first, so eight
/// are looked at together.
#[multiversion(targets = "simd")]
fn add_by_width(column: &[f64], sums: &mut [f64]) {
    let bins = sums.len();
    let first_edge = 1.0 / bins as f64;
    let chunks = column.chunks_exact(8);
    let rest = chunks.remainder();
    let mut first = [0.0; 8];
    let mut slow = |p: f64| sums[right_closed(p, bins)] += p;
    for chunk in chunks {
        if chunk.iter().fold(false, |any, &p| any | (p > first_edge)) {
            chunk.iter().for_each(|&p| slow(p));
        } else {
            for lane in 0..8 {
                first[lane] += chunk[lane];
            }
        }
    }
    rest.iter().for_each(|&p| slow(p));
    sums[0] += first.iter().sum::<f64>();
}

/// Cuts, and the sum over bins of the absolute gap. Equal values are the same in whichever bin
/// they lie, so the sums of probabilities can be taken from the selected keys; only the labels of
/// values that a cut goes through have to be shared out.
fn gap_by_mass(keys: &mut [u64], hits: &[f64], bins: usize) -> (Cuts, f64) {
    let cuts = Cuts::new(keys, bins);
    let size = keys.len() / bins;
    let mut gaps = vec![0.0; bins];
    for (bin, gap) in gaps.iter_mut().enumerate() {
        let end = if bin + 1 == bins { keys.len() } else { (bin + 1) * size };
        *gap = softmax::sum_of_bits(&keys[bin * size..end]);
    }
    for &p in hits {
        cuts.place(p, |bin, share| gaps[bin] -= share);
    }
    (cuts, gaps.iter().map(|gap| gap.abs()).sum())
}

/// Columns of a group of classes, in chunks of examples.
struct Turned {
    values: Vec<f64>,
    examples: usize,
    classes: usize,
}

impl Turned {
    fn new(examples: &Examples, classes: Range<usize>) -> Self {
        let count = examples.len();
        let mut values = vec![0.0; count * classes.len()];
        values.par_chunks_mut(CHUNK * classes.len()).enumerate().for_each(|(chunk, out)| {
            let start = chunk * CHUNK;
            let rows = start..start + out.len() / classes.len();
            examples.columns.turn(rows, classes.clone(), out);
        });
        Self { values, examples: count, classes: classes.len() }
    }

    /// The column of a class of the group, a slice per chunk.
    fn column(&self, class: usize) -> impl Iterator<Item = &[f64]> {
        self.values.chunks(CHUNK * self.classes).map(move |chunk| {
            let rows = chunk.len() / self.classes;
            &chunk[class * rows..(class + 1) * rows]
        })
    }

    fn at(&self, example: usize, class: usize) -> f64 {
        let start = example / CHUNK * CHUNK;
        let rows = CHUNK.min(self.examples - start);
        self.values[start * self.classes + class * rows + (example - start)]
    }
}

/// The examples of each class.
fn rows_by_label(examples: &Examples) -> Vec<Vec<u32>> {
    let mut rows = vec![Vec::new(); examples.classes];
    for (i, &label) in examples.labels.iter().enumerate() {
        rows[label as usize].push(i as u32);
    }
    rows
}

/// `1/C sum_c sum_m n_m/n |freq_cm - conf_cm|` for one way of binning each class.
pub(crate) struct ClassGaps<'a> {
    examples: &'a Examples,
    binning: Binning,
    sweep: Arc<Sweep>,
    /// Cell of every class of every example; made when first resampled. The cells stay where the
    /// file's own probabilities put them.
    cells: OnceLock<Vec<u16>>,
}

impl<'a> ClassGaps<'a> {
    pub(crate) fn new(examples: &'a Examples, binning: Binning, options: &Options) -> Self {
        let known = examples.sweep.get_or_init(|| Arc::new(Sweep::new(examples, options)));
        let same = known.bins == options.bins && known.threshold == options.threshold;
        let sweep = if same { known.clone() } else { Arc::new(Sweep::new(examples, options)) };
        Self { examples, binning, sweep, cells: OnceLock::new() }
    }

    fn cuts(&self, class: usize) -> Option<&Cuts> {
        match self.binning {
            Binning::Width => None,
            Binning::Mass => Some(&self.sweep.cuts[class][0]),
            Binning::MassAbove => Some(&self.sweep.cuts[class][1]),
        }
    }

    /// The cell of a probability; the one after the last when no bin takes it.
    fn cell(&self, class: usize, p: f64) -> usize {
        match (self.cuts(class), self.binning) {
            (None, _) => right_closed(p, self.sweep.bins),
            (Some(cuts), Binning::MassAbove) if p <= self.sweep.threshold => cuts.cells(),
            (Some(cuts), _) => cuts.cell(p),
        }
    }

    /// Cells that the widest class needs, the one for the rest included.
    fn widest(&self) -> usize {
        let cells = |class| self.cuts(class).map_or(self.sweep.bins, Cuts::cells);
        (0..self.examples.classes).map(cells).max().unwrap_or(0) + 1
    }

    fn cells(&self) -> &[u16] {
        self.cells.get_or_init(|| tiled(self.examples, |class, p, _| self.cell(class, p) as u16))
    }

    /// Sum over bins of the absolute gap of a class, from the signed sums per cell.
    fn absolute(&self, class: usize, sums: &mut [[f64; LANES]]) -> [f64; LANES] {
        if let Some(cuts) = self.cuts(class) {
            cuts.spread(sums);
        }
        std::array::from_fn(|l| sums[..self.sweep.bins].iter().map(|gap| gap[l].abs()).sum())
    }
}

impl Prepared for ClassGaps<'_> {
    fn value(&self, ones: &[[f64; 1]]) -> f64 {
        let gap = self.sweep.gaps[self.binning as usize];
        gap / (total(ones)[0] * self.examples.classes as f64)
    }

    fn replicates(&self, weights: &[[f64; LANES]]) -> [f64; LANES] {
        let (cells, gaps) = (self.cells(), self.examples.class_gaps());
        let (widest, classes) = (self.widest(), self.examples.classes);
        let tiles = classes.div_ceil(TILE);
        let mut sums = vec![[0.0; LANES]; widest * TILE * tiles];
        let chunk = CHUNK * TILE * tiles;
        let chunks = cells.chunks(chunk).zip(gaps.chunks(chunk)).zip(weights.chunks(CHUNK));
        for ((cells, gaps), weights) in chunks {
            let tile = weights.len() * TILE;
            let tiles = cells.chunks_exact(tile).zip(gaps.chunks_exact(tile));
            for ((cells, gaps), sums) in tiles.zip(sums.chunks_exact_mut(widest * TILE)) {
                add_weighted(cells, gaps, weights, widest, sums);
            }
        }
        let mut sum = [0.0; LANES];
        for (class, sums) in sums.chunks_exact_mut(widest).enumerate().take(classes) {
            let gap = self.absolute(class, sums);
            for l in 0..LANES {
                sum[l] += gap[l];
            }
        }
        let whole = total(weights);
        std::array::from_fn(|l| sum[l] / (whole[l] * classes as f64))
    }
}

/// Classes that are resampled together, so that their sums stay in the nearest cache.
const TILE: usize = 8;

/// A number for every class of every example, `[chunk][tile][example][class]`; tiles are filled
/// up with the default.
fn tiled<T: Copy + Default + Send>(
    examples: &Examples,
    f: impl Fn(usize, f64, usize) -> T + Sync,
) -> Vec<T> {
    let classes = examples.classes;
    let tiles = classes.div_ceil(TILE);
    let mut out = vec![T::default(); examples.len() * tiles * TILE];
    out.par_chunks_mut(CHUNK * tiles * TILE).enumerate().for_each(|(chunk, out)| {
        let count = out.len() / (tiles * TILE);
        let mut row = vec![0.0; classes];
        for offset in 0..count {
            let example = chunk * CHUNK + offset;
            examples.columns.read(example, 0..classes, &mut row);
            for (class, &p) in row.iter().enumerate() {
                let at = (class / TILE * count + offset) * TILE + class % TILE;
                out[at] = f(class, p, example);
            }
        }
    });
    out
}

#[multiversion(targets = "simd")]
fn add_weighted(
    cells: &[u16],
    gaps: &[f32],
    weights: &[[f64; LANES]],
    widest: usize,
    sums: &mut [[f64; LANES]],
) {
    let rows = cells.chunks_exact(TILE).zip(gaps.chunks_exact(TILE)).zip(weights);
    for ((cells, gaps), weight) in rows {
        for class in 0..TILE {
            let sum = &mut sums[class * widest + usize::from(cells[class])];
            let gap = f64::from(gaps[class]);
            for l in 0..LANES {
                sum[l] += weight[l] * gap;
            }
        }
    }
}

impl Examples {
    /// `p_ic - [y_i = c]`, laid out as [`tiled`] says. In f32, since only intervals are made of it.
    fn class_gaps(&self) -> &[f32] {
        self.class_gaps.get_or_init(|| {
            tiled(self, |class, p, example| {
                let hit = self.labels[example] as usize == class;
                (p - f64::from(u8::from(hit))) as f32
            })
        })
    }
}

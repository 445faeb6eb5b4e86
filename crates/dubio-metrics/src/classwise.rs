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
use crate::remember::remember;
use crate::score::{Count, LANES, Options, Prepared, total};
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
    /// Made when first resampled. The cells stay where the file's own probabilities put them.
    cells: OnceLock<Vec<ClassCells>>,
}

/// The examples of one class, cell by cell.
struct ClassCells {
    /// Example and gap `p - [y = c]`; in f32, since only intervals are made of it.
    entries: Vec<(u32, f32)>,
    /// Where each cell ends among the entries.
    ends: Vec<u32>,
}

impl<'a> ClassGaps<'a> {
    pub(crate) fn new(examples: &'a Examples, binning: Binning, options: &Options) -> Self {
        let known = remember(&examples.sweep, || Arc::new(Sweep::new(examples, options)));
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

    /// The cell of a probability; `None` when no bin takes it.
    fn cell(&self, class: usize, p: f64) -> Option<usize> {
        match self.cuts(class) {
            None => Some(right_closed(p, self.sweep.bins)),
            Some(_) if self.binning == Binning::MassAbove && p <= self.sweep.threshold => None,
            Some(cuts) => Some(cuts.cell(p)),
        }
    }

    fn cells(&self) -> &Vec<ClassCells> {
        remember(&self.cells, || {
            let classes = self.examples.classes;
            let groups = (0..classes).step_by(GROUP).map(|start| start..classes.min(start + GROUP));
            let each = groups.flat_map(|group| {
                let turned = Turned::new(self.examples, group.clone());
                let start = group.start;
                let sorted = group.into_par_iter().map(|c| self.sort(&turned, c - start, c));
                sorted.collect::<Vec<ClassCells>>()
            });
            each.collect::<Vec<ClassCells>>()
        })
    }

    /// Sorts the examples of a class by their cells, keeping their order within a cell.
    fn sort(&self, turned: &Turned, column: usize, class: usize) -> ClassCells {
        let cells = self.cuts(class).map_or(self.sweep.bins, Cuts::cells);
        let mut by_cell: Vec<Vec<(u32, f32)>> = vec![Vec::new(); cells];
        for (example, &p) in turned.column(column).flatten().enumerate() {
            if let Some(cell) = self.cell(class, p) {
                let hit = self.examples.labels[example] as usize == class;
                by_cell[cell].push((example as u32, (p - f64::from(u8::from(hit))) as f32));
            }
        }
        let mut end = 0;
        let ends = by_cell.iter().map(|cell| {
            end += cell.len() as u32;
            end
        });
        ClassCells { ends: ends.collect(), entries: by_cell.concat() }
    }

    /// Sum over bins of the absolute gap of a class in each resample.
    fn class_gap(&self, class: usize, weights: &[[Count; LANES]]) -> [f64; LANES] {
        let ClassCells { entries, ends } = &self.cells()[class];
        let mut start = 0;
        let mut sums: Vec<[f64; LANES]> = Vec::with_capacity(ends.len());
        for &end in ends {
            sums.push(weighted_gap(&entries[start..end as usize], weights));
            start = end as usize;
        }
        if let Some(cuts) = self.cuts(class) {
            cuts.spread(&mut sums);
        }
        std::array::from_fn(|l| sums[..self.sweep.bins].iter().map(|gap| gap[l].abs()).sum())
    }
}

impl Prepared for ClassGaps<'_> {
    fn before_sharing(&self) {
        self.cells();
    }

    fn value(&self, ones: &[[Count; 1]]) -> f64 {
        let gap = self.sweep.gaps[self.binning as usize];
        gap / (total(ones)[0] * self.examples.classes as f64)
    }

    fn ordered_replicates(&self, weights: &[[Count; LANES]]) -> [f64; LANES] {
        let classes = self.examples.classes;
        let mut sum = [0.0; LANES];
        for class in 0..classes {
            let gap = self.class_gap(class, weights);
            for l in 0..LANES {
                sum[l] += gap[l];
            }
        }
        let whole = total(weights);
        std::array::from_fn(|l| sum[l] / (whole[l] * classes as f64))
    }
}

/// Sum of weight times gap. In f32 for a few hundred entries at a time, then in f64.
#[multiversion(targets = "simd")]
fn weighted_gap(entries: &[(u32, f32)], weights: &[[Count; LANES]]) -> [f64; LANES] {
    let mut sums = [0.0; LANES];
    for entries in entries.chunks(256) {
        let mut part = [0.0_f32; LANES];
        for &(example, gap) in entries {
            let weight = weights[example as usize].map(f32::from);
            for l in 0..LANES {
                part[l] += weight[l] * gap;
            }
        }
        for l in 0..LANES {
            sums[l] += f64::from(part[l]);
        }
    }
    sums
}

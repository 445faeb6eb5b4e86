//! Gaps between probability and frequency, class by class: what `sce`, `ace` and `tace` share.
//!
//! The three are worked out in one sweep over the columns of probabilities, because turning rows
//! into columns costs as much as the scores themselves.

use std::mem::take;
use std::ops::Range;
use std::sync::Arc;

use multiversion::multiversion;
use rayon::prelude::*;

use crate::binning::edges::right_closed;
use crate::binning::equal_mass::{Cuts, key};
use crate::columns::CHUNK;
use crate::distributions::Distributions;
use crate::examples::Examples;
use crate::remember::remember;
use crate::score::{Count, LANES, Options, Prepared, total};
use crate::softmax;

/// Classes that are resampled side by side.
const TEAM: usize = 8;

/// Blocks of resamples for which what is known of a few examples is read from memory once.
const BLOCKS: usize = 8;

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
        for group in examples.columns.groups() {
            let start = group.start;
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
    turned: &Turned<'_>,
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
struct Turned<'a> {
    all: &'a Distributions,
    values: Vec<f64>,
    examples: usize,
    classes: usize,
}

impl Drop for Turned<'_> {
    fn drop(&mut self) {
        self.all.give_spare(take(&mut self.values));
    }
}

impl<'a> Turned<'a> {
    fn new(examples: &'a Examples, classes: Range<usize>) -> Self {
        let (count, all) = (examples.len(), &*examples.columns.all);
        let mut values = all.take_spare(count * classes.len());
        values.par_chunks_mut(CHUNK * classes.len()).enumerate().for_each(|(chunk, out)| {
            let start = chunk * CHUNK;
            let rows = start..start + out.len() / classes.len();
            examples.columns.turn(rows, classes.clone(), out);
        });
        Self { all, values, examples: count, classes: classes.len() }
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

/// `1/C sum_c sum_m n_m/n |freq_cm - conf_cm|` for one way of binning each class. In resamples the
/// bins stay where the file's own probabilities put them.
pub(crate) struct ClassGaps<'a> {
    examples: &'a Examples,
    binning: Binning,
    sweep: Arc<Sweep>,
}

impl<'a> ClassGaps<'a> {
    pub(crate) fn new(examples: &'a Examples, binning: Binning, options: &Options) -> Self {
        let known = remember(&examples.sweep, || Arc::new(Sweep::new(examples, options)));
        let same = known.bins == options.bins && known.threshold == options.threshold;
        let sweep = if same { known.clone() } else { Arc::new(Sweep::new(examples, options)) };
        Self { examples, binning, sweep }
    }

    fn cuts(&self, class: usize) -> Option<&Cuts> {
        match self.binning {
            Binning::Width => None,
            Binning::Mass => Some(&self.sweep.cuts[class][0]),
            Binning::MassAbove => Some(&self.sweep.cuts[class][1]),
        }
    }

    fn cells(&self, class: usize) -> usize {
        self.cuts(class).map_or(self.sweep.bins, Cuts::cells)
    }

    /// The cell of a probability; `None` when no bin takes it.
    fn cell(&self, class: usize, p: f64) -> Option<usize> {
        match self.cuts(class) {
            None => Some(right_closed(p, self.sweep.bins)),
            Some(_) if self.binning == Binning::MassAbove && p <= self.sweep.threshold => None,
            Some(cuts) => Some(cuts.cell(p)),
        }
    }

    /// Looks up the cells of some classes, whose columns start at the `column`-th.
    fn team(&self, turned: &Turned<'_>, column: usize, classes: Range<usize>) -> Team {
        // One cell more than there are: for what no bin takes.
        let cells = 1 + classes.clone().map(|class| self.cells(class)).max().unwrap_or(0);
        let mut entries = vec![Entry::default(); turned.examples];
        for (place, class) in classes.clone().enumerate() {
            let column = turned.column(column + place).flatten();
            for ((entry, &p), &label) in entries.iter_mut().zip(column).zip(&self.examples.labels) {
                let hit = f64::from(u8::from(label as usize == class));
                entry.gap[place] = (p - hit) as f32;
                entry.cell[place] = self.cell(class, p).unwrap_or(cells - 1) as u16;
            }
        }
        Team { classes, cells, entries }
    }

    /// Adds each class's sum over bins of the absolute gap in each resample of some blocks.
    fn add(&self, team: &Team, blocks: &[&[[Count; LANES]]], sums: &mut [[f64; LANES]]) {
        let size = TEAM * team.cells;
        let mut gaps = vec![[0.0; LANES]; size * blocks.len()];
        weighted_gaps(team, blocks, &mut gaps);
        for (gaps, sums) in gaps.chunks_exact_mut(size).zip(sums) {
            for (class, gaps) in team.classes.clone().zip(gaps.chunks_exact_mut(team.cells)) {
                if let Some(cuts) = self.cuts(class) {
                    cuts.spread(gaps);
                }
                for gap in &gaps[..self.sweep.bins] {
                    for l in 0..LANES {
                        sums[l] += gap[l].abs();
                    }
                }
            }
        }
    }
}

impl Prepared for ClassGaps<'_> {
    fn value(&self, ones: &[[Count; 1]]) -> f64 {
        let gap = self.sweep.gaps[self.binning as usize];
        gap / (total(ones)[0] * self.examples.classes as f64)
    }

    fn ordered_replicates(&self, weights: &[[Count; LANES]]) -> [f64; LANES] {
        self.swept(&[weights])[0]
    }

    fn of_blocks(&self, blocks: &[&[[Count; LANES]]]) -> Option<Vec<[f64; LANES]>> {
        Some(self.swept(blocks))
    }
}

impl ClassGaps<'_> {
    /// The values in blocks of resamples, a group of classes at a time: cells of all classes
    /// would take more memory than the probabilities.
    fn swept(&self, blocks: &[&[[Count; LANES]]]) -> Vec<[f64; LANES]> {
        let mut sums = vec![[0.0; LANES]; blocks.len()];
        for group in self.examples.columns.groups() {
            let turned = Turned::new(self.examples, group.clone());
            let teams: Vec<Team> = (0..group.len().div_ceil(TEAM))
                .into_par_iter()
                .map(|team| {
                    let first = group.start + team * TEAM;
                    self.team(&turned, team * TEAM, first..group.end.min(first + TEAM))
                })
                .collect();
            drop(turned);
            sums.par_chunks_mut(BLOCKS).zip(blocks.par_chunks(BLOCKS)).for_each(
                |(sums, blocks)| {
                    teams.iter().for_each(|team| self.add(team, blocks, sums));
                },
            );
        }
        for (sums, weights) in sums.iter_mut().zip(blocks) {
            let whole = total(weights);
            for l in 0..LANES {
                sums[l] /= whole[l] * self.examples.classes as f64;
            }
        }
        sums
    }
}

/// What resampling needs of a few classes.
struct Team {
    classes: Range<usize>,
    /// Cells of each class, with one for what no bin takes.
    cells: usize,
    /// One of each example.
    entries: Vec<Entry>,
}

/// An example's cell and gap `p - [y = c]` in each class; in f32, since only intervals are made of
/// it. A bin and an atom for each of ten thousand bins fit two bytes.
#[derive(Clone, Copy, Default)]
struct Entry {
    gap: [f32; TEAM],
    cell: [u16; TEAM],
}

/// A sum in each lane that no boundary of the cache goes through.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct CacheLine([f32; LANES]);

/// Sums of weight times gap, `[block][class][cell]`. In f32 for a few hundred examples at a time,
/// then in f64.
#[multiversion(targets = "simd")]
fn weighted_gaps(team: &Team, blocks: &[&[[Count; LANES]]], sums: &mut [[f64; LANES]]) {
    let size = TEAM * team.cells;
    let mut parts = vec![CacheLine([0.0; LANES]); size];
    let stretch = 256.max(4 * team.cells);
    for (index, entries) in team.entries.chunks(stretch).enumerate() {
        for (block, sums) in blocks.iter().zip(sums.chunks_exact_mut(size)) {
            for (entry, weight) in entries.iter().zip(&block[index * stretch..]) {
                let (Entry { gap, cell }, weight) = (*entry, weight.map(f32::from));
                for place in 0..TEAM {
                    let part = &mut parts[place * team.cells + usize::from(cell[place])];
                    let CacheLine(mut sum) = *part; // a copy: lanes are seen to be independent
                    for l in 0..LANES {
                        sum[l] += weight[l] * gap[place];
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

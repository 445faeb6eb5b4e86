//! Gaps between probability and frequency, class by class: what `sce`, `ace` and `tace` share.
//!
//! The three are worked out in one sweep over the columns of probabilities, because turning rows
//! into columns costs as much as the scores themselves.

use std::ops::Range;
use std::sync::Arc;

use multiversion::multiversion;
use rayon::prelude::*;

use crate::binning::edges::{edge, right_closed};
use crate::binning::equal_mass::Cuts;
use crate::binning::histogram::Histogram;
use crate::examples::Examples;
use crate::remember::remember;
use crate::score::{Count, LANES, Options, Prepared, total};
use crate::turned::Turned;

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

/// What one sweep over the columns gives: all that does not depend on the labels.
#[derive(Debug)]
pub(crate) struct Sweep {
    bins: usize,
    threshold: f64,
    classes: Vec<ClassSweep>,
}

/// What is known of one class's column.
#[derive(Debug)]
struct ClassSweep {
    /// Sum of the probabilities in each bin, for each binning.
    sums: [Vec<f64>; 3],
    /// Cuts of its probabilities, all of them and those above the threshold.
    cuts: [Cuts; 2],
}

impl Sweep {
    /// The sweep, and each example's probability of its label as its column has it.
    fn new(examples: &Examples, options: &Options) -> (Self, Vec<f64>) {
        let (bins, threshold) = (options.bins, options.threshold);
        let by_label = rows_by_label(examples);
        let mut label_p = vec![0.0; examples.len()];
        let mut classes = Vec::with_capacity(examples.classes);
        for group in examples.columns.groups() {
            let turned = examples.columns.turned(group.clone());
            for class in group.clone() {
                for &i in &by_label[class] {
                    label_p[i as usize] = turned.at(i as usize, class - group.start);
                }
            }
            classes.par_extend(
                (0..group.len())
                    .into_par_iter()
                    .map_init(Histogram::default, |histogram, class| {
                        ClassSweep::new(&turned, class, options, histogram)
                    }),
            );
        }
        (Self { bins, threshold, classes }, label_p)
    }

    /// `sum_c sum_m |sum over the bin of p - [y = c]|` for one binning.
    fn gap(&self, binning: Binning, labels: &[u32], label_p: &[f64]) -> f64 {
        let sums = |class: &ClassSweep| class.sums[binning as usize].clone();
        let mut gaps: Vec<Vec<f64>> = self.classes.iter().map(sums).collect();
        for (&label, &p) in labels.iter().zip(label_p) {
            let (class, gaps) = (&self.classes[label as usize], &mut gaps[label as usize]);
            match binning {
                Binning::Width => gaps[right_closed(p, self.bins)] -= 1.0,
                Binning::Mass => class.cuts[0].place(p, |bin, share| gaps[bin] -= share),
                Binning::MassAbove if p <= self.threshold => {}
                Binning::MassAbove => class.cuts[1].place(p, |bin, share| gaps[bin] -= share),
            }
        }
        gaps.iter().flatten().map(|gap| gap.abs()).sum()
    }
}

impl ClassSweep {
    fn new(turned: &Turned, class: usize, options: &Options, histogram: &mut Histogram) -> Self {
        let bins = options.bins;
        histogram.fill(turned.column(class));
        let above = histogram.up_to(options.threshold);
        let edges: Vec<f64> = (1..bins).map(|k| edge(k, bins)).collect();
        let places = |first: usize| {
            let size = (histogram.len() - first) / bins;
            (0..bins).map(move |bin| first + bin * size)
        };
        let both: Vec<usize> = places(0).chain(places(above)).collect();
        histogram.open(&edges, &both);

        let mut starts = histogram.above(&edges);
        starts.insert(0, 0);
        let width = histogram.sums(&starts);
        let (all_cuts, mass) = Cuts::new(histogram, 0, bins);
        let (above_cuts, mass_above) = Cuts::new(histogram, above, bins);
        Self { sums: [width, mass, mass_above], cuts: [all_cuts, above_cuts] }
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
    /// Of the file's own labels, see [`Sweep::gap`].
    gap: f64,
}

impl<'a> ClassGaps<'a> {
    pub(crate) fn new(examples: &'a Examples, binning: Binning, options: &Options) -> Self {
        let swept = || {
            let (sweep, label_p) = Sweep::new(examples, options);
            let _ = examples.label_p.set(label_p); // they are the same for any options
            Arc::new(sweep)
        };
        let known = remember(&examples.sweep, swept);
        let same = known.bins == options.bins && known.threshold == options.threshold;
        let sweep = if same { known.clone() } else { swept() };
        let gap = sweep.gap(binning, &examples.labels, examples.label_p());
        Self { examples, binning, sweep, gap }
    }

    fn cuts(&self, class: usize) -> Option<&Cuts> {
        match self.binning {
            Binning::Width => None,
            Binning::Mass => Some(&self.sweep.classes[class].cuts[0]),
            Binning::MassAbove => Some(&self.sweep.classes[class].cuts[1]),
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
    fn team(&self, turned: &Turned, column: usize, classes: Range<usize>) -> Team {
        // One cell more than there are: for what no bin takes.
        let cells = 1 + classes.clone().map(|class| self.cells(class)).max().unwrap_or(0);
        let mut entries = vec![Entry::default(); turned.examples()];
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
        self.gap / (total(ones)[0] * self.examples.classes as f64)
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
            let turned = self.examples.columns.turned(group.clone());
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

//! One sweep over the columns of probabilities for all ways of binning, because turning rows into
//! columns costs as much as the scores themselves.

use std::sync::Arc;

use rayon::prelude::*;

use crate::binning::dense::dense;
use crate::binning::edges::{edge, right_closed};
use crate::binning::equal_mass::Cuts;
use crate::binning::histogram::Histogram;
use crate::examples::Examples;
use crate::known::Of;
use crate::score::Options;
use crate::transposed::Transposed;

/// What the sweep gives: all that does not depend on the labels.
#[derive(Debug)]
pub(crate) struct Sweep {
    pub(super) bins: usize,
    pub(super) threshold: f64,
    pub(super) classes: Vec<ClassSweep>,
}

/// What is known of one class's column.
#[derive(Debug)]
pub(super) struct ClassSweep {
    /// Sum of the probabilities in each bin, for each binning.
    sums: [Sums; 3],
    /// Cuts of its probabilities, all of them and those above the threshold.
    pub cuts: [Cuts; 2],
}

/// Sums over bins, without the empty bins at both ends: with many classes most bins are empty.
#[derive(Debug)]
struct Sums {
    first: usize,
    values: Box<[f64]>,
}

impl Sums {
    fn new(sums: &[f64]) -> Self {
        let filled = |sum: &f64| *sum != 0.0;
        let first = sums.iter().position(filled).unwrap_or(0);
        let end = sums.iter().rposition(filled).map_or(first, |last| last + 1);
        Self { first, values: sums[first..end].into() }
    }

    /// The sum over bins of the absolute value of each sum, less what is taken from that bin, if anything is.
    fn gap(&self, taken: &[f64]) -> f64 {
        let at = |bin: usize| bin.checked_sub(self.first).and_then(|place| self.values.get(place));
        match taken {
            [] => self.values.iter().sum(),
            _ => taken.iter().enumerate().map(|(bin, t)| (at(bin).unwrap_or(&0.0) - t).abs()).sum(),
        }
    }
}

impl Sweep {
    /// The sweep of these examples, which remember that for the first options asked for.
    pub(crate) fn of(examples: &Examples, options: &Options) -> Arc<Self> {
        let new = || Self::new(examples, options);
        let known = examples.known.get(Of::Predictions, new);
        let same = known.bins == options.bins && known.threshold == options.threshold;
        if same { known } else { Arc::new(new()) }
    }

    fn new(examples: &Examples, options: &Options) -> Self {
        let (bins, threshold) = (options.bins, options.threshold);
        let mut classes = Vec::with_capacity(examples.classes);
        for group in examples.columns.groups() {
            let transposed = examples.columns.transposed(group.clone());
            classes.par_extend(
                (0..group.len())
                    .into_par_iter()
                    .map_init(Histogram::default, |histogram, class| {
                        ClassSweep::new(&transposed, class, options, histogram)
                    }),
            );
        }
        Self { bins, threshold, classes }
    }

    /// `sum_c sum_m |sum over the bin of p - [y = c]|` for each binning.
    pub(super) fn gaps(&self, examples: &Examples) -> [f64; 3] {
        let label_p = examples.columns.of_classes(&examples.labels);
        let (present, which) = dense(&examples.labels);
        // What the labels take from the bins of the classes that occur, a part of the examples at a
        // time; the parts do not depend on the number of threads.
        let size = (1 << 16).max(3 * self.bins * present.len());
        let parts = which.par_chunks(size).zip(label_p.par_chunks(size)).map(|(which, label_p)| {
            let mut taken = vec![vec![0.0; 3 * self.bins]; present.len()];
            for (&which, &p) in which.iter().zip(label_p) {
                let class = &self.classes[present[which as usize] as usize];
                self.take(class, p, &mut taken[which as usize]);
            }
            taken
        });
        let parts: Vec<Vec<Vec<f64>>> = parts.collect();
        let mut taken = vec![vec![0.0; 3 * self.bins]; present.len()];
        for part in parts {
            for (sum, part) in taken.iter_mut().flatten().zip(part.iter().flatten()) {
                *sum += part;
            }
        }
        let mut gaps = [0.0; 3];
        for (class, sweep) in self.classes.iter().enumerate() {
            let which = present.binary_search(&(class as u64));
            let none = Vec::new();
            let taken = which.map_or(&none, |which| &taken[which]);
            for (binning, gap) in gaps.iter_mut().enumerate() {
                let own = taken.get(binning * self.bins..(binning + 1) * self.bins);
                *gap += sweep.sums[binning].gap(own.unwrap_or_default());
            }
        }
        gaps
    }
}

impl Sweep {
    /// Counts a label that has probability `p` in its bins of each binning.
    fn take(&self, class: &ClassSweep, p: f64, taken: &mut [f64]) {
        taken[right_closed(p, self.bins)] += 1.0;
        for (binning, cuts) in (1..).zip(&class.cuts) {
            if binning == 1 || p > self.threshold {
                for (bin, weight) in cuts.weights_of(cuts.cell(p)) {
                    taken[binning * self.bins + bin] += weight;
                }
            }
        }
    }
}

impl ClassSweep {
    fn new<'a>(
        transposed: &'a Transposed,
        class: usize,
        options: &Options,
        histogram: &mut Histogram<'a>,
    ) -> Self {
        let bins = options.bins;
        histogram.fill(transposed.column(class));
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
        let sums = [&width, &mass, &mass_above].map(|sums| Sums::new(sums));
        Self { sums, cuts: [all_cuts, above_cuts] }
    }
}

//! One sweep over the columns of probabilities for all ways of binning, because turning rows into
//! columns costs as much as the scores themselves.

use std::sync::Arc;

use rayon::prelude::*;

use super::Binning;
use crate::binning::edges::{edge, right_closed};
use crate::binning::equal_mass::Cuts;
use crate::binning::histogram::Histogram;
use crate::examples::Examples;
use crate::remember::remember;
use crate::score::Options;
use crate::turned::Turned;

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
    sums: [Vec<f64>; 3],
    /// Cuts of its probabilities, all of them and those above the threshold.
    pub cuts: [Cuts; 2],
}

impl Sweep {
    /// That of these examples, which remember the first.
    pub(crate) fn of(examples: &Examples, options: &Options) -> Arc<Self> {
        let new = || {
            let (sweep, label_p) = Self::new(examples, options);
            let _ = examples.of_labels.p.set(label_p); // they are the same for any options
            Arc::new(sweep)
        };
        let known = remember(&examples.of_predictions.sweep, new);
        let same = known.bins == options.bins && known.threshold == options.threshold;
        if same { known.clone() } else { new() }
    }

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
    pub(super) fn gap(&self, binning: Binning, labels: &[u32], label_p: &[f64]) -> f64 {
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

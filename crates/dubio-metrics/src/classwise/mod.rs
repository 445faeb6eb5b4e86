//! Gaps between probability and frequency, class by class: what `sce`, `ace` and `tace` share.

mod partition;
mod resampled;
mod sweep;

use std::sync::{Arc, OnceLock};

use crate::examples::Examples;
use crate::known::Of;
use crate::score::{Options, Prepared};
use crate::weights::{Count, LANES, Weights};
use resampled::{Gaps, Team, resampled_gaps};
pub(crate) use sweep::Sweep;

/// How the probabilities of each class are binned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binning {
    /// Bins of equal width: `sce`.
    Width,
    /// Bins of equal mass: `ace`.
    Mass,
    /// Bins of equal mass among the probabilities above a threshold: `tace`.
    MassAbove,
}

impl Binning {
    const ALL: [Self; 3] = [Self::Width, Self::Mass, Self::MassAbove];
}

/// A sweep, and what resampling needs of the labels in addition.
#[derive(Debug)]
pub(crate) struct LabelGaps {
    sweep: Arc<Sweep>,
    /// The gaps of the file, for each binning; see [`Sweep::gaps`].
    gaps: [f64; 3],
    /// The classes in teams, where they are worth keeping.
    teams: OnceLock<Vec<Team>>,
}

impl LabelGaps {
    /// The gaps of these examples, which remember those for the first options asked for.
    pub(crate) fn of(examples: &Examples, options: &Options) -> Arc<Self> {
        let sweep = Sweep::of(examples, options);
        let new =
            || Self { gaps: sweep.gaps(examples), sweep: sweep.clone(), teams: OnceLock::new() };
        let known = examples.known.get(Of::Labels, new);
        if Arc::ptr_eq(&known.sweep, &sweep) { known } else { Arc::new(new()) }
    }
}

/// `1/C sum_c sum_m n_m/n |freq_cm - conf_cm|` for one way of binning each class. In resamples the
/// bins stay where the file's own probabilities put them.
pub(crate) struct ClassGaps<'a> {
    examples: &'a Examples,
    binning: Binning,
    known: Arc<LabelGaps>,
}

impl<'a> ClassGaps<'a> {
    pub(crate) fn new(examples: &'a Examples, binning: Binning, options: &Options) -> Self {
        Self { examples, binning, known: LabelGaps::of(examples, options) }
    }
}

impl Prepared for ClassGaps<'_> {
    fn value(&self, ones: &Weights<'_, 1>) -> f64 {
        let gap = self.known.gaps[self.binning as usize];
        gap / (ones.total()[0] * self.examples.classes as f64)
    }

    fn replicates(&self, weights: &Weights<'_, LANES>) -> [f64; LANES] {
        let (whole, classes) = (weights.total(), self.examples.classes as f64);
        let alone = || resampled_gaps(self.examples, &self.known, &[weights.counts()])[0];
        let gaps = weights.shared(&self.known, alone)[self.binning as usize];
        std::array::from_fn(|l| gaps[l] / (whole[l] * classes))
    }

    fn before_replicates(&self, blocks: &[Weights<'_, LANES>]) {
        let known = |weights: &Weights<'_, LANES>| weights.find::<_, Gaps>(&self.known).is_some();
        if blocks.iter().all(known) {
            return;
        }
        let counts: Vec<&[[Count; LANES]]> = blocks.iter().map(Weights::counts).collect();
        let gaps = resampled_gaps(self.examples, &self.known, &counts);
        for (weights, gaps) in blocks.iter().zip(gaps) {
            weights.keep(&self.known, gaps);
        }
    }
}

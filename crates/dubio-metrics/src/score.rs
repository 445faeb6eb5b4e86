//! The few names that every score shares.
//!
//! A score is used in two steps. `prepare` looks at the examples once and keeps what the score
//! needs of them: a number per example, a sorted order, the cell of each example in a histogram.
//! The result is a [`Statistic`]: a function of how often each example counts. With every weight
//! one it is the score; with the counts of a bootstrap resample it is that resample's score. So a
//! score and its interval are one piece of code, and no prediction is looked at twice.

use std::borrow::Cow;
use std::sync::Arc;

use crate::card::Card;
use crate::passes::AnyPass;
use crate::weights::{LANES, Weights};

/// A score as a function of how often each example counts.
pub trait Statistic: Send + Sync {
    /// The value in each lane; NaN where a resample leaves the score undefined.
    fn weighted<const L: usize>(&self, weights: &Weights<'_, L>) -> [f64; L];
    /// Numbers of each example whose `Weights::sum` it asks for, so that those of all statistics
    /// can be worked out together.
    fn terms(&self) -> Vec<&[f64]> {
        Vec::new()
    }
    /// Passes along a ranking that it asks for by `Weights::along`, so that those of all statistics
    /// can be made together.
    fn passes(&self) -> Vec<Arc<dyn AnyPass>> {
        Vec::new()
    }
}

/// [`Statistic`] behind a pointer.
pub trait Prepared: Send + Sync {
    /// The score of the file: every example once.
    fn value(&self, ones: &Weights<'_, 1>) -> f64;
    /// The scores of [`LANES`] resamples.
    fn replicates(&self, weights: &Weights<'_, LANES>) -> [f64; LANES];
    /// See [`Statistic::terms`].
    fn terms(&self) -> Vec<&[f64]> {
        Vec::new()
    }
    /// See [`Statistic::passes`].
    fn passes(&self) -> Vec<Arc<dyn AnyPass>> {
        Vec::new()
    }
    /// Called with several blocks of resamples before any of them: a statistic that has to go
    /// through the predictions again does so here, once for all, and keeps what it found there.
    fn before_replicates(&self, _blocks: &[Weights<'_, LANES>]) {}
}

impl<S: Statistic> Prepared for S {
    fn value(&self, ones: &Weights<'_, 1>) -> f64 {
        self.weighted(ones)[0]
    }
    fn replicates(&self, weights: &Weights<'_, LANES>) -> [f64; LANES] {
        self.weighted(weights)
    }
    fn terms(&self) -> Vec<&[f64]> {
        Statistic::terms(self)
    }
    fn passes(&self) -> Vec<Arc<dyn AnyPass>> {
        Statistic::passes(self)
    }
}

/// Why a score has no value for these predictions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undefined(pub String);

impl Undefined {
    /// With this reason, a clause that could follow "no value: ".
    pub fn because(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

/// What `prepare` gives: the statistic, or why there is none.
pub type Preparation<'a> = Result<Box<dyn Prepared + 'a>, Undefined>;

/// How much of the truth a score looks at. Whoever scores the same predictions against many truths
/// works out no more than is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// None of it: a description of the predictions.
    Nothing,
    /// Only whether each prediction is right, and its statistic is the score itself for any weights.
    Hits,
    /// The target, and nothing of the predictive distribution there.
    Target,
    /// The densities at the target.
    Density,
    /// The distribution function at the target.
    Distribution,
    /// Everything.
    Truth,
}

/// A score of predictions of type `E` (classified or regressed examples).
pub trait Score<E>: Send + Sync {
    /// The score's card.
    fn card(&self) -> &'static Card;
    /// Public name; the card's, unless the score is one of a family that shares a card.
    fn name(&self) -> String {
        self.card().name.to_string()
    }
    /// Keeps what the score needs of the examples.
    fn prepare<'a>(&self, examples: &'a E, options: &Options) -> Preparation<'a>;
    /// How much of the truth it looks at.
    fn needs(&self) -> Needs {
        Needs::Truth
    }
    /// Called once before many threads prepare scores of the same examples: what several scores
    /// share, and takes all threads to work out, is made here.
    fn before_sharing(&self, _examples: &E, _options: &Options) {}
}

/// Settings of the scores; the defaults are those of the definitions.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Number of bins of every binned score.
    pub bins: usize,
    /// Which bin a confidence on an edge belongs to, in `ece`, `sece` and `mce`.
    pub edges: crate::binning::Edges,
    /// Probabilities at or below it do not count in `tace`.
    pub threshold: f64,
    /// Mass of the central interval of `picp`, `mpiw` and `interval_score`.
    pub level: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self { bins: 15, edges: crate::binning::Edges::RightClosed, threshold: 1e-3, level: 0.95 }
    }
}

/// One number per example, to be summed. Infinite ones are kept apart: a resample that leaves such
/// an example out does not pay for it.
struct Numbers<'a> {
    finite: Cow<'a, [f64]>,
    infinite: Vec<(u32, f64)>,
}

impl<'a> From<Cow<'a, [f64]>> for Numbers<'a> {
    fn from(mut finite: Cow<'a, [f64]>) -> Self {
        let all = finite.iter().enumerate().filter(|(_, v)| v.is_infinite());
        let infinite: Vec<(u32, f64)> = all.map(|(i, &v)| (i as u32, v)).collect();
        for &(i, _) in &infinite {
            finite.to_mut()[i as usize] = 0.0;
        }
        Self { finite, infinite }
    }
}

impl Numbers<'_> {
    fn sum<const L: usize>(&self, weights: &Weights<'_, L>) -> [f64; L] {
        let mut sums = weights.sum(&self.finite);
        for &(i, value) in &self.infinite {
            for l in 0..L {
                sums[l] += if weights.counts()[i as usize][l] > 0 { value } else { 0.0 };
            }
        }
        sums
    }
}

/// The weighted mean of one number per example.
pub struct Mean<'a>(Numbers<'a>);

impl<'a> Mean<'a> {
    /// The mean of these numbers.
    pub fn new(values: impl Into<Cow<'a, [f64]>>) -> Self {
        Self(values.into().into())
    }
}

impl Statistic for Mean<'_> {
    fn weighted<const L: usize>(&self, weights: &Weights<'_, L>) -> [f64; L] {
        let (sums, totals) = (self.0.sum(weights), weights.total());
        std::array::from_fn(|l| sums[l] / totals[l])
    }
    fn terms(&self) -> Vec<&[f64]> {
        vec![&self.0.finite]
    }
}

/// The weighted sum of one number per example.
pub struct Sum<'a>(Numbers<'a>);

impl<'a> Sum<'a> {
    /// The sum of these numbers.
    pub fn new(values: impl Into<Cow<'a, [f64]>>) -> Self {
        Self(values.into().into())
    }
}

impl Statistic for Sum<'_> {
    fn weighted<const L: usize>(&self, weights: &Weights<'_, L>) -> [f64; L] {
        self.0.sum(weights)
    }
    fn terms(&self) -> Vec<&[f64]> {
        vec![&self.0.finite]
    }
}

/// A statistic, and a function that is applied to its value.
pub struct Mapped<S, F>(pub S, pub F);

impl<S: Statistic, F: Fn(f64) -> f64 + Send + Sync> Statistic for Mapped<S, F> {
    fn weighted<const L: usize>(&self, weights: &Weights<'_, L>) -> [f64; L] {
        self.0.weighted(weights).map(&self.1)
    }
    fn terms(&self) -> Vec<&[f64]> {
        self.0.terms()
    }
    fn passes(&self) -> Vec<Arc<dyn AnyPass>> {
        self.0.passes()
    }
}

/// The weighted fraction of the examples that are marked.
pub(crate) struct Fraction(pub Arc<Vec<bool>>);

impl Statistic for Fraction {
    fn weighted<const L: usize>(&self, weights: &Weights<'_, L>) -> [f64; L] {
        let (marked, whole) = (weights.of_marked(&self.0), weights.total());
        std::array::from_fn(|l| marked[l] / whole[l])
    }
}

/// The mean of numbers that the examples already hold.
pub(crate) fn mean<'a>(values: &'a [f64]) -> Preparation<'a> {
    Ok(Box::new(Mean::new(values)))
}

/// The mean of a number made for each example.
pub(crate) fn mean_of<'a>(count: usize, value: impl Fn(usize) -> f64) -> Preparation<'a> {
    Ok(Box::new(Mean::new((0..count).map(value).collect::<Vec<f64>>())))
}

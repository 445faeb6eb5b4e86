//! All scores of a file, each with its interval or the reason why it has no value.

mod calibrated;
pub mod composite;
mod grouped;
mod ood;

pub use calibrated::calibrated;
pub(crate) use calibrated::calibrated_values;
pub use composite::composite;
pub use grouped::{LISTED, grouped};
pub use ood::ood;

use dubio_progress::Progress;
use dubio_random::stream::Stream;
use rayon::prelude::*;

use crate::bootstrap::{Bootstrap, interval};
use crate::card::Card;
use crate::examples::Examples;
use crate::score::{Options, Prepared, Score, Undefined};
use crate::weights::{LANES, Weights};

/// One line of a scorecard.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Public name.
    pub name: String,
    /// The score's card.
    pub card: &'static Card,
    /// Number of examples it is made of.
    pub n: usize,
    /// The value, or why there is none.
    pub value: Result<f64, Undefined>,
    /// What a reader has to know besides the value.
    pub note: Option<String>,
    /// Its 95 % interval.
    pub interval: Option<(f64, f64)>,
    /// Values of the resamples, empty without a bootstrap.
    pub replicates: Vec<f64>,
}

/// How to score: settings, resampling, and which names are wanted.
pub struct Scoring<'a> {
    /// Settings of the scores.
    pub options: Options,
    /// How to resample; `None` for no intervals.
    pub bootstrap: Option<Bootstrap>,
    /// Splits of the cross-validation come from here.
    pub splits: Stream,
    /// Whether a score is wanted.
    pub wanted: &'a (dyn Fn(&str) -> bool + Sync),
    /// Receives the progress of the work.
    pub progress: &'a dyn Progress,
}

/// Anything with examples to count.
pub trait Examined: Sync {
    /// Number of examples.
    fn count(&self) -> usize;
    /// The examples with these indices.
    fn select(&self, rows: &[u32]) -> Self;
    /// The note to add to an infinite value.
    fn infinite_because(&self) -> String;
}

impl Examined for Examples {
    fn count(&self) -> usize {
        self.len()
    }
    fn select(&self, rows: &[u32]) -> Self {
        self.subset(rows)
    }
    fn infinite_because(&self) -> String {
        format!("{} of {} examples give their label probability 0", self.impossible(), self.len())
    }
}

impl Examined for crate::regression::Outcomes {
    fn count(&self) -> usize {
        self.len()
    }
    fn select(&self, rows: &[u32]) -> Self {
        self.subset(rows)
    }
    fn infinite_because(&self) -> String {
        "a target has predictive density 0".to_string()
    }
}

/// Scores the examples as they are.
pub fn plain<E: Examined>(
    examples: &E,
    scores: &[Box<dyn Score<E>>],
    scoring: &Scoring<'_>,
) -> Vec<Entry> {
    let wanted: Vec<&dyn Score<E>> =
        scores.iter().map(|s| &**s).filter(|s| (scoring.wanted)(&s.name())).collect();
    scoring.progress.start("scores", wanted.len());
    let ones = vec![[1]; examples.count()];
    let ones = Weights::new(&ones);
    wanted.iter().for_each(|score| score.before_sharing(examples, &scoring.options));
    let prepared: Vec<_> = wanted
        .par_iter()
        .map(|score| {
            let prepared = score.prepare(examples, &scoring.options);
            let valued = prepared.map(|p| (p.value(&ones), p));
            scoring.progress.advance(1);
            valued
        })
        .collect();
    let defined: Vec<&(dyn Prepared + '_)> =
        prepared.iter().flatten().map(|(_, p)| &**p as &(dyn Prepared + '_)).collect();
    let mut replicates = resample(scoring, &[examples.count()], &defined).into_iter();
    let entries = wanted.iter().zip(&prepared).map(|(score, prepared)| {
        let replicates =
            if prepared.is_ok() { replicates.next().unwrap_or_default() } else { Vec::new() };
        let value = prepared.as_ref().map(|(value, _)| *value).map_err(Clone::clone);
        let mut entry = Entry::new(score.name(), score.card(), examples.count(), value, replicates);
        if entry.value == Ok(f64::INFINITY) {
            entry.note = Some(examples.infinite_because());
        }
        entry
    });
    entries.collect()
}

fn resample(
    scoring: &Scoring<'_>,
    strata: &[usize],
    statistics: &[&(dyn Prepared + '_)],
) -> Vec<Vec<f64>> {
    let Some(bootstrap) = &scoring.bootstrap else { return Vec::new() };
    scoring.progress.start("intervals", bootstrap.resamples.div_ceil(LANES));
    bootstrap.replicates(strata, statistics, &|pieces| scoring.progress.advance(pieces))
}

impl Entry {
    fn new(
        name: String,
        card: &'static Card,
        n: usize,
        value: Result<f64, Undefined>,
        replicates: Vec<f64>,
    ) -> Self {
        let value = match value {
            Ok(value) if value.is_nan() => Err(Undefined::because("the value is not a number")),
            value => value,
        };
        let bounds = if value.is_ok() { interval(&replicates) } else { None };
        let interval = bounds.filter(|(lo, hi)| lo.is_finite() && hi.is_finite());
        Self { name, card, n, value, note: None, interval, replicates }
    }
}

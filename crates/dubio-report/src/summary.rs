//! A score over several runs: mean, standard deviation, and an interval that accounts for both examples and runs.

use std::cmp::Ordering;

use dubio_metrics::bootstrap::interval;
use dubio_metrics::card::Direction;
use dubio_metrics::compare::{holm, p_value};
use dubio_metrics::scorecard::Entry;
use dubio_random::stream::Stream;
use rand::RngExt;

use crate::study::Run;

/// A score of one run.
#[derive(Clone, Copy, Debug)]
pub struct Unit<'a> {
    /// Which run it is among those of a method: data set and seed.
    key: (&'a str, Option<u64>),
    entry: &'a Entry,
}

/// A score over all runs of a method.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// At least one run has a value.
    Value(Summary),
    /// No run has a value, and why the first has none.
    Undefined(String),
}

/// A score over the runs that have it.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Mean over runs.
    pub mean: f64,
    /// Standard deviation over runs, with n - 1; `None` for one run.
    pub std: Option<f64>,
    /// 95 % interval of the mean, by resampling runs, and in each the examples.
    pub interval: Option<(f64, f64)>,
    /// The value of each run.
    pub values: Vec<f64>,
    /// Runs that were scored, with a value or without.
    pub runs: usize,
    /// What a reader has to know besides.
    pub note: Option<String>,
}

/// How much a score differs between two methods, on the same examples: first less second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// Mean over the runs that both have.
    pub value: f64,
    /// 95 % interval from resamples that both share.
    pub interval: Option<(f64, f64)>,
    /// Two-sided p-value of no difference; corrected for the number of comparisons by the method of Holm 1979.
    pub p: Option<f64>,
    /// Number of runs that both have.
    pub runs: usize,
}

impl Cell {
    /// The summary, if there is a value.
    pub fn summary(&self) -> Option<&Summary> {
        match self {
            Self::Value(summary) => Some(summary),
            Self::Undefined(_) => None,
        }
    }
}

impl<'a> Unit<'a> {
    pub(crate) fn new(run: &'a Run, entry: &'a Entry) -> Self {
        Self { key: (&run.data, run.seed), entry }
    }
}

impl Difference {
    /// Whether chance alone may have made it: the interval holds 0, or the p-value is above 5 %, or neither is
    /// known.
    pub fn may_be_chance(&self) -> bool {
        let holds_zero = self.interval.is_none_or(|(lo, hi)| lo <= 0.0 && hi >= 0.0);
        holds_zero || self.p.is_some_and(|p| p > 0.05)
    }

    /// Second less first.
    fn turned(self) -> Self {
        let interval = self.interval.map(|(lo, hi)| (-hi, -lo));
        Self { value: -self.value, interval, ..self }
    }
}

/// The differences of every pair of methods in one score, corrected for their number: `all[a][b]` is how much worse
/// `a` is than `b`. All pairs count, although only those with the best are shown: which one is the best was
/// found by looking at all.
pub(crate) fn pairs(units: &[Vec<Unit<'_>>]) -> Vec<Vec<Option<Difference>>> {
    let mut all: Vec<Vec<Option<Difference>>> = (0..units.len())
        .map(|a| (0..a).map(|b| difference(&units[a], &units[b])).collect())
        .collect();
    correct(all.iter_mut().flatten().flatten());
    let at = |a: usize, b: usize| match a.cmp(&b) {
        Ordering::Greater => all[a][b],
        Ordering::Equal => None,
        Ordering::Less => all[b][a].map(Difference::turned),
    };
    (0..units.len()).map(|a| (0..units.len()).map(|b| at(a, b)).collect()).collect()
}

/// Corrects the p-values of comparisons that are looked at together (Holm 1979).
pub(crate) fn correct<'d>(all: impl Iterator<Item = &'d mut Difference>) {
    let mut all: Vec<&mut Difference> = all.collect();
    let plain: Vec<Option<f64>> = all.iter().map(|difference| difference.p).collect();
    for (difference, p) in all.iter_mut().zip(holm(&plain)) {
        difference.p = p;
    }
}

pub(crate) fn summarise(units: &[Unit<'_>]) -> Option<Cell> {
    let first = units.first()?.entry;
    let defined: Vec<&Entry> =
        units.iter().map(|unit| unit.entry).filter(|entry| entry.value.is_ok()).collect();
    let values: Vec<f64> = defined.iter().flat_map(|entry| entry.value.clone()).collect();
    if values.is_empty() {
        let why = first.value.as_ref().err().map_or(String::new(), |why| why.0.clone());
        return Some(Cell::Undefined(why));
    }
    let replicates: Vec<&[f64]> = defined.iter().map(|entry| &entry.replicates[..]).collect();
    let interval = match &defined[..] {
        [one] => one.interval,
        _ => interval(&over_runs(&replicates)).filter(|(lo, hi)| lo.is_finite() && hi.is_finite()),
    };
    Some(Cell::Value(Summary {
        mean: mean(&values),
        std: std(&values),
        interval,
        runs: units.len(),
        note: defined.iter().find_map(|entry| entry.note.clone()),
        values,
    }))
}

/// The difference in badness of two methods over the runs that both have; positive where the first
/// is worse. `None` where neither end of the score is better or no run is shared.
pub(crate) fn difference(first: &[Unit<'_>], second: &[Unit<'_>]) -> Option<Difference> {
    let direction = first.first()?.entry.card.direction;
    let worse = |a: f64, b: f64| Some(direction.badness(a)? - direction.badness(b)?);
    let pairs: Vec<(&Entry, &Entry)> = first
        .iter()
        .filter_map(|a| Some((a.entry, second.iter().find(|b| b.key == a.key)?.entry)))
        .filter(|(a, b)| a.value.is_ok() && b.value.is_ok())
        .collect();
    let values: Vec<f64> = pairs
        .iter()
        .filter_map(|(a, b)| worse(*a.value.as_ref().ok()?, *b.value.as_ref().ok()?))
        .collect();
    if values.is_empty() || direction == Direction::Neither {
        return None;
    }
    let replicates: Vec<Vec<f64>> = pairs
        .iter()
        .map(|(a, b)| {
            let both = a.replicates.iter().zip(&b.replicates);
            both.map(|(&a, &b)| worse(a, b).unwrap_or(f64::NAN)).collect()
        })
        .collect();
    let replicates: Vec<&[f64]> = replicates.iter().map(|r| &r[..]).collect();
    let resampled = over_runs(&replicates);
    let value = mean(&values);
    let (interval, p) = (interval(&resampled), p_value(value, &resampled));
    Some(Difference { value, interval, p, runs: values.len() })
}

/// The mean over runs of every resample, with the runs drawn anew each time.
fn over_runs(replicates: &[&[f64]]) -> Vec<f64> {
    let count = replicates.iter().map(|r| r.len()).min().unwrap_or(0);
    let runs = replicates.len();
    let mut draws = Stream::root(0).child("runs").generator();
    (0..count)
        .map(|r| {
            let drawn = (0..runs).map(|_| replicates[draws.random_range(0..runs)][r]);
            drawn.sum::<f64>() / runs as f64
        })
        .collect()
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn std(values: &[f64]) -> Option<f64> {
    let (n, mean) = (values.len() as f64, mean(values));
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    let std = (squares / (n - 1.0)).sqrt();
    (values.len() > 1 && std.is_finite()).then_some(std)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_run_is_resampled_as_it_is() {
        assert_eq!(over_runs(&[&[1.0, 2.0, 5.0]]), [1.0, 2.0, 5.0]);
    }

    #[test]
    fn runs_that_differ_widen_the_interval() {
        // Each run knows its value exactly, so all that is left is which runs were drawn: with two
        // draws, both are the first one time in four, so the interval runs from the one to the other.
        let (low, high) = (vec![1.0; 400], vec![3.0; 400]);
        assert_eq!(interval(&over_runs(&[&low, &high])), Some((1.0, 3.0)));
    }

    /// Each of fourteen differences would be one in a hundred by itself; together they are no finding.
    #[test]
    fn fourteen_comparisons_are_corrected_for_their_number() {
        let own = Difference { value: 0.5, interval: Some((0.1, 0.9)), p: Some(0.01), runs: 1 };
        let mut all = [own; 14];
        correct(all.iter_mut());
        assert!(all.iter().all(|d| d.p == Some(0.14) && d.may_be_chance()));
        let mut alone = [own];
        correct(alone.iter_mut());
        assert!(!alone[0].may_be_chance());
    }

    #[test]
    fn a_difference_may_be_chance_when_its_interval_holds_zero() {
        let own = |interval, p| Difference { value: 0.5, interval, p, runs: 1 };
        assert!(own(Some((-0.1, 1.0)), Some(0.01)).may_be_chance());
        assert!(!own(Some((0.1, 1.0)), Some(0.01)).may_be_chance());
        assert!(own(Some((0.1, 1.0)), Some(0.06)).may_be_chance());
        assert!(own(None, None).may_be_chance());
    }
}

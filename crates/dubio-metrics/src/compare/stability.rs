//! Whether the order of methods holds when a setting changes that has nothing to do with the methods.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use dubio_progress::Silent;
use rayon::prelude::*;
use serde::Serialize;

use crate::card::Direction;
use crate::examples::Examples;
use crate::score::{Options, Score};
use crate::scorecard::{Scoring, calibrated_values};
use crate::weights::Weights;

/// Numbers of bins that are tried.
pub const BINS: RangeInclusive<usize> = 5..=50;

/// Maximum number of examples that settings are tried on.
pub const ENOUGH: usize = 1 << 18;

/// Temperatures that are tried.
pub const TEMPERATURES: [f64; 17] =
    [0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.85, 1.0, 1.2, 1.4, 1.7, 2.0, 2.4, 2.8, 3.4, 4.0];

/// A score of several methods over a setting.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stability {
    /// The score.
    pub score: String,
    /// The settings that were tried.
    pub settings: Vec<f64>,
    /// `values[method][setting]`; `None` where a method has no value.
    pub values: Vec<Vec<Option<f64>>>,
    /// Each method's least and largest value.
    pub ranges: Vec<Option<(f64, f64)>>,
    /// Pairs of methods whose order changes.
    pub flips: Vec<Flip>,
    /// Number of examples that the values were worked out on, where not on all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinned_to: Option<usize>,
}

/// Two methods, and settings at which each of them is the better one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Flip {
    /// A method.
    pub a: usize,
    /// Another.
    pub b: usize,
    /// A setting at which `a` is better.
    pub a_at: f64,
    /// A setting at which `b` is better.
    pub b_at: f64,
}

impl Stability {
    /// From the values over the settings.
    pub fn new(
        score: String,
        direction: Direction,
        settings: Vec<f64>,
        values: Vec<Vec<Option<f64>>>,
    ) -> Self {
        let range = |own: &Vec<Option<f64>>| {
            let known = || own.iter().flatten().copied();
            let least = known().reduce(f64::min)?;
            Some((least, known().reduce(f64::max)?))
        };
        let better = |a: usize, b: usize| {
            let found = settings.iter().enumerate().find(|(s, _)| {
                let badness = |method: usize| direction.badness(values[method][*s]?);
                badness(a).zip(badness(b)).is_some_and(|(a, b)| a < b)
            });
            found.map(|(_, setting)| *setting)
        };
        let pairs = (0..values.len()).flat_map(|a| (a + 1..values.len()).map(move |b| (a, b)));
        let flips = pairs
            .filter_map(|(a, b)| Some(Flip { a, b, a_at: better(a, b)?, b_at: better(b, a)? }));
        let (ranges, flips) = (values.iter().map(range).collect(), flips.collect());
        Self { score, settings, values, ranges, flips, thinned_to: None }
    }

    /// Whether no pair of methods changes ranks.
    pub fn stable(&self) -> bool {
        self.flips.is_empty()
    }
}

type Scores<'a> = &'a [&'a dyn Score<Examples>];

/// Scores over the number of bins (the UCE paper 2021, fig. 1).
pub fn over_bins(methods: &[&Examples], scores: Scores<'_>, options: &Options) -> Vec<Stability> {
    let named: Vec<Named> = scores.iter().map(|score| Named::plain(*score)).collect();
    over(methods, &named, bins(), |examples, bins| {
        values(examples, scores, &Options { bins: bins as usize, ..options.clone() })
    })
}

/// The calibrated forms of scores over the number of bins.
pub fn calibrated_over_bins(
    methods: &[&Examples],
    scores: Scores<'_>,
    scoring: &Scoring<'_>,
) -> Vec<Stability> {
    let calibrated = |score: &&dyn Score<Examples>| {
        let plain = Named::plain(*score);
        Named { name: format!("calibrated.{}", plain.name), ..plain }
    };
    let named: Vec<Named> = scores.iter().map(calibrated).collect();
    over(methods, &named, bins(), |examples, bins| {
        let scoring = Scoring {
            options: Options { bins: bins as usize, ..scoring.options.clone() },
            bootstrap: None,
            splits: scoring.splits.clone(),
            wanted: &|_| true,
            progress: &Silent,
        };
        let values = calibrated_values(examples, scores, &scoring);
        values.into_iter().map(|value| value.ok().filter(|v| v.is_finite())).collect()
    })
}

/// Scores over the temperature (the UCE paper 2021, fig. 5 and 6).
pub fn over_temperatures(
    methods: &[&Examples],
    scores: Scores<'_>,
    options: &Options,
) -> Vec<Stability> {
    let named: Vec<Named> = scores.iter().map(|score| Named::plain(*score)).collect();
    over(methods, &named, TEMPERATURES.to_vec(), |examples, temperature| {
        values(&examples.tempered(None, 1.0 / temperature), scores, options)
    })
}

fn bins() -> Vec<f64> {
    BINS.map(|bins| bins as f64).collect()
}

/// A score's name and direction.
struct Named {
    name: String,
    direction: Direction,
}

impl Named {
    fn plain(score: &dyn Score<Examples>) -> Self {
        Self { name: score.name(), direction: score.card().direction }
    }
}

fn over(
    methods: &[&Examples],
    scores: &[Named],
    settings: Vec<f64>,
    values: impl Fn(&Examples, f64) -> Vec<Option<f64>> + Sync,
) -> Vec<Stability> {
    let thinned: Vec<Cow<'_, Examples>> = methods.iter().map(|own| thinned(own)).collect();
    let thinned_to = thinned.first().filter(|own| matches!(own, Cow::Owned(_))).map(|e| e.len());
    let of = |examples: &Examples| -> Vec<Vec<Option<f64>>> {
        settings.par_iter().map(|setting| values(examples, *setting)).collect()
    };
    let all: Vec<Vec<Vec<Option<f64>>>> = thinned.iter().map(|examples| of(examples)).collect();
    let stability = |(s, score): (usize, &Named)| {
        let own = |method: &Vec<Vec<Option<f64>>>| method.iter().map(|values| values[s]).collect();
        let values = all.iter().map(own).collect();
        let all = Stability::new(score.name.clone(), score.direction, settings.clone(), values);
        Stability { thinned_to, ..all }
    };
    scores.iter().enumerate().map(stability).collect()
}

/// Thins more than [`ENOUGH`] examples to that many, evenly spaced: these show just as well whether
/// an order holds, and sixty settings of millions of examples would take minutes.
fn thinned(examples: &Examples) -> Cow<'_, Examples> {
    let n = examples.len();
    if n <= ENOUGH {
        return Cow::Borrowed(examples);
    }
    let row = |i: usize| (i as u64 * n as u64 / ENOUGH as u64) as u32;
    Cow::Owned(examples.gathered(&(0..ENOUGH).map(row).collect::<Vec<u32>>()))
}

fn values(examples: &Examples, scores: Scores<'_>, options: &Options) -> Vec<Option<f64>> {
    let ones = vec![[1]; examples.len()];
    let ones = Weights::new(&ones);
    let value = |score: &&dyn Score<Examples>| {
        let value = score.prepare(examples, options).ok()?.value(&ones);
        value.is_finite().then_some(value)
    };
    scores.iter().map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_that_changes_places_is_found_with_the_settings() {
        let some = |v: &[f64]| v.iter().map(|v| Some(*v)).collect::<Vec<_>>();
        let values = vec![some(&[1.0, 1.0, 1.0]), some(&[2.0, 0.5, 1.0]), some(&[3.0, 3.0, 3.0])];
        let stability = Stability::new("ece".into(), Direction::Lower, vec![5.0, 6.0, 7.0], values);
        assert_eq!(stability.flips, [Flip { a: 0, b: 1, a_at: 5.0, b_at: 6.0 }]);
        assert_eq!(stability.ranges[1], Some((0.5, 2.0)));
        assert!(!stability.stable());
    }
}

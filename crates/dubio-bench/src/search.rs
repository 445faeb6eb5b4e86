//! Settings chosen on a part of the training data, never on the test set.
//!
//! A trial is a run like any other: it learns from the training set without the validation examples
//! and predicts those. What is tried next depends on the scores of finished trials alone, so a search
//! resumes where it was stopped, on one machine or on many.

mod bayesian;
mod space;

use dubio_random::stream::Stream;
use dubio_random::uniform::uniform;
use dubio_words::unknown;
use serde::{Deserialize, Serialize};

pub(crate) use space::values;
pub use space::{Axis, Number, Scale, Space, Values};

use self::space::{MOST_TRIALS, grid};
use crate::mistakes::Collector;
use crate::reader::{Located, Section};

/// `[search]` of a suite.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// How trials are chosen.
    pub kind: Kind,
    /// Trials for each method, network and data set; a grid has as many as it has points.
    pub budget: usize,
    /// The score that is optimised on the validation set.
    pub score: String,
    /// Fraction of the training set that is held back.
    pub validation: f64,
    /// Seed of the trials and of what is held back.
    pub seed: u64,
}

impl Default for Search {
    fn default() -> Self {
        let score = "nll".to_string();
        Self { kind: Kind::Random, budget: 20, score, validation: 0.2, seed: 0 }
    }
}

/// How trials are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Every combination of `of` and of `steps` between the ends.
    Grid,
    /// Independent and uniform, on the scale that is given.
    Random,
    /// Where a Gaussian process expects the largest improvement: Jones et al. 1998, by egobox.
    Bayesian,
}

impl Kind {
    /// Every kind, with its name.
    pub const ALL: [(&str, Self); 3] =
        [("grid", Self::Grid), ("random", Self::Random), ("bayesian", Self::Bayesian)];
}

/// What was tried: a point of the unit cube, and its badness once it is known (infinite for a run that
/// failed).
pub type Tried = (Vec<f64>, Option<f64>);

impl Search {
    /// Trials in all.
    pub fn trials(&self, space: &Space) -> usize {
        match self.kind {
            Kind::Grid => {
                let points = space.axes.iter().map(|axis| axis.values.points());
                points.fold(1, usize::saturating_mul)
            }
            _ => self.budget,
        }
    }

    /// Checks that a grid does not have more points than can be tried.
    pub(crate) fn check(&self, space: &Space) -> Result<(), String> {
        match self.trials(space) {
            ..=MOST_TRIALS => Ok(()),
            _ => Err(format!("a grid may have {MOST_TRIALS} points; give fewer `steps`")),
        }
    }

    /// All points that can be chosen by now, including those that were tried.
    /// `badness` tells what is known of a point.
    pub fn points(&self, space: &Space, badness: &dyn Fn(&[f64]) -> Option<f64>) -> Vec<Tried> {
        let known = |point: Vec<f64>| {
            let badness = badness(&point);
            (point, badness)
        };
        match self.kind {
            Kind::Grid => grid(space).into_iter().map(known).collect(),
            Kind::Random => (0..self.budget).map(|i| known(self.random(space, i))).collect(),
            Kind::Bayesian => {
                // A point for each setting and two more, before the Gaussian process has anything to say.
                let first = self.budget.min(space.axes.len() + 2);
                let mut tried: Vec<Tried> =
                    (0..first).map(|i| known(self.random(space, i))).collect();
                while tried.len() < self.budget && tried.iter().all(|(_, known)| known.is_some()) {
                    tried.push(known(bayesian::next(&tried, space.axes.len(), self.seed)));
                }
                tried
            }
        }
    }

    fn random(&self, space: &Space, index: usize) -> Vec<f64> {
        let mut generator = Stream::root(self.seed).child("search").nth(index).generator();
        space.axes.iter().map(|_| uniform(&mut generator)).collect()
    }

    pub(crate) fn read(section: &mut Section<'_>, mistakes: &mut Collector<'_>) -> Self {
        let mut search = Self::default();
        if let Some(Located { value, span }) = section.text("kind", mistakes) {
            match Kind::ALL.into_iter().find(|(name, _)| *name == value) {
                Some((_, Kind::Bayesian)) if !bayesian::IS_THERE => mistakes.add(
                    span,
                    "this program was built without Bayesian optimisation; build it with \
                     --features bayesian, or take kind = \"random\"",
                ),
                Some((_, kind)) => search.kind = kind,
                None => {
                    let known = Kind::ALL.into_iter().map(|(name, _)| name);
                    mistakes.add(span, unknown("kind of search", &value, known));
                }
            }
        }
        for Located { value, span } in section.counts("budget", mistakes) {
            match usize::try_from(value) {
                Ok(budget @ 1..=MOST_TRIALS) => search.budget = budget,
                _ => mistakes.add(span, format!("`budget` must be from 1 to {MOST_TRIALS}")),
            }
        }
        for Located { value, .. } in section.counts("seed", mistakes) {
            search.seed = value;
        }
        if let Some(Located { value, span }) = section.number("validation", mistakes) {
            search.validation = value;
            if !(value > 0.0 && value < 1.0) {
                let what = "`validation` is a fraction of the training set, above 0 and below 1";
                mistakes.add(span, format!("{what}, got {value}"));
            }
        }
        if let Some(Located { value, span }) = section.text("score", mistakes) {
            let known = scores();
            if !known.contains(&value) {
                mistakes.add(span, unknown("score", &value, known.iter().map(|name| &name[..])));
            }
            search.score = value;
        }
        section.refuse_rest("key of [search]", mistakes);
        search
    }
}

/// Scores that a search can optimise.
pub(crate) fn scores() -> Vec<String> {
    use dubio_metrics::card::Direction::Neither;
    let classes = dubio_metrics::classification::scores();
    let numbers = dubio_metrics::regression::scores();
    let all = classes.iter().map(|s| (s.name(), s.card()));
    let all = all.chain(numbers.iter().map(|s| (s.name(), s.card())));
    all.filter(|(_, card)| card.direction != Neither).map(|(name, _)| name).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::*;

    fn space() -> Space {
        let read = |table: Value, default: Value| values(table.as_object().unwrap(), &default);
        let lr = read(json!({"from": 0.01, "to": 1.0, "scale": "log", "steps": 3}), json!(0.1));
        let epochs = read(json!({"from": 1, "to": 4, "steps": 4}), json!(30));
        let batch = read(json!({"of": [32, 64]}), json!(128));
        let axes = [("lr", lr), ("epochs", epochs), ("batch", batch)];
        let axis = |(key, values): (&str, Result<Values, String>)| Axis {
            key: key.to_string(),
            values: values.unwrap(),
        };
        Space { method: "sgd".into(), fixed: Map::new(), axes: axes.map(axis).into() }
    }

    #[test]
    fn a_grid_has_every_combination_once() {
        let search = Search { kind: Kind::Grid, ..Search::default() };
        let space = space();
        let points = search.points(&space, &|_| None);
        assert_eq!((points.len(), search.trials(&space)), (24, 24));
        let mut settings: Vec<String> =
            points.iter().map(|(p, _)| Value::Object(space.at(p)).to_string()).collect();
        let at = space.at(&[0.5, 0.0, 0.25]);
        assert!((at["lr"].as_f64().unwrap() - 0.1).abs() < 1e-12, "halfway in logarithms");
        assert_eq!((&at["epochs"], &at["batch"]), (&json!(1), &json!(32)));
        settings.sort();
        settings.dedup();
        assert_eq!(settings.len(), 24);
    }

    #[test]
    fn random_points_are_uniform_on_their_scale_and_the_same_for_the_same_seed() {
        let search = Search { budget: 2000, ..Search::default() };
        let space = space();
        let points = search.points(&space, &|_| None);
        assert_eq!(points, search.points(&space, &|_| None));
        let below = |i: usize, value: f64| {
            let hits = points
                .iter()
                .filter(|(p, _)| space.at(p)[&space.axes[i].key].as_f64().unwrap() < value);
            hits.count() as f64 / 2000.0
        };
        // Binomial standard deviation 0.011; five of them.
        assert!((below(0, 0.1) - 0.5).abs() < 0.056 && (below(2, 40.0) - 0.5).abs() < 0.056);
        let other = Search { seed: 1, ..search.clone() };
        assert_ne!(points, other.points(&space, &|_| None));
    }

    #[cfg(feature = "bayesian")]
    #[test]
    fn bayesian_optimisation_finds_a_minimum_with_fewer_trials_than_chance() {
        let search = Search { kind: Kind::Bayesian, budget: 14, ..Search::default() };
        let mut space = space();
        space.axes.truncate(1);
        let badness = |p: &[f64]| Some((p[0] - 0.3137).powi(2));
        let best = |points: &[Tried]| {
            points.iter().map(|(p, _)| (p[0] - 0.3137).abs()).fold(f64::INFINITY, f64::min)
        };
        let found = best(&search.points(&space, &badness));
        assert!(found < 0.005, "{found}");
        assert_eq!(search.points(&space, &badness), search.points(&space, &badness));
        // Nothing is proposed before what was proposed is known.
        assert_eq!(search.points(&space, &|_| None).len(), 3);
        // A trial that failed is the worst there is, and no reason to stop.
        let failing =
            |p: &[f64]| Some(if p[0] > 0.5 { f64::INFINITY } else { badness(p).unwrap() });
        assert!(best(&search.points(&space, &failing)) < 0.01);
    }
}

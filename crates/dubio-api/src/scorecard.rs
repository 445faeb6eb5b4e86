//! The scores of one file's predictions: plain, calibrated, over groups and against out-of-distribution sets, put
//! together here and nowhere else.

use dubio_metrics::bootstrap::Bootstrap;
use dubio_metrics::card::Direction;
use dubio_metrics::detection::ood::Uncertainties;
use dubio_metrics::examples::Examples;
use dubio_metrics::given::possible;
use dubio_metrics::regression::{Outcomes, Parts};
use dubio_metrics::score::{Options, Score as Formula};
use dubio_metrics::scorecard::{self, Entry, Examined, Scoring};
use dubio_metrics::{classification, regression};
use dubio_progress::Progress;
use dubio_random::stream::Stream;
use serde::{Serialize, Serializer};

use crate::names::{Selection, base};

/// How a file is scored.
pub(crate) struct Scorecard<'a> {
    /// Settings of the scores.
    pub(crate) options: Options,
    /// Resamples behind the intervals; 0 for none.
    pub(crate) resamples: usize,
    /// Seed of the resamples and of the cross-validation's splits.
    pub(crate) seed: u64,
    /// Whether a score is wanted, by its full name.
    pub(crate) wanted: &'a (dyn Fn(&str) -> bool + Sync),
    /// What was asked for by name: such a score is listed even where it cannot have a value, and over groups.
    pub(crate) selection: &'a Selection,
    /// The group of each example, where groups are scored too.
    pub(crate) groups: Option<&'a [i64]>,
    /// Who is told how far the work has come.
    pub(crate) progress: &'a dyn Progress,
}

impl Scorecard<'_> {
    /// The scores of classified examples. Data that only the plain scores use are dropped on the way.
    pub(crate) fn classes(&self, examples: &mut Examples) -> Vec<Entry> {
        let asked_for = |name: &str| self.selection.asks_for(name);
        let scores = possible(classification::scores(), examples, asked_for);
        let scoring = self.scoring(self.wanted);
        let mut entries = scorecard::plain(examples, &scores, &scoring);
        examples.forget();
        entries.extend(scorecard::calibrated(examples, &scores, &scoring));
        entries.extend(self.grouped(examples, &scores));
        entries
    }

    /// What the scores of predicted distributions of a number look at.
    pub(crate) fn parts(&self) -> Parts {
        let grouped = |name: &str| self.groups.is_some() && self.selection.wants_grouped(name);
        Parts::of(|name| (self.wanted)(name) || grouped(name))
    }

    /// The scores of predicted distributions of a number.
    pub(crate) fn numbers(&self, outcomes: &Outcomes) -> Vec<Entry> {
        let asked_for = |name: &str| self.selection.asks_for(name);
        let scores = possible(regression::scores(), outcomes, asked_for);
        let mut entries = scorecard::plain(outcomes, &scores, &self.scoring(self.wanted));
        entries.extend(self.grouped(outcomes, &scores));
        entries
    }

    /// How well uncertainty tells an out-of-distribution set from the examples.
    pub(crate) fn ood(
        &self,
        name: &str,
        inside: &Uncertainties,
        outside: &Uncertainties,
    ) -> Vec<Entry> {
        scorecard::ood(name, inside, outside, &self.scoring(self.wanted))
    }

    /// The scores over groups. A plain score's name asks for its values over groups too.
    fn grouped<E: Examined>(&self, examples: &E, scores: &[Box<dyn Formula<E>>]) -> Vec<Entry> {
        let Some(groups) = self.groups else { return Vec::new() };
        let wanted = |name: &str| self.selection.wants_grouped(name);
        let mut entries = scorecard::grouped(examples, scores, groups, &self.scoring(&wanted));
        let wants = |name: &str| self.selection.wants(name);
        entries.retain(|entry| wants(&entry.name) || wants(base(&entry.name)));
        entries
    }

    fn scoring<'b>(&'b self, wanted: &'b (dyn Fn(&str) -> bool + Sync)) -> Scoring<'b> {
        let (root, resamples) = (Stream::root(self.seed), self.resamples);
        Scoring {
            options: self.options.clone(),
            bootstrap: (resamples > 0)
                .then(|| Bootstrap { resamples, stream: root.child("bootstrap") }),
            splits: root.child("calibrated"),
            wanted,
            progress: self.progress,
        }
    }
}

/// A score of some predictions, in plain numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Score {
    /// Public name.
    pub name: String,
    /// Its value, which may be infinite; `None` where there is none, and `why` says why.
    #[serde(serialize_with = "number")]
    pub value: Option<f64>,
    /// Lower end of the 95 % interval.
    pub lo: Option<f64>,
    /// Upper end.
    pub hi: Option<f64>,
    /// Number of examples that it is made of.
    pub n: usize,
    /// Why there is no value, or what a reader has to know besides it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Which values are better.
    #[serde(skip)]
    pub direction: Direction,
}

impl From<Entry> for Score {
    fn from(entry: Entry) -> Self {
        let why = entry.value.as_ref().err().map(|why| why.0.clone()).or(entry.note);
        Self {
            name: entry.name,
            value: entry.value.ok(),
            lo: entry.interval.map(|(lo, _)| lo),
            hi: entry.interval.map(|(_, hi)| hi),
            n: entry.n,
            why,
            direction: entry.card.direction,
        }
    }
}

/// A number, or the text `inf` where JSON has no number for it.
pub(crate) fn number<S: Serializer>(value: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    match value {
        Some(f64::INFINITY) => serializer.serialize_str("inf"),
        Some(f64::NEG_INFINITY) => serializer.serialize_str("-inf"),
        value => value.serialize(serializer),
    }
}

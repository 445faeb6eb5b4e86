//! What a report is made of: runs and all that is known of them, as plain data.

use dubio_metrics::check::{Mode, Summary};
use dubio_metrics::compare::{BINS, TEMPERATURES};
use dubio_metrics::dee::Point;
use dubio_metrics::scorecard::Entry;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};

use crate::view::View;

/// Runs that are to be looked at together.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Study {
    /// Heading of the report.
    pub title: String,
    /// A sentence or two below it.
    pub about: String,
    /// Every run, whether it finished or not.
    pub runs: Vec<Run>,
    /// Scores against the number of members, method by method.
    pub growth: Vec<Growth>,
    /// The method that others are measured against in deep ensemble equivalents.
    pub baseline: Option<String>,
    /// Level of the central intervals of a regression; `None` for 0.95.
    pub level: Option<f64>,
    /// What a reader has to know besides what the runs themselves tell.
    pub warnings: Vec<Warning>,
}

/// What a reader must know before believing a number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// In a few words.
    pub what: String,
    /// Why, and what to do about it.
    pub why: String,
}

/// A data set x network x method x seed; or one file of predictions from elsewhere.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    /// Id of the run, or path of the file.
    pub id: String,
    /// Name of the data set; empty when not given.
    pub data: String,
    /// Name of the network; empty when not given.
    pub network: String,
    /// What tables call the method.
    pub method: String,
    /// Seed of everything random, if one is known.
    pub seed: Option<u64>,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of a run.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It has predictions.
    Finished(Box<Finished>),
    /// It was tried, and this happened.
    Failed(String),
    /// It was planned, and is not there.
    Missing,
}

/// A run with predictions.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Finished {
    /// Forward passes for one prediction.
    pub members: usize,
    /// What it cost, where that was measured.
    pub cost: Option<Cost>,
    /// The full record, where there is one.
    pub record: Option<Value>,
    /// Scores of all splits.
    pub rows: Vec<Row>,
    /// What the predictions of each split look like.
    pub views: Vec<View>,
    /// Posterior predictive checks.
    pub checks: Vec<Check>,
    /// Scores of the test set over settings that have nothing to do with the method.
    pub sweeps: Vec<Sweep>,
}

/// A score of a run on a split.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// `test`, `shift.fog.3`, `decision`; detection of another set is a score of `test`.
    pub split: String,
    /// Name, value or why there is none, interval, resamples.
    #[serde(flatten, serialize_with = "plain")]
    pub entry: Entry,
}

/// The plain data of an entry. JSON has no infinite numbers, so these are written by name.
fn plain<S: Serializer>(entry: &Entry, serializer: S) -> Result<S::Ok, S::Error> {
    let value = match entry.value {
        Ok(f64::INFINITY) => json!("inf"),
        Ok(f64::NEG_INFINITY) => json!("-inf"),
        Ok(value) => json!(value),
        Err(_) => Value::Null,
    };
    let why = entry.value.as_ref().err().map(|why| &why.0).or(entry.note.as_ref());
    let (lo, hi) = entry.interval.unzip();
    json!({ "score": entry.name, "value": value, "lo": lo, "hi": hi, "n": entry.n, "why": why })
        .serialize(serializer)
}

/// A posterior predictive check of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// Which predictions.
    pub split: String,
    /// How the ensemble makes data.
    pub mode: Mode,
    /// Where the observed value lies among the replicates.
    pub summary: Summary,
}

/// What a run cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Cost {
    /// Seconds of training, over all members.
    pub train_secs: f64,
    /// Processor seconds of training, where they are known.
    pub train_cpu_secs: Option<f64>,
    /// Seconds for predicting one example with all members.
    pub predict_secs: f64,
    /// Most memory held.
    pub peak_bytes: Option<u64>,
    /// Parameters of one member.
    pub parameters: u64,
    /// Multiply-accumulates for one example and one member.
    pub macs: u64,
    /// Bytes of all members' parameters.
    pub stored_bytes: u64,
}

/// A score of a method against its number of members.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Growth {
    /// Data set of its runs, without the number of a split.
    pub data: String,
    /// Network of its runs.
    pub network: String,
    /// Its name.
    pub method: String,
    /// Name of the score.
    pub score: String,
    /// Mean and standard deviation over runs and subsets of members, ascending.
    pub points: Vec<Point>,
}

/// A score of a run as a setting changes that has nothing to do with the method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sweep {
    /// Which setting.
    pub setting: Setting,
    /// Name of the score.
    pub score: String,
    /// Its value at each of [`Setting::values`].
    pub values: Vec<Option<f64>>,
}

/// A setting that a score should not depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Setting {
    /// Number of bins.
    Bins,
    /// Temperature of the predictive distribution.
    Temperature,
}

impl Setting {
    /// The values that are tried.
    pub fn values(self) -> Vec<f64> {
        match self {
            Self::Bins => BINS.map(|bins| bins as f64).collect(),
            Self::Temperature => TEMPERATURES.to_vec(),
        }
    }
}

impl Run {
    /// What it left, if it finished.
    pub fn finished(&self) -> Option<&Finished> {
        match &self.outcome {
            Outcome::Finished(finished) => Some(finished),
            Outcome::Failed(_) | Outcome::Missing => None,
        }
    }
}

impl Finished {
    /// A score of a split.
    pub fn entry(&self, split: &str, score: &str) -> Option<&Entry> {
        let mut rows = self.rows.iter();
        rows.find(|row| row.split == split && row.entry.name == score).map(|row| &row.entry)
    }

    /// What the predictions of a split look like.
    pub fn view(&self, split: &str) -> Option<&View> {
        self.views.iter().find(|view| view.split == split)
    }
}

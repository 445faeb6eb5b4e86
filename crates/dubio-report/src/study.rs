//! What a report is made of: runs and all that is known of them, as plain data.

use dubio_metrics::scorecard::Entry;
use serde_json::Value;

use crate::view::View;

/// Runs that are to be looked at together.
#[derive(Clone, Debug, Default)]
pub struct Study {
    /// Heading of the report.
    pub title: String,
    /// A sentence or two below it.
    pub about: String,
    /// Every run, whether it finished or not.
    pub runs: Vec<Run>,
    /// What a reader has to know besides what the runs themselves tell.
    pub cautions: Vec<String>,
}

/// A data set x network x method x seed; or one file of predictions from elsewhere.
#[derive(Clone, Debug)]
pub struct Run {
    /// Id of the run, or path of the file.
    pub id: String,
    /// Name of the data set; empty when nobody said.
    pub data: String,
    /// Name of the network; empty when nobody said.
    pub network: String,
    /// What tables call the method.
    pub method: String,
    /// Seed of everything random, if one is known.
    pub seed: Option<u64>,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of a run.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// It has predictions.
    Finished(Box<Finished>),
    /// It was tried, and this happened.
    Failed(String),
    /// It was planned, and is not there.
    Missing,
}

/// A run with predictions.
#[derive(Clone, Debug, Default)]
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
    /// Scores against the number of members.
    pub growth: Vec<Growth>,
}

/// A score of a run on a split.
#[derive(Clone, Debug)]
pub struct Row {
    /// `test`, `shift.fog.3`; detection of another set is a score of `test`.
    pub split: String,
    /// Name, value or why there is none, interval, resamples.
    pub entry: Entry,
}

/// What a run cost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cost {
    /// Seconds of training, over all members.
    pub train_secs: f64,
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

/// A score against the number of members.
#[derive(Clone, Debug, PartialEq)]
pub struct Growth {
    /// Name of the score.
    pub score: String,
    /// `(members, value)`, ascending.
    pub points: Vec<(usize, f64)>,
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

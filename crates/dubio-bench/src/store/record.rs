//! What is written about a run that finished, and about one that did not.

use std::collections::BTreeMap;

use dubio_metrics::diagnostics::Diagnosis;
use serde::{Deserialize, Serialize};

use crate::plan::{PlannedRun, Settings};
use crate::run_id::RunId;

/// The record of a finished run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The run's id.
    pub id: RunId,
    /// The method's name in tables.
    pub label: String,
    /// All that the result depends on.
    pub settings: Settings,
    /// How a user's own data were read: target, classes, one-hot columns, split, checksum.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub data: BTreeMap<String, String>,
    /// Version of the program.
    pub version: String,
    /// The GPU that it ran on, and the versions of its driver and of cuBLAS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu: Option<String>,
    /// Samples of the posterior.
    pub samples: usize,
    /// What it cost.
    pub spent: Spent,
    /// What the method reports, for each member: acceptance rates, step sizes.
    pub report: Vec<serde_json::Map<String, serde_json::Value>>,
    /// Convergence of what the chains predict for the test set; only for methods that are chains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub convergence: Option<Diagnosis>,
    /// What must be known before the samples are trusted, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Mean loss of each epoch, for each member.
    pub losses: Vec<Vec<f64>>,
}

/// What a run cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    /// Seconds of training, over all resumptions and members.
    pub train_wall_secs: f64,
    /// Processor seconds of training, where the system tells.
    pub train_cpu_secs: Option<f64>,
    /// Seconds of training for each posterior sample.
    pub sample_wall_secs: f64,
    /// Processor seconds of training for each posterior sample.
    pub sample_cpu_secs: Option<f64>,
    /// Seconds for predicting one example with all samples.
    pub predict_wall_secs: f64,
    /// Processor seconds for predicting one example with all samples.
    pub predict_cpu_secs: Option<f64>,
    /// Peak memory of the process that finished the run.
    pub peak_bytes: Option<u64>,
    /// Numbers in the flat vector.
    pub parameters: usize,
    /// Bytes of all samples' parameters and statistics.
    pub stored_bytes: u64,
    /// Multiply-accumulates for one example and one sample.
    pub macs: u64,
}

/// Why a run did not finish.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// The run's id.
    pub id: RunId,
    /// The method's name in tables.
    pub label: String,
    /// All that the result would depend on.
    pub settings: Settings,
    /// What happened.
    pub error: String,
    /// Whether the run or the machine is at fault.
    pub cause: Cause,
}

/// Whether the run or the machine is at fault when a run did not finish.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// The run: it would fail again, like a chain that diverges.
    Run,
    /// The machine: a full disk, a kill. A search waits for the run to be done again.
    Machine,
}

impl Failure {
    /// The failure of a run.
    pub fn new(run: &PlannedRun, error: String, cause: Cause) -> Self {
        let (id, label, settings) = (run.id.clone(), run.label.clone(), run.settings.clone());
        Self { id, label, settings, error, cause }
    }
}

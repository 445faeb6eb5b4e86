//! A planned run: all that its result depends on, and what it will cost.

use std::io;

use dubio_data::sets::own::{self, Own};
use dubio_infer::recipe::Recipe;
use dubio_nn::{Device, Precision};
use serde::de::Error as _;
use serde::{Deserialize, Serialize};

use super::cost::Cost;
use crate::evaluation::Evaluation;
use crate::learn::Learn;
use crate::run_id::RunId;
use crate::search::Kind;

/// One data set x network x method x seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedRun {
    /// Its id, which follows from all that the result depends on.
    pub id: RunId,
    /// The method's name in tables.
    pub label: String,
    /// All that the result depends on.
    pub settings: Settings,
    /// What it will cost.
    pub cost: Cost,
}

/// All that a run's result depends on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Name of the data set.
    pub data: String,
    /// SHA-256 of the training set as it was read; of the files, for a user's own data.
    pub data_sha256: String,
    /// Name of the network.
    pub network: String,
    /// Method and setup, all defaults written out.
    pub recipe: Recipe,
    /// Seed of everything random.
    pub seed: u64,
    /// Where the network is trained and run: results have the same bytes on the same kind of device.
    #[serde(default, skip_serializing_if = "is_default")]
    pub device: Device,
    /// How precisely a GPU multiplies.
    #[serde(default, skip_serializing_if = "is_default")]
    pub precision: Precision,
    /// What is learnt from, where it is not the whole training set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learn: Option<Learn>,
    /// How the method's settings were found, where they were not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<Searched>,
    /// What is predicted; the files of predictions are named after it.
    pub predict: Vec<Evaluation>,
}

/// How a method's settings were found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Searched {
    /// How trials were chosen.
    pub kind: Kind,
    /// Trials in all.
    pub budget: usize,
    /// The score that was optimised on the validation set.
    pub score: String,
    /// Its badness in the best trial: the score, negative where higher is better.
    pub badness: f64,
    /// Fraction of the training set that was held back.
    pub validation: f64,
    /// The best trial's run.
    pub best: String,
}

/// Settings that were added later are left out at their default, so that earlier runs keep their ids.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl PlannedRun {
    /// Reads a run from JSON, as it is handed to the process that does the work, and nothing after it. Its id
    /// must be the one of its settings.
    pub fn read(from: &mut dyn io::Read) -> serde_json::Result<Self> {
        let run = Self::deserialize(&mut serde_json::Deserializer::from_reader(from))?;
        match run.id == run.settings.id() {
            true => Ok(run),
            false => Err(serde_json::Error::custom("`id` is not the one of these settings")),
        }
    }

    /// Whether it is part of a search.
    pub fn is_trial(&self) -> bool {
        self.settings.predict.contains(&Evaluation::Validation)
    }

    pub(super) fn searched(mut self, search: Option<Searched>) -> Self {
        self.settings.search = search;
        self.id = self.settings.id();
        self
    }
}

impl Settings {
    /// The data set without the number of a split: splits of a table are repetitions, as seeds are.
    pub fn set(&self) -> &str {
        let mark = if own::is_own(&self.data) { ",fold=" } else { "/" };
        self.data.split_once(mark).map_or(&self.data, |(set, _)| set)
    }

    /// Name of the file that holds the predictions of one of [`Settings::predict`], without its ending.
    pub fn file(&self, evaluation: &Evaluation) -> String {
        match evaluation {
            // The predictions of the test set are there already when nothing else was learnt.
            Evaluation::Decision(_) if self.learn.is_none() => Evaluation::Test.name(),
            other => other.name(),
        }
    }

    /// The id of all settings. Where a user's own data lie makes no difference: the checksum tells them
    /// from others.
    pub(super) fn id(&self) -> RunId {
        let mut settings = self.clone();
        let without_path = |name: &mut String| {
            if own::is_own(name)
                && let Ok(own) = Own::parse(name)
            {
                *name = own.options_alone();
            }
        };
        without_path(&mut settings.data);
        for evaluation in &mut settings.predict {
            let name = evaluation.name(); // of the file of predictions
            if let Evaluation::Ood { data, .. } = evaluation {
                without_path(data);
                if data.starts_with(':') || data.is_empty() {
                    *data = name + data;
                }
            }
        }
        RunId::of(&serde_json::to_string(&settings).expect("settings are plain data"))
    }
}

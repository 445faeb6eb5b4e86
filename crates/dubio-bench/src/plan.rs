//! A plan: every run of a suite with all defaults written out.

use std::path::Path;

use dubio_data::dataset::{Answers, Dataset, Inputs};
use dubio_data::sets;
use dubio_infer::recipe::Recipe;
use dubio_infer::training::Training;
use dubio_nn::networks;
use dubio_nn::shape::Shape;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::suite::{Evaluate, Suite};

/// One data set x network x method x seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedRun {
    /// Sixteen hexadecimal digits of the SHA-256 of all that the result depends on.
    pub id: String,
    /// What tables call the method.
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
    /// SHA-256 of what was read of it.
    pub data_sha256: String,
    /// Name of the network.
    pub network: String,
    /// Method and setup, all defaults written out.
    pub recipe: Recipe,
    /// Seed of everything random.
    pub seed: u64,
    /// What is predicted, and the names of the files.
    pub predict: Vec<Evaluation>,
}

/// A set to predict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Evaluation {
    /// The test part.
    Test,
    /// A set from elsewhere.
    Ood {
        /// Its name.
        data: String,
    },
    /// The test part, shifted.
    Shift {
        /// The shift's name.
        shift: String,
        /// 1 to 5.
        severity: u8,
    },
}

impl Evaluation {
    /// Name of the predictions in a run's folder, without its ending; the split of a score.
    pub fn name(&self) -> String {
        match self {
            Self::Test => "test".to_string(),
            Self::Ood { data } => format!("ood.{}", data.replace([':', '/'], "-")),
            Self::Shift { shift, severity } => format!("shift.{shift}.{severity}"),
        }
    }
}

/// What a run is estimated to cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Numbers in the flat vector.
    pub parameters: usize,
    /// Multiply-accumulates for one example.
    pub macs: u64,
    /// Training examples.
    pub examples: usize,
    /// Passes over the data for training, forward and backward counted as one; predicting not
    /// counted.
    pub epochs: f64,
    /// Seconds on one core at twenty thousand million multiply-accumulates a second, the rough rate of
    /// middling networks.
    pub seconds: f64,
}

/// Why there is no plan.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A data set that is not there or not whole.
    #[error("{0}")]
    Data(#[from] dubio_data::Error),
    /// Things that do not go together.
    #[error("{0}")]
    Unfit(String),
}

/// Plans every run of a suite, data sets below `folder`.
pub fn plan(suite: &Suite, folder: &Path) -> Result<Vec<PlannedRun>, Error> {
    let mut runs = Vec::new();
    for data in &suite.data {
        let halves = sets::halves(data)?;
        let train = halves.name.set.load(folder, halves.train)?;
        let digest = checksum(&train);
        let predict = evaluations(&suite.evaluate, &train, data)?;
        for network in &suite.networks {
            for entry in &suite.methods {
                let cost = cost(network, &train, &entry.recipe)?;
                for &seed in &suite.seeds {
                    let settings = Settings {
                        data: data.clone(),
                        data_sha256: digest.clone(),
                        network: network.clone(),
                        recipe: entry.recipe.clone(),
                        seed,
                        predict: predict.clone(),
                    };
                    let id = settings.id();
                    runs.push(PlannedRun { id, label: entry.label.clone(), settings, cost });
                }
            }
        }
    }
    Ok(runs)
}

impl Settings {
    fn id(&self) -> String {
        let text = serde_json::to_string(self).expect("settings are plain data");
        let digest = Sha256::digest(text.as_bytes());
        digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    }
}

fn checksum(data: &Dataset) -> String {
    let mut hash = Sha256::new();
    match &data.inputs {
        Inputs::Pictures(pictures) => hash.update(&pictures.pixels),
        Inputs::Features { values, .. } => values.iter().for_each(|v| hash.update(v.to_le_bytes())),
    }
    match &data.answers {
        Answers::Classes { labels, .. } => labels.iter().for_each(|y| hash.update(y.to_le_bytes())),
        Answers::Targets(targets) => targets.iter().for_each(|y| hash.update(y.to_le_bytes())),
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn evaluations(evaluate: &Evaluate, train: &Dataset, data: &str) -> Result<Vec<Evaluation>, Error> {
    let mut all = vec![Evaluation::Test];
    let pictures = matches!(train.inputs, Inputs::Pictures(_));
    let only_test = evaluate.ood.is_empty() && evaluate.shifts.is_empty();
    if !pictures && !only_test {
        let what = "out-of-domain sets and shifts are for pictures";
        return Err(Error::Unfit(format!("{data}: {what}; leave [evaluate] out")));
    }
    all.extend(evaluate.ood.iter().map(|name| Evaluation::Ood { data: name.clone() }));
    for shift in &evaluate.shifts {
        let each = evaluate.severities.iter();
        all.extend(each.map(|&severity| Evaluation::Shift { shift: shift.clone(), severity }));
    }
    Ok(all)
}

fn cost(network: &str, train: &Dataset, recipe: &Recipe) -> Result<Cost, Error> {
    let shape = match &train.inputs {
        Inputs::Pictures(p) => Shape::picture(p.channels, p.height, p.width),
        Inputs::Features { width, .. } => Shape::vector(*width),
    };
    let outputs = match &train.answers {
        Answers::Classes { classes, .. } => *classes,
        Answers::Targets(_) => 2,
    };
    let tape = networks::build::<f32>(network, shape, outputs).map_err(Error::Unfit)?;
    let unfit = |e: dubio_infer::Error| Error::Unfit(e.to_string());
    // What cannot be learnt from is found now, not after hours.
    Training::<f32>::new(train, &recipe.setup.augment).map_err(unfit)?;
    let examples = train.len();
    if recipe.setup.batch > examples {
        let batch = recipe.setup.batch;
        return Err(unfit(dubio_infer::Error::BatchTooLarge { batch, examples }));
    }
    let epochs = recipe.method.passes() * recipe.members() as f64;
    let (parameters, macs) = (tape.parameters(), tape.macs());
    // Forward, and twice as much back.
    let seconds = 3.0 * macs as f64 * examples as f64 * epochs / 20e9;
    Ok(Cost { parameters, macs, examples, epochs, seconds })
}

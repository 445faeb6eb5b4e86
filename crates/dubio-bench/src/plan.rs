//! A plan: every run of a suite with all defaults written out.

mod cost;
mod run;
mod task;

use std::path::Path;

use dubio_data::dataset::{Answers, Dataset, Inputs};
use dubio_data::sets;
use dubio_data::sets::own::{self, Own};
use dubio_infer::recipe::Recipe;
use dubio_nn::{Device, Precision};
use sha2::{Digest, Sha256};

pub use self::cost::Cost;
use self::cost::cost;
pub(crate) use self::cost::network_for;
pub use self::run::{PlannedRun, Searched, Settings};
use self::task::{Task, tasks};
use crate::entry::{Choice, Entry};
use crate::evaluation::Evaluation;
use crate::learn::Learn;
use crate::search::{Search, Space};
use crate::suite::Suite;

/// Why there is no plan.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A data set that is not there or not whole.
    #[error(transparent)]
    Data(#[from] dubio_data::Error),
    /// A GPU that cannot be used.
    #[error(transparent)]
    Gpu(#[from] dubio_nn::cuda::Error),
    /// Things that do not go together.
    #[error("{0}")]
    Unfit(String),
}

/// Most runs of a plan that need no confirmation.
pub const MANY: usize = 100_000;
/// Most runs that a plan may have in any case.
pub const MOST: usize = 1_000_000;

/// How many runs a suite plans: for every data set and network, each method's seeds, twice where networks
/// are also trained for a decision, and its trials.
pub fn runs(suite: &Suite) -> Result<usize, Error> {
    let tasks = 1 + usize::from(suite.decision.as_ref().is_some_and(|d| d.dropped > 0.0));
    let of_method = |entry: &Entry| {
        let seeds = entry.seeds.as_ref().unwrap_or(&suite.seeds).len();
        let trials = match &entry.choice {
            Choice::Fixed(_) => 0,
            Choice::Searched(space) => suite.search.trials(space),
        };
        seeds.saturating_mul(tasks).saturating_add(trials)
    };
    let methods = suite.methods.iter().map(of_method).fold(0, usize::saturating_add);
    let combinations = suite.data.len().saturating_mul(suite.networks.len());
    match methods.saturating_mul(combinations) {
        count @ ..=MOST => Ok(count),
        count => Err(Error::Unfit(format!(
            "{count} runs; a suite may have {MOST}, so split it into several"
        ))),
    }
}

/// What is to be done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// Every run of a method whose settings are known.
    pub runs: Vec<PlannedRun>,
    /// Trials of searches, as far as they are known by now.
    pub trials: Vec<PlannedRun>,
    /// Methods whose settings are not found yet, with the number of trials that are left.
    pub open: Vec<(String, usize)>,
}

/// How bad the score of a trial is, larger is worse; `None` while it is not known.
pub type Badness<'a> = &'a dyn Fn(&PlannedRun, &Search) -> Option<f64>;

/// Plans every run of a suite, data sets below `folder`. What searches try next depends on what is
/// known of their trials.
pub fn plan(suite: &Suite, folder: &Path, badness: Badness<'_>) -> Result<Plan, Error> {
    runs(suite)?;
    let device = suite.device.found()?;
    let precision = if device == Device::Cpu { Precision::F32 } else { suite.precision };
    let mut plan = Plan::default();
    for data in &suite.data {
        let halves = sets::halves(data)?;
        let train = halves.name.set.load(folder, halves.train)?;
        let tasks = tasks(suite, &train, data)?;
        let digest = identity(data, &train)?;
        let planner = Planner { suite, data, train: &train, digest, device, precision, badness };
        for network in &suite.networks {
            for entry in &suite.methods {
                let (recipe, search) = match &entry.choice {
                    Choice::Fixed(recipe) => (recipe.clone(), None),
                    Choice::Searched(space) => {
                        match planner.find(network, entry, space, &mut plan)? {
                            Some((recipe, search)) => (recipe, Some(search)),
                            None => continue,
                        }
                    }
                };
                for &seed in entry.seeds.as_ref().unwrap_or(&suite.seeds).iter() {
                    for task in &tasks {
                        let run =
                            planner.run(network, entry.label.to_string(), &recipe, seed, task);
                        plan.runs.push(run?.searched(search.clone()));
                    }
                }
            }
        }
    }
    Ok(plan)
}

/// Plans the runs on one data set of a suite.
struct Planner<'a> {
    suite: &'a Suite,
    data: &'a str,
    train: &'a Dataset,
    digest: String,
    device: Device,
    precision: Precision,
    badness: Badness<'a>,
}

impl Planner<'_> {
    fn run(
        &self,
        network: &str,
        label: String,
        recipe: &Recipe,
        seed: u64,
        task: &Task,
    ) -> Result<PlannedRun, Error> {
        let settings = Settings {
            data: self.data.to_string(),
            data_sha256: self.digest.clone(),
            network: network.to_string(),
            recipe: recipe.clone(),
            seed,
            device: self.device,
            precision: self.precision,
            learn: task.learn.clone(),
            search: None,
            predict: task.predict.clone(),
        };
        let cost = cost(network, self.train, recipe).map_err(|e| match e {
            Error::Unfit(what) => Error::Unfit(format!("{label} on {}: {what}", self.data)),
            other => other,
        })?;
        Ok(PlannedRun { id: settings.id(), label, settings, cost })
    }

    /// Plans the trials of a search; gives the best settings once all are known.
    fn find(
        &self,
        network: &str,
        entry: &Entry,
        space: &Space,
        plan: &mut Plan,
    ) -> Result<Option<(Recipe, Searched)>, Error> {
        let search = &self.suite.search;
        let validation = search.validation;
        let task = Task {
            learn: Some(Learn::HoldBack { validation }),
            predict: vec![Evaluation::Validation],
        };
        let trial = |point: &[f64]| {
            let recipe = space.recipe(point)?;
            self.run(network, String::new(), &recipe, search.seed, &task).ok()
        };
        // Invalid settings are as bad as a run that failed.
        let badness = |point: &[f64]| match trial(point) {
            Some(run) => (self.badness)(&run, search),
            None => Some(f64::INFINITY),
        };
        let tried = search.points(space, &badness);
        let mut best: Option<(f64, PlannedRun)> = None;
        for (index, (point, badness)) in tried.iter().enumerate() {
            let Some(mut run) = trial(point) else { continue };
            run.label = format!("{}, trial {}", entry.label, index + 1);
            if let Some(badness) = badness.filter(|b| b.is_finite())
                && best.as_ref().is_none_or(|(least, _)| badness < *least)
            {
                best = Some((badness, run.clone()));
            }
            plan.trials.push(run);
        }
        let budget = search.trials(space);
        let known = tried.iter().filter(|(_, badness)| badness.is_some()).count();
        if known < budget {
            plan.open.push((entry.label.to_string(), budget - known));
            return Ok(None);
        }
        let Some((badness, run)) = best else {
            let what = "every trial of its search failed; change the ranges";
            return Err(Error::Unfit(format!("{}, {}: {what}", entry.label, self.data)));
        };
        let (kind, score) = (search.kind, search.score.clone());
        let searched = Searched { kind, budget, score, badness, validation, best: run.id.into() };
        Ok(Some((run.settings.recipe, searched)))
    }
}

/// A checksum that identifies the data: that of the files for a user's own data, else that of the training set.
fn identity(name: &str, train: &Dataset) -> Result<String, Error> {
    match own::is_own(name) {
        true => Ok(own::card(&Own::parse(name)?)?.sha256.clone()),
        false => Ok(checksum(train)),
    }
}

fn checksum(data: &Dataset) -> String {
    let mut hash = Sha256::new();
    match &data.inputs {
        Inputs::Images(images) => {
            hash.update(&images.pixels);
            // Shifted images depend on it. Most sets have 255, and keep the ids they always had.
            if images.white != 255 {
                hash.update([images.white]);
            }
        }
        Inputs::Features { values, .. } => values.iter().for_each(|v| hash.update(v.to_le_bytes())),
    }
    match &data.answers {
        Answers::Classes { labels, .. } => labels.iter().for_each(|y| hash.update(y.to_le_bytes())),
        Answers::Targets(targets) => targets.iter().for_each(|y| hash.update(y.to_le_bytes())),
        Answers::Unlabelled(_) => {}
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

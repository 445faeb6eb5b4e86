//! A plan: every run of a suite with all defaults written out.

use std::io;
use std::path::Path;

use dubio_data::dataset::{Answers, Dataset, Inputs};
use dubio_data::sets;
use dubio_infer::recipe::Recipe;
use dubio_infer::training;
use dubio_nn::network::Network;
use dubio_nn::networks;
use dubio_nn::shape::Shape;
use serde::de::Error as _;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::evaluation::Evaluation;
use crate::learn::Learn;
use crate::run_id::RunId;
use crate::search::{Kind, Search, Space};
use crate::suite::{Choice, Entry, Evaluate, Suite};

/// One data set x network x method x seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedRun {
    /// Of all that the result depends on.
    pub id: RunId,
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
    /// What is learnt from, where it is not the whole training set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learn: Option<Learn>,
    /// How the method's settings were found, where they were not written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<Searched>,
    /// What is predicted, and the names of the files.
    pub predict: Vec<Evaluation>,
}

/// How a method's settings were found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Searched {
    /// How trials were chosen.
    pub kind: Kind,
    /// Trials in all.
    pub budget: usize,
    /// The score that was made best on the validation set.
    pub score: String,
    /// Its badness in the best trial: the score, negative where higher is better.
    pub badness: f64,
    /// Fraction of the training set that was held back.
    pub validation: f64,
    /// The best trial's run.
    pub best: String,
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
    #[error(transparent)]
    Data(#[from] dubio_data::Error),
    /// Things that do not go together.
    #[error("{0}")]
    Unfit(String),
}

/// Runs of a plan that nobody is asked about.
pub const MANY: usize = 100_000;
/// Runs of a plan that are too many in any case.
pub const MOST: usize = 1_000_000;

/// How many runs a suite plans: for every data set and network each method's seeds and trials, twice where
/// a decision is trained for.
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
            "{count} runs; a suite may have {MOST}, so make several of it"
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

/// How bad the score of a trial is, the larger the worse; `None` while it is not known.
pub type Badness<'a> = &'a dyn Fn(&PlannedRun, &Search) -> Option<f64>;

/// Plans every run of a suite, data sets below `folder`. What searches try next depends on what is
/// known of their trials.
pub fn plan(suite: &Suite, folder: &Path, badness: Badness<'_>) -> Result<Plan, Error> {
    runs(suite)?;
    let mut plan = Plan::default();
    for data in &suite.data {
        let halves = sets::halves(data)?;
        let train = halves.name.set.load(folder, halves.train)?;
        let tasks = tasks(suite, &train, data)?;
        let planner = Planner { suite, data, train: &train, digest: checksum(&train), badness };
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
        // Settings that cannot be are as bad as a run that failed.
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

impl PlannedRun {
    /// From JSON, as it is handed to the process that does the work; nothing after it is read. Its id
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

    fn searched(mut self, search: Option<Searched>) -> Self {
        self.settings.search = search;
        self.id = self.settings.id();
        self
    }
}

/// What a method learns from, and what it predicts then.
struct Task {
    learn: Option<Learn>,
    predict: Vec<Evaluation>,
}

/// What each method does with a data set.
fn tasks(suite: &Suite, train: &Dataset, data: &str) -> Result<Vec<Task>, Error> {
    let mut main = evaluations(&suite.evaluate, train, data)?;
    let Some(decision) = &suite.decision else {
        return Ok(vec![Task { learn: None, predict: main }]);
    };
    let unfit = |what: String| Error::Unfit(format!("{data}: [decision] {what}"));
    let Answers::Classes { classes, .. } = train.answers else {
        return Err(unfit("is for data sets of classes; leave it out".into()));
    };
    if let Some(class) = decision.critical.iter().find(|&&class| class as usize >= classes) {
        return Err(unfit(format!("names class {class}; the last is {}", classes - 1)));
    }
    let evaluation = Evaluation::Decision(decision.clone());
    if decision.dropped == 0.0 {
        main.push(evaluation);
        return Ok(vec![Task { learn: None, predict: main }]);
    }
    let rare = Learn::Rare { classes: decision.critical.clone(), dropped: decision.dropped };
    Ok(vec![
        Task { learn: None, predict: main },
        Task { learn: Some(rare), predict: vec![evaluation] },
    ])
}

impl Settings {
    /// The data set without the number of a split: splits of a table are repetitions, as seeds are.
    pub fn set(&self) -> &str {
        self.data.split_once('/').map_or(&self.data, |(set, _)| set)
    }

    /// Name of the file that holds the predictions of one of [`Settings::predict`], without its ending.
    pub fn file(&self, evaluation: &Evaluation) -> String {
        match evaluation {
            // The predictions of the test set are there already when nothing else was learnt.
            Evaluation::Decision(_) if self.learn.is_none() => Evaluation::Test.name(),
            other => other.name(),
        }
    }

    fn id(&self) -> RunId {
        RunId::of(&serde_json::to_string(self).expect("settings are plain data"))
    }
}

fn checksum(data: &Dataset) -> String {
    let mut hash = Sha256::new();
    match &data.inputs {
        Inputs::Images(images) => {
            hash.update(&images.pixels);
            // What is shifted depends on it. Most are 255, and keep the ids they always had.
            if images.white != 255 {
                hash.update([images.white]);
            }
        }
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
    for shift in &evaluate.shifts {
        let each = evaluate.severities.iter();
        all.extend(each.map(|&severity| Evaluation::Shift { shift: shift.clone(), severity }));
    }
    let examples = evaluate.attack_examples;
    all.extend(evaluate.attacks.iter().map(|&attack| Evaluation::Attack { attack, examples }));
    if !evaluate.augment.is_empty() {
        let (augment, looks) = (evaluate.augment.clone(), evaluate.looks);
        all.push(Evaluation::TestTime { augment, looks });
    }
    if let Inputs::Features { width, .. } = train.inputs {
        if all.len() > 1 {
            let what = "shifts, attacks and augmentation are for images";
            return Err(Error::Unfit(format!("{data}: {what}; leave them out of [evaluate]")));
        }
        for name in &evaluate.ood {
            if sets::parse(name)?.set.inputs != sets::InputKind::Features(width) {
                let what = format!("{data}: `{name}` has not the {width} features of this set");
                return Err(Error::Unfit(format!("{what}; leave it out of [evaluate]")));
            }
        }
    }
    let ood = evaluate.ood.iter().map(|name| Evaluation::Ood { data: name.clone() });
    all.splice(1..1, ood);
    Ok(all)
}

/// The network for such data.
pub(crate) fn network_for(network: &str, train: &Dataset) -> Result<Network, String> {
    let shape = match &train.inputs {
        Inputs::Images(p) => Shape::image(p.channels, p.height, p.width),
        Inputs::Features { width, .. } => Shape::vector(*width),
    };
    let outputs = match &train.answers {
        Answers::Classes { classes, .. } => *classes,
        Answers::Targets(_) => 2,
    };
    networks::build(network, shape, outputs)
}

fn cost(network: &str, train: &Dataset, recipe: &Recipe) -> Result<Cost, Error> {
    let network = network_for(network, train).map_err(Error::Unfit)?;
    let unfit = |e: dubio_infer::Error| Error::Unfit(e.to_string());
    recipe.suits(&network).map_err(unfit)?;
    // What cannot be learnt from is found now, not after hours.
    training::check(train, &recipe.setup.augment).map_err(unfit)?;
    let examples = train.len();
    recipe.fits(examples).map_err(unfit)?;
    let epochs = recipe.passes();
    let (parameters, macs) = (network.parameters(), network.macs());
    // Forward, and twice as much back.
    let seconds = 3.0 * macs as f64 * examples as f64 * epochs / 20e9;
    Ok(Cost { parameters, macs, examples, epochs, seconds })
}

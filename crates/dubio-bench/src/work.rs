//! One run, from data to predictions: the only slow stage, and the only random one.

use std::path::Path;
use std::time::Duration;

use dubio_data::dataset::{Dataset, Inputs};
use dubio_data::sets::own;
use dubio_data::sets::{self, Part};
use dubio_data::shifts;
use dubio_infer::clock::{Clock, Seconds};
use dubio_infer::fit::{Checkpoints, Options};
use dubio_infer::fitted::Fitted;
use dubio_infer::predict::{Predicted, TestTime};
use dubio_metrics::diagnostics::Diagnosis;
use dubio_nn::Single;
use dubio_nn::cuda::guarded;
use dubio_nn::engine::Engine as _;
use dubio_progress::{Progress, Uncounted};
use dubio_random::stream::Stream;

use crate::diagnosis::diagnosis;
use crate::evaluation::Evaluation;
use crate::gpu_memory;
use crate::memory::{self, peak_bytes};
use crate::plan::{PlannedRun, Settings};
use crate::store::{Cause, Record, Spent, Store};

/// Why a run did not finish.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Somebody asked for a stop; a checkpoint is there.
    #[error("stopped; the same command resumes")]
    Stopped,
    /// Inference could not begin or go on.
    #[error("{0}")]
    Infer(dubio_infer::Error),
    /// A data set that is not there or not whole.
    #[error(transparent)]
    Data(#[from] dubio_data::Error),
    /// Predictions that cannot be written.
    #[error(transparent)]
    Predictions(#[from] dubio_predictions::Error),
    /// More than the machine has.
    #[error("{0}")]
    Memory(String),
    /// A GPU that is not there or cannot be used.
    #[error(transparent)]
    Gpu(#[from] dubio_nn::cuda::Error),
    /// The folder of runs cannot be written.
    #[error("{0}; free some space or choose another folder with --runs")]
    Store(#[from] std::io::Error),
}

impl Error {
    /// Whether the run or the machine is at fault.
    pub fn cause(&self) -> Cause {
        match self {
            Self::Infer(dubio_infer::Error::File { .. }) => Cause::Machine,
            Self::Infer(_) => Cause::Run,
            _ => Cause::Machine,
        }
    }
}

impl From<dubio_infer::Error> for Error {
    fn from(error: dubio_infer::Error) -> Self {
        match error {
            dubio_infer::Error::Stopped => Self::Stopped,
            other => Self::Infer(other),
        }
    }
}

/// Does a run and stores it. It resumes from its checkpoint where there is one, and ends with the
/// same bytes as if it had never been stopped.
pub fn work(
    run: &PlannedRun,
    store: &Store,
    data: &Path,
    progress: &dyn Progress,
) -> Result<(), Error> {
    guarded(|| done(run, store, data, progress))?
}

/// The stream of a run's random numbers. Splits of one table repeat an experiment, so each has its own: with
/// the same starting weights in all of them, a lucky start would be in every one, and a standard error over
/// splits would not show it.
fn stream(seed: u64, data: &str) -> Stream {
    let root = Stream::root(seed);
    match sets::replicate(data) {
        0 => root,
        split => root.child("split").nth(split),
    }
}

fn done(
    run: &PlannedRun,
    store: &Store,
    data: &Path,
    progress: &dyn Progress,
) -> Result<(), Error> {
    let settings = &run.settings;
    let sets = Sets::load(settings, data)?;
    let engine = settings.device.engine(settings.precision)?;
    let (recipe, network, free) = (&settings.recipe, &settings.network, engine.free_bytes());
    memory::enough(recipe, network, &sets.train, sets.test.len(), free.is_some())
        .and_then(|()| gpu_memory::enough(recipe, network, &sets.train, free))
        .map_err(Error::Memory)?;
    let stream = stream(settings.seed, &settings.data);
    let checkpoints = Checkpoints {
        folder: store.checkpoints(&run.id),
        every: Duration::from_secs(10),
        identity: run.id.to_string(),
    };
    let options = Options { progress, checkpoints: Some(checkpoints) };
    let fitted = settings
        .recipe
        .fit(&engine, &settings.network, &sets.learnt()?, &stream.child("fit"), &options)
        .map_err(|unfinished| unfinished.error)?;
    let folder = store.begin(&run.id)?;
    let (mut clock, mut examples) = (Clock::start(), 0);
    for evaluation in &settings.predict {
        if progress.should_stop() {
            return Err(Error::Stopped);
        }
        if settings.file(evaluation) != evaluation.name() {
            continue; // predicted for another evaluation
        }
        let path = folder.join(format!("{}.npz", settings.file(evaluation)));
        // The test set is always predicted, since the time that this takes is part of the record.
        if path.is_file() && !matches!(evaluation, Evaluation::Test) {
            continue;
        }
        let set = sets.asked(evaluation)?;
        examples += set.len();
        let noise = stream.child("predict").child(&evaluation.name());
        predicted(&fitted, evaluation, &set, &noise, &Uncounted(progress))?.write(&path)?;
    }
    let predicting = clock.lap();
    let test = folder.join(format!("{}.npz", Evaluation::Test.name()));
    let convergence = match settings.recipe.method.is_chain() && test.is_file() {
        true => Some(diagnosis(&test, settings.recipe.members())?),
        false => None,
    };
    let mut record = record(run, &fitted, predicting, examples, convergence);
    let facts = own::facts(&settings.data)?;
    record.gpu = engine.described_gpu();
    record.data = facts.into_iter().map(|(name, text)| (name.to_string(), text)).collect();
    store.finish(&folder, &record)?;
    Ok(())
}

/// What a run predicts for an evaluation.
fn predicted(
    fitted: &Fitted<Single>,
    evaluation: &Evaluation,
    set: &Dataset,
    noise: &Stream,
    progress: &dyn Progress,
) -> Result<Predicted, dubio_infer::Error> {
    match evaluation {
        Evaluation::Attack { attack, .. } => {
            fitted.predict_attacked_watched(set, attack, noise, progress)
        }
        Evaluation::TestTime { augment, looks } => {
            let test_time = TestTime { augment: augment.clone(), looks: *looks };
            fitted.predict_watched(set, &test_time, noise, progress)
        }
        _ => fitted.predict_watched(set, &TestTime::default(), noise, progress),
    }
}

/// The record of a run that took this long to predict this many examples.
fn record(
    run: &PlannedRun,
    fitted: &Fitted<Single>,
    predicting: Seconds,
    examples: usize,
    convergence: Option<Diagnosis>,
) -> Record {
    let each = 1.0 / examples as f64;
    let posterior = &fitted.posterior;
    let mut training = Seconds::default();
    posterior.records.iter().for_each(|record| training += record.seconds);
    let sample = 1.0 / fitted.samples() as f64;
    let of_chains = posterior.records.iter().flat_map(|record| record.warnings.clone());
    let warnings = convergence.iter().flat_map(Diagnosis::warnings).chain(of_chains).collect();
    Record {
        id: run.id.clone(),
        label: run.label.clone(),
        settings: run.settings.clone(),
        data: Default::default(),
        version: env!("CARGO_PKG_VERSION").to_string(),
        gpu: None,
        samples: fitted.samples(),
        spent: Spent {
            train_wall_secs: training.wall,
            train_cpu_secs: training.cpu(),
            sample_wall_secs: sample * training.wall,
            sample_cpu_secs: training.cpu().map(|cpu| sample * cpu),
            predict_wall_secs: each * predicting.wall,
            predict_cpu_secs: predicting.cpu().map(|cpu| each * cpu),
            peak_bytes: peak_bytes(),
            parameters: run.cost.parameters,
            stored_bytes: fitted.stored_bytes() as u64,
            macs: run.cost.macs,
        },
        report: posterior
            .records
            .iter()
            .map(|r| r.report.iter().map(|(name, v)| (name.to_string(), (*v).into())).collect())
            .collect(),
        convergence,
        warnings,
        losses: posterior.records.iter().map(|r| r.losses.clone()).collect(),
    }
}

/// A run that comes from elsewhere may ask for what no plan does.
fn unplanned(what: &str) -> Error {
    let what = format!("{what}; `dubio plan` makes runs that can be done");
    Error::Infer(dubio_infer::Error::Unsuited(what))
}

/// The data of a run.
struct Sets<'a> {
    settings: &'a Settings,
    folder: &'a Path,
    train: Dataset,
    test: Dataset,
}

impl<'a> Sets<'a> {
    fn load(settings: &'a Settings, folder: &'a Path) -> Result<Self, Error> {
        own::unchanged(&settings.data, &settings.data_sha256)?;
        let halves = sets::halves(&settings.data)?;
        let set = halves.name.set;
        let (train, test) = (set.load(folder, halves.train)?, set.load(folder, halves.test)?);
        Ok(Self { settings, folder, train, test })
    }

    /// The examples to learn from.
    fn learnt(&self) -> Result<Dataset, Error> {
        match &self.settings.learn {
            Some(learn) => {
                let chosen = learn.choose(&self.train, self.settings.seed);
                chosen.ok_or_else(|| unplanned("examples that there are not"))
            }
            None => Ok(self.train.clone()),
        }
    }

    /// The examples to predict.
    fn asked(&self, evaluation: &Evaluation) -> Result<Dataset, Error> {
        match evaluation {
            Evaluation::Test | Evaluation::Decision(_) | Evaluation::TestTime { .. } => {
                Ok(self.test.clone())
            }
            Evaluation::Validation => {
                let learn = self.settings.learn.as_ref();
                let learn = learn.ok_or_else(|| unplanned("nothing is held back"))?;
                Ok(learn.held_back(&self.train, self.settings.seed))
            }
            Evaluation::Attack { examples, .. } => {
                let rows: Vec<u32> = (0..self.test.len().min(*examples) as u32).collect();
                Ok(self.test.subset(&rows))
            }
            Evaluation::Ood { data, sha256 } => {
                if let Some(sha256) = sha256 {
                    own::unchanged(data, sha256)?;
                }
                let name = sets::parse(data)?;
                let part = name.part.unwrap_or(Part::Test);
                let found = name.set.load(self.folder, part)?;
                Ok(own::aligned(&self.settings.data, data, found)?)
            }
            Evaluation::Shift { shift, severity } => {
                let found = shifts::find(shift).filter(|_| (1..=5).contains(severity));
                let (Some(shift), Inputs::Images(images)) = (found, &self.test.inputs) else {
                    return Err(unplanned("a shift that there is not"));
                };
                // The same shifted images for every method and seed: what is compared is the method.
                let images = shift.apply(images, *severity, &Stream::root(0).child("shift"));
                Ok(Dataset { inputs: Inputs::Images(images), ..self.test.clone() })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use dubio_random::normal::normals;

    use super::*;

    #[test]
    fn splits_of_a_table_start_from_other_numbers_and_data_without_splits_from_the_seed() {
        let first = |seed: u64, data: &str| normals(1, &stream(seed, data).child("fit"))[0];
        let plain = |seed: u64| normals(1, &Stream::root(seed).child("fit"))[0];
        for data in ["digits", "boston", "boston:standard/0", "mine.csv:folds=5,fold=0"] {
            assert_eq!(first(3, data), plain(3), "{data}");
        }
        for (a, b) in [
            ("boston:standard/0", "boston:standard/1"),
            ("boston:standard/1", "boston:standard/2"),
            ("mine.csv:folds=5,fold=1", "mine.csv:folds=5,fold=2"),
        ] {
            assert_ne!(first(3, a), first(3, b), "{a} {b}");
            assert_ne!(first(3, b), first(4, b), "{b}");
        }
    }
}

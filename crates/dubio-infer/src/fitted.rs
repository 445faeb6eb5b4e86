//! A recipe carried out: its members side by side, each a chain from its start.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use dubio_data::dataset::Dataset;
use dubio_nn::cpu::{Cpu, Flat};
use dubio_nn::network::Network;
use dubio_nn::real::Real;
use dubio_nn::weights;
use dubio_predictions::input;
use dubio_random::stream::Stream;

use crate::error::Error;
use crate::fit::{Options, Outcome, Unfinished, fit};
use crate::head::Head;
use crate::layers::Part;
use crate::posterior::Posterior;
use crate::problem::{Problem, Start};
use crate::recipe::Recipe;
use crate::training::Training;
use crate::warm_up::{Stage, WarmUp};

/// A trained recipe: what it takes to predict.
pub struct Fitted<T> {
    pub(crate) recipe: Recipe,
    pub(crate) network: String,
    pub(crate) training: Arc<Training<T>>,
    /// The networks that stand for the posterior.
    pub posterior: Posterior<Flat<T>>,
}

impl<T: Real> Fitted<T> {
    /// The weights of every point, as PyTorch lays them out, each in a file's bytes.
    #[inline(never)]
    pub fn weights(&self) -> Result<Vec<Vec<u8>>, Error> {
        let network = self.recipe.network(&self.network, &self.training)?;
        let points = self.posterior.points.iter().map(|point| {
            let statistics: Vec<T> = point.statistics.iter().map(|&v| T::of(v)).collect();
            weights::write(&network, &point.theta.0, &statistics)
        });
        Ok(points.collect::<Result<_, _>>()?)
    }
}

impl Recipe {
    /// Trains on a data set. Members run side by side, each on one thread; a single one on all.
    #[inline(never)]
    pub fn fit<T: Real>(
        &self,
        network: &str,
        data: &Dataset,
        stream: &Stream,
        options: &Options<'_>,
    ) -> Outcome<Fitted<T>, Option<Fitted<T>>> {
        let nothing = |error: Error| Box::new(Unfinished { error, so_far: None });
        self.check().map_err(nothing)?;
        Training::<T>::check(data, &self.setup.augment).map_err(nothing)?;
        self.fits(data.len()).map_err(nothing)?;
        let training = Arc::new(Training::new(data, &self.setup.augment).map_err(nothing)?);
        let members = self.members();
        let one = |number: usize| {
            let stream = stream.child("member").nth(number);
            Member { recipe: self, network, training: &training, stream, number }.run(options)
        };
        let posteriors = if members == 1 {
            // On one of the pool's own threads: work is handed over much faster from there.
            vec![rayon::scope(|_| one(0))]
        } else {
            side_by_side(members, one)
        };
        let mut all = self.nothing();
        let mut failed = None;
        for posterior in posteriors {
            let part = posterior.unwrap_or_else(|unfinished| {
                let Unfinished { error, so_far } = *unfinished;
                failed.get_or_insert(error);
                so_far
            });
            all.points.extend(part.points);
            all.records.extend(part.records);
        }
        let (recipe, network) = (self.clone(), network.to_string());
        let fitted = Fitted { recipe, network, training, posterior: all };
        match failed {
            Some(error) => Err(Box::new(Unfinished { error, so_far: Some(fitted) })),
            None => Ok(fitted),
        }
    }

    fn nothing<T: Real>(&self) -> Posterior<Flat<T>> {
        Posterior { points: Vec::new(), noise: self.method.noise(), records: Vec::new() }
    }
}

/// One member of a recipe.
#[derive(Clone)]
struct Member<'a, T> {
    recipe: &'a Recipe,
    network: &'a str,
    training: &'a Arc<Training<T>>,
    stream: Stream,
    number: usize,
}

type Ended<T> = Outcome<Posterior<Flat<T>>, Posterior<Flat<T>>>;

impl<T: Real> Member<'_, T> {
    fn run(&self, options: &Options<'_>) -> Ended<T> {
        match &self.recipe.setup.warm_up {
            Some(first) => self.warmed_up(first, options),
            None => self.chain(options, |network| self.start(network)),
        }
    }

    fn nothing(&self, error: Error) -> Box<Unfinished<Posterior<Flat<T>>>> {
        Box::new(Unfinished { error, so_far: self.recipe.nothing() })
    }

    fn warmed_up(&self, WarmUp(first): &WarmUp, options: &Options<'_>) -> Ended<T> {
        let share = first.passes() / (first.passes() + self.recipe.method.passes());
        let watch = Stage { watch: options.watch, before: 0.0, share };
        let checkpoints = options.checkpoints.clone().map(|mut kept| {
            kept.folder.push("warm-up");
            kept.identity += " warm-up";
            kept
        });
        let before = Options { watch: &watch, checkpoints };
        let stream = self.stream.child("warm-up");
        let warmed = Member { recipe: first, stream, ..self.clone() }.run(&before);
        let mut warmed = warmed.map_err(|unfinished| self.nothing(unfinished.error))?;
        let last = warmed.points.pop().expect("every method leaves a sample");
        let watch = Stage { watch: options.watch, before: share, share: 1.0 - share };
        let after = Options { watch: &watch, checkpoints: options.checkpoints.clone() };
        let start = Start::Warm { theta: last.theta, statistics: last.statistics };
        let mut outcome = self.chain(&after, |_| Ok(start));
        let all = match &mut outcome {
            Ok(posterior) => posterior,
            Err(unfinished) => &mut unfinished.so_far,
        };
        for (record, first) in all.records.iter_mut().zip(&warmed.records) {
            record.seconds += first.seconds;
            record.losses.splice(0..0, first.losses.iter().copied());
        }
        outcome
    }

    fn chain(
        &self,
        options: &Options<'_>,
        start: impl FnOnce(&Network) -> Result<Start<Flat<T>>, Error>,
    ) -> Ended<T> {
        let Self { recipe: Recipe { setup, method }, training, stream, number, .. } = self;
        let nothing = |error| self.nothing(error);
        let network = self.recipe.network(self.network, training).map_err(nothing)?;
        let start = start(&network).map_err(nothing)?;
        let (batch, examples) = (setup.batch, training.len());
        let precision = setup.prior_precision(examples);
        let problem = |network: &Network, start: Start<Flat<T>>| {
            let engine = Cpu::new(network, Problem::<Cpu<T>>::capacity(batch, examples));
            Problem::new(engine, Arc::clone(training), batch, precision, start, stream)
        };
        let Some(moving) = setup.layers.range(&network.slices()).map_err(nothing)? else {
            let mut problem = problem(&network, start).map_err(nothing)?;
            return fit(method, &mut problem, stream, *number, options);
        };
        let head = Head::new(network, moving.start, start, training, stream);
        let Head { network, start, features, before } = head;
        let mut problem = problem(&network, start).map_err(nothing)?;
        if let Some(features) = features {
            problem = problem.reading(features);
        }
        let part = Part::new(&mut problem, &setup.layers).map_err(nothing)?;
        let mut part = part.expect("not all layers");
        let complete = |part: &Part<'_, _>, mut posterior: Posterior<Flat<T>>| {
            let whole = |point| before.complete(part.complete(point));
            posterior.points = posterior.points.into_iter().map(whole).collect();
            posterior
        };
        match fit(method, &mut part, stream, *number, options) {
            Ok(posterior) => Ok(complete(&part, posterior)),
            Err(mut unfinished) => {
                unfinished.so_far = complete(&part, unfinished.so_far);
                Err(unfinished)
            }
        }
    }

    fn start(&self, network: &Network) -> Result<Start<Flat<T>>, Error> {
        let (files, members) = (&self.recipe.setup.start, self.recipe.members());
        let path = match files.len() {
            0 => return Ok(Start::Fresh),
            1 => &files[0],
            count if count == members => &files[self.number],
            count => {
                return Err(Error::Unsuited(format!(
                    "`start` names {count} files for {members} members; give one, or one for each",
                )));
            }
        };
        warm(network, path)
    }
}

fn warm<T: Real>(network: &Network, path: &Path) -> Result<Start<Flat<T>>, Error> {
    let advice = "name a .safetensors file of this network's weights";
    let bytes = input::read(path).map_err(|e| Error::file(path, e, advice))?;
    let (theta, statistics) =
        weights::read(network, &bytes).map_err(|e| Error::file(path, e, advice))?;
    let statistics = statistics.iter().map(|v: &T| v.wide()).collect();
    Ok(Start::Warm { theta: Flat(theta), statistics })
}

/// Runs pieces of work side by side, each on one thread of its own from beginning to end: what a
/// member does inside never waits for another's.
pub(crate) fn side_by_side<R: Send>(count: usize, work: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let threads = rayon::current_num_threads().min(count);
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<R>>> = (0..count).map(|_| Mutex::new(None)).collect();
    let take = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(place) = results.get(index) else { return };
            *place.lock().expect("written once") = Some(work(index));
        }
    };
    let worker = || match rayon::ThreadPoolBuilder::new().num_threads(1).build() {
        Ok(pool) => pool.install(take),
        // Where the system gives no more threads, this one does what the others leave.
        Err(_) => take(),
    };
    std::thread::scope(|scope| {
        for _ in 0..threads {
            if std::thread::Builder::new().spawn_scoped(scope, worker).is_err() {
                break;
            }
        }
    });
    take();
    let taken = results.into_iter().map(|r| r.into_inner().expect("written once"));
    taken.map(|result| result.expect("every piece was done")).collect()
}

/// Single precision, of which crates that train would each build all of it once more: what is generic and
/// never inlined is shared with them, if it is used here.
mod single {
    use super::*;
    use crate::attack::Attack;
    use crate::predict::{Predicted, TestTime};

    type Single = Fitted<f32>;
    type Fit =
        fn(&Recipe, &str, &Dataset, &Stream, &Options<'_>) -> Outcome<Single, Option<Single>>;
    type Predict<How> = fn(&Single, &Dataset, &How, &Stream) -> Result<Predicted, Error>;
    type Weights = fn(&Single) -> Result<Vec<Vec<u8>>, Error>;

    #[used]
    static BUILT: (Fit, Predict<TestTime>, Predict<Attack>, Weights) =
        (Recipe::fit, Fitted::predict, Fitted::predict_attacked, Fitted::weights);
}

//! What a user writes: a method with its settings, and the wrappers that go with every method.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use dubio_data::dataset::Dataset;
use dubio_data::names::unknown;
use dubio_metrics::stream::Stream;
use dubio_nn::cpu::{Cpu, Flat};
use dubio_nn::layers::dropout::Dropout;
use dubio_nn::layers::gaussian_dropout::GaussianDropout;
use dubio_nn::real::Real;
use dubio_nn::tape::Tape;
use dubio_nn::{networks, weights};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::augment::Augmentation;
use crate::error::Error;
use crate::fit::{Options, Outcome, Unfinished, fit};
use crate::head::Head;
use crate::layers::{Layers, Part};
use crate::methods::hmc::no_potential;
use crate::methods::{self, LayerNoise, Method};
use crate::posterior::Posterior;
use crate::problem::{Problem, Start};
use crate::training::Training;
use crate::warm_up::{Stage, WarmUp};

/// Settings that every method has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Setup {
    /// Examples in a mini-batch.
    pub batch: usize,
    /// Deviation `s` of the prior `Normal(0, s^2)` on every parameter.
    pub prior_std: Option<f64>,
    /// The same prior as a share of the gradient of the mean loss: `1 / (N s^2)`.
    pub weight_decay: Option<f64>,
    /// Independent runs of the method, from starts of their own, whose samples are put together.
    pub members: Option<usize>,
    /// Which layers move.
    pub layers: Layers,
    /// Random changes of training pictures.
    #[serde(deserialize_with = "one_or_many")]
    pub augment: Vec<Augmentation>,
    /// Weights to start from: one file for all members, or one for each.
    #[serde(deserialize_with = "one_or_many")]
    pub start: Vec<PathBuf>,
    /// A method whose last sample is the start.
    pub warm_up: Option<WarmUp>,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            batch: 128,
            prior_std: None,
            weight_decay: None,
            members: None,
            layers: Layers::All,
            augment: Vec::new(),
            start: Vec::new(),
            warm_up: None,
        }
    }
}

/// A list, or the one thing in it.
fn one_or_many<'a, D: Deserializer<'a>, T: DeserializeOwned>(from: D) -> Result<Vec<T>, D::Error> {
    let list = match Value::deserialize(from)? {
        Value::Array(list) => list,
        one => vec![one],
    };
    let read = |value| serde_json::from_value(value).map_err(D::Error::custom);
    list.into_iter().map(read).collect()
}

/// Weight decay where neither it nor the prior is given.
const WEIGHT_DECAY: f64 = 5e-4;

impl Setup {
    fn check(&self) -> Result<(), String> {
        if self.prior_std.is_some() && self.weight_decay.is_some() {
            return Err(
                "`prior_std` and `weight_decay` are one thing in two words; give one".into()
            );
        }
        if self.warm_up.is_some() && !self.start.is_empty() {
            return Err("`start` and `warm_up` both say where to begin; give one".into());
        }
        if let Some(std) = self.prior_std
            && !(std > 0.0 && std.is_finite())
        {
            return Err(format!("`prior_std` must be above 0, got {std}"));
        }
        if let Some(decay) = self.weight_decay
            && !(decay >= 0.0 && decay.is_finite())
        {
            return Err(format!("`weight_decay` must be at least 0, got {decay}"));
        }
        let counts = [("batch", self.batch), ("members", self.members.unwrap_or(1))];
        methods::at_least_one(&counts)
    }

    /// `1 / s^2` for `n` examples.
    pub fn prior_precision(&self, n: usize) -> f64 {
        match (self.prior_std, self.weight_decay) {
            (Some(std), _) => 1.0 / (std * std),
            (None, decay) => decay.unwrap_or(WEIGHT_DECAY) * n as f64,
        }
    }
}

/// A method and its setup.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    /// What goes with every method.
    pub setup: Setup,
    /// The method.
    pub method: Method,
}

impl From<Method> for Recipe {
    fn from(method: Method) -> Self {
        Self { setup: Setup::default(), method }
    }
}

impl Recipe {
    /// By the method's name and all settings in one table; those left out have their defaults. Only
    /// names and types are looked at.
    pub fn read(name: &str, mut settings: Map<String, Value>) -> Result<Self, Error> {
        let of = |e: String| Error::Setting(format!("{name}: {e}"));
        let mut known = Method::read(name, Map::new())?.settings();
        let shared = methods::names(&Setup::default());
        let common: Map<String, Value> = shared
            .iter()
            .filter_map(|key| settings.remove(key).map(|value| (key.clone(), value)))
            .collect();
        known.extend(shared);
        if let Some(key) = settings.keys().find(|key| !known.contains(key)) {
            return Err(of(unknown("setting", key, known.iter().map(String::as_str))));
        }
        let setup: Setup = methods::read(common).map_err(of)?;
        Ok(Self { setup, method: Method::read(name, settings)? })
    }

    /// What cannot be, in words that say what to do.
    pub fn check(&self) -> Result<(), Error> {
        let name = self.method.card().name;
        self.setup.check().map_err(|e| Error::Setting(format!("{name}: {e}")))?;
        self.method.check()
    }

    /// By name and settings that can be.
    pub fn parse(name: &str, settings: Map<String, Value>) -> Result<Self, Error> {
        let recipe = Self::read(name, settings)?;
        recipe.check().map(|()| recipe)
    }

    /// With defaults, by the method's name.
    pub fn named(name: &str) -> Result<Self, Error> {
        Self::parse(name, Map::new())
    }

    /// Independent runs.
    pub fn members(&self) -> usize {
        self.setup.members.unwrap_or_else(|| self.method.default_members())
    }

    /// Passes over the data for training all members, forward and backward counted as one.
    pub fn passes(&self) -> f64 {
        let warm_up = self.setup.warm_up.as_ref().map_or(0.0, |first| first.0.passes());
        (warm_up + self.method.passes()) * self.members() as f64
    }

    /// The network that the method needs: the named one, with noise in its layers where it wants it.
    pub fn network<T: Real>(&self, name: &str, training: &Training<T>) -> Result<Tape<T>, Error> {
        let tape = networks::build::<T>(name, training.scaling().shape(), training.outputs());
        let tape = tape.map_err(Error::Setting)?;
        Ok(match self.method.layer_noise() {
            None => tape,
            Some(LayerNoise::Dropout(rate)) => {
                tape.in_front_of_linear("dropout", || Box::new(Dropout { rate }))
            }
            Some(LayerNoise::Gaussian(rate)) => {
                tape.in_front_of_linear("dropout", || Box::new(GaussianDropout { rate }))
            }
        })
    }

    /// That it can move this network: its layers are there, and it bears batch normalisation.
    pub fn suits<T: Real>(&self, tape: &Tape<T>) -> Result<(), Error> {
        self.setup.layers.range(&tape.slices())?;
        match self.method {
            Method::Hmc(_) | Method::Nuts(_) if tape.statistics() > 0 => {
                Err(no_potential(self.method.card().name))
            }
            _ => Ok(()),
        }
    }

    /// Trains on a data set. Members run side by side, each on one thread; a single one on all.
    pub fn fit<T: Real>(
        &self,
        network: &str,
        data: &Dataset,
        stream: &Stream,
        options: &Options<'_>,
    ) -> Outcome<Fitted<T>, Option<Fitted<T>>> {
        let nothing = |error: Error| Box::new(Unfinished { error, so_far: None });
        self.check().map_err(nothing)?;
        let training = Arc::new(Training::new(data, &self.setup.augment).map_err(nothing)?);
        let members = self.members();
        let one = |member: usize| {
            let stream = stream.child("member").nth(member);
            self.member(network, &training, &stream, member, options)
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

    fn member<T: Real>(
        &self,
        network: &str,
        training: &Arc<Training<T>>,
        stream: &Stream,
        member: usize,
        options: &Options<'_>,
    ) -> Outcome<Posterior<Flat<T>>, Posterior<Flat<T>>> {
        let Some(WarmUp(first)) = &self.setup.warm_up else {
            let start = |tape: &Tape<T>| self.start(tape, member);
            return self.chain(network, training, stream, member, options, start);
        };
        let own = self.method.passes();
        let share = first.passes() / (first.passes() + own);
        let watch = Stage { watch: options.watch, before: 0.0, share };
        let checkpoints = options.checkpoints.clone().map(|mut kept| {
            kept.folder.push("warm-up");
            kept.identity += " warm-up";
            kept
        });
        let before = Options { watch: &watch, checkpoints };
        let warmed = first.member(network, training, &stream.child("warm-up"), member, &before);
        let nothing = |error: Error| Box::new(Unfinished { error, so_far: self.nothing() });
        let mut warmed = warmed.map_err(|unfinished| nothing(unfinished.error))?;
        let last = warmed.points.pop().expect("every method leaves a sample");
        let watch = Stage { watch: options.watch, before: share, share: 1.0 - share };
        let after = Options { watch: &watch, checkpoints: options.checkpoints.clone() };
        let start =
            |_: &Tape<T>| Ok(Start::Warm { theta: last.theta, statistics: last.statistics });
        let mut outcome = self.chain(network, training, stream, member, &after, start);
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

    fn chain<T: Real>(
        &self,
        network: &str,
        training: &Arc<Training<T>>,
        stream: &Stream,
        member: usize,
        options: &Options<'_>,
        start: impl FnOnce(&Tape<T>) -> Result<Start<Flat<T>>, Error>,
    ) -> Outcome<Posterior<Flat<T>>, Posterior<Flat<T>>> {
        let nothing = |error: Error| Box::new(Unfinished { error, so_far: self.nothing() });
        let tape = self.network(network, training).map_err(nothing)?;
        let start = start(&tape).map_err(nothing)?;
        let (batch, examples) = (self.setup.batch, training.len());
        let precision = self.setup.prior_precision(examples);
        let problem = |tape: Tape<T>, start: Start<Flat<T>>| {
            let engine = Cpu::new(tape, Problem::<Cpu<T>>::capacity(batch, examples));
            Problem::new(engine, training.clone(), batch, precision, start, stream)
        };
        let layers = &self.setup.layers;
        let Some(moving) = layers.range(&tape.slices()).map_err(nothing)? else {
            let mut problem = problem(tape, start).map_err(nothing)?;
            return fit(&self.method, &mut problem, stream, member, options);
        };
        let head = Head::new(tape, moving.start, start, training, stream);
        let Head { tape, start, features, before } = head;
        let mut problem = problem(tape, start).map_err(nothing)?;
        if let Some(features) = features {
            problem = problem.reading(features);
        }
        let part = Part::new(&mut problem, layers).map_err(nothing)?;
        let mut part = part.expect("not all layers");
        let complete = |part: &Part<'_, _>, mut posterior: Posterior<Flat<T>>| {
            let whole = |point| before.complete(part.complete(point));
            posterior.points = posterior.points.into_iter().map(whole).collect();
            posterior
        };
        match fit(&self.method, &mut part, stream, member, options) {
            Ok(posterior) => Ok(complete(&part, posterior)),
            Err(mut unfinished) => {
                unfinished.so_far = complete(&part, unfinished.so_far);
                Err(unfinished)
            }
        }
    }

    fn start<T: Real>(&self, tape: &Tape<T>, member: usize) -> Result<Start<Flat<T>>, Error> {
        let files = &self.setup.start;
        let path = match files.len() {
            0 => return Ok(Start::Fresh),
            1 => &files[0],
            count if count == self.members() => &files[member],
            count => {
                return Err(Error::Setting(format!(
                    "`start` names {count} files for {} members; give one, or one for each",
                    self.members()
                )));
            }
        };
        warm(tape, path)
    }
}

fn warm<T: Real>(tape: &Tape<T>, path: &Path) -> Result<Start<Flat<T>>, Error> {
    let advice = "name a .safetensors file of this network's weights";
    let bytes = std::fs::read(path).map_err(|e| Error::file(path, e, advice))?;
    let (theta, statistics) =
        weights::read(tape, &bytes).map_err(|e| Error::file(path, e, advice))?;
    let statistics = statistics.iter().map(|v| v.wide()).collect();
    Ok(Start::Warm { theta: Flat(theta), statistics })
}

/// Runs pieces of work side by side, each on one thread of its own from beginning to end: what a
/// member does inside never waits for another's.
pub(crate) fn side_by_side<R: Send>(count: usize, work: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let threads = rayon::current_num_threads().min(count);
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<R>>> = (0..count).map(|_| Mutex::new(None)).collect();
    let worker = || {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
        pool.install(|| {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(place) = results.get(index) else { return };
                *place.lock().expect("written once") = Some(work(index));
            }
        });
    };
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(worker))));
    let taken = results.into_iter().map(|r| r.into_inner().expect("written once"));
    taken.map(|result| result.expect("every piece was done")).collect()
}

impl<T: Real> Fitted<T> {
    /// The weights of every point, as PyTorch lays them out, each in a file's bytes.
    pub fn weights(&self) -> Result<Vec<Vec<u8>>, Error> {
        let tape = self.recipe.network(&self.network, &self.training)?;
        let points = self.posterior.points.iter().map(|point| {
            let statistics: Vec<T> = point.statistics.iter().map(|&v| T::of(v)).collect();
            weights::write(&tape, &point.theta.0, &statistics)
        });
        Ok(points.collect())
    }
}

/// A trained recipe: what it takes to predict.
pub struct Fitted<T> {
    pub(crate) recipe: Recipe,
    pub(crate) network: String,
    pub(crate) training: Arc<Training<T>>,
    /// The networks that stand for the posterior.
    pub posterior: Posterior<Flat<T>>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::methods::CARDS;

    #[test]
    fn no_setting_of_a_method_is_called_like_one_that_all_have() {
        let Ok(Value::Object(common)) = serde_json::to_value(Setup::default()) else {
            unreachable!("settings are a table")
        };
        for card in CARDS {
            let recipe = Recipe::named(card.name).unwrap();
            let settings = serde_json::to_value(&recipe.method).unwrap();
            for name in settings.as_object().unwrap().keys() {
                assert!(!common.contains_key(name), "{}: {name}", card.name);
            }
        }
    }

    #[test]
    fn a_prior_is_said_as_its_deviation_or_as_weight_decay() {
        let of = |name: &str, value: f64| {
            let settings = Map::from_iter([(name.to_string(), Value::from(value))]);
            Recipe::parse("sgd", settings).unwrap().setup.prior_precision(60_000)
        };
        assert!((of("prior_std", 0.1) - 100.0).abs() < 1e-9);
        assert!((of("weight_decay", 1.0 / (60_000.0 * 0.01)) - 100.0).abs() < 1e-9);
        assert!(Recipe::named("sgd").is_ok());
        let both = Map::from_iter(["prior_std", "weight_decay"].map(|n| (n.into(), 0.1.into())));
        assert!(Recipe::parse("sgd", both).is_err());
    }
}

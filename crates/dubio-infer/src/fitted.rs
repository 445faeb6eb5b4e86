//! A recipe carried out: its members run side by side, each a chain from its own start.

use std::path::Path;
use std::sync::Arc;

use dubio_data::dataset::Dataset;
use dubio_nn::engine::{Engine, Model, Point, Vector};
use dubio_nn::network::Network;
use dubio_nn::parameter::Slice;
use dubio_nn::real::Real;
use dubio_nn::weights;
use dubio_predictions::input;
use dubio_progress::Part;
use dubio_random::stream::Stream;

use crate::error::Error;
use crate::fit::{Options, Outcome, Unfinished, fit};
use crate::head::Head;
use crate::methods::Scene;
use crate::posterior::{Posterior, Predictive};
use crate::prior::Gaussian;
use crate::problem::{Problem, Start};
use crate::recipe::{Recipe, WarmUp};
use crate::regulariser::regularised;
use crate::room::{examples_together, networks_at_once};
use crate::side_by_side::side_by_side;
use crate::subnetwork::Subnetwork;
use crate::target::Target;
use crate::training::Training;

/// A trained recipe: what it takes to predict.
pub struct Fitted<E: Engine> {
    pub(crate) engine: E,
    pub(crate) recipe: Recipe,
    pub(crate) network: String,
    pub(crate) training: Arc<Training<E>>,
    /// The approximate posterior.
    pub posterior: Posterior<E::Vector>,
}

/// The numbers of a posterior, on the host.
#[derive(Clone, Debug, PartialEq)]
pub struct Numbers<N> {
    /// Parameters and running statistics of each point.
    pub points: Vec<[Vec<N>; 2]>,
    /// The factors of each member.
    pub factors: Vec<Vec<Vec<N>>>,
}

impl<E: Engine> Fitted<E> {
    /// The weights of every point, in PyTorch's layout, each as the bytes of a file.
    #[inline(never)]
    pub fn weights(&self) -> Result<Vec<Vec<u8>>, Error> {
        let network = self.recipe.network(&self.network, &self.training)?;
        let numbers = |vector: &E::Vector| -> Vec<E::Number> {
            vector.read(0..vector.len()).into_iter().map(E::Number::of).collect()
        };
        let points = self.posterior.points.iter().map(|point| {
            weights::write(&network, &numbers(&point.theta), &numbers(&point.statistics))
        });
        Ok(points.collect::<Result<_, _>>()?)
    }

    /// How it predicts.
    pub fn predictive(&self) -> Box<dyn Predictive<E> + '_> {
        // Where the network or its layers are invalid, nothing was learnt that could predict.
        let network = self.recipe.network(&self.network, &self.training);
        let network = network.unwrap_or_else(|_| Network::new(self.training.scaling().shape()));
        let moving = self.recipe.setup.layers.range(&network.slices()).ok().flatten();
        let moving = moving.unwrap_or(0..network.parameters());
        let scene = Scene { network, moving, likelihood: &*self.training.likelihood };
        self.recipe.method.predictive(&self.posterior, &scene)
    }

    /// Samples of the posterior: forward passes that a prediction takes.
    pub fn samples(&self) -> usize {
        let predictive = self.predictive();
        predictive.parts() * predictive.samples_of_part()
    }

    /// The numbers of the posterior, from which [`Recipe::restore`] makes it again. Waits.
    #[inline(never)]
    pub fn numbers(&self) -> Numbers<E::Number> {
        let read = |vector: &E::Vector| -> Vec<E::Number> {
            vector.read(0..vector.len()).into_iter().map(E::Number::of).collect()
        };
        let Posterior { points, factors, .. } = &self.posterior;
        Numbers {
            points: points.iter().map(|p| [read(&p.theta), read(&p.statistics)]).collect(),
            factors: factors.iter().map(|all| all.iter().map(read).collect()).collect(),
        }
    }

    /// Bytes that the posterior takes.
    pub fn stored_bytes(&self) -> usize {
        let Posterior { points, factors, .. } = &self.posterior;
        let points = points.iter().flat_map(|point| [&point.theta, &point.statistics]);
        let vectors = points.chain(factors.iter().flatten());
        vectors.map(|vector| vector.len() * vector.bytes_per_number()).sum()
    }

    /// The network at work, with room for this many examples at a time.
    pub(crate) fn model(&self, capacity: usize) -> Result<E::Model, Error> {
        let network = self.recipe.network(&self.network, &self.training)?;
        Ok(self.engine.model(&network, capacity))
    }
}

impl Recipe {
    /// What members learn from.
    fn training<E: Engine>(&self, engine: &E, data: &Dataset) -> Result<Arc<Training<E>>, Error> {
        self.check()?;
        self.learns(data)?;
        let likelihood = self.likelihood(&data.answers)?;
        Training::with_likelihood(engine, data, &self.setup.augment, likelihood).map(Arc::new)
    }

    /// What [`Self::fit`] gave for this network and data, from the numbers of its posterior, without training. It has no
    /// records.
    #[inline(never)]
    pub fn restore<E: Engine>(
        &self,
        engine: &E,
        network: &str,
        data: &Dataset,
        numbers: &Numbers<E::Number>,
    ) -> Result<Fitted<E>, Error> {
        let training = self.training(engine, data)?;
        let point = |[theta, statistics]: &[Vec<E::Number>; 2]| Point {
            theta: engine.vector(theta),
            statistics: engine.vector(statistics),
        };
        let vectors = |all: &Vec<Vec<E::Number>>| all.iter().map(|x| engine.vector(x)).collect();
        let posterior = Posterior {
            points: numbers.points.iter().map(point).collect(),
            factors: numbers.factors.iter().map(vectors).collect(),
            records: Vec::new(),
        };
        let (recipe, network) = (self.clone(), network.to_string());
        Ok(Fitted { engine: engine.clone(), recipe, network, training, posterior })
    }

    /// Trains on a data set. Members run side by side, each on its share of the threads; a single one on all of them.
    #[inline(never)]
    pub fn fit<E: Engine>(
        &self,
        engine: &E,
        network: &str,
        data: &Dataset,
        stream: &Stream,
        options: &Options<'_>,
    ) -> Outcome<Fitted<E>, Option<Fitted<E>>> {
        let nothing = |error: Error| Box::new(Unfinished { error, so_far: None });
        let training = self.training(engine, data).map_err(nothing)?;
        let members = self.members();
        options.progress.start("training", members * PIECES);
        let one = |engine: &E, number: usize| {
            let progress = Part::new(options.progress, PIECES);
            let options = Options { progress: &progress, checkpoints: options.checkpoints.clone() };
            let stream = stream.child("member").nth(number);
            let training = &training;
            let sized_for = self;
            Member { engine, recipe: self, sized_for, network, training, stream, number }
                .run(&options)
        };
        let posteriors = if members == 1 {
            // On one of the pool's own threads: from there, work is handed over much faster.
            vec![rayon::scope(|_| one(engine, 0))]
        } else {
            let built = self.network(network, &training).map_err(nothing)?;
            let batch = self.setup.batch_of(training.len()).map_err(nothing)?;
            let capacity = batch.max(examples_together(&built).min(training.len()));
            let at_once = networks_at_once(&built, capacity, engine.free_bytes());
            side_by_side(members, at_once, |number| {
                let own = engine.beside();
                let outcome = one(&own, number);
                own.wait();
                outcome
            })
        };
        let mut all = Posterior::empty();
        let mut failed = None;
        for posterior in posteriors {
            all.extend(posterior.unwrap_or_else(|unfinished| {
                let Unfinished { error, so_far } = *unfinished;
                failed.get_or_insert(error);
                so_far
            }));
        }
        let (recipe, network) = (self.clone(), network.to_string());
        let engine = engine.clone();
        let fitted = Fitted { engine, recipe, network, training, posterior: all };
        match failed {
            Some(error) => Err(Box::new(Unfinished { error, so_far: Some(fitted) })),
            None => Ok(fitted),
        }
    }
}

/// Pieces of progress that a member counts as.
const PIECES: usize = 1000;

/// One member of a recipe.
#[derive(Clone)]
struct Member<'a, E: Engine> {
    engine: &'a E,
    recipe: &'a Recipe,
    /// The recipe whose widths the network has: the one that this recipe warms up, or this one itself.
    sized_for: &'a Recipe,
    network: &'a str,
    training: &'a Arc<Training<E>>,
    stream: Stream,
    number: usize,
}

type Ended<V> = Outcome<Posterior<V>, Posterior<V>>;

fn nothing<V: Vector>(error: Error) -> Box<Unfinished<Posterior<V>>> {
    Box::new(Unfinished { error, so_far: Posterior::empty() })
}

impl<E: Engine> Member<'_, E> {
    fn run(&self, options: &Options<'_>) -> Ended<E::Vector> {
        match &self.recipe.setup.warm_up {
            Some(first) => self.warmed_up(first, options),
            None => self.chain(options, |network| self.start(network)),
        }
    }

    fn warmed_up(&self, WarmUp(first): &WarmUp, options: &Options<'_>) -> Ended<E::Vector> {
        let fraction = first.passes() / (first.passes() + self.recipe.method.passes());
        let pieces = (fraction * PIECES as f64) as usize;
        options.progress.start("training", PIECES);
        let progress = Part::new(options.progress, pieces);
        let checkpoints = options.checkpoints.clone().map(|mut kept| {
            kept.folder.push("warm-up");
            kept.identity += " warm-up";
            kept
        });
        let before = Options { progress: &progress, checkpoints };
        let stream = self.stream.child("warm-up");
        let warmed = Member { recipe: first, stream, ..self.clone() }.run(&before);
        let mut warmed = warmed.map_err(|unfinished| nothing(unfinished.error))?;
        let last = warmed.points.pop().expect("every method leaves a sample");
        let progress = Part::new(options.progress, PIECES - pieces);
        let after = Options { progress: &progress, checkpoints: options.checkpoints.clone() };
        let mut outcome = self.chain(&after, |network| {
            let before = first.network_sized_for(self.sized_for, self.network, self.training)?;
            Ok(Start::Warm(self.taken_over(last, &before, network)))
        });
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
        start: impl FnOnce(&Network) -> Result<Start<E::Vector>, Error>,
    ) -> Ended<E::Vector> {
        let Self { recipe: Recipe { setup, method }, training, stream, number, .. } = self;
        let engine = self.engine;
        let network = self.recipe.network_sized_for(self.sized_for, self.network, training);
        let network = network.map_err(nothing)?;
        let start = start(&network).map_err(nothing)?;
        let batch = setup.batch_of(training.len()).map_err(nothing)?;
        let precision = self.recipe.prior_precision(training.len());
        let mut task = training.task(Arc::new(Gaussian { precision }));
        task.likelihood = regularised(task.likelihood, &setup.regularise);
        let rule = |target: &dyn Target<Vector = E::Vector>| method.rule(&target.start(0).theta);
        let Some(moving) = setup.layers.range(&network.slices()).map_err(nothing)? else {
            let problem = Problem::new(engine, &network, &task, batch, None, start, stream);
            let mut problem = problem.map_err(nothing)?;
            return fit(rule(&problem), &mut problem, stream, *number, options);
        };
        let head = Head::new(engine, network, moving.start, start, training, stream);
        let Head { network, start, features, backbone } = head;
        if let Some(features) = features {
            task.data = engine.data(&features);
        }
        let moving = setup.layers.range(&network.slices()).map_err(nothing)?.expect("not all");
        let held = Some(moving.clone());
        let problem = Problem::new(engine, &network, &task, batch, held, start, stream);
        let mut problem = problem.map_err(nothing)?;
        let mut subnetwork = Subnetwork::new(&mut problem, moving);
        let complete = |subnetwork: &Subnetwork<'_, _>, mut posterior: Posterior<E::Vector>| {
            let whole = |point: Point<E::Vector>| backbone.complete(subnetwork.complete(point));
            posterior.points = posterior.points.into_iter().map(whole).collect();
            posterior
        };
        match fit(rule(&subnetwork), &mut subnetwork, stream, *number, options) {
            Ok(posterior) => Ok(complete(&subnetwork, posterior)),
            Err(mut unfinished) => {
                unfinished.so_far = complete(&subnetwork, unfinished.so_far);
                Err(unfinished)
            }
        }
    }

    /// Turns a point of one network into a start of another that a method made from the same one: parameters that have
    /// the same name and length in both are taken over, others start afresh.
    fn taken_over(
        &self,
        point: Point<E::Vector>,
        before: &Network,
        after: &Network,
    ) -> Point<E::Vector> {
        let (from, to) = (before.slices(), after.slices());
        if from == to {
            return point;
        }
        let mut fresh = self.engine.model(after, 1).start(&self.stream.child("start"));
        for own in &to {
            let same =
                |other: &&Slice| other.name == own.name && other.range.len() == own.range.len();
            if let Some(other) = from.iter().find(same) {
                fresh.theta.put(own.range.start, &point.theta.part(other.range.clone()));
            }
        }
        if fresh.statistics.len() == point.statistics.len() {
            fresh.statistics = point.statistics;
        }
        fresh
    }

    fn start(&self, network: &Network) -> Result<Start<E::Vector>, Error> {
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
        warm(self.engine, network, path)
    }
}

fn warm<E: Engine>(engine: &E, network: &Network, path: &Path) -> Result<Start<E::Vector>, Error> {
    let advice = "name a .safetensors file of this network's weights";
    let bytes = input::read(path).map_err(|e| Error::file(path, e, advice))?;
    let (theta, statistics) =
        weights::read(network, &bytes).map_err(|e| Error::file(path, e, advice))?;
    let (theta, statistics) = (engine.vector(&theta), engine.vector(&statistics));
    Ok(Start::Warm(Point { theta, statistics }))
}

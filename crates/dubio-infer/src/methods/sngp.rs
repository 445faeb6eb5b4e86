//! `sngp`: a network that keeps distances, with a Gaussian process as its last layer.

use std::ops::Range;
use std::slice;

use dubio_nn::engine::{Engine, Point, Vector};
use dubio_nn::layer::{Directions, Layer};
use dubio_nn::network::Network;
use serde::{Deserialize, Serialize};

use super::laplace::{Around, Laplace, Predict, Random};
use super::prior_precision::PriorPrecision;
use super::sgd::Sgd;
use super::spectral::{Bounded, Bounds};
use super::{Card, Scene, Settings, at_least_one, positive};
use crate::curvature::{Curvature, Structure, Weights};
use crate::error::Error;
use crate::memory::Memory;
use crate::posterior::{Posterior, Predictive};
use crate::rule::{Draw, Draws, MiniBatch, Rule, Step, Steps};
use crate::target::Target;
use crate::wrong::Wrong;

/// Settings of `sngp`. The last linear layer reads random features of what it read before, and is a Gaussian process with
/// the kernel `(exp(-|x - x'|^2 / (2 length_scale^2)) + 1) / prior_precision`, the 1 being that of its bias. Hidden layers
/// whose spectral norm is above its bound are scaled down to it after every step, so that the network cannot stretch
/// distances; normalisation layers can, and are not bounded. After training the precision of the last layer is summed in one
/// pass over all the data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sngp {
    /// The settings of the descent.
    #[serde(flatten)]
    pub sgd: Sgd,
    /// How many random features.
    pub features: usize,
    /// Distance over which the kernel falls, on the scale of what the last layer reads.
    pub length_scale: f64,
    /// `gaussian`, or `orthogonal` for features at right angles.
    pub directions: Directions,
    /// Largest spectral norm of a hidden linear layer.
    pub linear_bound: f64,
    /// Largest spectral norm of a convolution's kernel as a matrix `[kernel kernel channels, channels out]`.
    pub conv_bound: f64,
    /// Precision of the prior of the last layer: a number, `given` for that of the descent, or `marginal-likelihood`, which
    /// also finds a noise that all examples share.
    pub prior_precision: PriorPrecision,
    /// What the standard deviations of the logits are multiplied by. Logits are divided by `sqrt(1 + f v)` with
    /// `f = noise_scale^2 pi / 8`, where `pi / 8` approximates the integral; Liu et al. tune `f`, the mean-field factor: 20
    /// is a `noise_scale` of 7.136.
    pub noise_scale: f64,
    /// `extended-probit` for logits over `sqrt(1 + pi v / 8)`, the mean field of Liu et al.; `probit`, `mean-field` or `mc`,
    /// which are those of `laplace`.
    pub predict: Predict,
    /// Last layers drawn for `mc`; the others predict in closed form.
    pub samples: usize,
}

impl Default for Sngp {
    fn default() -> Self {
        Self {
            sgd: Sgd::default(),
            features: 1024,
            length_scale: 2.0,
            directions: Directions::Gaussian,
            linear_bound: 0.95,
            conv_bound: 6.0,
            prior_precision: PriorPrecision::Number(1.0),
            noise_scale: 1.0,
            predict: Predict::ExtendedProbit,
            samples: 30,
        }
    }
}

/// The most features: the precision of a unit is a matrix with a row and a column for each.
const MOST: usize = 16_384;

impl Sngp {
    /// Its last layer as a Laplace approximation.
    fn last_layer(&self) -> Laplace {
        Laplace {
            sgd: self.sgd.clone(),
            structure: Structure::Units,
            curvature: Curvature::Ggn,
            curvature_examples: 0,
            prior_precision: self.prior_precision,
            noise_scale: self.noise_scale,
            predict: self.predict,
            samples: self.samples,
        }
    }
}

/// The stretch of the last layer among those that move.
fn last(network: &Network, moving: &Range<usize>) -> Range<usize> {
    let mut all = network.nodes().iter().filter_map(Weights::of).map(|weights| weights.parameters);
    let inside = |own: &Range<usize>| moving.start <= own.start && own.end <= moving.end;
    all.rfind(inside).unwrap_or(moving.end..moving.end)
}

impl Settings for Sngp {
    const CARD: Card = Card {
        name: "sngp",
        summary: "Spectral-normalised Gaussian process: hidden layers of bounded norm, and a last layer of random features with a Laplace approximation.",
        rule: "sgd; W = min(1, c / |W|) W; phi = sqrt(2 / M) cos(W x + b); beta_c ~ Normal(MAP, (d + sum_n p_c (1 - p_c) phi phi')^-1); logits f / sqrt(1 + pi v / 8)",
        citation: "Liu et al. 2020; Rahimi and Recht 2007",
    };

    fn check(&self) -> Result<(), Wrong> {
        at_least_one(&[("features", self.features), ("samples", self.samples)])?;
        if self.features > MOST {
            let what = format!("`features` must be at most {MOST}, got {}", self.features);
            return Err(Wrong::value(&["features"], what));
        }
        positive(&[
            ("length_scale", self.length_scale),
            ("linear_bound", self.linear_bound),
            ("conv_bound", self.conv_bound),
            ("noise_scale", self.noise_scale),
        ])?;
        self.sgd.check()
    }

    fn rule<V: Vector>(&self, like: &V) -> Box<dyn Rule<V>> {
        let bounds = Bounds { linear: self.linear_bound, convolution: self.conv_bound };
        Box::new(Process {
            around: Around::new(&self.last_layer(), Random::Last, like),
            hidden: Bounded::new(bounds),
        })
    }

    fn network(&self, network: Network) -> Network {
        let Self { features, length_scale, directions, .. } = *self;
        let layer = Layer::RandomFeatures { features, length_scale, directions };
        network.in_front_of_last_linear("features", &layer)
    }

    fn passes(&self) -> f64 {
        self.last_layer().passes()
    }

    fn samples(&self) -> usize {
        self.last_layer().samples()
    }

    fn bytes(&self, network: &Network, moving: &Range<usize>) -> f64 {
        self.last_layer().bytes(network, &last(network, moving))
    }

    fn predictive<'a, E: Engine>(
        &self,
        posterior: &'a Posterior<E::Vector>,
        scene: &Scene<'a>,
    ) -> Box<dyn Predictive<E> + 'a> {
        let Scene { network, moving, likelihood } = scene;
        let (network, moving) = (network.clone(), last(network, moving));
        let scene = Scene { network, moving, likelihood: *likelihood };
        self.last_layer().predictive(posterior, &scene)
    }
}

struct Process<V> {
    around: Around<V>,
    hidden: Bounded,
}

impl<V: Vector> Rule<V> for Process<V> {
    fn steps(&mut self) -> Option<&mut dyn Steps<V>> {
        Some(self)
    }
    fn draws(&mut self) -> Option<&mut dyn Draws<V>> {
        Some(self)
    }
    fn memory(&mut self) -> Memory<'_, V> {
        self.around
            .memory()
            .numbers("singular_vectors", &mut self.hidden.vectors)
            .number("largest_norm", &mut self.hidden.largest)
    }
    /// The largest spectral norm of a hidden layer is given as a fraction of its bound.
    fn report(&self) -> Vec<(&'static str, f64)> {
        let mut report = self.around.report();
        report.push(("largest_spectral_norm", self.hidden.largest));
        report
    }
    fn factors(&mut self) -> Vec<V> {
        self.around.factors()
    }
}

impl<V: Vector> Steps<V> for Process<V> {
    fn epochs(&self) -> usize {
        self.around.epochs()
    }
    fn rate(&self, at: &Step<'_>) -> f64 {
        self.around.rate(at)
    }
    fn step(&mut self, points: &mut [Point<V>], batch: &mut MiniBatch<'_, V>, at: &Step<'_>) {
        self.around.step(points, batch, at);
        let stream = at.stream.child("singular vectors");
        self.hidden.step(&mut points[0].theta, &batch.hidden_layers(), &stream);
    }
}

impl<V: Vector> Draws<V> for Process<V> {
    fn count(&self) -> usize {
        self.around.count()
    }
    fn draw(
        &mut self,
        points: &mut [Point<V>],
        target: &mut dyn Target<Vector = V>,
        at: &Draw<'_>,
    ) -> Result<Vec<V>, Error> {
        if at.index > 0 {
            return self.around.draw(points, target, at);
        }
        // A layer scaled down twice differs in its last digits from one scaled down once, so a draw that is stopped
        // must leave the point as it was.
        let mut point = points[0].clone();
        self.hidden.finish(&mut point.theta, &target.hidden_layers())?;
        // The running statistics of the last batches belong to points that the descent has left.
        if target.has_statistics() {
            point.statistics = target.statistics(&point.theta);
        }
        let drawn = self.around.draw(slice::from_mut(&mut point), target, at)?;
        points[0] = point;
        Ok(drawn)
    }
}

//! `batch-ensemble`: members that share weights, each with its own factors on inputs and outputs.

use dubio_nn::engine::{Point, Vector};
use dubio_nn::matrix::Matrix;
use dubio_random::stream::Stream;
use serde::{Deserialize, Serialize};

use super::factors::{self, FactorSettings};
use super::sgd::Sgd;
use super::{Card, Settings, at_least_one};
use crate::error::Error;
use crate::memory::Memory;
use crate::optimisers::Optimiser;
use crate::prior::Gaussian;
use crate::rule::{Draw, Draws, Gradient, MiniBatch, Rule, Step, Steps};
use crate::target::Target;
use crate::wrong::Wrong;

/// Settings of `batch-ensemble`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BatchEnsemble {
    /// Networks that share weights, each of which is a sample.
    pub samples: usize,
    /// How factors start and move.
    #[serde(flatten)]
    pub factors: FactorSettings,
    /// The settings of `sgd`.
    #[serde(flatten)]
    pub sgd: Sgd,
}

impl Default for BatchEnsemble {
    fn default() -> Self {
        Self { samples: 4, factors: FactorSettings::default(), sgd: Sgd::default() }
    }
}

impl Settings for BatchEnsemble {
    const CARD: Card = Card {
        name: "batch-ensemble",
        summary: "Networks trained together that share weights; each has factors on the inputs and outputs of every layer.",
        rule: "y = ((x r_k) W) s_k + b_k in member k, r and s random signs at the start; sgd on the mean loss of the members, each on the whole mini-batch",
        citation: "Wen et al. 2020",
    };

    fn check(&self) -> Result<(), Wrong> {
        at_least_one(&[("samples", self.samples)])?;
        self.factors.check()?;
        self.sgd.check()
    }

    fn rule<V: Vector>(&self, like: &V) -> Box<dyn Rule<V>> {
        let Sgd { descent, optimiser } = &self.sgd;
        Box::new(Sharing {
            settings: self.clone(),
            matrices: Vec::new(),
            members: Vec::new(),
            of_shared: Optimiser::new(*optimiser, descent.momentum, like),
        })
    }

    fn passes(&self) -> f64 {
        (self.samples * self.sgd.descent.epochs) as f64
    }

    fn samples(&self) -> usize {
        self.samples
    }

    /// A member's network, the sum of gradients and the prior's.
    fn vectors(&self) -> usize {
        3
    }
}

/// What a member has of its own.
struct Own<V> {
    factors: V,
    biases: V,
    of_factors: Optimiser<V>,
    of_biases: Optimiser<V>,
}

/// Members around the point that moves, whose weights and normalisation they share.
struct Sharing<V> {
    settings: BatchEnsemble,
    matrices: Vec<Matrix>,
    members: Vec<Own<V>>,
    of_shared: Optimiser<V>,
}

impl<V: Vector> Sharing<V> {
    fn member(&self, start: &V, matrices: &[Matrix], stream: &Stream) -> Own<V> {
        let Sgd { descent, optimiser } = &self.settings.sgd;
        let of = |like: &V| Optimiser::new(*optimiser, descent.momentum, like);
        let factors = self.settings.factors.start(matrices, start, stream);
        let biases = factors::biases(matrices, start);
        Own { of_factors: of(&factors), of_biases: of(&biases), factors, biases }
    }

    fn network(&self, shared: &V, member: usize) -> V {
        let mut theta = factors::network(&self.matrices, shared, &self.members[member].factors);
        factors::put_biases(&self.matrices, &self.members[member].biases, &mut theta);
        theta
    }

    /// A step of a member's own factors and biases. Adds to the gradient of what all members share.
    fn step_of(
        &mut self,
        member: usize,
        shared: &mut Point<V>,
        batch: &mut MiniBatch<'_, V>,
        at: &Step<'_>,
        sum: &mut V,
    ) {
        let rate = self.rate(at);
        let theta = self.network(&shared.theta, member);
        let (weight, matrices) = (1.0 / self.members.len() as f64, &self.matrices);
        let own = &mut self.members[member];
        // The prior's gradient at the biases, taken from that at the whole network: the vector of biases has another
        // length.
        let mut pull = theta.zeros(theta.len());
        batch.prior().add_gradient(1.0, at.examples as f64, &theta, &mut pull);
        let gradient = factors::gradient(theta, shared, batch);
        pull.axpy(1.0, gradient);
        let mut of_biases = factors::biases(matrices, &pull);
        of_biases.scale(weight);
        let mut of_factors = own.factors.zeros(own.factors.len());
        let pair = [&shared.theta, &own.factors];
        factors::back(matrices, weight, gradient, pair, &mut of_factors);
        factors::put_biases(matrices, &own.biases.zeros(own.biases.len()), gradient);
        sum.axpy(weight, gradient);
        let flat = Gaussian { precision: 0.0 };
        let of = |gradient| Gradient::new(gradient, &flat, at.examples);
        own.of_biases.step(&mut own.biases, of(&mut of_biases), rate);
        let rate = self.settings.factors.factor_lr * rate;
        own.of_factors.step(&mut own.factors, of(&mut of_factors), rate);
    }
}

impl<V: Vector> Rule<V> for Sharing<V> {
    fn begin(&mut self, target: &mut dyn Target<Vector = V>, stream: &Stream) -> Result<(), Error> {
        let (start, matrices) = (&target.start(0).theta, target.matrices());
        let streams = (0..self.settings.samples).map(|k| stream.child("factors").nth(k));
        self.members = streams.map(|stream| self.member(start, &matrices, &stream)).collect();
        self.matrices = matrices;
        Ok(())
    }
    fn steps(&mut self) -> Option<&mut dyn Steps<V>> {
        Some(self)
    }
    fn draws(&mut self) -> Option<&mut dyn Draws<V>> {
        Some(self)
    }
    fn memory(&mut self) -> Memory<'_, V> {
        let mut all = self.of_shared.memory();
        for (index, own) in self.members.iter_mut().enumerate() {
            let state = Memory::none()
                .vector("factors", &mut own.factors)
                .vector("biases", &mut own.biases)
                .and(own.of_factors.memory().of(0))
                .and(own.of_biases.memory().of(1));
            all = all.and(state.of(index));
        }
        all
    }
}

impl<V: Vector> Steps<V> for Sharing<V> {
    fn epochs(&self) -> usize {
        self.settings.sgd.descent.epochs
    }
    fn rate(&self, at: &Step<'_>) -> f64 {
        self.settings.sgd.descent.rate(at)
    }
    fn step(&mut self, points: &mut [Point<V>], batch: &mut MiniBatch<'_, V>, at: &Step<'_>) {
        let shared = &mut points[0];
        let mut sum = shared.theta.zeros(shared.theta.len());
        for member in 0..self.members.len() {
            self.step_of(member, shared, batch, at, &mut sum);
        }
        let gradient = Gradient::new(&mut sum, batch.prior(), at.examples);
        let rate = self.rate(at);
        self.of_shared.step(&mut shared.theta, gradient, rate);
    }
}

impl<V: Vector> Draws<V> for Sharing<V> {
    fn count(&self) -> usize {
        self.settings.samples
    }
    fn draw(
        &mut self,
        points: &mut [Point<V>],
        _: &mut dyn Target<Vector = V>,
        at: &Draw<'_>,
    ) -> Result<Vec<V>, Error> {
        Ok(vec![self.network(&points[0].theta, at.index)])
    }
}

//! `rank1-vi`: shared weights with Gaussian factors on inputs and outputs, in several components.

use dubio_nn::engine::{Point, Vector};
use dubio_nn::matrix::Matrix;
use dubio_random::stream::Stream;
use serde::{Deserialize, Serialize};

use super::factors::{self, FactorSettings};
use super::sgd::{Descent, Sgd};
use super::vi::kl_weight;
use super::{Card, Settings, at_least_one, positive};
use crate::error::Error;
use crate::memory::Memory;
use crate::optimisers::{Kind, Optimiser};
use crate::prior::Gaussian;
use crate::rule::{Draw, Draws, Gradient, MiniBatch, Rule, Step, Steps};
use crate::schedule::Schedule;
use crate::target::Target;
use crate::wrong::Wrong;

/// Settings of `rank1-vi`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Rank1Vi {
    /// Gaussians over the factors, with equal weights.
    pub components: usize,
    /// How the means of the factors start and move.
    #[serde(flatten)]
    pub factors: FactorSettings,
    /// The settings of the descent of weights and means.
    #[serde(flatten)]
    pub sgd: Sgd,
    /// Standard deviation `p` of the prior `Normal(1, p^2)` on every factor.
    pub factor_prior_std: f64,
    /// First standard deviation of every factor.
    pub initial_std: f64,
    /// Learning rate of the log standard deviations, which an Adam of their own moves, with the same schedule.
    pub log_std_lr: f64,
    /// Weight of the divergence from the prior; 1 for the evidence lower bound.
    pub kl_weight: f64,
    /// Epochs in which that weight rises from 0, step by step.
    pub kl_warm_up: usize,
    /// Networks drawn from each component for the gradient of a step.
    pub draws: usize,
    /// Samples drawn after training, the same number from each component.
    pub samples: usize,
}

impl Default for Rank1Vi {
    fn default() -> Self {
        let schedule = Schedule::Cosine { end: 0.0 };
        let descent = Descent { lr: 0.005, schedule, ..Descent::default() };
        Self {
            components: 4,
            factors: FactorSettings::default(),
            sgd: Sgd { descent, optimiser: Kind::Adam },
            factor_prior_std: 0.1,
            initial_std: 0.05,
            log_std_lr: 0.02,
            kl_weight: 1.0,
            kl_warm_up: 0,
            draws: 1,
            samples: 40,
        }
    }
}

impl Settings for Rank1Vi {
    const CARD: Card = Card {
        name: "rank1-vi",
        summary: "Networks that share weights; the factors on the inputs and outputs of every layer are Gaussian, in several components.",
        rule: "y = ((x r) W) s + b, r and s Normal(m_k, exp(rho_k)^2) in component k; descent on mean_k (E loss + w KL(q_k, Normal(1, p^2)) / N) by m and rho, and by W and b under weight decay",
        citation: "Dusenberry et al. 2020; Seligmann et al. 2023, appendices A.1 and D",
    };

    fn check(&self) -> Result<(), Wrong> {
        self.sgd.check()?;
        self.factors.check()?;
        let Self { components, draws, samples, .. } = *self;
        at_least_one(&[("components", components), ("draws", draws), ("samples", samples)])?;
        positive(&[("factor_prior_std", self.factor_prior_std)])?;
        positive(&[("initial_std", self.initial_std), ("log_std_lr", self.log_std_lr)])?;
        if !(self.kl_weight >= 0.0 && self.kl_weight.is_finite()) {
            let what = format!("`kl_weight` must be at least 0, got {}", self.kl_weight);
            return Err(Wrong::value(&["kl_weight"], what));
        }
        if samples.is_multiple_of(components) {
            return Ok(());
        }
        let what = format!(
            "`samples` must be a multiple of `components`, so that all count alike, got {samples} of {components}"
        );
        Err(Wrong::value(&["samples", "components"], what))
    }

    fn rule<V: Vector>(&self, like: &V) -> Box<dyn Rule<V>> {
        let Sgd { descent, optimiser } = &self.sgd;
        Box::new(Mixture {
            settings: self.clone(),
            matrices: Vec::new(),
            components: Vec::new(),
            of_shared: Optimiser::new(*optimiser, descent.momentum, like),
        })
    }

    fn passes(&self) -> f64 {
        (self.sgd.descent.epochs * self.components * self.draws) as f64
    }

    fn samples(&self) -> usize {
        self.samples
    }

    /// A drawn network and the sum of gradients.
    fn vectors(&self) -> usize {
        2
    }
}

/// A Gaussian over the factors.
struct Component<V> {
    mean: V,
    log_std: V,
    of_means: Optimiser<V>,
    of_log_stds: Optimiser<V>,
}

impl<V: Vector> Component<V> {
    /// `m + exp(rho) z`, and `exp(rho) z`.
    fn drawn(&self, stream: &Stream) -> [V; 2] {
        let [mut z, mut away] = [(); 2].map(|()| self.mean.zeros(self.mean.len()));
        z.add_noise(1.0, stream);
        away.add_times_exp(1.0, &z, &self.log_std);
        let mut factors = self.mean.clone();
        factors.axpy(1.0, &away);
        [factors, away]
    }

    /// Adds `a` times the gradients of `KL(q, Normal(1, p^2)) = sum log(p / s) + (s^2 + (m - 1)^2) / (2 p^2) - 1 / 2`
    /// with respect to `m` and `rho = log s`.
    fn add_kl_gradients(&self, a: f64, p: f64, [of_mean, of_log_std]: [&mut V; 2]) {
        let mut ones = self.mean.clone();
        ones.fill(1.0);
        of_mean.axpy(a / (p * p), &self.mean);
        of_mean.axpy(-a / (p * p), &ones);
        let mut twice = self.log_std.clone();
        twice.scale(2.0);
        of_log_std.add_times_exp(a / (p * p), &ones, &twice);
        of_log_std.axpy(-a, &ones);
    }

    /// The value of that divergence. Waits.
    fn kl(&self, p: f64) -> f64 {
        let all = 0..self.mean.len();
        let pairs = self.mean.read(all.clone()).into_iter().zip(self.log_std.read(all));
        let each = |(m, rho): (f64, f64)| {
            let square = (2.0 * rho).exp() + (m - 1.0).powi(2);
            p.ln() - rho + 0.5 * square / (p * p) - 0.5
        };
        pairs.map(each).sum()
    }
}

/// Components around the point that moves: weights, biases and normalisation, which all of them share.
struct Mixture<V> {
    settings: Rank1Vi,
    matrices: Vec<Matrix>,
    components: Vec<Component<V>>,
    of_shared: Optimiser<V>,
}

impl<V: Vector> Mixture<V> {
    fn component(&self, start: &V, matrices: &[Matrix], stream: &Stream) -> Component<V> {
        let Sgd { descent, optimiser } = &self.settings.sgd;
        let mean = self.settings.factors.start(matrices, start, stream);
        let mut log_std = mean.clone();
        log_std.fill(self.settings.initial_std.ln());
        let of_means = Optimiser::new(*optimiser, descent.momentum, &mean);
        Component { of_means, of_log_stds: Optimiser::new(Kind::Adam, 0.9, &mean), mean, log_std }
    }

    /// A step of a component. Adds to the gradient of what all components share.
    fn step_of(
        &mut self,
        component: usize,
        shared: &mut Point<V>,
        batch: &mut MiniBatch<'_, V>,
        at: &Step<'_>,
        sum: &mut V,
    ) {
        let (rate, Self { settings, matrices, components, .. }) = (self.rate(at), self);
        let weight = 1.0 / components.len() as f64;
        let (draws, own) = (settings.draws, &mut components[component]);
        let [mut of_mean, mut of_log_std] = [(); 2].map(|()| own.mean.zeros(own.mean.len()));
        for draw in 0..draws {
            let [factors, away] = own.drawn(&at.noise().nth(component * draws + draw));
            let theta = factors::network(matrices, &shared.theta, &factors);
            let gradient = factors::gradient(theta, shared, batch);
            let mut of_factors = factors.zeros(factors.len());
            let (share, pair) = (weight / draws as f64, [&shared.theta, &factors]);
            factors::back(matrices, share, gradient, pair, &mut of_factors);
            sum.axpy(share, gradient);
            of_mean.axpy(1.0, &of_factors);
            of_log_std.add_product(1.0, &of_factors, &away);
        }
        let kl = weight * kl_weight(settings.kl_weight, settings.kl_warm_up, at);
        let both = [&mut of_mean, &mut of_log_std];
        own.add_kl_gradients(kl / at.examples as f64, settings.factor_prior_std, both);
        // The prior is in both gradients already.
        let flat = Gaussian { precision: 0.0 };
        let of = |gradient| Gradient::new(gradient, &flat, at.examples);
        own.of_means.step(&mut own.mean, of(&mut of_mean), settings.factors.factor_lr * rate);
        let rate = settings.log_std_lr * rate / settings.sgd.descent.lr;
        own.of_log_stds.step(&mut own.log_std, of(&mut of_log_std), rate);
    }
}

impl<V: Vector> Rule<V> for Mixture<V> {
    fn begin(&mut self, target: &mut dyn Target<Vector = V>, stream: &Stream) -> Result<(), Error> {
        let (start, matrices) = (&target.start(0).theta, target.matrices());
        let streams = (0..self.settings.components).map(|k| stream.child("factors").nth(k));
        self.components = streams.map(|stream| self.component(start, &matrices, &stream)).collect();
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
        for (index, own) in self.components.iter_mut().enumerate() {
            let state = Memory::none()
                .vector("mean", &mut own.mean)
                .vector("log_std", &mut own.log_std)
                .and(own.of_means.memory().of(0))
                .and(own.of_log_stds.memory().of(1));
            all = all.and(state.of(index));
        }
        all
    }
    /// The divergence from the prior, a mean over the components.
    fn report(&self) -> Vec<(&'static str, f64)> {
        let sum: f64 = self.components.iter().map(|c| c.kl(self.settings.factor_prior_std)).sum();
        vec![("kl", sum / self.components.len() as f64)]
    }
    /// The means and the log standard deviations of each component.
    fn factors(&mut self) -> Vec<V> {
        self.components.iter().flat_map(|own| [own.mean.clone(), own.log_std.clone()]).collect()
    }
}

impl<V: Vector> Steps<V> for Mixture<V> {
    fn epochs(&self) -> usize {
        self.settings.sgd.descent.epochs
    }
    fn rate(&self, at: &Step<'_>) -> f64 {
        self.settings.sgd.descent.rate(at)
    }
    fn step(&mut self, points: &mut [Point<V>], batch: &mut MiniBatch<'_, V>, at: &Step<'_>) {
        let shared = &mut points[0];
        let mut sum = shared.theta.zeros(shared.theta.len());
        for component in 0..self.components.len() {
            self.step_of(component, shared, batch, at, &mut sum);
        }
        let gradient = Gradient::new(&mut sum, batch.prior(), at.examples);
        let rate = self.rate(at);
        self.of_shared.step(&mut shared.theta, gradient, rate);
    }
}

impl<V: Vector> Draws<V> for Mixture<V> {
    fn count(&self) -> usize {
        self.settings.samples
    }
    fn draw(
        &mut self,
        points: &mut [Point<V>],
        _: &mut dyn Target<Vector = V>,
        at: &Draw<'_>,
    ) -> Result<Vec<V>, Error> {
        let [factors, _] = self.components[at.index % self.components.len()].drawn(at.stream);
        Ok(vec![factors::network(&self.matrices, &points[0].theta, &factors)])
    }
}

//! `ivon`: improved variational online Newton, a factorised Gaussian at the price of Adam.

use dubio_nn::engine::{Point, Vector};
use dubio_random::stream::Stream;
use serde::{Deserialize, Serialize};

use super::drawn::{self, Drawn};
use super::sgld::at_least_cold;
use super::{Card, Settings, at_least_one, fraction, positive};
use crate::memory::Memory;
use crate::rule::{Draws, MiniBatch, Rule, Step, Steps};
use crate::schedule::Schedule;
use crate::wrong::Wrong;

/// Settings of `ivon`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ivon {
    /// Passes over the training data.
    pub epochs: usize,
    /// First learning rate.
    pub lr: f64,
    /// How it falls.
    pub schedule: Schedule,
    /// Fraction of the averaged gradient that a step keeps.
    pub momentum: f64,
    /// Fraction of the averaged curvature that a step keeps. Keep it near 1: if the curvature falls as fast as the
    /// loss, steps become too large and training diverges.
    pub curvature_momentum: f64,
    /// First curvature of the mean loss, for every parameter.
    pub curvature: f64,
    /// Networks drawn for the gradient of a step.
    pub draws: usize,
    /// Samples drawn from the Gaussian after training.
    pub samples: usize,
    /// 1 for the posterior; below 1 for a cold posterior: the variance is `T` times as large.
    pub temperature: f64,
    /// How many examples each one counts as, since augmentation makes several of each: the likelihood is raised to this
    /// power, the prior is not (Osawa et al. 2019).
    pub augmentation_factor: f64,
}

impl Default for Ivon {
    fn default() -> Self {
        Self {
            epochs: 50,
            lr: 0.5,
            schedule: Schedule::Cosine { end: 0.0 },
            momentum: 0.9,
            curvature_momentum: 0.99999,
            curvature: 1.0,
            draws: 1,
            samples: 30,
            temperature: 1.0,
            augmentation_factor: 1.0,
        }
    }
}

impl Settings for Ivon {
    const CARD: Card = Card {
        name: "ivon",
        summary: "A Gaussian with a mean and a variance for each parameter, learnt by a variational form of Newton's method.",
        rule: "theta ~ Normal(m, T / (N (h + d))); h by averages of grad (theta - m) N (h + d) / T, kept positive; m -= lr (averaged grad + d m) / (h + d), d = 1 / (N s^2), N the examples times augmentation_factor",
        citation: "Shen et al. 2024; positive curvature, Lin et al. 2020; augmentation factor, Osawa et al. 2019",
    };
    const PRIOR_STD: Option<f64> = Some(1.0);

    fn check(&self) -> Result<(), Wrong> {
        at_least_one(&[("epochs", self.epochs), ("draws", self.draws), ("samples", self.samples)])?;
        positive(&[("lr", self.lr), ("curvature", self.curvature)])?;
        fraction("momentum", self.momentum)?;
        fraction("curvature_momentum", self.curvature_momentum)?;
        at_least_cold(self.temperature)?;
        positive(&[
            ("temperature", self.temperature),
            ("augmentation_factor", self.augmentation_factor),
        ])
    }

    fn rule<V: Vector>(&self, like: &V) -> Box<dyn Rule<V>> {
        let zeros = || like.zeros(like.len());
        Box::new(Newton {
            settings: self.clone(),
            precision: None,
            examples: 0,
            momentum: zeros(),
            count: 0,
        })
    }

    fn passes(&self) -> f64 {
        (self.epochs * self.draws) as f64
    }

    fn samples(&self) -> usize {
        self.samples
    }

    fn vectors(&self) -> usize {
        6
    }
}

struct Newton<V> {
    settings: Ivon,
    /// `h + d`, which is the posterior's precision divided by `N / T`; `None` before the first step.
    precision: Option<V>,
    /// Examples of the training set.
    examples: u64,
    /// The average of the gradient.
    momentum: V,
    /// Steps taken.
    count: u64,
}

impl<V> Newton<V> {
    /// `N`.
    fn counted(&self) -> f64 {
        self.settings.augmentation_factor * self.examples as f64
    }
}

impl<V: Vector> Drawn for Newton<V> {
    type Vector = V;
    fn samples(&self) -> usize {
        self.settings.samples
    }
    /// `m + z sqrt(T / (N (h + d)))`, and `z`.
    fn drawn(&self, mean: &V, stream: &Stream) -> (V, V) {
        let precision = self.precision.as_ref().expect("after the first step");
        let (mut theta, mut z) = (mean.clone(), mean.zeros(mean.len()));
        z.add_noise(1.0, stream);
        let scale = (self.settings.temperature / self.counted()).sqrt();
        theta.add_over_root(scale, &z, precision, 0.0);
        (theta, z)
    }
}

impl<V: Vector> Rule<V> for Newton<V> {
    fn steps(&mut self) -> Option<&mut dyn Steps<V>> {
        Some(self)
    }
    fn draws(&mut self) -> Option<&mut dyn Draws<V>> {
        Some(self)
    }
    fn memory(&mut self) -> Memory<'_, V> {
        Memory::none()
            .optional("precision", &mut self.precision)
            .count("examples", &mut self.examples)
            .vector("momentum", &mut self.momentum)
            .count("count", &mut self.count)
    }
    /// The precision of each parameter.
    fn factors(&mut self) -> Vec<V> {
        let scale = self.counted() / self.settings.temperature;
        let scaled = self.precision.clone().map(|mut precision| {
            precision.scale(scale);
            precision
        });
        scaled.into_iter().collect()
    }
}

impl<V: Vector> Steps<V> for Newton<V> {
    fn epochs(&self) -> usize {
        self.settings.epochs
    }
    fn rate(&self, at: &Step<'_>) -> f64 {
        self.settings.lr * self.settings.schedule.fraction(at, self.settings.epochs)
    }
    fn step(&mut self, points: &mut [Point<V>], batch: &mut MiniBatch<'_, V>, at: &Step<'_>) {
        self.examples = at.examples as u64;
        let (n, rate) = (self.counted(), self.rate(at));
        let Ivon { momentum, curvature_momentum, curvature, draws, temperature, .. } =
            self.settings;
        let mean = &mut points[0];
        // The gradient of a Gaussian prior where every parameter is 1 is its precision.
        let mut decay = mean.theta.zeros(mean.theta.len());
        let mut ones = decay.clone();
        ones.fill(1.0);
        batch.prior().add_gradient(1.0, n, &ones, &mut decay);
        if self.precision.is_none() {
            ones.combine(curvature, 1.0, &decay);
            self.precision = Some(ones);
        }
        let [mut slope, mut products, mut change, mut scaled] =
            [(); 4].map(|()| mean.theta.zeros(mean.theta.len()));
        let draw = |mean: &V, stream: &Stream| self.drawn(mean, stream);
        let sums = [&mut slope, &mut products];
        drawn::gradients(mean, batch, (draws, at), draw, |_, _| {}, sums);
        let [slope, products, change, scaled] =
            [&mut slope, &mut products, &mut change, &mut scaled];
        let precision = self.precision.as_mut().expect("set above");
        // How far the curvature's estimate, grad z / std, is above the average; both include `d`.
        change.add_times_root((n / temperature).sqrt(), products, precision);
        change.axpy(1.0, &decay);
        change.axpy(-1.0, precision);
        scaled.add_over_root(1.0, change, precision, 0.0);
        let new = 1.0 - curvature_momentum;
        // w + r c + r^2 c^2 / (2 w) = (w + r c)^2 / (2 w) + w / 2 is positive, whatever c.
        precision.axpy(new, change);
        precision.add_product(0.5 * new * new, scaled, scaled);
        self.momentum.combine(momentum, 1.0 - momentum, slope);
        self.count += 1;
        slope.copy_from(&self.momentum);
        slope.scale(1.0 / (1.0 - momentum.powf(self.count as f64)));
        batch.prior().add_gradient(1.0, n, &mean.theta, slope);
        mean.theta.add_quotient(-rate, slope, precision);
    }
}

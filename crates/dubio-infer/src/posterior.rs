//! What inference leaves: points in parameter space, and how they predict.

use std::sync::Arc;

use dubio_nn::engine::{Engine, Model, Point, Seed, Vector};
use dubio_random::stream::Stream;

use crate::clock::Seconds;
use crate::likelihood::Likelihood;

/// An approximate posterior, as the points and factors that represent it.
#[derive(Clone, Debug)]
pub struct Posterior<V> {
    /// Networks, member after member; unless the method says otherwise, each has the same weight.
    pub points: Vec<Point<V>>,
    /// What else each member's method leaves: factors of a covariance.
    pub factors: Vec<Vec<V>>,
    /// How it went, a record for each member.
    pub records: Vec<Record>,
}

impl<V: Vector> Posterior<V> {
    /// Before anything was learnt.
    pub fn empty() -> Self {
        Self { points: Vec::new(), factors: Vec::new(), records: Vec::new() }
    }

    /// Adds what another member has learnt.
    pub fn extend(&mut self, other: Self) {
        self.points.extend(other.points);
        self.factors.extend(other.factors);
        self.records.extend(other.records);
    }
}

/// How a member's training went.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    /// The time that it took, over all its resumptions.
    pub seconds: Seconds,
    /// Mean loss of the mini-batches of each epoch.
    pub losses: Vec<f64>,
    /// What the method reports: acceptance rates, step sizes.
    pub report: Vec<(&'static str, f64)>,
    /// What a user must know before trusting the samples, in words.
    pub warnings: Vec<String>,
}

/// A sample of a predictive distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Which part of the posterior gives it.
    pub part: usize,
    /// Which of the part's samples it is.
    pub of_part: usize,
}

/// How a posterior predicts: samples with equal weight, from parts that can be worked out side by side.
pub trait Predictive<E: Engine>: Send + Sync {
    /// How many parts.
    fn parts(&self) -> usize;
    /// Samples that a part gives.
    fn samples_of_part(&self) -> usize;
    /// Outputs of a sample for some inputs, `[examples, outputs]`. What is random about it comes from
    /// `noise`, and is the same for all inputs.
    fn outputs(
        &self,
        sample: Sample,
        model: &mut E::Model,
        inputs: &[E::Number],
        noise: &Stream,
        out: &mut Vec<E::Number>,
    );
    /// Gradient of a sample's outputs with respect to the inputs, from a seed.
    fn input_gradient(
        &self,
        sample: Sample,
        model: &mut E::Model,
        inputs: &[E::Number],
        noise: &Stream,
        seed: Seed<'_>,
        out: &mut [E::Number],
    );
    /// The likelihood that reads the outputs, where it is not the one of training.
    fn likelihood(&self) -> Option<Arc<dyn Likelihood>> {
        None
    }
}

/// Every point predicts: once, or several times with the noise of its layers.
pub struct Points<'a, V> {
    /// The points.
    pub points: &'a [Point<V>],
    /// Passes with noise, each of which is a sample; `None` for one without.
    pub noisy_passes: Option<usize>,
}

impl<V> Points<'_, V> {
    fn noise<'a>(&self, noise: &'a Stream) -> Option<&'a Stream> {
        self.noisy_passes.map(|_| noise)
    }
}

impl<E: Engine> Predictive<E> for Points<'_, E::Vector> {
    fn parts(&self) -> usize {
        self.points.len()
    }
    fn samples_of_part(&self) -> usize {
        self.noisy_passes.unwrap_or(1)
    }
    fn outputs(
        &self,
        sample: Sample,
        model: &mut E::Model,
        inputs: &[E::Number],
        noise: &Stream,
        out: &mut Vec<E::Number>,
    ) {
        model.predict(&self.points[sample.part], inputs, self.noise(noise), out);
    }
    fn input_gradient(
        &self,
        sample: Sample,
        model: &mut E::Model,
        inputs: &[E::Number],
        noise: &Stream,
        seed: Seed<'_>,
        out: &mut [E::Number],
    ) {
        model.input_gradient(&self.points[sample.part], inputs, self.noise(noise), seed, out);
    }
}

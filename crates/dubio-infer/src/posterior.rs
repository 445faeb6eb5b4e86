//! What inference leaves: points in parameter space, and what predicting with them takes.

use dubio_nn::engine::Vector;

use crate::clock::Seconds;

/// A network: parameters and running statistics.
#[derive(Clone, Debug, PartialEq)]
pub struct Point<V> {
    /// The parameters.
    pub theta: V,
    /// The running statistics of normalisation.
    pub statistics: Vec<f64>,
}

/// An approximate posterior, as the networks that stand for it with equal weight.
#[derive(Clone, Debug)]
pub struct Posterior<V> {
    /// The networks, member after member.
    pub points: Vec<Point<V>>,
    /// Whether, and how often, each predicts with the noise of its layers.
    pub noise: Noise,
    /// How it went, a record for each member.
    pub records: Vec<Record>,
}

/// How a point predicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noise {
    /// Once, without noise.
    Off,
    /// So many times, with noise: each pass is a sample.
    Passes(usize),
}

impl Noise {
    /// Samples that a point gives.
    pub fn passes(self) -> usize {
        match self {
            Self::Off => 1,
            Self::Passes(passes) => passes,
        }
    }
}

/// How a member's training went.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    /// What it took, over all its resumptions.
    pub seconds: Seconds,
    /// Mean loss of the mini-batches of each epoch.
    pub losses: Vec<f64>,
    /// What the method tells of itself: acceptance rates, step sizes.
    pub report: Vec<(&'static str, f64)>,
}

impl<V: Vector> Posterior<V> {
    /// Samples of the posterior: forward passes that a prediction takes.
    pub fn samples(&self) -> usize {
        self.points.len() * self.noise.passes()
    }
}

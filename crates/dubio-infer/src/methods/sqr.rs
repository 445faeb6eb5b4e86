//! `sqr`: simultaneous quantile regression, one network for the quantiles of every level.

use std::sync::Arc;

use dubio_nn::engine::{Engine, Model, Point, Seed, Vector};
use dubio_nn::real::Real;
use dubio_random::stream::Stream;
use dubio_random::uniform::uniform;
use serde::{Deserialize, Serialize};

use super::conditional_gaussian::by_adam;
use super::sgd::Sgd;
use super::{Card, Scene, Settings, at_least_one};
use crate::likelihood::Likelihood;
use crate::likelihood::pinball::{Pinball, as_input};
use crate::posterior::{Posterior, Predictive, Sample};
use crate::rule::Rule;
use crate::wrong::Wrong;

/// What is predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Predict {
    /// Draws of the target: quantiles at levels drawn uniformly, which have the predictive distribution. Every score
    /// but those of a density can be worked out, and posterior predictive checks too.
    Samples,
    /// Quantiles at equally spaced levels.
    Quantiles,
}

/// Settings of `sqr`: those of [`Sgd`], by default with Adam.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sqr {
    /// The settings of the descent.
    #[serde(flatten)]
    pub sgd: Sgd,
    /// `samples` or `quantiles`.
    pub predict: Predict,
    /// Draws of the target for each example.
    pub samples: usize,
    /// Quantiles that are predicted, at the levels `k / (levels + 1)`; 199 of them include 0.025, 0.5 and 0.975.
    pub levels: usize,
}

impl Default for Sqr {
    fn default() -> Self {
        Self { sgd: by_adam(), predict: Predict::Samples, samples: 1000, levels: 199 }
    }
}

impl Sqr {
    fn level(&self, index: usize) -> f64 {
        (index + 1) as f64 / (self.levels + 1) as f64
    }
}

impl Settings for Sqr {
    const CARD: Card = Card {
        name: "sqr",
        summary: "One network that reads a level beside the inputs and predicts the quantile there; for tables of numbers.",
        rule: "Adam on max(u (y - q(x, u)), (u - 1) (y - q(x, u))), with u ~ Uniform(0, 1) for every example of every step",
        citation: "Tagasovska and Lopez-Paz 2019; Gopal 2021, app. A",
    };

    fn check(&self) -> Result<(), Wrong> {
        self.sgd.check()?;
        at_least_one(&[("samples", self.samples), ("levels", self.levels)])
    }

    fn rule<V: Vector>(&self, like: &V) -> Box<dyn Rule<V>> {
        self.sgd.rule(like)
    }

    fn is_for_regression(&self) -> bool {
        true
    }

    fn likelihood(&self) -> Option<Arc<dyn Likelihood>> {
        let levels = match self.predict {
            Predict::Samples => Vec::new(),
            Predict::Quantiles => (0..self.levels).map(|k| self.level(k)).collect(),
        };
        Some(Arc::new(Pinball { levels }))
    }

    fn passes(&self) -> f64 {
        self.sgd.passes()
    }

    fn samples(&self) -> usize {
        match self.predict {
            Predict::Samples => self.samples,
            Predict::Quantiles => self.levels,
        }
    }

    fn noisy_passes(&self) -> Option<usize> {
        Some(self.samples())
    }

    fn predictive<'a, E: Engine>(
        &self,
        posterior: &'a Posterior<E::Vector>,
        _: &Scene<'a>,
    ) -> Box<dyn Predictive<E> + 'a> {
        Box::new(Quantiles { settings: self.clone(), points: &posterior.points })
    }
}

/// A pass for each level.
struct Quantiles<'a, V> {
    settings: Sqr,
    points: &'a [Point<V>],
}

impl<V> Quantiles<'_, V> {
    /// The level of an example in a pass.
    fn level(&self, pass: usize, example: usize, noise: &Stream) -> f64 {
        match self.settings.predict {
            Predict::Samples => uniform(&mut noise.nth(example).generator()),
            Predict::Quantiles => self.settings.level(pass),
        }
    }

    /// Inputs with the level behind each example; `first` examples came before.
    fn with_levels<T: Real>(
        &self,
        width: usize,
        inputs: &[T],
        (pass, first, noise): (usize, usize, &Stream),
    ) -> Vec<T> {
        let mut all = Vec::with_capacity(inputs.len() / width * (width + 1));
        for (example, row) in inputs.chunks_exact(width).enumerate() {
            all.extend_from_slice(row);
            all.push(T::of(as_input(self.level(pass, first + example, noise))));
        }
        all
    }
}

impl<E: Engine> Predictive<E> for Quantiles<'_, E::Vector> {
    fn parts(&self) -> usize {
        self.points.len()
    }
    fn samples_of_part(&self) -> usize {
        self.settings.samples()
    }
    /// The quantile alone, without its level.
    fn outputs(
        &self,
        sample: Sample,
        model: &mut E::Model,
        inputs: &[E::Number],
        noise: &Stream,
        out: &mut Vec<E::Number>,
    ) {
        let width = model.network().input.size() - 1;
        let inputs = self.with_levels(width, inputs, (sample.of_part, out.len(), noise));
        let mut both = Vec::new();
        model.predict(&self.points[sample.part], &inputs, None, &mut both);
        out.extend(both.into_iter().step_by(2));
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
        let width = model.network().input.size() - 1;
        let inputs = self.with_levels(width, inputs, (sample.of_part, 0, noise));
        let mut all = vec![E::Number::of(0.0); inputs.len()];
        model.input_gradient(&self.points[sample.part], &inputs, None, seed, &mut all);
        for (out, own) in out.chunks_exact_mut(width).zip(all.chunks_exact(width + 1)) {
            out.copy_from_slice(&own[..width]);
        }
    }
}

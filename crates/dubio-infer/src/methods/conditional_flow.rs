//! `conditional-flow`: one network that predicts a density of any shape, by a flow in one dimension.

use std::sync::Arc;

use dubio_nn::engine::{Engine, Model, Point, Seed, Vector};
use dubio_nn::real::Real;
use dubio_random::normal::normals;
use dubio_random::stream::Stream;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::conditional_gaussian::by_adam;
use super::sgd::Sgd;
use super::{Card, Scene, Settings, at_least_one};
use crate::likelihood::Likelihood;
use crate::likelihood::flow::Flow;
use crate::posterior::{Posterior, Predictive, Sample};
use crate::rule::Rule;
use crate::wrong::Wrong;

/// Settings of `conditional-flow`: those of [`Sgd`], by default with Adam.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ConditionalFlow {
    /// The settings of the descent.
    #[serde(flatten)]
    pub sgd: Sgd,
    /// Units of either hidden layer of a residual block.
    pub hidden: usize,
    /// Draws of the target for each example.
    pub draws: usize,
}

impl Default for ConditionalFlow {
    fn default() -> Self {
        Self { sgd: by_adam(), hidden: 64, draws: 1000 }
    }
}

/// The widest residual block; its matrix is handed to every example of a batch.
const WIDEST: usize = 256;

impl Settings for ConditionalFlow {
    const CARD: Card = Card {
        name: "conditional-flow",
        summary: "One network that predicts a density of any shape by a residual flow, trained by maximum likelihood; for regression.",
        rule: "Adam on -log Normal(z(y; x)) - log dz/dy; z: (y - m(x)) / s(x), then twice x + g(x) with |g'| < 1 and an affine map",
        citation: "Chen et al. 2019; Gopal 2021, app. A",
    };

    fn check(&self) -> Result<(), Wrong> {
        self.sgd.check()?;
        at_least_one(&[("hidden", self.hidden), ("draws", self.draws)])?;
        if self.hidden <= WIDEST {
            return Ok(());
        }
        let what = format!("`hidden` must be at most {WIDEST}, got {}", self.hidden);
        Err(Wrong::value(&["hidden"], what))
    }

    fn rule<V: Vector>(&self, like: &V) -> Box<dyn Rule<V>> {
        self.sgd.rule(like)
    }

    fn is_for_regression(&self) -> bool {
        true
    }

    fn likelihood(&self) -> Option<Arc<dyn Likelihood>> {
        Some(Arc::new(Flow { hidden: self.hidden }))
    }

    fn passes(&self) -> f64 {
        self.sgd.passes()
    }

    fn predictive<'a, E: Engine>(
        &self,
        posterior: &'a Posterior<E::Vector>,
        _: &Scene<'a>,
    ) -> Box<dyn Predictive<E> + 'a> {
        let Self { hidden, draws, .. } = *self;
        Box::new(Densities { flow: Flow { hidden }, draws, points: &posterior.points })
    }
}

/// Draws from the density of every example: one pass, and `z(y) = z` solved for each draw.
struct Densities<'a, V> {
    flow: Flow,
    draws: usize,
    points: &'a [Point<V>],
}

/// Examples whose outputs, with all numbers that they share, are kept at a time.
const CHUNK: usize = 50;

impl<E: Engine> Predictive<E> for Densities<'_, E::Vector> {
    fn parts(&self) -> usize {
        self.points.len()
    }
    fn samples_of_part(&self) -> usize {
        1
    }
    fn outputs(
        &self,
        sample: Sample,
        model: &mut E::Model,
        inputs: &[E::Number],
        noise: &Stream,
        out: &mut Vec<E::Number>,
    ) {
        let (size, width) = (model.network().input.size(), model.network().output().size());
        for inputs in inputs.chunks(CHUNK * size) {
            let mut rows = Vec::new();
            model.predict(&self.points[sample.part], inputs, None, &mut rows);
            let rows: Vec<f64> = rows.into_iter().map(Real::wide).collect();
            let shared = self.flow.shared(&rows[..width]);
            let first = out.len() / self.draws;
            let drawn: Vec<Vec<f64>> = rows
                .par_chunks_exact(width)
                .enumerate()
                .map(|(k, row)| shared.draws(&normals(self.draws, &noise.nth(first + k)), row))
                .collect();
            out.extend(drawn.into_iter().flatten().map(E::Number::of));
        }
    }
    fn input_gradient(
        &self,
        sample: Sample,
        model: &mut E::Model,
        inputs: &[E::Number],
        _: &Stream,
        seed: Seed<'_>,
        out: &mut [E::Number],
    ) {
        model.input_gradient(&self.points[sample.part], inputs, None, seed, out);
    }
}

//! The network of a problem with perturbed layers: gradients with respect to what the noise of weights is made of, and
//! to their means.

use std::ops::Range;
use std::sync::Arc;

use dubio_nn::engine::{Batch, Engine, Model, Point, Vector};
use dubio_nn::loss::Loss;
use dubio_nn::network::Perturbation;

use super::Problem;
use crate::target::{BatchName, Perturbed};

/// A network with perturbed layers at work.
pub(super) struct PerturbedModel<E: Engine> {
    pub(super) model: E::Model,
    /// Spreads and means, one behind the other, and running statistics.
    point: Point<E::Vector>,
    gradient: E::Vector,
}

impl<E: Engine> Problem<E> {
    /// Puts the network with perturbed layers to work; gives the stretches of the vector that they perturb.
    pub(super) fn put_perturbed_to_work(&mut self, by: Perturbation) -> Vec<Range<usize>> {
        let (network, length) = (self.model.network(), self.here.theta.len());
        let mut model = self.engine.model(&network.perturbed(&self.moving, by), self.batch);
        let loss: Arc<dyn Loss> = Arc::clone(&self.likelihood) as Arc<dyn Loss>;
        let Range { start, end } = self.moving;
        model.learn(&self.data, &loss, length + start..length + end);
        let theta = self.here.theta.zeros(2 * length);
        let statistics = self.here.statistics.clone();
        let gradient = theta.clone();
        let stretches = network.perturbable(&self.moving);
        self.perturbed =
            Some(PerturbedModel { model, point: Point { theta, statistics }, gradient });
        // The new model has not been handed the order yet.
        self.epoch = None;
        stretches
    }

    pub(super) fn gradient_of_perturbed(
        &mut self,
        at: Perturbed<'_, E::Vector>,
        batch: BatchName,
        [of_spreads, of_means]: [&mut E::Vector; 2],
    ) {
        let (rows, stream) = self.named(batch);
        let augment = stream.child("augment");
        let batch = Batch { rows, augment: Some(&augment), noise: Some(at.noise) };
        let PerturbedModel { model, point, gradient } =
            self.perturbed.as_mut().expect("a method asks for it before its first step");
        let length = at.means.len();
        point.theta.put(0, at.spreads);
        point.theta.put(length, at.means);
        point.statistics.copy_from(at.statistics);
        model.gradient(point, &batch, gradient);
        at.statistics.copy_from(&point.statistics);
        of_spreads.copy_from(&gradient.part(0..length));
        of_means.copy_from(&gradient.part(length..2 * length));
    }
}

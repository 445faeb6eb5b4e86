//! A problem as inference sees it: losses, gradients, outputs and curvature.

use std::ops::Range;
use std::sync::Arc;

use dubio_nn::engine::{Batch, Engine, Model, Point, Rows, Seed, Vector, Visited};
use dubio_nn::examples::Answers;
use dubio_nn::loss::Truth;
use dubio_nn::matrix::Matrix;
use dubio_nn::network::Perturbation;
use dubio_nn::parameter::Slice;
use dubio_nn::real::Real;
use dubio_random::stream::Stream;

use super::{Problem, Start};
use crate::curvature::{Curvature, LayerGradients, Sought};
use crate::error::Error;
use crate::likelihood::Likelihood;
use crate::prior::Prior;
use crate::target::{BatchName, Perturbed, Target};

/// The most examples at a time for curvature, which needs the input of every layer and its gradients.
const CURVATURE_CHUNK: usize = 100;

/// The gradients at the outputs of some examples whose products sum to the Fisher information.
fn roots(
    likelihood: &dyn Likelihood,
    outputs: &[f64],
    (answers, rows): (&Answers, &[u32]),
    curvature: Curvature,
    stream: &Stream,
) -> Vec<Vec<f64>> {
    match curvature {
        Curvature::Ggn => likelihood.curved().map_or(Vec::new(), |curved| curved.fisher(outputs)),
        Curvature::SampledFisher => {
            likelihood.curved().map(|curved| curved.drawn(outputs, stream)).into_iter().collect()
        }
        Curvature::EmpiricalFisher => {
            let mut gradient = vec![0.0; outputs.len()];
            let at = |row: &u32| *row as usize;
            match answers {
                Answers::Labels(labels) => {
                    let own: Vec<_> = rows.iter().map(|row| labels[at(row)]).collect();
                    likelihood.mean(outputs, Truth::Labels(&own), rows, &mut gradient)
                }
                Answers::Targets(targets) => {
                    let own: Vec<_> = rows.iter().map(|row| targets[at(row)]).collect();
                    likelihood.mean(outputs, Truth::Targets(&own), rows, &mut gradient)
                }
            };
            // Gradients of each example's loss, not of the mean.
            gradient.iter_mut().for_each(|g| *g *= rows.len() as f64);
            vec![gradient]
        }
    }
}

/// Some examples as they are.
fn plain(rows: Rows) -> Batch<'static> {
    Batch { rows, augment: None, noise: None }
}

impl<E: Engine> Target for Problem<E> {
    type Vector = E::Vector;

    fn examples(&self) -> usize {
        self.examples
    }

    fn prior(&self) -> Arc<dyn Prior<E::Vector>> {
        Arc::clone(&self.prior)
    }

    fn is_steep(&self) -> bool {
        self.likelihood.is_steep()
    }

    fn batches(&self) -> usize {
        self.examples.div_ceil(self.batch)
    }

    fn start(&self, index: usize) -> Point<E::Vector> {
        let stream = self.stream.child("start");
        match (&self.start, index) {
            (Start::Warm(point), _) => point.clone(),
            (Start::Fresh, 0) => self.model.start(&stream),
            (Start::Fresh, _) => self.model.start(&stream.nth(index)),
        }
    }

    fn slices(&self) -> Vec<Slice> {
        self.model.network().slices()
    }

    fn matrices(&self) -> Vec<Matrix> {
        self.model.network().matrices()
    }

    fn likelihood(&self) -> Option<Arc<dyn Likelihood>> {
        Some(Arc::clone(&self.likelihood))
    }

    fn hidden_layers(&self) -> Vec<Matrix> {
        let mut all = self.matrices();
        all.pop();
        all
    }

    fn gradient(
        &mut self,
        point: &mut Point<E::Vector>,
        batch: BatchName,
        gradient: &mut E::Vector,
    ) {
        let (rows, noise) = self.named(batch);
        let augment = noise.child("augment");
        let batch = Batch { rows, augment: Some(&augment), noise: Some(&noise) };
        self.model.gradient(point, &batch, gradient);
    }

    fn gradients(
        &mut self,
        points: &mut [Point<E::Vector>],
        batch: BatchName,
        gradients: &mut [E::Vector],
    ) {
        let (rows, noise) = self.named(batch);
        let augment = noise.child("augment");
        let batch = Batch { rows, augment: Some(&augment), noise: Some(&noise) };
        self.model.gradients(points, &batch, gradients);
    }

    fn perturb(&mut self, by: Perturbation) -> Option<Vec<Range<usize>>> {
        Some(self.put_perturbed_to_work(by))
    }

    fn perturbed_gradient(
        &mut self,
        at: Perturbed<'_, E::Vector>,
        batch: BatchName,
        gradients: [&mut E::Vector; 2],
    ) {
        self.gradient_of_perturbed(at, batch, gradients);
    }

    /// In their order, since no method takes gradients of both networks.
    fn losses(&mut self) -> Vec<f64> {
        let mut losses = std::mem::take(&mut self.losses);
        losses.extend(self.model.losses());
        if let Some(perturbed) = &mut self.perturbed {
            losses.extend(perturbed.model.losses());
        }
        losses
    }

    fn whole(&mut self, theta: &E::Vector, gradient: &mut E::Vector) -> f64 {
        self.losses = self.losses();
        let mut sum = self.sum.take().unwrap_or_else(|| gradient.clone());
        sum.fill(0.0);
        self.here.theta.copy_from(theta);
        let weight = |rows: &Rows| rows.len() as f64 / self.examples as f64;
        let mut weights = Vec::new();
        for rows in self.chunks() {
            weights.push(weight(&rows));
            self.model.gradient(&mut self.here, &plain(rows), gradient);
            sum.axpy(weights[weights.len() - 1], gradient);
        }
        gradient.copy_from(&sum);
        self.sum = Some(sum);
        self.model.losses().iter().zip(weights).fold(0.0, |sum, (loss, weight)| sum + weight * loss)
    }

    fn whole_loss(&mut self, theta: &E::Vector) -> f64 {
        let statistics = self.statistics(theta);
        let point = Point { theta: theta.clone(), statistics };
        let mut loss = 0.0;
        for rows in self.chunks() {
            let weight = rows.len() as f64 / self.examples as f64;
            loss += weight * self.model.loss(&point, &plain(rows));
        }
        loss
    }

    fn has_statistics(&self) -> bool {
        self.moves_statistics
    }

    fn statistics(&mut self, theta: &E::Vector) -> E::Vector {
        let mut statistics = self.start(0).statistics;
        if !self.moves_statistics {
            return statistics;
        }
        // The mean over all chunks, weighted by their sizes: momentum b / (n + b).
        let (mut seen, mut first) = (0.0, 0);
        for rows in self.chunks() {
            let here = rows.len();
            seen += here as f64;
            let stream = self.stream.child("chunks").nth(first);
            first += here;
            let batch = Batch { rows, augment: Some(&stream), noise: None };
            self.model.observe(theta, &mut statistics, &batch, here as f64 / seen);
        }
        statistics
    }

    fn outputs(&mut self, point: &Point<E::Vector>, batch: BatchName) -> Vec<f64> {
        let (rows, noise) = self.named(batch);
        let augment = noise.child("augment");
        let mut outputs = Vec::new();
        let batch = Batch { rows, augment: Some(&augment), noise: None };
        self.model.outputs(point, &batch, &mut outputs);
        outputs.into_iter().map(Real::wide).collect()
    }

    fn seeded_gradient(
        &mut self,
        point: &mut Point<E::Vector>,
        batch: BatchName,
        seed: Seed<'_>,
        gradient: &mut E::Vector,
    ) {
        let (rows, noise) = self.named(batch);
        let augment = noise.child("augment");
        let batch = Batch { rows, augment: Some(&augment), noise: Some(&noise) };
        self.model.seeded_gradient(point, &batch, seed, gradient);
    }

    fn visit(
        &mut self,
        point: &Point<E::Vector>,
        batch: BatchName,
        seed: Seed<'_>,
        visitor: &mut dyn FnMut(Visited<'_, E::Vector>),
    ) {
        let (rows, noise) = self.named(batch);
        let augment = noise.child("augment");
        let batch = Batch { rows, augment: Some(&augment), noise: None };
        self.model.visit(point, &batch, seed, visitor);
    }

    fn curvature(
        &mut self,
        point: &Point<E::Vector>,
        Sought { stretch, curvature, examples }: &Sought,
        stream: &Stream,
        each: &mut dyn FnMut(usize, Vec<LayerGradients>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let ends = LayerGradients::are_of_the_end(self.model.network(), stretch);
        let mut order: Vec<u32> = (0..self.examples as u32).collect();
        if let Some(examples) = *examples {
            // After this, the model has the order of no epoch.
            order = self.shuffled(&stream.child("examples"));
            self.model.order(&order);
            self.epoch = None;
            order.truncate(examples);
        }
        let together = CURVATURE_CHUNK.min(self.together);
        for (chunk, numbers) in order.chunks(together).enumerate() {
            let first = chunk * together;
            let rows = first..first + numbers.len();
            let batch =
                plain(if examples.is_some() { Rows::Ordered(rows) } else { Rows::Stored(rows) });
            let mut outputs = Vec::new();
            self.model.outputs(point, &batch, &mut outputs);
            let outputs: Vec<f64> = outputs.into_iter().map(Real::wide).collect();
            let (answers, stream) = ((&self.answers, numbers), stream.nth(first));
            let roots = roots(&*self.likelihood, &outputs, answers, *curvature, &stream);
            let mut layers: Vec<LayerGradients> = Vec::new();
            for (index, root) in roots.into_iter().enumerate() {
                if ends && index > 0 {
                    layers = layers.iter().map(|end| end.with_gradients(root.clone())).collect();
                } else {
                    layers.clear();
                    self.model.visit(point, &batch, Seed::Factors(&root), &mut |visited| {
                        layers.extend(LayerGradients::in_place(&visited, stretch));
                    });
                }
                each(index, layers.clone())?;
            }
        }
        Ok(())
    }
}

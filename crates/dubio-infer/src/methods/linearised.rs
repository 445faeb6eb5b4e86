//! Predictions of a network as a linear function of its parameters, which are Gaussian: so are its outputs.

use std::ops::Range;
use std::sync::Arc;

use dubio_nn::engine::{Engine, Model, Point, Seed, Vector};
use dubio_nn::network::{Network, Node};
use dubio_nn::real::Real;
use dubio_random::stream::Stream;

use super::Scene;
use crate::curvature::{Jacobian, LayerGradients, Spectrum, Structure, Weights};
use crate::likelihood::{Curved, Likelihood, Link};
use crate::posterior::{Posterior, Predictive, Sample};

/// The most numbers that Jacobians may take at a time.
const MOST: usize = 1 << 25;

/// `f(x) + J(x) (theta - MAP)` with `theta ~ Normal(MAP, (H + d)^-1)`: each member predicts once.
pub(crate) struct Linearised<'a, V> {
    points: &'a [Point<V>],
    /// For each member that was finished, what is added to its spectrum, and the spectrum.
    spectra: Vec<Option<(f64, Box<dyn Spectrum>)>>,
    likelihood: &'a dyn Likelihood,
    moving: Range<usize>,
    link: Link,
    /// Examples whose Jacobians are kept at a time.
    chunk: usize,
}

impl<'a, V: Vector> Linearised<'a, V> {
    /// The factors of a member are what is added to its spectrum, then the spectrum.
    pub(crate) fn new(
        posterior: &'a Posterior<V>,
        scene: &Scene<'a>,
        structure: Structure,
        link: Link,
    ) -> Self {
        let weights = Weights::inside(&scene.network, &scene.moving);
        let spectrum = |factors: &Vec<V>| {
            let numbers = factors.first().map(|factors| factors.read(0..factors.len()))?;
            Some((numbers[0], structure.spectrum(&weights, &numbers[1..])))
        };
        let spectra = posterior.factors.iter().map(spectrum).collect();
        let (points, moving) = (&posterior.points[..], scene.moving.clone());
        let likelihood = scene.likelihood;
        let chunk = MOST / (likelihood.outputs() * shown(&scene.network, &moving)).max(1);
        Self { points, spectra, likelihood, moving, link, chunk: chunk.max(1) }
    }

    /// Gradients of every output for some inputs.
    fn jacobian<E: Engine<Vector = V>>(
        &self,
        point: &Point<V>,
        model: &mut E::Model,
        inputs: &[E::Number],
        outputs: usize,
    ) -> Jacobian {
        let examples = inputs.len() / model.network().input.size();
        let network = model.network().clone();
        let one_of = |output: usize| {
            let mut factors = vec![0.0; examples * outputs];
            factors.iter_mut().skip(output).step_by(outputs).for_each(|factor| *factor = 1.0);
            factors
        };
        let mut of = |output: usize| {
            let factors = one_of(output);
            let mut layers = Vec::new();
            model.visit_inputs(point, inputs, Seed::Factors(&factors), &mut |visited| {
                layers.extend(LayerGradients::inside(&visited, &self.moving));
            });
            layers
        };
        if !LayerGradients::are_of_the_end(&network, &self.moving) {
            return (0..outputs).map(of).collect();
        }
        let end = of(0);
        let at = |output: usize| {
            let factors = one_of(output);
            end.iter().map(|layer| layer.with_gradients(factors.clone())).collect()
        };
        (0..outputs).map(at).collect()
    }
}

/// Numbers that an engine shows of an example for the layers that move.
fn shown(network: &Network, moving: &Range<usize>) -> usize {
    let moves = |node: &&Node| Weights::of(node).is_some_and(|own| own.within(moving).is_some());
    let nodes = network.nodes().iter().filter(moves);
    nodes.map(|node| node.inputs[0].size() + node.output.size()).sum()
}

impl<E: Engine> Predictive<E> for Linearised<'_, E::Vector> {
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
        _: &Stream,
        out: &mut Vec<E::Number>,
    ) {
        let point = &self.points[sample.part];
        let Some(Some((precision, spectrum))) = self.spectra.get(sample.part) else {
            return model.predict(point, inputs, None, out);
        };
        let width = self.likelihood.outputs();
        for inputs in inputs.chunks(self.chunk * model.network().input.size()) {
            let mut plain = Vec::new();
            model.predict(point, inputs, None, &mut plain);
            let plain: Vec<f64> = plain.into_iter().map(Real::wide).collect();
            let jacobian = self.jacobian::<E>(point, model, inputs, width);
            let covariances = spectrum.covariances(*precision, &jacobian, plain.len() / width);
            for (outputs, covariance) in plain.chunks(width).zip(covariances) {
                let averaged = match self.likelihood.curved() {
                    Some(curved) => curved.averaged(outputs, &covariance, self.link),
                    None => outputs.to_vec(),
                };
                out.extend(averaged.into_iter().map(E::Number::of));
            }
        }
    }
    /// The gradient of the network at the most probable parameters: how the variance changes with the inputs is left
    /// out.
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
    fn likelihood(&self) -> Option<Arc<dyn Likelihood>> {
        self.likelihood.curved().and_then(Curved::of_averages)
    }
}

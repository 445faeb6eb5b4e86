//! Curvature of the loss of all the data, `H`: the precision of a Gaussian around the most probable parameters, before
//! that of the prior is added.
//!
//! `H = sum_n J_n' F_n J_n`, with `J_n` the Jacobian of the outputs for an example and `F_n` the Fisher information at
//! them. [`Curvature`] says how `F_n` is found, [`Structure`] which part of `H` is kept. Weights of linear and
//! convolutional layers are random; all other parameters, those of normalisation layers and a shared noise, stay at
//! their estimates.

mod diagonal;
mod eigen;
mod full;
mod gradients;
mod kronecker;
mod units;
mod weights;

use std::ops::Range;

use dubio_random::stream::Stream;
use serde::{Deserialize, Serialize};

pub(crate) use eigen::Eigen;
pub use gradients::LayerGradients;
pub use weights::Weights;

use crate::error::Error;

/// How the Fisher information at the outputs of an example is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Curvature {
    /// Exactly: the generalised Gauss-Newton matrix.
    Ggn,
    /// From one label for each example, drawn from the prediction.
    SampledFisher,
    /// From the true labels. Not the Fisher information: small where the network fits its training data.
    EmpiricalFisher,
}

/// Which curvature to sum up.
#[derive(Clone, Debug)]
pub struct Sought {
    /// The layers whose weights lie in this stretch of the flat vector.
    pub stretch: Range<usize>,
    /// How the Fisher information is found.
    pub curvature: Curvature,
    /// How many examples to sum over, drawn without replacement; `None` for all.
    pub examples: Option<usize>,
}

/// Which part of `H` is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Structure {
    /// Its diagonal.
    Diag,
    /// A block for each unit, that is, for each row of a layer's weights with its bias: in the last layer of a
    /// classifier `sum_n p_c (1 - p_c) a a'`, where `a` is what the unit reads.
    Units,
    /// For each layer a Kronecker product `G x A`: Martens and Grosse 2015, for convolutions Grosse and Martens 2016.
    Kfac,
    /// All of it.
    Full,
}

/// `H` as it is summed up, gradient by gradient.
pub(crate) trait Sums {
    /// Adds `sum_n r_n r_n'`, with `r_n = J_n' f_n` the gradients of one root of the Fisher information.
    fn add(&mut self, root: usize, layers: &[LayerGradients]);
    /// Its eigenvalues and eigenvectors.
    fn decompose(self: Box<Self>) -> Result<Box<dyn Spectrum>, Error>;
}

/// `H` by its eigenvalues and eigenvectors, which serve every precision `d` of the prior alike.
pub(crate) trait Spectrum: Send + Sync {
    /// `H` becomes `factor H`.
    fn scale(&mut self, factor: f64);
    /// All of its numbers, to be stored.
    fn numbers(&self) -> Vec<f64>;
    /// The eigenvalues, one for each parameter that is random.
    fn eigenvalues(&self) -> Vec<f64>;
    /// A draw `(H + d)^(-1/2) z` from `Normal(0, (H + d)^-1)`, layer by layer. The symmetric root depends neither on
    /// the signs of eigenvectors nor on which of them stand for a repeated eigenvalue.
    fn draw(&self, weights: &[Weights], precision: f64, stream: &Stream) -> Vec<Vec<f64>>;
    /// `J (H + d)^-1 J'` of each example of a Jacobian, `[outputs, outputs]`.
    fn covariances(&self, precision: f64, jacobian: &Jacobian, examples: usize) -> Vec<Vec<f64>>;
}

/// Gradients of every output for some examples: for each output, those of each layer.
pub(crate) type Jacobian = Vec<Vec<LayerGradients>>;

impl Structure {
    /// `H = 0`.
    pub(crate) fn sums(self) -> Box<dyn Sums> {
        match self {
            Self::Diag => Box::new(diagonal::Sum::default()),
            Self::Units => Box::new(units::Sum::default()),
            Self::Kfac => Box::new(kronecker::Sum::default()),
            Self::Full => Box::new(full::Sum::default()),
        }
    }

    /// Reads back what [`Spectrum::numbers`] gave, for layers of these shapes.
    pub(crate) fn spectrum(self, weights: &[Weights], numbers: &[f64]) -> Box<dyn Spectrum> {
        match self {
            Self::Diag => Box::new(diagonal::Diagonal::read(weights, numbers)),
            Self::Units => Box::new(units::Units::read(weights, numbers)),
            Self::Kfac => Box::new(kronecker::Kronecker::read(weights, numbers)),
            Self::Full => Box::new(full::Full::read(weights, numbers)),
        }
    }

    /// Bytes needed for layers of these shapes: for sums, eigenvectors, and room to find them.
    pub fn bytes(self, weights: &[Weights]) -> f64 {
        let numbers = |weights: &Weights| match self {
            Self::Units => (weights.outputs * weights.columns.pow(2)) as f64,
            Self::Kfac => (weights.outputs.pow(2) + weights.columns.pow(2)) as f64,
            _ => weights.parameters.len() as f64,
        };
        let all: f64 = weights.iter().map(numbers).sum();
        8.0 * match self {
            Self::Diag => 2.0 * all,
            Self::Units | Self::Kfac => 4.0 * all,
            Self::Full => 4.0 * all * all,
        }
    }
}

/// Adds the products of every two columns: `sums[k, l] += sum_i weight_i x_ik x_il`.
fn add_products<'a>(
    sums: &mut [f64],
    columns: &[impl AsRef<[f64]> + 'a],
    weight: impl Fn(usize) -> f64,
) {
    let count = columns.len();
    for (k, first) in columns.iter().enumerate() {
        for (l, second) in columns.iter().enumerate().take(k + 1) {
            let pairs = first.as_ref().iter().zip(second.as_ref()).enumerate();
            let sum: f64 = pairs.map(|(i, (x, y))| weight(i) * x * y).sum();
            sums[k * count + l] += sum;
            if k != l {
                sums[l * count + k] += sum;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use dubio_nn::Double;
    use dubio_nn::engine::{Engine, Visited};
    use dubio_nn::layer::Layer;
    use dubio_nn::network::Network;
    use dubio_nn::shape::Shape;

    use super::*;

    /// Gradients of a linear layer.
    fn layer(width: usize, outputs: usize, inputs: &[f64], gradients: &[f64]) -> LayerGradients {
        let mut network = Network::new(Shape::vector(width));
        network.then("layer", Layer::Linear { outputs });
        let [inputs, output_gradients] =
            &[inputs, gradients].map(|all| Double::default().vector(all));
        let visited = Visited { node: &network.nodes()[0], inputs, output_gradients };
        LayerGradients::of(&visited).expect("a linear layer")
    }

    fn spectrum(structure: Structure, layer: &LayerGradients) -> Box<dyn Spectrum> {
        let mut sums = structure.sums();
        sums.add(0, std::slice::from_ref(layer));
        sums.decompose().expect("finite")
    }

    /// `J (H + d)^-1 J'` of the layer's outputs for three inputs.
    fn covariances(structure: Structure, of: &LayerGradients, d: f64) -> Vec<f64> {
        let spectrum = spectrum(structure, of);
        let at = |inputs: [f64; 2]| {
            let jacobian = [[1.0, 0.0], [0.0, 1.0]].map(|unit| vec![layer(2, 2, &inputs, &unit)]);
            spectrum.covariances(d, &jacobian.to_vec(), 1).remove(0)
        };
        [[1.0, 0.0], [0.0, 1.0], [0.5, -2.0]].into_iter().flat_map(at).collect()
    }

    #[test]
    fn the_kronecker_product_of_one_example_is_the_whole_matrix() {
        let of = layer(2, 2, &[0.3, -1.2], &[0.7, 2.0]);
        let (kfac, full) =
            (covariances(Structure::Kfac, &of, 0.5), covariances(Structure::Full, &of, 0.5));
        assert!(kfac.iter().zip(&full).all(|(a, b)| (a - b).abs() < 1e-12), "{kfac:?} {full:?}");
        // They agree for one example only: two examples tell them apart.
        let of = layer(2, 2, &[0.3, -1.2, 1.0, 0.4], &[0.7, 2.0, -1.0, 0.2]);
        let (kfac, full) =
            (covariances(Structure::Kfac, &of, 0.5), covariances(Structure::Full, &of, 0.5));
        assert!(kfac.iter().zip(&full).any(|(a, b)| (a - b).abs() > 0.01));
    }

    /// With one example `a = (x, 1)` and its gradient `g` at a unit, `H = g^2 a a'` for the weights of that unit, and
    /// `a' (H + d)^-1 a = a'a / (d + g^2 a'a)` (Sherman and Morrison 1950); between units the covariance is 0.
    #[test]
    fn units_of_one_example_have_the_variances_of_a_matrix_of_rank_one() {
        let of = layer(2, 2, &[0.3, -1.2], &[0.7, 2.0]);
        let units = spectrum(Structure::Units, &of);
        let jacobian =
            [[1.0, 0.0], [0.0, 1.0]].map(|unit| vec![layer(2, 2, &[0.3, -1.2], &unit)]).to_vec();
        let (d, square) = (0.5, 0.09 + 1.44 + 1.0);
        let of_unit = |g: f64| square / (d + g * g * square);
        let expected = [of_unit(0.7), 0.0, 0.0, of_unit(2.0)];
        let ours = units.covariances(d, &jacobian, 1).remove(0);
        assert_eq!(ours.len(), 4);
        let close = ours.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12);
        assert!(close, "{ours:?} {expected:?}");
    }

    #[test]
    fn an_example_has_the_same_covariance_by_itself_and_among_others() {
        let inputs = [0.3, -1.2, 1.0, 0.4, -0.7, 0.9];
        let of = layer(2, 2, &inputs, &[0.7, 2.0, -1.0, 0.2, 0.4, -0.3]);
        let jacobian = |inputs: &[f64]| {
            let unit = |unit: [f64; 2]| vec![layer(2, 2, inputs, &unit.repeat(inputs.len() / 2))];
            vec![unit([1.0, 0.0]), unit([0.0, 1.0])]
        };
        for structure in [Structure::Diag, Structure::Units, Structure::Kfac, Structure::Full] {
            let spectrum = spectrum(structure, &of);
            let together = spectrum.covariances(0.5, &jacobian(&inputs), 3);
            assert_eq!(together.len(), 3);
            for (among, inputs) in together.iter().zip(inputs.chunks(2)) {
                let alone = spectrum.covariances(0.5, &jacobian(inputs), 1).remove(0);
                assert_eq!(alone.len(), among.len());
                let close = alone.iter().zip(among).all(|(a, b)| (a - b).abs() < 1e-12);
                assert!(close, "{structure:?}: {alone:?} {among:?}");
            }
        }
    }

    /// T46: with `[[4, 2], [2, 2]] = L L'` on one side, samples must have its inverse `[[.5, -.5], [-.5, 1]]` as
    /// covariance; `L^-1 z` in the place of `L'^-1 z` has `[[.25, -.25], [-.25, 1.25]]`.
    #[test]
    fn samples_have_the_covariance_that_the_factors_say_on_both_sides() {
        // Two gradients whose products sum to the matrix: (2, 1) and (0, 1).
        let (of_matrix, ones) = ([2.0, 1.0, 0.0, 1.0], [1.0, 1.0]);
        let left = layer(1, 2, &[0.0, 0.0], &of_matrix);
        // As inputs of a convolution of one place, which has no bias, times sqrt(2): A is a mean over examples.
        let mut network = Network::new(Shape::image(2, 1, 1));
        network.then("layer", Layer::conv2d(1, 1, 1));
        let vector = |all: &[f64]| Double::default().vector(all);
        let (inputs, output_gradients) = (&vector(&of_matrix), &vector(&ones));
        let visited = Visited { node: &network.nodes()[0], inputs, output_gradients };
        let right = LayerGradients::of(&visited).expect("a convolution");
        for (of, places, what) in [(left, [2, 3], "rows"), (right, [0, 1], "columns")] {
            let spectrum = spectrum(Structure::Kfac, &of);
            let (mut sums, draws) = ([0.0; 3], 200_000);
            for draw in 0..draws {
                let all = spectrum.draw(
                    std::slice::from_ref(&of.weights),
                    1e-9,
                    &Stream::root(3).nth(draw),
                );
                let [x, y] = places.map(|place: usize| all[0][place]);
                sums = [sums[0] + x * x, sums[1] + x * y, sums[2] + y * y];
            }
            for (sum, expected) in sums.iter().zip([0.5, -0.5, 1.0]) {
                let value = sum / draws as f64;
                assert!((value - expected).abs() < 0.02, "{what}: {value} {expected}");
            }
        }
    }

    #[test]
    fn what_is_kept_comes_back() {
        let of = layer(2, 2, &[0.3, -1.2, 1.0, 0.4], &[0.7, 2.0, -1.0, 0.2]);
        let weights = [of.weights.clone()];
        assert_eq!(Weights::read(&weights[0].numbers()), weights[0]);
        for structure in [Structure::Diag, Structure::Units, Structure::Kfac, Structure::Full] {
            let numbers = spectrum(structure, &of).numbers();
            assert_eq!(structure.spectrum(&weights, &numbers).numbers(), numbers, "{structure:?}");
        }
    }
}

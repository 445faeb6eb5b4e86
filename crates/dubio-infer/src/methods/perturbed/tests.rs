//! Estimates of the gradient of an expected loss against its closed form.

use std::sync::Arc;

use dubio_nn::Double;
use dubio_nn::engine::{Engine, Point};
use dubio_nn::examples::{Answers, Examples, Inputs};
use dubio_nn::layer::Layer;
use dubio_nn::network::Network;
use dubio_nn::shape::Shape;

use super::*;
use crate::likelihood::{SharedNoise, shared_noise};
use crate::methods::drawn;
use crate::prior::Gaussian;
use crate::problem::{Problem, Start, Task};
use crate::target::BatchName;

const INPUTS: [[f64; 2]; 8] = [
    [1.0, 0.5],
    [-0.4, 2.0],
    [0.3, -1.2],
    [1.7, 0.1],
    [-0.8, -0.6],
    [0.2, 0.9],
    [2.1, -1.5],
    [-1.1, 1.3],
];
const TARGETS: [f64; 8] = [0.7, -1.0, 1.2, 2.2, -0.5, 0.0, 3.0, -2.0];
/// Of two weights, a bias and the logarithm `a` of the noise, which no layer perturbs.
const MEANS: [f64; 4] = [0.6, -0.3, 0.2, -0.1];
const STDS: [f64; 4] = [0.3, 0.5, 0.2, 0.15];

/// A linear unit whose examples share an unknown noise.
fn regression() -> Problem<Double> {
    let mut network = Network::new(Shape::vector(2));
    network.then("unit", Layer::Linear { outputs: 1 });
    network.then("noise", shared_noise());
    let answers = Answers::Targets(Arc::new(TARGETS.to_vec()));
    let inputs = Inputs::Ready(Arc::new(INPUTS.concat()));
    let engine = Double::default();
    let data = engine.data(&Examples { inputs, answers: answers.clone() });
    let prior = Arc::new(Gaussian { precision: 1.0 });
    let task = Task { data, answers, likelihood: Arc::new(SharedNoise), prior };
    let stream = Stream::root(1);
    Problem::new(&engine, &network, &task, INPUTS.len(), None, Start::Fresh, &stream)
        .expect("a problem")
}

/// Gradients of `E loss` with respect to means and log standard deviations. The loss is `a + miss^2 exp(-2 a) / 2` on
/// average, `a` and the weights are independent, `E exp(-2 a) = exp(-2 m_a + 2 s_a^2)`, and `E miss^2` is the squared
/// miss of the means plus `sum x^2 s^2 + s_b^2`.
fn known() -> Vec<f64> {
    let n = INPUTS.len() as f64;
    let precision = (-2.0 * MEANS[3] + 2.0 * STDS[3].powi(2)).exp();
    let (mut of_means, mut of_log_stds, mut squares) = ([0.0, 0.0, 0.0, 1.0], [0.0; 4], 0.0);
    for (x, y) in INPUTS.iter().zip(TARGETS) {
        let read = [x[0], x[1], 1.0];
        let miss = (0..3).map(|i| read[i] * MEANS[i]).sum::<f64>() - y;
        squares += miss * miss / n;
        for i in 0..3 {
            let variance = (read[i] * STDS[i]).powi(2);
            of_means[i] += miss * read[i] * precision / n;
            of_log_stds[i] += variance * precision / n;
            squares += variance / n;
        }
    }
    of_means[3] -= squares * precision;
    of_log_stds[3] = 2.0 * STDS[3].powi(2) * squares * precision;
    [of_means, of_log_stds].concat()
}

type V = <Double as Engine>::Vector;

fn vector(numbers: &[f64]) -> V {
    Double::default().vector(numbers)
}

/// An estimate of both gradients by one draw.
fn estimate(
    problem: &mut Problem<Double>,
    perturbed: Option<&Perturbed<V>>,
    stream: &Stream,
) -> Vec<f64> {
    let mut mean = Point { theta: vector(&MEANS), statistics: vector(&[]) };
    let log_std = vector(&STDS.map(f64::ln));
    let at = Step { epoch: 0, batch: 0, batches: 1, examples: INPUTS.len(), stream };
    let [mut room, mut slope, mut of_log_std] = [(); 3].map(|()| vector(&[0.0; 4]));
    let mut batch = MiniBatch::new(problem, BatchName { epoch: 0, batch: 0 }, None, &mut room);
    let sums = [&mut slope, &mut of_log_std];
    match perturbed {
        Some(perturbed) => perturbed.gradients(&mut mean, &log_std, &mut batch, (1, &at), sums),
        None => {
            let draw = |mean: &V, stream: &Stream| {
                let (mut z, mut away) = (vector(&[0.0; 4]), vector(&[0.0; 4]));
                z.add_noise(1.0, stream);
                away.add_product(1.0, &z, &vector(&STDS));
                let mut theta = mean.clone();
                theta.axpy(1.0, &away);
                (theta, away)
            };
            drawn::gradients(&mut mean, &mut batch, (1, &at), draw, |_, _| {}, sums);
        }
    }
    [slope.read(0..4), of_log_std.read(0..4)].concat()
}

/// Mean and variance of each number of an estimator over many draws.
fn moments(by: Option<Perturbation>) -> Vec<(f64, f64)> {
    const DRAWS: usize = 40_000;
    let mut problem = regression();
    let perturbed = by.map(|by| Perturbed::new(by, &mut problem).expect("a network"));
    let stream = Stream::root(7);
    let draws: Vec<Vec<f64>> = (0..DRAWS)
        .map(|draw| estimate(&mut problem, perturbed.as_ref(), &stream.nth(draw)))
        .collect();
    let n = DRAWS as f64;
    let of = |k: usize| {
        let mean = draws.iter().map(|draw| draw[k]).sum::<f64>() / n;
        (mean, draws.iter().map(|draw| (draw[k] - mean).powi(2)).sum::<f64>() / (n - 1.0))
    };
    (0..8).map(of).collect()
}

#[test]
fn every_estimator_has_the_expected_gradient_and_those_by_example_a_smaller_variance() {
    let all = [None, Some(Perturbation::Local), Some(Perturbation::Flipout)];
    let [weights, local, flipout] = all.map(|by| {
        let moments = moments(by);
        for (k, ((mean, variance), known)) in moments.iter().zip(known()).enumerate() {
            let error = (variance / 40_000.0).sqrt();
            assert!((mean - known).abs() < 5.0 * error, "{by:?} {k}: {mean}, not {known}");
            assert!(error < 0.02, "{by:?} {k}: the test can tell, with an error of {error}");
        }
        // Of weights and bias only: all estimators draw the noise in the same way.
        [0, 1, 2, 4, 5, 6].iter().map(|&k| moments[k].1).sum::<f64>()
    });
    // Kingma et al. 2015, section 2.1: noise averages out over the examples where each has its own, and not where they
    // share it.
    assert!(local < 0.5 * weights && flipout < 0.7 * weights, "{weights} {local} {flipout}");
}

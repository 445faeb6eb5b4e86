//! What is predicted: variances of outputs, probabilities of classes.

use std::f64::consts::PI;

use dubio_infer::fit::Options;
use dubio_infer::likelihood::{Categorical, Curved, Link};
use dubio_nn::Double;
use dubio_nn::engine::{Engine, Model};
use dubio_nn::layer::Layer::{Linear, Relu};
use dubio_nn::network::Network;
use dubio_nn::shape::Shape;
use dubio_random::stream::Stream;
use serde_json::json;

use crate::case::softmax;
use crate::support::*;

/// Layers that are named are random, all others stay: with a known noise `s` the variance at `x` is `J(x) (sum_n J_n' J_n / s^2 +
/// d)^-1 J(x)'`, here by finite differences in the parameters of those layers alone.
#[test]
fn a_subnetwork_has_the_variance_of_its_own_parameters() {
    use crate::support::last_layer::{features, table};
    use dubio_infer::predict::TestTime;
    let (engine, data, noise, d) = (Double::default(), table(), 9.0, 2.0);
    let (network, widths) = ("mlp-3-4", [9, 16, 5]); // weights and biases of its layers
    for (layers, moving) in
        [(json!(["fc1"]), 0..9), (json!(["fc2"]), 9..25), (json!(["fc1", "fc2"]), 0..25)]
    {
        let settings = json!({"epochs": 3, "batch": 40, "layers": layers, "structure": "full",
            "prior_precision": d, "noise": noise});
        let recipe = recipe("laplace", settings);
        let fit = recipe.fit(&engine, network, &data, &Stream::root(4), &Options::default());
        let fitted = fit.unwrap_or_else(|e| panic!("{layers}: {}", e.error));
        let said = fitted.predict(&data, &TestTime::default(), &Stream::root(5)).unwrap().values;
        let training = dubio_infer::training::Training::new(&engine, &data, &[]).unwrap();
        let inputs = training.scaling().inputs::<f64>(&data).unwrap();
        let mut plain = Network::new(Shape::vector(2));
        for (name, outputs) in [("fc1", 3), ("fc2", 4), ("fc3", 1)] {
            plain.then(name, Linear { outputs });
            if outputs > 1 {
                plain.then(format!("relu {name}"), Relu);
            }
        }
        assert_eq!(plain.parameters(), widths.iter().sum::<usize>());
        let mut model = engine.model(&plain, 40);
        let mut outputs = |place: usize, step: f64| {
            let mut point = fitted.posterior.points[0].clone();
            point.theta.0[place] += step;
            let mut out = Vec::new();
            model.predict(&point, &inputs, None, &mut out);
            out
        };
        let columns: Vec<Vec<f64>> = moving
            .map(|place| {
                let (up, down) = (outputs(place, 1e-5), outputs(place, -1e-5));
                up.iter().zip(down).map(|(up, down)| (up - down) / 2e-5).collect()
            })
            .collect();
        let unit = features(&[0.0; 9]).2; // the standard deviation of the targets
        let s = noise / unit;
        let entry = |i: usize, j: usize| {
            let sum: f64 = columns[i].iter().zip(&columns[j]).map(|(a, b)| a * b).sum();
            sum / (s * s) + if i == j { d } else { 0.0 }
        };
        let side = columns.len();
        let matrix: Vec<Vec<f64>> =
            (0..side).map(|i| (0..side).map(|j| entry(i, j)).collect()).collect();
        let mut most = 0.0_f64;
        for n in 0..40 {
            let row: Vec<f64> = columns.iter().map(|column| column[n]).collect();
            let v: f64 =
                solved(matrix.clone(), row.clone()).iter().zip(&row).map(|(a, b)| a * b).sum();
            let expected = unit * (s * s + v).sqrt();
            let said = f64::from(said[2 * n + 1]);
            assert!((said / expected - 1.0).abs() < 1e-4, "{layers} {n}: {said} {expected}");
            most = most.max(v / (s * s));
        }
        assert!(most > 0.01, "{layers}: the variance matters: {most}");
    }
}

/// T49. For two classes the probit of the difference of both logits; for each class by itself in the extended form.
#[test]
fn probit_of_two_classes_is_that_of_their_difference() {
    let two = Categorical { classes: 2 };
    let (outputs, covariance) = ([0.3, 1.5], [0.5, -0.2, -0.2, 0.9]);
    let of_difference = two.averaged(&outputs, &covariance, Link::Probit);
    let k = |variance: f64| 1.0 / (1.0 + PI / 8.0 * variance).sqrt();
    let difference = of_difference[1] - of_difference[0];
    assert!((difference - 1.2 * k(0.5 + 0.9 + 0.4)).abs() < 1e-12);
    let extended = two.averaged(&outputs, &covariance, Link::ExtendedProbit);
    assert_eq!(extended, vec![0.3 * k(0.5), 1.5 * k(0.9)]);
    // The mean of a sigmoid over a Gaussian, by the rule of rectangles: the approximation is good to a hundredth.
    let mean = |d: f64, variance: f64| {
        let steps = 20_000;
        let z = |i: usize| -8.0 + 16.0 * (i as f64 + 0.5) / steps as f64;
        let term = |z: f64| (-0.5 * z * z).exp() / (1.0 + (-(d + variance.sqrt() * z)).exp());
        (0..steps).map(|i| term(z(i))).sum::<f64>() * 16.0 / steps as f64 / (2.0 * PI).sqrt()
    };
    assert!((mean(1.2, 1.8) - 1.0 / (1.0 + (-difference).exp())).abs() < 0.01);
}

/// A weight that all classes share moves all logits together and changes no probability. The curvature does not see it,
/// so its variance is that of the prior, however large: the variance of a logit by itself says nothing.
///
/// rng = np.random.default_rng(0); f = np.array([2.0, 0.5, -1.0]); own = np.diag([0.8, 0.3, 1.5])
/// z = rng.multivariate_normal(f, own, 4_000_000); e = np.exp(z - z.max(1, keepdims=True))
/// print((e / e.sum(1, keepdims=True)).mean(0))
const KNOWN_MEAN: [f64; 3] = [0.722_96, 0.203_86, 0.073_17];

#[test]
fn what_moves_all_logits_together_changes_no_prediction() {
    let (three, outputs) = (Categorical { classes: 3 }, [2.0, 0.5, -1.0]);
    let own = [0.8, 0.0, 0.0, 0.0, 0.3, 0.0, 0.0, 0.0, 1.5];
    let shared: Vec<f64> = own.iter().map(|v| v + 50.0).collect();
    let of = |covariance: &[f64], link| softmax(&three.averaged(&outputs, covariance, link));
    let plain = of(&own, Link::MeanField);
    for (ours, known) in plain.iter().zip(KNOWN_MEAN) {
        assert!((ours - known).abs() < 0.015, "{plain:?}");
    }
    let moved = of(&shared, Link::MeanField);
    assert!(plain.iter().zip(&moved).all(|(a, b)| (a - b).abs() < 1e-9), "{plain:?} {moved:?}");
    let each = of(&shared, Link::ExtendedProbit);
    assert!((each[0] - KNOWN_MEAN[0]).abs() > 0.2, "by each logit alone it does: {each:?}");
}

//! Layers of noise.

use dubio_nn::Double;
use dubio_nn::cpu::Flat;
use dubio_nn::engine::{Engine, Model, Point};
use dubio_nn::layer::Layer::{Dropout, GaussianDropout, Linear};
use dubio_nn::network::Network;
use dubio_nn::shape::Shape;
use dubio_random::stream::Stream;

use crate::support::*;

/// One linear unit behind a layer of noise on known inputs: the output's mean is `sum w x`, its
/// variance `sum (w x)^2 rate / (1 - rate)`.
fn noisy_unit(network: &Network, rate: f64, what: &str) {
    let mut model = Double::default().model(network, 1000);
    let (inputs, theta) = ([1.0, -2.0, 0.5], Flat(vec![0.3, 0.7, -1.1, 0.25]));
    let point = Point { theta, statistics: Flat(Vec::new()) };
    let mut out = Vec::new();
    for pass in 0..200_000 {
        model.predict(&point, &inputs, Some(&Stream::root(3).nth(pass)), &mut out);
    }
    let products: Vec<f64> = inputs.iter().zip(&point.theta.0).map(|(x, w)| x * w).collect();
    let mean = products.iter().sum::<f64>() + 0.25;
    let variance = products.iter().map(|p| p * p).sum::<f64>() * rate / (1.0 - rate);
    let (value, error) = mean_and_error(&out);
    assert!((value - mean).abs() < 5.0 * error, "{what}: {value} {mean}");
    let squares: Vec<f64> = out.iter().map(|y| (y - mean).powi(2)).collect();
    let (value, error) = mean_and_error(&squares);
    assert!((value - variance).abs() < 5.0 * error, "{what}: {value} {variance}");
    let mut quiet = Vec::new();
    model.predict(&point, &inputs, None, &mut quiet);
    assert!((quiet[0] - mean).abs() < 1e-12, "{what}: without noise it is the mean");
    // A pass is a sample of the network: the same for equal rows, wherever they lie.
    let mut same = Vec::new();
    model.predict(&point, &inputs.repeat(2500), Some(&Stream::root(4)), &mut same);
    assert!(same.iter().all(|y| *y == same[0]), "{what}: one pass, one network");
}

#[test]
fn dropout_has_the_mean_and_variance_of_its_noise() {
    for rate in [0.04, 0.5] {
        let mut network = Network::new(Shape::vector(3));
        network.then("dropout", Dropout { rate });
        network.then("unit", Linear { outputs: 1 });
        noisy_unit(&network, rate, "dropout");
        let mut network = Network::new(Shape::vector(3));
        network.then("dropout", GaussianDropout { rate });
        network.then("unit", Linear { outputs: 1 });
        noisy_unit(&network, rate, "gaussian dropout");
    }
}

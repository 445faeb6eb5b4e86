//! `sngp` against closed forms: a Gaussian process on the same features, and singular values.

mod support;

use std::sync::Arc;

use dubio_data::dataset::{self, Dataset};
use dubio_infer::fit::{self, Options};
use dubio_infer::fitted::Fitted;
use dubio_infer::likelihood::FixedNoise;
use dubio_infer::predict::TestTime;
use dubio_infer::problem::{Problem, Start};
use dubio_infer::target::Target as _;
use dubio_infer::training::Training;
use dubio_nn::Double;
use dubio_nn::cpu::Flat;
use dubio_nn::engine::{Engine, Model, Point};
use dubio_nn::examples::Answers;
use dubio_nn::layer::Layer::{Conv2d, Flatten, Linear, Relu};
use dubio_nn::layer::{Bias, Layer};
use dubio_nn::matrix::Matrix;
use dubio_nn::network::Network;
use dubio_random::stream::Stream;
use faer::{Mat, MatRef};
use serde_json::json;
use support::*;

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// Mean and variance of a Gaussian process with the kernel `phi' phi / d` and noise `s` at a point: `k' (K + s^2)^-1 y` and
/// `k(x, x) - k' (K + s^2)^-1 k`.
fn of_process(process: &Process, y: &[f64], (d, s): (f64, f64), x: &[f64]) -> (f64, f64) {
    let rows = process.rows();
    let kernel = |a: &[f64], b: &[f64]| dot(a, b) / d;
    let noise = |i: usize, j: usize| if i == j { s * s } else { 0.0 };
    let matrix = |i: usize| -> Vec<f64> {
        (0..rows.len()).map(|j| kernel(&rows[i], &rows[j]) + noise(i, j)).collect()
    };
    let matrix: Vec<Vec<f64>> = (0..rows.len()).map(matrix).collect();
    let phi = process.features(x);
    let k: Vec<f64> = rows.iter().map(|row| kernel(row, &phi)).collect();
    let weights = solved(matrix, k.clone());
    (dot(&weights, y), kernel(&phi, &phi) - dot(&weights, &k))
}

#[test]
fn a_regression_is_the_gaussian_process_on_the_same_features() {
    let (d, s) = (0.7, 0.4);
    let x: Vec<f64> = (0..12).map(|i| 2.0 * (1.7 * f64::from(i)).sin()).collect();
    let y: Vec<f64> = x.iter().map(|x| (2.0 * x).sin() + 0.3).collect();
    for directions in ["gaussian", "orthogonal"] {
        for precision in [json!(d), json!("given")] {
            let settings = json!({"epochs": 3000, "lr": 0.1, "schedule": "constant", "features": 15,
                "length_scale": 0.8, "directions": directions, "prior_precision": precision});
            let method = method("sngp", settings);
            let answers = Answers::Targets(Arc::new(y.clone()));
            let likelihood = Arc::new(FixedNoise { std: s });
            let mut process = Process::new(&method, (1, 1), likelihood, x.clone(), answers);
            process.prior_precision = d;
            let posterior = process.posterior(&method);
            let tests = [-1.2, 0.0, 0.4, 2.5, 8.0];
            let found = process.outputs(&method, &posterior, &tests).remove(0);
            for (found, x) in found.chunks(2).zip(tests) {
                let (mean, variance) = of_process(&process, &y, (d, s), &[x]);
                let found = (found[0], (2.0 * found[1]).exp() - s * s);
                assert!((found.0 - mean).abs() < 1e-6, "{x}: {found:?}, not {mean}");
                assert!((found.1 - variance).abs() < 1e-6, "{x}: {found:?}, not {variance}");
            }
        }
    }
}

fn largest_singular_value(weights: &[f64], rows: usize, columns: usize) -> f64 {
    let matrix = MatRef::from_row_major_slice(weights, rows, columns);
    matrix.singular_values().expect("finite").into_iter().fold(0.0, f64::max)
}

/// `conv` of 3x3 in steps of 1 and 2, and a hidden linear layer.
fn convolutions(training: &Training<Double>) -> Network {
    let conv =
        |channels, stride| Conv2d { channels, kernel: 3, stride, padding: 1, bias: Bias::Yes };
    let mut network = Network::new(training.scaling().shape());
    network.then("conv1", conv(5, 1));
    network.then("relu1", Relu);
    network.then("conv2", conv(6, 2));
    network.then("relu2", Relu);
    network.then("flatten", Flatten);
    network.then("fc1", Linear { outputs: 12 });
    network.then("relu3", Relu);
    network.then("fc2", Linear { outputs: 10 });
    network
}

/// A network after some epochs with bounds, and its parameters.
fn bounded(linear: f64, conv: f64) -> (Network, Vec<f64>, Vec<(&'static str, f64)>) {
    let engine = Double::default();
    let training = Training::new(&engine, &digits(200), &[]).expect("digits");
    let settings = json!({"epochs": 6, "lr": 0.3, "features": 40, "linear_bound": linear,
        "conv_bound": conv});
    let method = method("sngp", settings);
    let network = method.network(convolutions(&training));
    let (task, stream) = (task(&training, 0.01), Stream::root(4));
    let problem = Problem::new(&engine, &network, &task, 20, None, Start::Fresh, &stream);
    let mut problem = problem.expect("a problem");
    let rule = method.rule(&problem.start(0).theta);
    let fit = fit::fit(rule, &mut problem, &stream, 0, &Options::default());
    let mut posterior = fit.unwrap_or_else(|e| panic!("{}", e.error));
    (network, posterior.points.remove(0).theta.0, posterior.records.remove(0).report)
}

/// A convolution by itself as a matrix, column by column from what it makes of unit images, without its bias.
fn operator(network: &Network, name: &str, theta: &[f64]) -> Mat<f64> {
    let node = network.nodes().iter().find(|node| node.name == name).expect("there");
    let (input, output) = (node.inputs[0], node.output.size());
    let mut alone = Network::new(input);
    alone.then(name, node.layer.clone());
    let mut own = theta[node.parameters.clone()].to_vec();
    let Layer::Conv2d { channels, .. } = node.layer else { panic!("a convolution") };
    let biases = own.len() - channels;
    own[biases..].fill(0.0);
    let point = Point { theta: Flat(own), statistics: Flat(Vec::new()) };
    let units: Vec<f64> = (0..input.size().pow(2))
        .map(|i| f64::from(u8::from(i / input.size() == i % input.size())))
        .collect();
    let mut outputs = Vec::new();
    Double::default().model(&alone, input.size()).predict(&point, &units, None, &mut outputs);
    Mat::from_fn(output, input.size(), |i, j| outputs[j * output + i])
}

/// By an SVD of every hidden layer; of a convolution both its kernel as a matrix, which is bounded, and the whole of it as a
/// matrix, which has at most as many times that norm as windows overlap along a side: 3 in steps of 1, 2 in steps of 2.
#[test]
fn after_training_no_hidden_layer_has_a_spectral_norm_above_its_bound() {
    let (linear, conv) = (0.6, 0.8);
    let norms = |(network, theta, _): &(Network, Vec<f64>, Vec<(&str, f64)>)| -> Vec<f64> {
        let mut all = network.matrices();
        all.pop();
        let of = |layer: Matrix| {
            let weights = &theta[layer.range];
            largest_singular_value(weights, weights.len() / layer.columns, layer.columns)
        };
        all.into_iter().map(of).collect()
    };
    let run = bounded(linear, conv);
    let found = norms(&run);
    assert_eq!(found.len(), 3, "two convolutions and a linear layer, not the last");
    let free = norms(&bounded(1e6, 1e6));
    for ((norm, free), bound) in found.iter().zip(&free).zip([conv, conv, linear]) {
        assert!(*norm <= bound * (1.0 + 1e-9), "{norm} above {bound}");
        assert!(*free > 1.2 * bound, "the test can tell: without a bound {free}");
        assert!(*norm > 0.9 * bound, "a layer that wants more is at its bound: {norm}");
    }
    let (network, theta, report) = &run;
    for (name, overlap) in [("conv1", 3.0), ("conv2", 2.0)] {
        let singular = operator(network, name, theta).singular_values().expect("finite");
        let norm = singular.into_iter().fold(0.0, f64::max);
        assert!(norm <= overlap * conv * (1.0 + 1e-9), "{name}: {norm}");
        assert!(norm > conv, "{name}: the bound is not on this norm, {norm}");
    }
    let told = report.iter().find(|(name, _)| *name == "largest_spectral_norm").expect("told").1;
    assert!((told - 1.0).abs() < 0.1, "a fraction of the bound: {told}");
}

fn line(at: &[f64]) -> Dataset {
    let wave = |x: &f64| (2.0 * x).sin() + 0.1 * (37.0 * x).cos();
    Dataset {
        inputs: dataset::Inputs::Features { width: 1, values: at.to_vec() },
        answers: dataset::Answers::Targets(at.iter().map(wave).collect()),
        groups: Default::default(),
    }
}

fn deviations(name: &str, settings: serde_json::Value, at: &[f64]) -> Vec<f32> {
    let data = line(&(0..60).map(|i| -1.0 + f64::from(i) / 29.5).collect::<Vec<_>>());
    let fit = recipe(name, settings).fit(
        &Double::default(),
        "mlp-20",
        &data,
        &Stream::root(1),
        &Options::default(),
    );
    let fitted: Fitted<Double> = fit.unwrap_or_else(|e| panic!("{}", e.error));
    let predicted = fitted.predict(&line(at), &TestTime::default(), &Stream::root(2));
    predicted.expect("predicted").values.iter().skip(1).step_by(2).copied().collect()
}

/// Learnt on [-1, 1].
#[test]
fn away_from_the_data_the_predicted_deviation_grows() {
    for noise in ["shared", "per-example"] {
        let common = json!({"epochs": 300, "lr": 0.05, "batch": 60, "noise": noise});
        let mut settings = common.clone();
        settings["features"] = json!(100);
        let found = deviations("sngp", settings, &[0.0, 0.5, 2.0, 4.0]);
        let (inside, outside) = (found[0].max(found[1]), found[3]);
        assert!(outside > 2.0 * inside && found[2] > inside, "{noise}: {found:?}");
        if noise == "shared" {
            let plain = deviations("sgd", common, &[0.0, 4.0]);
            assert_eq!(plain[0], plain[1], "descent alone says the same everywhere");
        }
    }
}

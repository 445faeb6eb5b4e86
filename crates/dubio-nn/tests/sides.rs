//! Factors on both sides of weights: the layer that they make, by plain loops, and their gradient, by differences.

use dubio_nn::Double;
use dubio_nn::cpu::{self, Flat};
use dubio_nn::engine::{Engine, Model as _, Point, Vector};
use dubio_nn::layer::Layer::{Conv2d, Flatten, Linear, Relu};
use dubio_nn::layer::{Bias, Layer};
use dubio_nn::loss::Truth;
use dubio_nn::matrix::{Reads, Side, sides};
use dubio_nn::network::Network;
use dubio_nn::networks;
use dubio_nn::shape::Shape;
use dubio_random::stream::Stream;

fn numbers(count: usize, name: &str) -> Vec<f64> {
    let mut values = Flat(vec![0.0; count]);
    values.add_noise(1.0, &Stream::root(8).child(name));
    values.0
}

/// Factors of a network's matrices.
fn factors(network: &Network) -> Flat<f64> {
    let count = network.matrices().iter().map(|matrix| matrix.factors()).sum();
    Flat(numbers(count, "factors"))
}

/// Outputs of a network of one layer at weights with factors, and its weights, biases, `r` and `s` for plain loops.
fn one_layer(layer: Layer, input: Shape, x: &[f64]) -> (Vec<f64>, [Vec<f64>; 4]) {
    let mut network = Network::new(input);
    network.then("layer", layer);
    let (matrices, factors) = (network.matrices(), factors(&network));
    let theta = Flat(numbers(network.parameters(), "theta"));
    let mut scaled = theta.clone();
    scaled.scale_sides(&matrices, &factors);
    let (matrix, rows, columns) = sides(&matrices).next().expect("a matrix");
    let (r, s) = if matrix.inputs == Side::Rows { (rows, columns) } else { (columns, rows) };
    let parts = [&theta.0[matrix.range.clone()], &theta.0[matrix.bias.clone()]];
    let [w, b, r, s] = [parts[0], parts[1], &factors.0[r], &factors.0[s]].map(<[f64]>::to_vec);
    let mut out = Vec::new();
    let point = Point { theta: scaled, statistics: Flat(Vec::new()) };
    Double::default().model(&network, 2).predict(&point, x, None, &mut out);
    (out, [w, b, r, s])
}

fn assert_close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    let apart = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(apart < 1e-12, "{apart}: {found:?} {expected:?}");
}

#[test]
fn a_linear_layer_with_factors_is_that_of_scaled_inputs_and_outputs() {
    let (inputs, outputs) = (5, 3);
    let x = numbers(2 * inputs, "x");
    let (found, [w, b, r, s]) = one_layer(Linear { outputs }, Shape::vector(inputs), &x);
    let mut expected = Vec::new();
    for x in x.chunks(inputs) {
        for o in 0..outputs {
            let sum: f64 = (0..inputs).map(|i| x[i] * r[i] * w[o * inputs + i]).sum();
            expected.push(sum * s[o] + b[o]);
        }
    }
    assert_close(&found, &expected);
}

#[test]
fn a_convolution_with_factors_is_that_of_scaled_channels() {
    let (channels, side, out, kernel) = (2, 4, 3, 3);
    let x = numbers(2 * side * side * channels, "x");
    let layer = Conv2d { channels: out, kernel, stride: 1, padding: 1, bias: Bias::Yes };
    let (found, [w, b, r, s]) = one_layer(layer, Shape::image(channels, side, side), &x);
    let mut expected = Vec::new();
    for x in x.chunks(side * side * channels) {
        for (row, column, o) in all(side, side, out) {
            let mut sum = 0.0;
            for (i, j, c) in all(kernel, kernel, channels) {
                let (y, z) = ((row + i).wrapping_sub(1), (column + j).wrapping_sub(1));
                if y < side && z < side {
                    let weight = w[((i * kernel + j) * channels + c) * out + o];
                    sum += x[(y * side + z) * channels + c] * r[c] * weight;
                }
            }
            expected.push(sum * s[o] + b[o]);
        }
    }
    assert_close(&found, &expected);
}

fn all(a: usize, b: usize, c: usize) -> impl Iterator<Item = (usize, usize, usize)> {
    (0..a).flat_map(move |i| (0..b).flat_map(move |j| (0..c).map(move |k| (i, j, k))))
}

/// A convolution, a linear layer that reads it and one behind that, at numbers away from their start.
#[test]
fn the_gradient_of_factors_and_shared_weights_is_that_of_the_loss() {
    let mut network = Network::new(Shape::image(2, 4, 4));
    let conv = Conv2d { channels: 3, kernel: 3, stride: 1, padding: 1, bias: Bias::Yes };
    for (name, layer) in [
        ("conv", conv),
        ("relu", Relu),
        ("flatten", Flatten),
        ("fc1", Linear { outputs: 4 }),
        ("relu1", Relu),
        ("fc2", Linear { outputs: 3 }),
    ] {
        network.then(name, layer);
    }
    let (matrices, factors) = (network.matrices(), factors(&network));
    let reads: Vec<Reads> = matrices.iter().map(|matrix| matrix.reads).collect();
    assert_eq!(reads, [Reads::Data, Reads::Hidden, Reads::Hidden]);
    let mut model = cpu::Model::new(&network, 3);
    let (inputs, labels) = (numbers(3 * 32, "inputs"), [0, 2, 1]);
    let mut evaluate = |weights: &Flat<f64>, factors: &Flat<f64>, gradient: &mut Flat<f64>| {
        let mut theta = weights.clone();
        theta.scale_sides(&matrices, factors);
        let mut point = Point { theta, statistics: Flat(Vec::new()) };
        let data = (&inputs[..], Truth::Labels(&labels));
        model.loss_and_gradient(&mut point, data, None, gradient)
    };
    let weights = Flat(numbers(network.parameters(), "weights").iter().map(|w| 0.5 * w).collect());
    let mut gradient = weights.clone();
    evaluate(&weights, &factors, &mut gradient);
    let (mut of_factors, mut scrap) = (factors.clone(), weights.clone());
    of_factors.fill(0.0);
    of_factors.add_side_gradients(1.0, &matrices, &gradient, &weights, &factors);
    gradient.scale_sides(&matrices, &factors);
    let h = 1e-6;
    for index in 0..factors.len() {
        let mut at = |step: f64| {
            let mut moved = factors.clone();
            moved.0[index] += step;
            evaluate(&weights, &moved, &mut scrap)
        };
        let numeric = (at(h) - at(-h)) / (2.0 * h);
        assert!((numeric - of_factors.0[index]).abs() < 1e-7, "factor {index}: {numeric}");
    }
    for index in (0..weights.len()).step_by(5) {
        let mut at = |step: f64| {
            let mut moved = weights.clone();
            moved.0[index] += step;
            evaluate(&moved, &factors, &mut scrap)
        };
        let numeric = (at(h) - at(-h)) / (2.0 * h);
        assert!((numeric - gradient.0[index]).abs() < 1e-7, "weight {index}: {numeric}");
    }
}

#[test]
fn what_comes_after_a_cut_still_reads_hidden_units() {
    let network = networks::build("mlp-5-4", Shape::image(1, 3, 3), 2).expect("a network");
    let seam = network.seam(network.slices()[2].range.start).expect("a seam");
    let (first, second) = network.split(seam);
    assert_eq!(first.matrices()[0].reads, Reads::Data, "a flattened image is the data");
    assert!(second.matrices().iter().all(|matrix| matrix.reads == Reads::Hidden));
}

/// Of every convolution between hidden layers the weights are `width^2` of what they were, and outputs stay.
#[test]
fn a_network_of_other_widths_has_the_same_layers_and_outputs() {
    for name in
        ["mlp-8-4", "lenet5", "resnet20-cifar", "preresnet20", "wideresnet28x2", "resnet20-frn"]
    {
        let network = networks::build(name, Shape::image(3, 32, 32), 10).expect(name);
        let half = network.with_widths(|width| width / 2);
        assert_eq!((half.output(), half.nodes().len()), (network.output(), network.nodes().len()));
        let pairs = network.matrices().into_iter().zip(half.matrices());
        let last = network.matrices().len() - 1;
        for (index, (whole, half)) in pairs.enumerate() {
            let fewer = if index == 0 || index == last { 2 } else { 4 };
            assert_eq!(whole.range.len(), fewer * half.range.len(), "{name}: matrix {index}");
        }
        assert_eq!(network.with_widths(|width| width), network, "{name}");
    }
}

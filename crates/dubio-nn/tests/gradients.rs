//! Gradients of every layer and of every network against finite differences, in f64.

use dubio_nn::cpu::{self, Flat};
use dubio_nn::engine::{Model as _, Seed, Vector};
use dubio_nn::layer::Layer::{
    Append, AveragePool, BatchNorm, Concat, Conv2d, DrawNormal, Dropout, Elu, FilterResponseNorm,
    Flatten, GaussianDropout, GlobalAveragePool, Linear, MaxPool, PaddedShortcut, RandomFeatures,
    RandomSigns, Relu, Square, Swish, Take,
};
use dubio_nn::layer::{Bias, Directions, Layer};
use dubio_nn::loss::Truth;
use dubio_nn::network::{Network, Source};
use dubio_nn::networks;
use dubio_nn::parameter::Initial;
use dubio_nn::shape::Shape;
use dubio_random::stream::Stream;

/// Smooth numbers that do not repeat, from a named stream.
fn numbers(count: usize, name: &str) -> Vec<f64> {
    let mut values = Flat(vec![0.0; count]);
    values.add_noise(1.0, &Stream::root(3).child(name));
    values.0
}

/// Compares the gradient with central differences in random directions and along some axes.
fn check(network: &Network, batch: usize, truth: Truth<'_>) {
    let inputs = numbers(batch * network.input.size(), "inputs");
    let stream = Stream::root(5);
    let mut model = cpu::Model::new(network, batch);
    let mut point = model.start(&stream.child("start"));
    point.theta.add_noise(0.1, &stream.child("away"));
    let theta = point.theta.clone();
    let noise = stream.child("masks");
    let data = (&inputs[..], truth);
    let mut gradient = theta.clone();
    model.loss_and_gradient(&mut point, data, Some(&noise), &mut gradient);
    let mut scrap = gradient.clone();
    let mut directions: Vec<Flat<f64>> = (0..6)
        .map(|d| {
            let mut direction = theta.clone();
            direction.fill(0.0);
            direction.add_noise(1.0, &stream.child("direction").nth(d));
            direction
        })
        .collect();
    for slice in network.slices() {
        let mut axis = theta.clone();
        axis.fill(0.0);
        axis.write((slice.range.start + slice.range.end) / 2, &[1.0]);
        directions.push(axis);
    }
    for direction in directions {
        let mut at = |step: f64| {
            let mut moved = point.clone();
            moved.theta.axpy(step, &direction);
            model.loss_and_gradient(&mut moved, data, Some(&noise), &mut scrap)
        };
        let h = 1e-6 / direction.dot(&direction).sqrt();
        let numeric = (at(h) - at(-h)) / (2.0 * h);
        let exact = gradient.dot(&direction);
        let scale = 1.0 + exact.abs().max(direction.dot(&direction).sqrt());
        assert!((numeric - exact).abs() < 2e-6 * scale, "{exact} but {numeric} by differences");
    }
}

/// A layer between others, so that gradients pass through it in both senses.
fn check_layer(input: Shape, layer: Layer) {
    let mut network = Network::new(input);
    let before =
        Conv2d { channels: input.channels, kernel: 1, stride: 1, padding: 0, bias: Bias::Yes };
    network.then("before", before);
    network.then("layer", layer);
    network.then("flatten", Flatten);
    network.then("after", Linear { outputs: 4 });
    check(&network, 11, Truth::Labels(&[0, 1, 2, 3, 0, 1, 2, 3, 3, 2, 1]));
    check_inputs(&network, 11);
}

#[test]
fn every_layer_has_the_gradient_of_its_function() {
    let image = Shape::image(4, 6, 5);
    check_layer(image, Relu);
    check_layer(image, Elu);
    check_layer(image, Swish);
    check_layer(image, BatchNorm);
    check_layer(image, FilterResponseNorm);
    check_layer(image, Dropout { rate: 0.3 });
    check_layer(image, GaussianDropout { rate: 0.3 });
    check_layer(image, Square);
    check_layer(image, RandomSigns);
    check_layer(image, PaddedShortcut { channels: 8 });
    check_layer(image, MaxPool { size: 2, stride: 2, padding: 0 });
    check_layer(image, MaxPool { size: 3, stride: 2, padding: 1 });
    check_layer(image, AveragePool { size: 2 });
    check_layer(image, GlobalAveragePool);
    check_layer(image, Append { numbers: 3, initial: Initial::Constant(0.0) });
    check_layer(image, Take { first: 7, numbers: 40 });
    for directions in [Directions::Gaussian, Directions::Orthogonal] {
        check_layer(image, RandomFeatures { features: 30, length_scale: 4.0, directions });
    }
    for (kernel, stride, padding) in
        [(3, 1, 1), (3, 2, 1), (1, 1, 0), (1, 2, 0), (5, 1, 0), (5, 2, 2)]
    {
        for bias in [Bias::Yes, Bias::No] {
            check_layer(image, Conv2d { channels: 3, kernel, stride, padding, bias });
        }
    }
}

/// A layer with several inputs, one of them read twice, one the network's own input; and its end read by
/// heads that are put side by side.
#[test]
fn branches_that_meet_have_the_gradient_of_their_function() {
    let mut network = Network::new(Shape::image(2, 4, 3));
    let first = network.then("first", Layer::conv2d(3, 3, 1));
    let second = network.feed(&[Source::Input], "second", Layer::conv2d(2, 1, 1));
    network.feed(&[first, Source::Input, second, first], "together", Concat);
    network.then("flatten", Flatten);
    let body = network.then("body", Linear { outputs: 6 });
    let heads: Vec<Source> = [1, 3]
        .map(|outputs| network.feed(&[body], format!("head{outputs}"), Linear { outputs }))
        .to_vec();
    network.feed(&heads, "heads", Concat);
    assert_eq!(network.output(), Shape::vector(4));
    check(&network, 5, Truth::Labels(&[0, 3, 2, 1, 3]));
    check_inputs(&network, 5);
}

/// Means from one layer, variances from the squares of another.
#[test]
fn draws_have_the_gradient_of_their_function() {
    let mut network = Network::new(Shape::image(3, 4, 5));
    let means = network.then("means", Layer::conv2d(4, 3, 1));
    network.feed(&[Source::Input], "roots", Layer::conv2d(4, 1, 1));
    let variances = network.then("variances", Square);
    network.feed(&[means, variances], "draw", DrawNormal);
    network.then("flatten", Flatten);
    network.then("after", Linear { outputs: 4 });
    check(&network, 11, Truth::Labels(&[0, 1, 2, 3, 0, 1, 2, 3, 3, 2, 1]));
    check_inputs(&network, 11);
}

#[test]
fn concatenation_puts_channels_side_by_side_in_their_order() {
    let mut network = Network::new(Shape::image(1, 1, 2));
    let scaled = network
        .then("scaled", Conv2d { channels: 2, kernel: 1, stride: 1, padding: 0, bias: Bias::No });
    network.feed(&[Source::Input, scaled], "together", Concat);
    let mut model = cpu::Model::<f64>::new(&network, 1);
    let mut point = model.start(&Stream::root(0));
    point.theta.0.copy_from_slice(&[-1.0, 10.0]);
    let mut outputs = Vec::new();
    model.predict(&point, &[3.0, 5.0], None, &mut outputs);
    assert_eq!(outputs, [3.0, -3.0, 30.0, 5.0, -5.0, 50.0]);
}

/// Images of one channel have a way of their own where they are what the network reads.
#[test]
fn a_convolution_of_grey_images_has_the_gradient_of_its_function() {
    for (height, width) in [(6, 5), (5, 9), (1, 40)] {
        let image = Shape::image(1, height, width);
        for (kernel, padding) in [(3, 1), (5, 2), (5, 4), (2, 1)] {
            for bias in [Bias::Yes, Bias::No] {
                let conv = || Conv2d { channels: 3, kernel, stride: 1, padding, bias };
                let mut network = Network::new(image);
                network.then("conv", conv());
                network.then("flatten", Flatten);
                network.then("after", Linear { outputs: 4 });
                check(&network, 11, Truth::Labels(&[0, 1, 2, 3, 0, 1, 2, 3, 3, 2, 1]));
                check_layer(image, conv());
            }
        }
    }
}

#[test]
fn the_first_of_equals_in_a_window_gets_its_gradient() {
    let mut network = Network::new(Shape::image(1, 2, 6));
    network.then("pool", MaxPool { size: 2, stride: 2, padding: 0 });
    let mut model = cpu::Model::new(&network, 1);
    let nothing = model.start(&Stream::root(0));
    // All alike; then above on the right and below on the left; then a window of its own.
    let image = [7.0, 7.0, 0.0, 5.0, 1.0, 2.0, 7.0, 7.0, 5.0, 0.0, 3.0, 4.0];
    let mut gradient = [9.0; 12];
    let seed = Seed::Factors(&[1.0, 2.0, 3.0]);
    model.input_gradient(&nothing, &image, None, seed, &mut gradient);
    assert_eq!(gradient, [1.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 3.0]);
}

/// The gradient with respect to the inputs against differences, in three directions.
fn check_inputs(network: &Network, examples: usize) {
    let size = examples * network.input.size();
    let mut model = cpu::Model::new(network, examples);
    let point = model.start(&Stream::root(4));
    let mut inputs = Flat(vec![0.0; size]);
    inputs.add_noise(1.0, &Stream::root(5));
    let mut factors = Flat(vec![0.0; examples * network.output().size()]);
    factors.add_noise(1.0, &Stream::root(6));
    let noise = Stream::root(7);
    let mut gradient = Flat(vec![0.0; size]);
    let seed = Seed::Factors(&factors.0);
    model.input_gradient(&point, &inputs.0, Some(&noise), seed, &mut gradient.0);
    for which in 0..3 {
        let mut direction = Flat(vec![0.0; size]);
        direction.add_noise(1.0, &Stream::root(8).nth(which));
        let mut at = |step: f64| {
            let mut moved = inputs.clone();
            moved.axpy(step, &direction);
            let mut outputs = Vec::new();
            model.predict(&point, &moved.0, Some(&noise), &mut outputs);
            outputs.iter().zip(&factors.0).map(|(o, f)| o * f).sum::<f64>()
        };
        let h = 1e-6;
        let (numeric, exact) = ((at(h) - at(-h)) / (2.0 * h), gradient.dot(&direction));
        let scale = 1.0 + exact.abs();
        assert!((numeric - exact).abs() < 1e-5 * scale, "{exact} but {numeric} by differences");
    }
}

#[test]
fn every_network_has_the_gradient_of_its_function() {
    let labels = [0, 1, 2, 3, 4, 0];
    for (name, input) in [
        ("mlp-9-8", Shape::vector(12)),
        ("mlp-elu-9-8", Shape::vector(12)),
        ("mlp", Shape::image(1, 5, 5)),
        ("lenet5/4", Shape::image(1, 28, 28)),
        ("vgg16/16", Shape::image(3, 32, 32)),
        ("resnet20-cifar/8", Shape::image(3, 8, 8)),
        ("preresnet20/8", Shape::image(3, 8, 8)),
        ("preresnet56/8", Shape::image(3, 8, 8)),
        ("resnet20-frn/8", Shape::image(3, 8, 8)),
        ("resnet18/16", Shape::image(3, 32, 32)),
        ("resnet50/16", Shape::image(3, 32, 32)),
        ("wideresnet10x2/8", Shape::image(3, 8, 8)),
    ] {
        let network = networks::build(name, input, 5).expect(name);
        check(&network, labels.len(), Truth::Labels(&labels));
        check_inputs(&network, labels.len());
    }
}

#[test]
fn what_feeds_two_layers_gets_both_gradients() {
    let mut network = Network::new(Shape::vector(6));
    let first = network.then("first", Linear { outputs: 6 });
    let second = network.feed(&[Source::Input], "second", Linear { outputs: 6 });
    let sum = network.add(first, second, "sum");
    network.add(sum, Source::Input, "and the input");
    check_inputs(&network, 3);
}

#[test]
fn a_regression_has_the_gradient_of_its_likelihood() {
    let network = networks::build("mlp-20", Shape::vector(6), 2).expect("a network");
    check(&network, 5, Truth::Targets(&[0.3, -1.0, 2.0, 0.0, 0.7]));
}

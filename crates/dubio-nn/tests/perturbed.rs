//! Networks with perturbed layers against the networks that they are made of, at weights that are drawn.

use std::ops::Range;

use dubio_nn::cpu::{Flat, Model};
use dubio_nn::engine::{Model as _, Point, Vector};
use dubio_nn::layer::{Bias, Layer};
use dubio_nn::loss::Truth;
use dubio_nn::network::{Network, Perturbation};
use dubio_nn::networks;
use dubio_nn::shape::Shape;
use dubio_random::stream::Stream;

const BOTH: [Perturbation; 2] = [Perturbation::Local, Perturbation::Flipout];

fn numbers(count: usize, std: f64, stream: &Stream) -> Flat<f64> {
    let mut values = Flat(vec![0.0; count]);
    values.add_noise(std, stream);
    values
}

fn whole(network: &Network) -> Range<usize> {
    0..network.parameters()
}

/// A point of a perturbed network.
fn point(network: &Network, spreads: &[f64], means: &Flat<f64>) -> Point<Flat<f64>> {
    let theta = Flat([spreads, &means.0].concat());
    let statistics = Flat(dubio_nn::initial::rest(network));
    Point { theta, statistics }
}

/// Outputs for a batch as it is trained on.
fn trained_on(
    network: &Network,
    point: &Point<Flat<f64>>,
    inputs: &[f64],
    stream: &Stream,
) -> Vec<f64> {
    let examples = inputs.len() / network.input.size();
    let mut model = Model::new(network, examples);
    let labels = vec![0; examples];
    let (mut point, mut gradient) = (point.clone(), point.theta.clone());
    let data = (inputs, Truth::Labels(&labels));
    model.loss_and_gradient(&mut point, data, Some(stream), &mut gradient);
    assert!(gradient.0.iter().all(|g| g.is_finite()), "gradients are numbers");
    model.activations(network.nodes().len() - 1).to_vec()
}

fn layers() -> [(Shape, Layer); 2] {
    let conv = Layer::Conv2d { channels: 2, kernel: 3, stride: 2, padding: 1, bias: Bias::Yes };
    [(Shape::vector(5), Layer::Linear { outputs: 3 }), (Shape::image(2, 4, 3), conv)]
}

/// Mean and variance of each output over the draws.
fn moments(draws: &[Vec<f64>]) -> Vec<(f64, f64)> {
    let n = draws.len() as f64;
    let of = |k: usize| {
        let mean = draws.iter().map(|draw| draw[k]).sum::<f64>() / n;
        (mean, draws.iter().map(|draw| (draw[k] - mean).powi(2)).sum::<f64>() / (n - 1.0))
    };
    (0..draws[0].len()).map(of).collect()
}

/// Every output has the mean and the variance that it has when weights and biases are drawn.
#[test]
fn perturbed_outputs_have_the_moments_of_those_of_drawn_weights() {
    const DRAWS: usize = 20_000;
    let stream = Stream::root(2);
    for (input, layer) in layers() {
        let mut network = Network::new(input);
        network.then("layer", layer);
        let count = network.parameters();
        let means = numbers(count, 1.0, &stream.child("means"));
        let log_stds = numbers(count, 0.5, &stream.child("stds"));
        let stds: Vec<f64> = log_stds.0.iter().map(|r| r.exp()).collect();
        let inputs = numbers(input.size(), 1.0, &stream.child("inputs")).0;
        let shifts = |draw: usize| {
            let z = numbers(count, 1.0, &stream.child("draws").nth(draw));
            z.0.iter().zip(&stds).map(|(z, std)| z * std).collect::<Vec<f64>>()
        };
        let plain: Vec<Vec<f64>> = (0..DRAWS)
            .map(|draw| {
                let drawn = means.0.iter().zip(shifts(draw)).map(|(m, d)| m + d).collect();
                let statistics = Flat(Vec::new());
                let (at, mut out) = (Point { theta: Flat(drawn), statistics }, Vec::new());
                Model::new(&network, 1).predict(&at, &inputs, None, &mut out);
                out
            })
            .collect();
        for by in BOTH {
            let perturbed = network.perturbed(&whole(&network), by);
            let drawn: Vec<Vec<f64>> = (0..DRAWS)
                .map(|draw| {
                    let spreads = match by {
                        Perturbation::Local => stds.iter().map(|std| std * std).collect(),
                        Perturbation::Flipout => shifts(DRAWS + draw),
                    };
                    let at = point(&network, &spreads, &means);
                    trained_on(&perturbed, &at, &inputs, &stream.child("noise").nth(draw))
                })
                .collect();
            for ((mean, variance), (expected, known)) in moments(&drawn).iter().zip(moments(&plain))
            {
                let error = 5.0 * (2.0 * known / DRAWS as f64).sqrt();
                assert!((mean - expected).abs() < error, "{by:?}: mean {mean}, not {expected}");
                // A variance of normal numbers has the variance 2 v^2 / n.
                let error = 5.0 * 2.0 / (DRAWS as f64).sqrt();
                assert!((variance / known - 1.0).abs() < error, "{by:?}: {variance}, not {known}");
            }
        }
    }
}

/// A linear layer's variance in closed form: `sum_i x_i^2 sigma_oi^2 + sigma_o^2`, of each example by itself, and
/// independent of that of another.
#[test]
fn examples_of_a_batch_have_noise_of_their_own() {
    const DRAWS: usize = 20_000;
    let mut network = Network::new(Shape::vector(2));
    network.then("layer", Layer::Linear { outputs: 1 });
    let (means, stds) = (Flat(vec![0.4, -1.0, 0.3]), [0.5, 0.2, 0.3]);
    let inputs = [1.5, -2.0, 1.5, -2.0];
    let variance = (1.5_f64 * 0.5).powi(2) + (2.0_f64 * 0.2).powi(2) + 0.3_f64.powi(2);
    for by in BOTH {
        let perturbed = network.perturbed(&whole(&network), by);
        let draw = |draw: usize| {
            let stream = Stream::root(3).nth(draw);
            let z = numbers(3, 1.0, &stream.child("weights")).0;
            let spreads: Vec<f64> = match by {
                Perturbation::Local => stds.iter().map(|std| std * std).collect(),
                Perturbation::Flipout => stds.iter().zip(z).map(|(std, z)| std * z).collect(),
            };
            trained_on(&perturbed, &point(&network, &spreads, &means), &inputs, &stream)
        };
        let draws: Vec<Vec<f64>> = (0..DRAWS).map(draw).collect();
        for (mean, found) in moments(&draws) {
            assert!((mean - 2.9).abs() < 5.0 * (variance / DRAWS as f64).sqrt(), "{by:?}: {mean}");
            assert!((found / variance - 1.0).abs() < 0.05, "{by:?}: {found}, not {variance}");
        }
        let products = draws.iter().map(|draw| (draw[0] - 2.9) * (draw[1] - 2.9));
        let correlation = products.sum::<f64>() / DRAWS as f64 / variance;
        // With one draw of the weights it would be 1. Flipout's products have heavy tails.
        assert!(correlation.abs() < 0.05, "{by:?}: {correlation}");
    }
}

/// All places of a convolution share its weights: where they see the same, flipout gives the same. The local
/// reparameterisation does not.
#[test]
fn flipout_gives_an_example_one_kernel_and_local_noise_is_of_a_place() {
    let mut network = Network::new(Shape::image(3, 1, 6));
    network.then("layer", Layer::conv2d(4, 1, 1));
    let stream = Stream::root(4);
    let means = numbers(12, 1.0, &stream.child("means"));
    let spreads: Vec<f64> =
        numbers(12, 1.0, &stream.child("spreads")).0.iter().map(|v| v * v).collect();
    let same: Vec<f64> = [0.5, -1.0, 2.0].repeat(6);
    for by in BOTH {
        let perturbed = network.perturbed(&whole(&network), by);
        let outputs = trained_on(&perturbed, &point(&network, &spreads, &means), &same, &stream);
        let places: Vec<&[f64]> = outputs.chunks(4).collect();
        let equal = places.iter().all(|place| *place == places[0]);
        assert_eq!(equal, by == Perturbation::Flipout, "{by:?}: {places:?}");
    }
}

/// Without noise a perturbed network is the one that it is made of.
#[test]
fn without_noise_the_means_alone_count() {
    let input = Shape::image(3, 8, 8);
    for name in ["mlp-9", "resnet20-frn/8"] {
        let network = networks::build(name, input, 4).expect(name);
        let model = Model::<f64>::new(&network, 2);
        let start = model.start(&Stream::root(1));
        let inputs = numbers(2 * input.size(), 1.0, &Stream::root(2)).0;
        let mut expected = Vec::new();
        Model::new(&network, 2).predict(&start, &inputs, None, &mut expected);
        for by in BOTH {
            let perturbed = network.perturbed(&whole(&network), by);
            assert_eq!(perturbed.parameters(), 2 * network.parameters(), "{name}");
            assert_eq!(perturbed.statistics(), network.statistics(), "{name}");
            let spreads = match by {
                Perturbation::Local => 0.7,
                // No signs, and so no noise, for shifts: they must be none.
                Perturbation::Flipout => 0.0,
            };
            let at = point(&network, &vec![spreads; network.parameters()], &start.theta);
            let mut found = Vec::new();
            Model::new(&perturbed, 2).predict(&at, &inputs, None, &mut found);
            for (found, expected) in found.iter().zip(&expected) {
                assert!((found - expected).abs() < 1e-12, "{name}: {found}, not {expected}");
            }
        }
    }
}

/// Layers that stay are not perturbed.
#[test]
fn only_layers_that_move_are_perturbed() {
    let network = networks::build("mlp-9-8", Shape::vector(5), 4).expect("a network");
    let middle = network.nodes().iter().find(|node| node.name == "fc2").expect("a layer");
    let (moving, by) = (middle.parameters.clone(), Perturbation::Local);
    assert_eq!(network.perturbable(&moving), std::slice::from_ref(&moving));
    let perturbed = network.perturbed(&moving, by);
    let noisy: Vec<&str> = perturbed
        .nodes()
        .iter()
        .filter(|node| node.layer.is_noisy())
        .map(|node| node.name.as_str())
        .collect();
    assert_eq!(noisy, ["fc2.draw"]);
}

/// Gradients with respect to means and to what the noise is made of, against differences in random directions.
#[test]
fn perturbed_networks_have_the_gradient_of_their_function() {
    let labels = [0, 1, 2, 3, 0];
    for (name, input) in [
        ("mlp-9-8", Shape::vector(12)),
        ("lenet5/4", Shape::image(1, 28, 28)),
        ("preresnet20/8", Shape::image(3, 8, 8)),
        ("resnet20-frn/8", Shape::image(3, 8, 8)),
    ] {
        let network = networks::build(name, input, 4).expect(name);
        let stream = Stream::root(6);
        let inputs = numbers(labels.len() * input.size(), 1.0, &stream.child("inputs")).0;
        let count = network.parameters();
        let start = Model::<f64>::new(&network, 1).start(&stream.child("start"));
        let stds = numbers(count, 0.1, &stream.child("stds")).0;
        for by in BOTH {
            let perturbed = network.perturbed(&whole(&network), by);
            let spreads = match by {
                Perturbation::Local => stds.iter().map(|std| std * std).collect(),
                Perturbation::Flipout => stds.clone(),
            };
            let at = point(&network, &spreads, &start.theta);
            let mut model = Model::new(&perturbed, labels.len());
            let mut loss = |theta: Flat<f64>, gradient: &mut Flat<f64>| {
                let mut point = Point { theta, ..at.clone() };
                let data = (&inputs[..], Truth::Labels(&labels));
                model.loss_and_gradient(&mut point, data, Some(&stream), gradient)
            };
            let mut gradient = at.theta.clone();
            loss(at.theta.clone(), &mut gradient);
            let mut scrap = gradient.clone();
            for half in 0..2 {
                // Steps in proportion to the variances, which stay positive.
                let mut direction = numbers(2 * count, 1.0, &stream.child("towards").nth(half));
                let other = (1 - half) * count;
                direction.0[other..other + count].fill(0.0);
                if half == 0 && by == Perturbation::Local {
                    direction.0.iter_mut().zip(&spreads).for_each(|(d, v)| *d *= v);
                }
                let mut along = |step: f64| {
                    let mut theta = at.theta.clone();
                    theta.axpy(step, &direction);
                    loss(theta, &mut scrap)
                };
                let h = 1e-6 / direction.dot(&direction).sqrt().max(1e-2);
                let numeric = (along(h) - along(-h)) / (2.0 * h);
                let exact = gradient.dot(&direction);
                let apart = (numeric - exact).abs() / (1e-3 + exact.abs());
                assert!(apart < 1e-4, "{name} {by:?} {half}: {exact}, but {numeric}");
            }
        }
    }
}

/// Inputs that are 0 add no noise to a layer, and no gradient that is not a number.
#[test]
fn dead_inputs_give_no_noise() {
    for (input, layer) in layers() {
        let mut network = Network::new(input);
        network.then("layer", layer);
        let means = numbers(network.parameters(), 1.0, &Stream::root(1));
        let bias = network.slices()[1].range.clone();
        let mut spreads = vec![0.5; network.parameters()];
        spreads[bias.clone()].fill(0.0);
        for by in BOTH {
            let perturbed = network.perturbed(&whole(&network), by);
            let at = point(&network, &spreads, &means);
            let outputs =
                trained_on(&perturbed, &at, &vec![0.0; 3 * input.size()], &Stream::root(2));
            for place in outputs.chunks(bias.len()) {
                assert_eq!(place, &means.0[bias.clone()], "{by:?}: biases alone");
            }
        }
    }
}

/// Large enough that a batch is shared out, and an example's noise comes from several generators.
#[test]
fn one_thread_and_several_draw_the_same() {
    let mut network = Network::new(Shape::image(3, 40, 40));
    network.then("conv", Layer::conv2d(5, 3, 1));
    network.then("flatten", Layer::Flatten);
    network.then("after", Layer::Linear { outputs: 4 });
    let means = numbers(network.parameters(), 0.1, &Stream::root(1));
    let inputs = numbers(20 * network.input.size(), 1.0, &Stream::root(2)).0;
    for by in BOTH {
        let perturbed = network.perturbed(&whole(&network), by);
        let at = point(&network, &vec![0.1; network.parameters()], &means);
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let pool = pool.expect("threads");
            pool.install(|| trained_on(&perturbed, &at, &inputs, &Stream::root(3)))
        };
        assert_eq!(run(1), run(3), "{by:?}");
    }
}

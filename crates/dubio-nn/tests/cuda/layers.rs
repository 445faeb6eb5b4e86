//! Layers, one or a few at a time.

use std::collections::HashSet;

use dubio_nn::Precision;
use dubio_nn::cuda::Cuda;
use dubio_nn::engine::Engine;
use dubio_nn::layer::{Bias, Directions, Layer};
use dubio_nn::network::{Network, Perturbation, Source};
use dubio_nn::networks;
use dubio_nn::parameter::Initial;
use dubio_nn::shape::Shape;

use crate::apart::{agree, agree_by, apart, by_length};
use crate::asked::Case;
use crate::networks::smooth;

/// Layers whose noise comes from several generators for an example, and signs from several words.
pub(crate) fn perturbed<E: Engine>(gpu: &E) {
    let mut network = Network::new(Shape::image(3, 20, 20));
    let means = network.then("means", Layer::conv2d(40, 3, 1));
    network.feed(&[Source::Input], "roots", Layer::conv2d(40, 1, 1));
    let variances = network.then("variances", Layer::Square);
    network.feed(&[means, variances], "draw", Layer::DrawNormal);
    network.then("flatten", Layer::Flatten);
    network.then("after", Layer::Linear { outputs: 4 });
    agree(gpu, &Case::new(&network), "draws");
    for name in ["mlp-100-7", "lenet5/4", "preresnet20/8"] {
        let plain = smooth(&networks::build(name, Shape::image(3, 16, 16), 4).expect(name));
        let network = plain.perturbed(&(0..plain.parameters()), Perturbation::Flipout);
        agree_by(by_length, 1e-4, gpu, &Case::new(&network), name);
    }
}

/// A convolution after another layer with parameters, so that the gradient of its inputs is seen too.
pub(crate) fn convolution(side: usize, channels: [usize; 2], window: [usize; 3]) -> Network {
    let [kernel, stride, padding] = window;
    let mut network = Network::new(Shape::image(3, side, side));
    network.then("before", Layer::conv2d(channels[0], 1, 1));
    let bias = Bias::Yes;
    let layer = Layer::Conv2d { channels: channels[1], kernel, stride, padding, bias };
    network.then("layer", layer);
    network.then("pool", Layer::GlobalAveragePool);
    network.then("after", Layer::Linear { outputs: 4 });
    network
}

/// Channels for every width of a tile, images and batches that end inside one.
pub(crate) fn convolutions<E: Engine>(gpu: &E) {
    for (side, channels, window) in [
        (32, [16, 16], [3, 1, 1]),
        (32, [16, 32], [3, 2, 1]),
        (32, [16, 32], [1, 2, 0]),
        (15, [32, 64], [3, 2, 1]),
        (8, [64, 64], [3, 1, 1]),
        (8, [160, 160], [3, 1, 1]),
        (7, [130, 200], [3, 1, 1]),
        (9, [20, 12], [5, 3, 2]),
        (16, [128, 136], [3, 1, 1]),
        (28, [6, 16], [5, 1, 2]),
    ] {
        let network = convolution(side, channels, window);
        let name = format!("{channels:?} channels, window {window:?}, {side} pixels");
        agree(gpu, &Case::new(&network), &name);
    }
}

/// Convolutions and batch normalisations that read one another, once, twice and with another reader beside them, with an
/// activation between them or without: on some GPUs, what lies between them is in bfloat16.
fn normalised(side: usize, channels: [usize; 2], bias: Bias) -> Network {
    let mut network = Network::new(Shape::image(3, side, side));
    let convolution =
        |channels, kernel| Layer::Conv2d { channels, kernel, stride: 1, padding: kernel / 2, bias };
    network.then("first", convolution(channels[0], 1));
    network.then("norm1", Layer::BatchNorm);
    let start = network.then("swish1", Layer::Swish);
    network.then("second", convolution(channels[1], 3));
    network.then("norm2", Layer::BatchNorm);
    network.then("third", convolution(channels[1], 3));
    let branch = network.then("norm3", Layer::BatchNorm);
    let short = network.feed(&[start], "short", convolution(channels[1], 1));
    network.add(branch, short, "sum");
    network.then("norm4", Layer::BatchNorm);
    network.then("elu", Layer::Elu);
    network.then("pool", Layer::GlobalAveragePool);
    network.then("after", Layer::Linear { outputs: 4 });
    network
}

/// TF32 keeps 10 bits of mantissa, bfloat16 7: errors are some of the last of them, and not those of single precision.
pub(crate) fn precisions(_: &Cuda) {
    // Channels for every tile; in eights or not, of which convolutions in bfloat16 make a difference.
    let networks = [
        convolution(16, [32, 64], [3, 1, 1]),
        convolution(8, [160, 160], [3, 1, 1]),
        convolution(15, [24, 40], [3, 2, 1]),
        convolution(16, [128, 136], [1, 2, 0]),
        convolution(9, [8, 300], [5, 1, 2]),
        convolution(9, [20, 12], [5, 3, 2]),
        networks::build("mlp-elu-64-64", Shape::vector(100), 4).expect("an mlp"),
        normalised(16, [16, 40], Bias::No),
        normalised(9, [8, 160], Bias::Yes),
        normalised(8, [24, 20], Bias::No),
        smooth(&networks::build("wideresnet10x1", Shape::image(3, 16, 16), 4).expect("a network")),
    ];
    for (precision, least, most) in [(Precision::Tf32, 2e-5, 1e-2), (Precision::Bf16, 2e-4, 3e-2)] {
        let gpu = Cuda::open(0, precision).expect("a GPU");
        for network in &networks {
            let (what, apart) = apart(&gpu, &Case::new(network), "a product", by_length);
            let layers = [0, 1].map(|i| &network.nodes()[i].layer);
            assert!((least..most).contains(&apart), "{precision}, {layers:?}: {what}: {apart:e}");
        }
        // Of normalisations that stay as they are, nothing around is in bfloat16.
        let network = normalised(8, [16, 24], Bias::No);
        let moving = network.nodes().last().expect("layers").parameters.clone();
        let case = Case { moving, ..Case::new(&network) };
        agree_by(by_length, most, &gpu, &case, "frozen");
    }
}

/// Networks of one layer between others, by its name, and one of branches.
fn networks_of_layers() -> Vec<(String, Network)> {
    let conv = |kernel, stride, padding, bias| Layer::Conv2d {
        channels: 3,
        kernel,
        stride,
        padding,
        bias,
    };
    let mut layers = vec![
        Layer::Relu,
        Layer::Elu,
        Layer::Swish,
        Layer::BatchNorm,
        Layer::FilterResponseNorm,
        Layer::Dropout { rate: 0.3 },
        Layer::GaussianDropout { rate: 0.3 },
        Layer::Square,
        Layer::RandomSigns,
        Layer::PaddedShortcut { channels: 8 },
        Layer::MaxPool { size: 2, stride: 2, padding: 0 },
        Layer::MaxPool { size: 3, stride: 2, padding: 1 },
        Layer::AveragePool { size: 2 },
        Layer::GlobalAveragePool,
        Layer::Append { numbers: 3, initial: Initial::Constant(0.0) },
        Layer::Take { first: 7, numbers: 40 },
        Layer::RandomFeatures { features: 30, length_scale: 4.0, directions: Directions::Gaussian },
    ];
    for (kernel, stride, padding) in
        [(3, 1, 1), (3, 2, 1), (1, 1, 0), (1, 2, 0), (5, 1, 0), (5, 2, 2)]
    {
        layers.push(conv(kernel, stride, padding, Bias::Yes));
        layers.push(conv(kernel, stride, padding, Bias::No));
    }
    let mut networks = Vec::new();
    for layer in layers {
        let name = format!("{layer:?}");
        let mut network = Network::new(Shape::image(4, 6, 5));
        network.then(
            "before",
            Layer::Conv2d { channels: 4, kernel: 1, stride: 1, padding: 0, bias: Bias::Yes },
        );
        network.then("layer", layer);
        network.then("flatten", Layer::Flatten);
        network.then("after", Layer::Linear { outputs: 4 });
        networks.push((name, network));
    }
    let mut network = Network::new(Shape::image(2, 4, 3));
    let first = network.then("first", Layer::conv2d(3, 3, 1));
    let second = network.feed(&[Source::Input], "second", Layer::conv2d(3, 1, 1));
    let sum = network.add(first, second, "sum");
    let variances = network.feed(&[sum], "variances", Layer::Square);
    let draw = network.feed(&[first, variances], "draw", Layer::DrawNormal);
    network.feed(&[first, Source::Input, sum, draw, first], "together", Layer::Concat);
    network.then("flatten", Layer::Flatten);
    network.then("after", Layer::Linear { outputs: 4 });
    networks.push(("branches".to_string(), network));
    networks
}

pub(crate) fn every_layer<E: Engine>(gpu: &E) {
    for (name, network) in networks_of_layers() {
        agree(gpu, &Case::new(&network), &name);
    }
}

/// The names of all layers, and of one. A new layer does not compile here before it is in the list.
macro_rules! kinds {
    ($($kind:ident)*) => {
        const KINDS: &[&str] = &[$(stringify!($kind)),*];

        fn kind(layer: &Layer) -> &'static str {
            match layer {
                $(Layer::$kind { .. } => stringify!($kind),)*
            }
        }
    };
}
kinds! {
    Linear Conv2d MaxPool AveragePool GlobalAveragePool BatchNorm FilterResponseNorm Relu Elu Swish Dropout
    GaussianDropout Square DrawNormal RandomSigns Flatten Add Concat Append Take RandomFeatures PaddedShortcut
}

/// Needs no GPU.
pub(crate) fn none_is_missing() {
    let networks = networks_of_layers();
    let nodes = networks.iter().flat_map(|(_, network)| network.nodes());
    let compared: HashSet<&str> = nodes.map(|node| kind(&node.layer)).collect();
    let missing: Vec<_> = KINDS.iter().filter(|kind| !compared.contains(*kind)).collect();
    assert!(missing.is_empty(), "not compared with a CPU: {missing:?}");
}

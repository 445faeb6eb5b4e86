//! Batches that take more blocks of threads than one: losses, and sums over places or examples.

use std::sync::Arc;

use dubio_nn::cpu::Cpu;
use dubio_nn::engine::{Batch, Engine, Model, Rows, Vector};
use dubio_nn::examples::{Answers, Examples, Inputs};
use dubio_nn::layer::{Bias, Layer};
use dubio_nn::loss::Kernel;
use dubio_nn::network::Network;
use dubio_nn::networks;
use dubio_nn::shape::Shape;

use crate::apart::{agree, by_largest};
use crate::asked::{Case, numbers, start};

/// Up to 256 examples one block works out the losses and their mean, and an activation's gradient the biases' of the
/// layer before it. In steps that are replayed the last batch is smaller, and of the other kind. The activation is
/// smooth: of so many numbers one may lie at the corner of a ReLU.
pub(crate) fn losses<E: Engine>(gpu: &E) {
    let mlp = |outputs| networks::build("mlp-elu-50", Shape::vector(6), outputs).expect("an mlp");
    for (kernel, network) in [
        (Some(Kernel::CrossEntropy), mlp(4)),
        (Some(Kernel::Gaussian), mlp(2)),
        (None, mlp(3)),
        (Some(Kernel::CrossEntropy), normalised(Shape::image(2, 3, 5))),
    ] {
        for batch in [256, 257, 300] {
            let case = Case { kernel, examples: 700, batch: 7..7 + batch, ..Case::new(&network) };
            agree(gpu, &case, &format!("{kernel:?} of {batch} examples"));
        }
    }
}

/// Linear layers whose products end inside a tile, at its edge or behind it, have a part of a chunk of the depth or
/// several for each warp, in fours or not, and so many tiles that they are left to cuBLAS.
pub(crate) fn products<E: Engine>(gpu: &E) {
    for (inputs, units, examples) in [
        (1, 1, 5),
        (15, 31, 33),
        (16, 32, 32),
        (17, 33, 31),
        (130, 36, 65),
        (300, 40, 64),
        (600, 257, 40),
        (12, 300, 1100),
    ] {
        let network =
            networks::build(&format!("mlp-elu-{units}-{units}"), Shape::vector(inputs), 3);
        let network = network.expect("an mlp");
        let case = Case { examples: examples + 12, batch: 3..3 + examples, ..Case::new(&network) };
        agree(gpu, &case, &format!("{inputs} inputs, {units} units, {examples} examples"));
    }
}

/// Both kinds of normalisation between convolutions.
fn normalised(input: Shape) -> Network {
    let bias = Bias::Yes;
    let mut network = Network::new(input);
    network.then("before", Layer::conv2d(2, 1, 1));
    network.then("batch norm", Layer::BatchNorm);
    network.then("swish", Layer::Swish);
    network.then("middle", Layer::Conv2d { channels: 2, kernel: 1, stride: 1, padding: 0, bias });
    network.then("frn", Layer::FilterResponseNorm);
    network.then("elu", Layer::Elu);
    network.then("pool", Layer::GlobalAveragePool);
    network.then("after", Layer::Linear { outputs: 4 });
    network
}

/// Gradient, running statistics, and loss with them, of the first examples.
fn one_step<E: Engine>(engine: &E, network: &Network, examples: usize) -> [Vec<f64>; 3] {
    let inputs = Arc::new(numbers::<E::Number>(examples * network.input.size(), "inputs"));
    let labels = Answers::Labels(Arc::new((0..examples as u32).map(|i| i % 4).collect()));
    let examples = Examples { inputs: Inputs::Ready(inputs), answers: labels };
    let mut model = engine.model(network, examples.len());
    let case = Case::new(network);
    model.learn(&engine.data(&examples), &case.loss(), case.moving.clone());
    let mut point = start(engine, network);
    let mut gradient = point.theta.zeros(network.parameters());
    let batch = Batch { rows: Rows::Stored(0..examples.len()), augment: None, noise: None };
    model.gradient(&mut point, &batch, &mut gradient);
    let losses = [model.losses(), vec![model.loss(&point, &batch)]].concat();
    let read = |vector: &E::Vector| vector.read(0..vector.len());
    [read(&gradient), read(&point.statistics), losses]
}

/// More than 65,535 chunks of 256 places, and more than 65,535 examples: a GPU has no more blocks in its second
/// direction.
pub(crate) fn more_than_a_grid_has<E: Engine>(gpu: &E) {
    for (side, examples) in [(64, 4200), (2, 70_000)] {
        let network = normalised(Shape::image(1, side, side));
        let expected = one_step(&Cpu::<f32>::default(), &network, examples);
        let found = one_step(gpu, &network, examples);
        for ((a, b), what) in expected.iter().zip(&found).zip(["gradient", "statistics", "loss"]) {
            let apart = by_largest(a, b);
            assert!(apart <= 1e-4, "{examples} of {side} x {side}: {what} differ by {apart:e}");
        }
    }
}

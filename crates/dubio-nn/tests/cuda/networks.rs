//! Whole networks, and losses.

use dubio_nn::cpu::Cpu;
use dubio_nn::engine::Engine;
use dubio_nn::layer::Layer;
use dubio_nn::loss::Kernel;
use dubio_nn::network::Network;
use dubio_nn::shape::Shape;
use dubio_nn::{Double, networks};

use crate::apart::{agree, agree_by, by_length, errors};
use crate::asked::{Case, all};

/// The same network with a smooth function in place of every ReLU: of so many numbers, rounding moves some across the
/// corner of one, whose gradient is then another altogether.
pub(crate) fn smooth(network: &Network) -> Network {
    let mut smooth = Network::new(network.input);
    for node in network.nodes() {
        let layer = if node.layer == Layer::Relu { Layer::Swish } else { node.layer.clone() };
        smooth.feed(&node.sources, node.name.clone(), layer);
    }
    smooth
}

pub(crate) fn every_network<E: Engine>(gpu: &E) {
    for (name, input) in [
        ("mlp-9-8", Shape::vector(12)),
        ("mlp-elu-9-8", Shape::vector(12)),
        ("mlp-200-200", Shape::image(1, 28, 28)),
        ("lenet5", Shape::image(1, 28, 28)),
        ("vgg16/16", Shape::image(3, 32, 32)),
        ("resnet20-cifar", Shape::image(3, 16, 16)),
        ("preresnet20", Shape::image(3, 16, 16)),
        ("preresnet56/8", Shape::image(3, 16, 16)),
        ("resnet20-frn", Shape::image(3, 16, 16)),
        ("resnet18/16", Shape::image(3, 32, 32)),
        ("resnet50/16", Shape::image(3, 32, 32)),
        ("wideresnet10x2/8", Shape::image(3, 16, 16)),
    ] {
        let network = smooth(&networks::build(name, input, 5).expect(name));
        // Deep networks with batch normalisation carry rounding from layer to layer. So the truth is that of double
        // precision, and a GPU may be as far from it as a CPU in single precision, times a few.
        let case = Case::new(&network);
        let truth = all(&Double::default(), &case);
        let of_cpu = errors(&truth, &all(&Cpu::<f32>::default(), &case));
        let of_gpu = errors(&truth, &all(gpu, &case));
        for (what, apart) in of_gpu {
            let most = f64::max(1e-4, 10.0 * of_cpu[what]);
            assert!(
                apart <= most,
                "{name}: {what} differ by {apart:e}, {:e} on a CPU",
                of_cpu[what]
            );
        }
    }
}

pub(crate) fn regression<E: Engine>(gpu: &E) {
    let network = networks::build("mlp-50", Shape::vector(6), 2).expect("a network");
    let case = Case { kernel: Some(Kernel::Gaussian), ..Case::new(&network) };
    agree(gpu, &case, "a regression");
}

pub(crate) fn host_loss<E: Engine>(gpu: &E) {
    let network = networks::build("mlp-20", Shape::vector(6), 3).expect("a network");
    agree(gpu, &Case { kernel: None, ..Case::new(&network) }, "a loss on the host");
}

pub(crate) fn frozen<E: Engine>(gpu: &E) {
    let network =
        networks::build("resnet20-cifar/8", Shape::image(3, 16, 16), 5).expect("a network");
    let moving = network.nodes().last().expect("layers").parameters.clone();
    agree_by(by_length, 2e-2, gpu, &Case { moving, ..Case::new(&network) }, "frozen");
}

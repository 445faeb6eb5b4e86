//! Whole networks, and losses.

use dubio_nn::cpu::Cpu;
use dubio_nn::cuda::Cuda;
use dubio_nn::loss::Kernel;
use dubio_nn::shape::Shape;
use dubio_nn::{Double, networks};

use crate::apart::{agree, agree_on, by_largest, by_length, errors, of_each_example};
use crate::asked::{Likelihood, all};

pub(crate) fn every_network(gpu: &Cuda) {
    for (name, input) in [
        ("mlp-9-8", Shape::vector(12)),
        ("mlp-elu-9-8", Shape::vector(12)),
        ("mlp-200-200", Shape::image(1, 28, 28)),
        ("lenet5", Shape::image(1, 28, 28)),
        ("vgg16/16", Shape::image(3, 32, 32)),
        ("resnet20-cifar", Shape::image(3, 32, 32)),
        ("preresnet20", Shape::image(3, 16, 16)),
        ("preresnet56/8", Shape::image(3, 16, 16)),
        ("resnet20-frn", Shape::image(3, 32, 32)),
        ("resnet18/16", Shape::image(3, 32, 32)),
        ("resnet50/16", Shape::image(3, 32, 32)),
        ("wideresnet10x2/8", Shape::image(3, 16, 16)),
    ] {
        let network = networks::build(name, input, 5).expect(name);
        // Deep networks with batch normalisation carry rounding from layer to layer: of a ResNet-20, PyTorch's
        // gradients in single precision are 1.4e-3 from those in double precision, in length. So the truth is that of
        // double precision, and a GPU may be as far from it as a CPU in single precision, times a few: of `resnet50/16`
        // a CPU's are off by 1.2e-2.
        let loss = || Likelihood { outputs: 5, kernel: Some(Kernel::CrossEntropy) };
        let whole = 0..network.parameters();
        let truth = all(&Double::default(), &network, loss(), whole.clone());
        let (of_cpu, of_gpu) = (
            errors(&truth, &all(&Cpu::<f32>::default(), &network, loss(), whole.clone())),
            errors(&truth, &all(gpu, &network, loss(), whole)),
        );
        for (what, apart) in of_gpu {
            // What one engine's rounding moves across the corner of a ReLU, another's does not.
            let floor: f64 = match what {
                "gradient" | "gradient of steps" | "seeded" => 2e-2,
                _ if of_each_example(what).is_some() => 1e-3,
                _ => 1e-4,
            };
            let most = floor.max(4.0 * of_cpu[what]);
            assert!(
                apart <= most,
                "{name}: {what} differ by {apart:e}, {:e} on a CPU",
                of_cpu[what]
            );
        }
    }
}

pub(crate) fn regression(gpu: &Cuda) {
    let network = networks::build("mlp-50", Shape::vector(6), 2).expect("a network");
    agree(gpu, &network, Kernel::Gaussian, "a regression");
}

pub(crate) fn host_loss(gpu: &Cuda) {
    let network = networks::build("mlp-20", Shape::vector(6), 3).expect("a network");
    let task = (None, 0..network.parameters());
    agree_on(gpu, &network, task, "a loss on the host", by_largest, 1e-4);
}

pub(crate) fn frozen(gpu: &Cuda) {
    let network =
        networks::build("resnet20-cifar/8", Shape::image(3, 16, 16), 5).expect("a network");
    let last = network.nodes().last().expect("layers").parameters.clone();
    let task = (Some(Kernel::CrossEntropy), last);
    agree_on(gpu, &network, task, "frozen", by_length, 2e-2);
}

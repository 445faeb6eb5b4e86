//! The same work again, and beside other work.

use dubio_nn::cuda::Cuda;
use dubio_nn::engine::Engine;
use dubio_nn::loss::Kernel;
use dubio_nn::networks;
use dubio_nn::shape::Shape;

use crate::asked::{Likelihood, all};

/// Four members at once, each on a stream of its own, and one alone.
pub(crate) fn beside(gpu: &Cuda) {
    let network = networks::build("resnet20-cifar", Shape::image(3, 32, 32), 5).expect("a network");
    let whole = 0..network.parameters();
    let loss = || Likelihood { outputs: 5, kernel: Some(Kernel::CrossEntropy) };
    let alone = all(gpu, &network, loss(), whole.clone());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let own = gpu.beside();
                assert_eq!(alone, all(&own, &network, loss(), whole.clone()));
            });
        }
    });
}

/// In another process too, on the same kind of GPU; here twice in one.
pub(crate) fn repeatable(gpu: &Cuda) {
    let network = networks::build("resnet20-cifar", Shape::image(3, 32, 32), 5).expect("a network");
    let loss = || Likelihood { outputs: 5, kernel: Some(Kernel::CrossEntropy) };
    let whole = 0..network.parameters();
    let first = all(gpu, &network, loss(), whole.clone());
    assert_eq!(first, all(gpu, &network, loss(), whole));
}

//! Steps on images that are moved; the same work again, and beside other work.

use dubio_nn::engine::Engine;
use dubio_nn::layer::Layer;
use dubio_nn::network::Network;
use dubio_nn::networks;
use dubio_nn::shape::Shape;

use crate::apart::agree;
use crate::asked::{Case, Given, all};

/// Four members at once, each on a stream of its own, and one alone.
pub(crate) fn beside<E: Engine>(gpu: &E) {
    let network = networks::build("resnet20-cifar", Shape::image(3, 32, 32), 5).expect("a network");
    let case = Case::new(&network);
    let alone = all(gpu, &case);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let own = gpu.beside();
                assert_eq!(alone, all(&own, &case));
            });
        }
    });
}

/// In another process too, on the same kind of GPU; here twice in one.
pub(crate) fn repeatable<E: Engine>(gpu: &E) {
    let network = networks::build("resnet20-cifar", Shape::image(3, 32, 32), 5).expect("a network");
    let case = Case::new(&network);
    assert_eq!(all(gpu, &case), all(gpu, &case));
}

/// Of several channels and unequal sides, in an order and as they lie, in steps that are replayed; moved by the
/// engine, and by the host, which hands over each batch.
pub(crate) fn moved<E: Engine>(gpu: &E) {
    let mut network = Network::new(Shape::image(3, 7, 5));
    network.then("conv", Layer::conv2d(4, 3, 1));
    network.then("elu", Layer::Elu);
    network.then("flatten", Layer::Flatten);
    network.then("after", Layer::Linear { outputs: 4 });
    for given in [Given::Moved, Given::Anew] {
        agree(gpu, &Case { given, ..Case::new(&network) }, &format!("{given:?}"));
    }
}

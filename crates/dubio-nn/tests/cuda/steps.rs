//! The same work again, and beside other work.

use dubio_nn::engine::Engine;
use dubio_nn::networks;
use dubio_nn::shape::Shape;

use crate::asked::{Case, all};

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

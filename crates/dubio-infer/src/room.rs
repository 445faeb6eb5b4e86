//! How much is processed at a time, so that what layers put out fits into memory.

use dubio_nn::network::Network;

/// The most examples at a time.
const EXAMPLES: usize = 1000;
/// The most numbers that all layers put out for the examples together: 4 GiB in single precision. Networks up to the
/// size of VGG-16 on 32 x 32 pixels process [`EXAMPLES`] at a time.
const NUMBERS: f64 = (1_u64 << 30) as f64;
/// The most bytes of a GPU's memory that the members of a run, or its posterior samples, take side by side. Others
/// share the GPU, and a few large networks keep it busy.
const SIDE_BY_SIDE: f64 = 32e9;
/// What each network at work takes besides: cuBLAS's workspace, and partial sums of convolutions.
const WORKSPACE: f64 = 128e6;

/// Numbers that all layers of a network put out for an example.
pub fn activations(network: &Network) -> f64 {
    network.nodes().iter().map(|node| node.output.size() as f64).sum()
}

/// Examples that a network processes together where it processes all of them. Their number depends on the network
/// alone, because the last digits of sums over examples depend on it.
pub fn examples_together(network: &Network) -> usize {
    ((NUMBERS / activations(network).max(1.0)) as usize).clamp(1, EXAMPLES)
}

/// Bytes of a GPU's memory that a network at work takes, roughly, with room for this many examples: what layers put
/// out, gradients, and what some keep for the way back. Measured were 1.75 (PreResNet-56) and 2.25 (VGG-16) times what
/// layers put out.
pub fn gpu_bytes(network: &Network, capacity: usize) -> f64 {
    WORKSPACE + 2.5 * 4.0 * capacity as f64 * activations(network)
}

/// Networks that work side by side, at least one: as many as fit into the free memory of a GPU. `None` stands for a
/// processor, where there are as many as threads.
pub fn networks_at_once(network: &Network, capacity: usize, free: Option<u64>) -> usize {
    let of_gpu =
        |free: u64| (SIDE_BY_SIDE.min(free as f64) / gpu_bytes(network, capacity)) as usize;
    free.map_or(usize::MAX, of_gpu).max(1)
}

#[cfg(test)]
mod tests {
    use dubio_nn::networks;
    use dubio_nn::shape::Shape;

    use super::*;

    fn of_cifar(name: &str) -> Network {
        networks::build(name, Shape::image(3, 32, 32), 10).expect("a network")
    }

    #[test]
    fn small_networks_look_at_a_thousand_examples_and_large_ones_at_what_fits() {
        for name in ["mlp-200-200", "lenet5", "resnet20-frn", "vgg16"] {
            assert_eq!(examples_together(&of_cifar(name)), 1000, "{name}");
        }
        for name in ["preresnet56", "wideresnet28x10"] {
            let network = of_cifar(name);
            let together = examples_together(&network);
            assert!((32..1000).contains(&together), "{name}: {together}");
            assert!(together as f64 * activations(&network) <= NUMBERS, "{name}");
            assert!((together + 1) as f64 * activations(&network) > NUMBERS, "{name}");
        }
    }

    /// Memory that processes took on an H200 in TF32 with room for 1000 images: 31.2 and 9.1 GB, of which the driver's
    /// context and the training set took 1.2, and the parameters of VGG-16, of which several vectors are kept, 0.5.
    #[test]
    fn a_gpu_takes_less_than_is_counted_but_not_by_half() {
        for (name, measured) in [("preresnet56", 30.0e9), ("vgg16", 7.4e9)] {
            let counted = gpu_bytes(&of_cifar(name), 1000);
            assert!((1.0..1.5).contains(&(counted / measured)), "{name}: {counted} {measured}");
        }
    }

    #[test]
    fn networks_side_by_side_fit_into_what_is_free() {
        let network = of_cifar("preresnet56");
        let each = gpu_bytes(&network, 128);
        assert_eq!(networks_at_once(&network, 128, None), usize::MAX);
        assert_eq!(networks_at_once(&network, 128, Some((2.5 * each) as u64)), 2);
        assert_eq!(networks_at_once(&network, 128, Some(0)), 1, "it is refused elsewhere");
        let most = networks_at_once(&network, 128, Some(u64::MAX));
        assert!(most > 1 && most as f64 * each <= SIDE_BY_SIDE, "{most}");
    }
}

//! The numbers that a network starts from.

use dubio_random::stream::Stream;
use dubio_random::uniform::uniform;

use crate::network::Network;
use crate::parameter::Initial;
use crate::real::Real;

/// A starting point of a network, each parameter from a stream of its own name.
pub fn start<T: Real>(network: &Network, stream: &Stream) -> Vec<T> {
    let mut theta = vec![T::zero(); network.parameters()];
    for node in network.nodes() {
        for (parameter, range) in node.parameters() {
            draw(&mut theta[range], parameter.initial, &stream.child(&node.path(&parameter)));
        }
    }
    theta
}

/// Running statistics of a network that has seen nothing.
pub fn rest<T: Real>(network: &Network) -> Vec<T> {
    let mut statistics = vec![T::zero(); network.statistics()];
    for (parameter, range) in network.nodes().iter().flat_map(|node| node.statistics()) {
        draw(&mut statistics[range], parameter.initial, &Stream::root(0));
    }
    statistics
}

fn draw<T: Real>(values: &mut [T], initial: Initial, stream: &Stream) {
    let mut generator = stream.generator();
    match initial {
        Initial::Constant(value) => values.fill(T::of(value)),
        Initial::Uniform { fan } => {
            let reach = 1.0 / (fan as f64).sqrt();
            let mut draw = || T::of(reach * (2.0 * uniform(&mut generator) - 1.0));
            values.iter_mut().for_each(|v| *v = draw());
        }
        Initial::He { fan } => {
            values.fill(T::zero());
            T::add_normals(values, (2.0 / fan as f64).sqrt(), &mut generator);
        }
    }
}

//! The end of a network, when what is before it does not move.

use dubio_nn::cpu::{Cpu, Flat, initial};
use dubio_nn::engine::Engine;
use dubio_nn::network::{Network, Source};
use dubio_nn::real::Real;
use dubio_random::stream::Stream;

use crate::posterior::Point;
use crate::problem::Start;
use crate::training::{Training, TrainingInputs};

/// Examples at a time.
const CHUNK: usize = 1000;

/// A network from the first layer that moves on, and what it reads.
pub(crate) struct Head<T> {
    pub(crate) network: Network,
    pub(crate) start: Start<Flat<T>>,
    /// What the layers before it make of the training inputs, worked out once; none where it has to
    /// be worked out at every step, and the head is the network itself.
    pub(crate) features: Option<Vec<T>>,
    pub(crate) before: Before<T>,
}

/// The parameters of the layers before it.
pub(crate) struct Before<T>(Flat<T>);

impl<T: Real> Before<T> {
    /// A point of the whole network.
    pub(crate) fn complete(&self, point: Point<Flat<T>>) -> Point<Flat<T>> {
        Point { theta: Flat([&self.0.0[..], &point.theta.0].concat()), ..point }
    }
}

impl<T: Real> Head<T> {
    /// Of a network whose parameters move from `from` on.
    pub(crate) fn new(
        network: Network,
        from: usize,
        start: Start<Flat<T>>,
        training: &Training<T>,
        stream: &Stream,
    ) -> Self {
        let (theta, statistics) = match start {
            Start::Fresh => {
                let rest = initial::rest::<T>(&network).iter().map(|value| value.wide()).collect();
                (Flat(initial::start(&network, &stream.child("start"))), rest)
            }
            Start::Warm { theta, statistics } => (theta, statistics),
        };
        let whole = |network, theta| Self {
            network,
            start: Start::Warm { theta, statistics },
            features: None,
            before: Before(Flat(Vec::new())),
        };
        // Features that are more than the inputs may be more than there is memory for.
        let seam = network
            .seam(from)
            .filter(|&seam| network.shape(Source::Node(seam - 1)).size() <= network.input.size());
        let (Some(seam), TrainingInputs::Ready(inputs)) = (seam, &training.inputs) else {
            return whole(network, theta);
        };
        let (body, network) = network.split(seam);
        let (before, moving) = theta.0.split_at(body.parameters());
        let (before, moving) = (Flat(before.to_vec()), Flat(moving.to_vec()));
        let mut features = Vec::new();
        Cpu::new(&body, CHUNK.min(training.len())).predict(&before, inputs, None, &mut features);
        Self { features: Some(features), before: Before(before), ..whole(network, moving) }
    }
}

#[cfg(test)]
mod tests {
    use dubio_data::dataset::Dataset;
    use dubio_data::sets::{self, Part};
    use dubio_nn::layer::Layer;
    use dubio_nn::networks;

    use super::*;
    use crate::augment::Augmentation;

    #[test]
    fn features_are_kept_where_they_never_change_and_are_no_larger_than_the_inputs() {
        let digits: Dataset = sets::digits::SET.load("".as_ref(), Part::Train).expect("embedded");
        let plain = Training::<f32>::new(&digits, &[]).expect("digits");
        let changed = Training::<f32>::new(&digits, &[Augmentation::Crop]).expect("digits");
        let features = |network: &str, dropped: bool, training: &Training<f32>| {
            let network = networks::build(network, training.scaling().shape(), 10).expect(network);
            let drop = &Layer::Dropout { rate: 0.5 };
            let network =
                if dropped { network.in_front_of_linear("dropout", drop) } else { network };
            let from = network.slices()[network.slices().len() - 2].range.start;
            let head = Head::new(network, from, Start::Fresh, training, &Stream::root(0));
            head.features.map(|features| features.len() / training.len())
        };
        assert_eq!(features("mlp-20-30", false, &plain), Some(30));
        assert_eq!(features("mlp-20", true, &plain), Some(20), "noise behind them is no matter");
        assert_eq!(features("mlp-20-30", true, &plain), None, "noise in front of them");
        assert_eq!(features("mlp-20-65", false, &plain), None, "more than the 64 of a picture");
        assert_eq!(features("mlp-20-30", false, &changed), None, "other pictures at every step");
    }
}

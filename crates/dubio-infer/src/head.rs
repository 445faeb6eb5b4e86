//! The end of a network, when its backbone does not move.

use std::sync::Arc;

use dubio_nn::engine::{Engine, Model, Point, Vector};
use dubio_nn::examples::{Examples, Inputs};
use dubio_nn::network::{Network, Source};
use dubio_random::stream::Stream;

use crate::problem::Start;
use crate::room::examples_together;
use crate::training::Training;

/// The part of a network from the first moving layer on, and what it reads.
pub(crate) struct Head<E: Engine> {
    pub(crate) network: Network,
    pub(crate) start: Start<E::Vector>,
    /// The backbone's outputs for the training inputs, computed once; `None` where they are computed at every step, and
    /// the head is the whole network.
    pub(crate) features: Option<Examples<E::Number>>,
    /// Its backbone: the layers before it.
    pub(crate) backbone: Backbone<E::Vector>,
}

/// The numbers of a backbone: the layers before a head.
pub(crate) struct Backbone<V>(Option<Point<V>>);

impl<V: Vector> Backbone<V> {
    /// Completes a point of the head to one of the whole network.
    pub(crate) fn complete(&self, point: Point<V>) -> Point<V> {
        match &self.0 {
            None => point,
            Some(backbone) => Point {
                theta: joined(&backbone.theta, &point.theta),
                statistics: joined(&backbone.statistics, &point.statistics),
            },
        }
    }
}

fn joined<V: Vector>(first: &V, second: &V) -> V {
    let mut both = first.zeros(first.len() + second.len());
    both.put(0, first);
    both.put(first.len(), second);
    both
}

impl<E: Engine> Head<E> {
    /// The head of a network whose parameters move from `from` on.
    pub(crate) fn new(
        engine: &E,
        network: Network,
        from: usize,
        start: Start<E::Vector>,
        training: &Training<E>,
        stream: &Stream,
    ) -> Self {
        // A fresh start stays fresh: each point that moves draws its own numbers, by the names of the layers.
        let is_fresh = matches!(start, Start::Fresh);
        let again = |point| if is_fresh { Start::Fresh } else { Start::Warm(point) };
        let start = match start {
            Start::Fresh => engine.model(&network, 1).start(&stream.child("start")),
            Start::Warm(point) => point,
        };
        // Features larger than the inputs might not fit into memory.
        let seam = network
            .seam(from)
            .filter(|&seam| network.shape(Source::Node(seam - 1)).size() <= network.input.size());
        let (Some(seam), Inputs::Ready(inputs)) = (seam, &training.examples.inputs) else {
            let (start, backbone) = (again(start), Backbone(None));
            return Self { network, start, features: None, backbone };
        };
        let (backbone_network, network) = network.split(seam);
        let cut = |all: &E::Vector, at: usize| (all.part(0..at), all.part(at..all.len()));
        let (theta, moving) = cut(&start.theta, backbone_network.parameters());
        let (statistics, own) = cut(&start.statistics, backbone_network.statistics());
        let backbone = Point { theta, statistics };
        let mut features = Vec::new();
        let together = examples_together(&backbone_network).min(training.len());
        let mut model = engine.model(&backbone_network, together);
        model.predict(&backbone, inputs, None, &mut features);
        let inputs = Inputs::Ready(Arc::new(features));
        let answers = training.examples.answers.clone();
        Self {
            network,
            start: again(Point { theta: moving, statistics: own }),
            features: Some(Examples { inputs, answers }),
            backbone: Backbone(Some(backbone)),
        }
    }
}

#[cfg(test)]
mod tests {
    use dubio_data::dataset::Dataset;
    use dubio_data::sets::{self, Part};
    use dubio_nn::layer::Layer;
    use dubio_nn::{Single, networks};

    use super::*;
    use crate::augment::Augmentation;

    #[test]
    fn features_are_kept_where_they_never_change_and_are_no_larger_than_the_inputs() {
        let digits: Dataset = sets::digits::SET.load("".as_ref(), Part::Train).expect("embedded");
        let engine = Single::default();
        let plain = Training::new(&engine, &digits, &[]).expect("digits");
        let changed = Training::new(&engine, &digits, &[Augmentation::Crop]).expect("digits");
        let features = |network: &str, dropped: bool, training: &Training<Single>| {
            let network = networks::build(network, training.scaling().shape(), 10).expect(network);
            let drop = &Layer::Dropout { rate: 0.5 };
            let network =
                if dropped { network.in_front_of_linear("dropout", drop) } else { network };
            let from = network.slices()[network.slices().len() - 2].range.start;
            let stream = Stream::root(0);
            let head = Head::new(&engine, network, from, Start::Fresh, training, &stream);
            head.features.map(|features| features.size())
        };
        assert_eq!(features("mlp-20-30", false, &plain), Some(30));
        assert_eq!(features("mlp-20", true, &plain), Some(20), "noise behind them is no matter");
        assert_eq!(features("mlp-20-30", true, &plain), None, "noise in front of them");
        assert_eq!(features("mlp-20-65", false, &plain), None, "more than the 64 of an image");
        assert_eq!(features("mlp-20-30", false, &changed), None, "other images at every step");
    }
}

//! `mc-dropout`: one network with dropout, which stays on when it predicts.

use dubio_nn::engine::Vector;
use dubio_nn::layer::Layer;
use dubio_nn::network::Network;
use serde::{Deserialize, Serialize};

use super::sgd::Sgd;
use super::{Card, Settings, at_least_one, fraction};
use crate::rule::Rule;
use crate::wrong::Wrong;

/// Which activations are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Position {
    /// The inputs of every linear layer but the first.
    Linear,
    /// Those, and the inputs of the network: the code of Gal and Ghahramani 2016.
    LinearAndInputs,
    /// The outputs of every linear and convolutional layer but the last: Seligmann et al. 2023.
    Everywhere,
}

/// Settings of `mc-dropout`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct McDropout {
    /// Fraction of the activations that are left out.
    pub rate: f64,
    /// Which activations: the inputs of every `linear` layer but the first, those and the network's own
    /// (`linear-and-inputs`), or the outputs of all linear and convolutional layers but the last (`everywhere`).
    pub position: Position,
    /// Passes, each of which is a sample.
    pub samples: usize,
    /// The settings of `sgd`.
    #[serde(flatten)]
    pub sgd: Sgd,
}

impl Default for McDropout {
    fn default() -> Self {
        Self { rate: 0.1, position: Position::Linear, samples: 50, sgd: Sgd::default() }
    }
}

impl Settings for McDropout {
    const CARD: Card = Card {
        name: "mc-dropout",
        summary: "One network trained with dropout that stays on at prediction: each pass is a sample.",
        rule: "sgd; activations times Bernoulli(1 - rate) / (1 - rate), in prediction the same for all examples of a pass",
        citation: "Gal and Ghahramani 2016",
    };

    fn check(&self) -> Result<(), Wrong> {
        fraction("rate", self.rate)?;
        at_least_one(&[("samples", self.samples)])?;
        self.sgd.check()
    }

    fn rule<V: Vector>(&self, like: &V) -> Box<dyn Rule<V>> {
        self.sgd.rule(like)
    }

    fn network(&self, network: Network) -> Network {
        self.with_noise(&network, &Layer::Dropout { rate: self.rate })
    }

    fn passes(&self) -> f64 {
        self.sgd.passes()
    }

    fn samples(&self) -> usize {
        self.samples
    }

    fn noisy_passes(&self) -> Option<usize> {
        Some(self.samples)
    }
}

impl McDropout {
    /// The network with a layer of noise wherever activations are left out.
    pub(super) fn with_noise(&self, network: &Network, noise: &Layer) -> Network {
        let linear = || network.in_front_of_linear("dropout", noise);
        match self.position {
            Position::Linear => linear(),
            Position::LinearAndInputs => linear().in_front_of_first("dropout", noise),
            Position::Everywhere => network.behind_weights("dropout", noise),
        }
    }
}

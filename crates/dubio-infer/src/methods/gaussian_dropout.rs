//! `gaussian-dropout`: dropout with normal noise in place of zeros.

use dubio_nn::engine::Vector;
use dubio_nn::layer::Layer;
use dubio_nn::network::Network;
use serde::{Deserialize, Serialize};

use super::mc_dropout::McDropout;
use super::{Card, Settings};
use crate::rule::Rule;
use crate::wrong::Wrong;

/// Settings of `gaussian-dropout`: those of [`McDropout`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct GaussianDropout(pub McDropout);

impl Settings for GaussianDropout {
    const CARD: Card = Card {
        name: "gaussian-dropout",
        summary: "MC dropout with multiplicative Gaussian noise of the same mean and variance.",
        rule: "sgd; activations times Normal(1, rate / (1 - rate))",
        citation: "Srivastava et al. 2014, section 10; Kingma et al. 2015",
    };

    fn check(&self) -> Result<(), Wrong> {
        self.0.check()
    }

    fn rule<V: Vector>(&self, like: &V) -> Box<dyn Rule<V>> {
        self.0.rule(like)
    }

    fn network(&self, network: Network) -> Network {
        self.0.with_noise(&network, &Layer::GaussianDropout { rate: self.0.rate })
    }

    fn passes(&self) -> f64 {
        self.0.passes()
    }

    fn samples(&self) -> usize {
        self.0.samples
    }

    fn noisy_passes(&self) -> Option<usize> {
        self.0.noisy_passes()
    }
}

//! Methods of approximate inference, one file each: settings, card and rule.

pub mod batch_ensemble;
pub mod bayesian_ridge;
pub mod conditional_flow;
pub mod conditional_gaussian;
pub mod csghmc;
pub mod csgld;
pub mod deep_ensemble;
pub mod distill;
mod drawn;
mod dual_averages;
mod elliptical_slice;
mod energies;
pub mod factors;
pub mod fge;
pub mod gaussian_dropout;
pub mod hmc;
pub mod ivon;
pub mod laplace;
mod linearised;
pub mod masksembles;
pub mod mc_dropout;
mod no_u_turn;
pub mod nuts;
pub mod packed_ensemble;
mod perturbed;
mod prior_precision;
pub mod rank1_vi;
mod settings;
pub mod sgd;
pub mod sghmc;
pub mod sgld;
pub mod snapshot;
pub mod sngp;
mod spectral;
pub mod sqr;
pub mod subspace;
pub mod svgd;
pub mod swa;
pub mod swag;
pub mod trajectory;
pub mod vi;

use std::ops::Range;
use std::sync::Arc;

use dubio_nn::engine::{Engine, Vector};
use dubio_nn::network::Network;
use dubio_words::meant;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::Error;
use crate::likelihood::Likelihood;
use crate::posterior::{Points, Posterior, Predictive};
use crate::rule::Rule;
use crate::wrong::Wrong;

pub(crate) use settings::{at_least_one, at_most, names, read};
use settings::{fraction, positive, sound};

/// How a method describes itself.
#[derive(Debug)]
pub struct Card {
    /// Name.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// What one step or draw does.
    pub rule: &'static str,
    /// Where it comes from.
    pub citation: &'static str,
}

/// What a posterior belongs to.
pub struct Scene<'a> {
    /// The whole network.
    pub network: Network,
    /// The parameters that moved.
    pub moving: Range<usize>,
    /// What the outputs stand for.
    pub likelihood: &'a dyn Likelihood,
}

/// A method's settings, every one with a default.
pub trait Settings: Clone + Default + Serialize + DeserializeOwned {
    /// How it describes itself.
    const CARD: Card;
    /// Independent runs by default.
    const MEMBERS: usize = 1;
    /// Standard deviation of the prior on every parameter by default; `None` for weight decay, whose prior depends on
    /// the number of examples.
    const PRIOR_STD: Option<f64> = None;
    /// Whether its samples are successive states of a Markov chain, whose convergence can be diagnosed.
    const IS_CHAIN: bool = false;
    /// Checks the settings; an error says what to do.
    fn check(&self) -> Result<(), Wrong>;
    /// The method at work on vectors like this one.
    fn rule<V: Vector>(&self, like: &V) -> Box<dyn Rule<V>>;
    /// The network that it moves, made from the one that it is given.
    fn network(&self, network: Network) -> Network {
        network
    }
    /// The network with the widths that it needs, which its warm-up has too.
    fn resized(&self, network: Network) -> Network {
        network
    }
    /// Whether it works with batch normalisation, which makes the loss of an example depend on others.
    fn bears_batch_norm(&self) -> bool {
        true
    }
    /// Whether it is for regression alone.
    fn is_for_regression(&self) -> bool {
        false
    }
    /// Whether its network learns what others predict.
    fn is_taught(&self) -> bool {
        false
    }
    /// A likelihood of its own, instead of the one that goes with the data.
    fn likelihood(&self) -> Option<Arc<dyn Likelihood>> {
        None
    }
    /// Roughly how many gradients on all the data a member takes: its epochs, and what its draws cost.
    fn passes(&self) -> f64;
    /// Posterior samples of a member: forward passes that a prediction takes.
    fn samples(&self) -> usize {
        1
    }
    /// With how many passes a point predicts, each with the noise of its layers and each a sample; `None` for one pass
    /// without noise.
    fn noisy_passes(&self) -> Option<usize> {
        None
    }
    /// How many vectors of the length of the parameters it keeps besides its samples, its gradient and a velocity.
    fn vectors(&self) -> usize {
        0
    }
    /// Bytes that it needs besides vectors: factors of a covariance over the parameters that move.
    fn bytes(&self, _network: &Network, _moving: &Range<usize>) -> f64 {
        0.0
    }
    /// How its posterior predicts.
    fn predictive<'a, E: Engine>(
        &self,
        posterior: &'a Posterior<E::Vector>,
        _scene: &Scene<'a>,
    ) -> Box<dyn Predictive<E> + 'a> {
        let noisy_passes = self.noisy_passes();
        Box::new(Points { points: &posterior.points, noisy_passes })
    }
}

macro_rules! methods {
    ($($variant:ident in $module:ident),+ $(,)?) => {
        /// A method with its settings.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "method", rename_all = "kebab-case")]
        pub enum Method {
            $(#[doc = concat!("See [`", stringify!($module), "`].")]
            $variant($module::$variant)),+
        }

        /// Every method's card.
        pub const CARDS: &[&Card] = &[$(&$module::$variant::CARD),+];

        impl Method {
            /// Its card.
            pub fn card(&self) -> &'static Card {
                match self { $(Self::$variant(_) => &$module::$variant::CARD),+ }
            }

            /// The method at work on vectors like this one.
            pub fn rule<V: Vector>(&self, like: &V) -> Box<dyn Rule<V>> {
                match self { $(Self::$variant(settings) => settings.rule(like)),+ }
            }

            /// The network that it moves, made from the one that it is given.
            pub fn network(&self, network: Network) -> Network {
                match self { $(Self::$variant(settings) => settings.network(network)),+ }
            }

            /// The network with the widths that it needs.
            pub fn resized(&self, network: Network) -> Network {
                match self { $(Self::$variant(settings) => settings.resized(network)),+ }
            }

            /// Whether it works with batch normalisation.
            pub fn bears_batch_norm(&self) -> bool {
                match self { $(Self::$variant(settings) => settings.bears_batch_norm()),+ }
            }

            /// Whether it is for regression alone.
            pub fn is_for_regression(&self) -> bool {
                match self { $(Self::$variant(settings) => settings.is_for_regression()),+ }
            }

            /// Whether its network learns what others predict.
            pub fn is_taught(&self) -> bool {
                match self { $(Self::$variant(settings) => settings.is_taught()),+ }
            }

            /// A likelihood of its own, instead of the one that goes with the data.
            pub fn likelihood(&self) -> Option<Arc<dyn Likelihood>> {
                match self { $(Self::$variant(settings) => settings.likelihood()),+ }
            }

            /// Posterior samples of a member.
            pub fn samples(&self) -> usize {
                match self { $(Self::$variant(settings) => settings.samples()),+ }
            }

            /// Points of a member, which its samples come from.
            pub fn points(&self) -> usize {
                let noisy = match self {
                    $(Self::$variant(settings) => settings.noisy_passes()),+
                };
                self.samples() / noisy.unwrap_or(1).max(1)
            }

            /// How many vectors of the length of the parameters a member keeps besides its points.
            pub fn vectors(&self) -> usize {
                match self { $(Self::$variant(settings) => settings.vectors()),+ }
            }

            /// Bytes that a member needs besides vectors.
            pub fn bytes(&self, network: &Network, moving: &Range<usize>) -> f64 {
                match self { $(Self::$variant(settings) => settings.bytes(network, moving)),+ }
            }

            /// How its posterior predicts.
            pub fn predictive<'a, E: Engine>(
                &self,
                posterior: &'a Posterior<E::Vector>,
                scene: &Scene<'a>,
            ) -> Box<dyn Predictive<E> + 'a> {
                match self {
                    $(Self::$variant(settings) => settings.predictive(posterior, scene)),+
                }
            }

            /// Roughly how many gradients on all the data a member takes.
            pub fn passes(&self) -> f64 {
                match self { $(Self::$variant(settings) => settings.passes()),+ }
            }

            /// Independent runs by default.
            pub fn default_members(&self) -> usize {
                match self { $(Self::$variant(_) => $module::$variant::MEMBERS),+ }
            }

            /// Standard deviation of its prior by default; `None` for weight decay.
            pub fn default_prior_std(&self) -> Option<f64> {
                match self { $(Self::$variant(_) => $module::$variant::PRIOR_STD),+ }
            }

            /// Whether its samples are successive states of a Markov chain.
            pub fn is_chain(&self) -> bool {
                match self { $(Self::$variant(_) => $module::$variant::IS_CHAIN),+ }
            }

            /// Names of its settings.
            pub(crate) fn settings(&self) -> Vec<String> {
                match self { $(Self::$variant(settings) => names(settings)),+ }
            }

            /// A method by name, with settings; those left out have their defaults. Only names and types are checked.
            pub fn read(name: &str, settings: Map<String, Value>) -> Result<Self, Error> {
                let known = meant(name, CARDS.iter().map(|card| card.name));
                $(if known == Some($module::$variant::CARD.name) {
                    return typed($module::$variant::CARD.name, settings).map(Self::$variant);
                })+
                let known = CARDS.iter().map(|card| card.name).collect();
                Err(Error::UnknownMethod { name: name.to_string(), known })
            }

            /// Checks the settings; an error says what to do.
            pub fn check(&self) -> Result<(), Error> {
                let name = self.card().name;
                match self { $(Self::$variant(settings) => sound(settings)),+ }
                    .map_err(|wrong| Error::setting(name, wrong))
            }

            /// A method by name, with settings that are checked.
            pub fn parse(name: &str, settings: Map<String, Value>) -> Result<Self, Error> {
                let method = Self::read(name, settings)?;
                method.check().map(|()| method)
            }
        }
    };
}

methods! {
    Sgd in sgd,
    DeepEnsemble in deep_ensemble,
    Snapshot in snapshot,
    Fge in fge,
    Swa in swa,
    Swag in swag,
    McDropout in mc_dropout,
    GaussianDropout in gaussian_dropout,
    BatchEnsemble in batch_ensemble,
    Masksembles in masksembles,
    PackedEnsemble in packed_ensemble,
    Sgld in sgld,
    Sghmc in sghmc,
    Csgld in csgld,
    Csghmc in csghmc,
    Hmc in hmc,
    Nuts in nuts,
    Subspace in subspace,
    Svgd in svgd,
    Vi in vi,
    Rank1Vi in rank1_vi,
    Ivon in ivon,
    Laplace in laplace,
    Sngp in sngp,
    Distill in distill,
    BayesianRidge in bayesian_ridge,
    ConditionalGaussian in conditional_gaussian,
    ConditionalFlow in conditional_flow,
    Sqr in sqr,
}

/// The error for a network whose loss of an example depends on other examples.
pub(crate) fn no_potential(method: &str) -> Error {
    Error::Unsuited(format!(
        "{method} needs a potential that is a function of the parameters alone, which it is not with batch normalisation; use a network without it, such as resnet20-frn, or sample the last layer only, with layers = \"last\""
    ))
}

fn typed<S: Settings>(name: &str, settings: Map<String, Value>) -> Result<S, Error> {
    read(settings).map_err(|wrong| Error::setting(name, wrong))
}

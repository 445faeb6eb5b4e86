//! Methods of approximate inference, one file each: settings, card and rule.

pub mod csghmc;
pub mod csgld;
pub mod deep_ensemble;
mod elliptical_slice;
pub mod fge;
pub mod gaussian_dropout;
pub mod hmc;
pub mod mc_dropout;
mod no_u_turn;
pub mod nuts;
pub mod sgd;
pub mod sghmc;
pub mod sgld;
pub mod snapshot;
pub mod subspace;
pub mod swa;
pub mod swag;
mod trajectory;

use dubio_nn::cpu::Flat;
use dubio_nn::engine::Vector;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::Error;
use crate::posterior::Noise;
use crate::rule::Rule;
use crate::wrong::{Kind, Takes, Wrong};

/// What a method says of itself.
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

/// Noise that a method wants in a network's layers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LayerNoise {
    /// Numbers left out.
    Dropout(f64),
    /// Numbers multiplied by normal noise of the same strength.
    Gaussian(f64),
}

/// A method's settings, every one with a default.
pub trait Settings: Clone + Default + Serialize + DeserializeOwned {
    /// What it says of itself.
    const CARD: Card;
    /// Independent runs unless asked otherwise.
    const MEMBERS: usize = 1;
    /// What cannot be, in words that say what to do.
    fn check(&self) -> Result<(), Wrong>;
    /// The method at work on vectors like this one.
    fn rule<V: Vector>(&self, like: &V) -> Box<dyn Rule<V>>;
    /// How its points predict.
    fn noise(&self) -> Noise {
        Noise::Off
    }
    /// What it wants in the network's layers.
    fn layer_noise(&self) -> Option<LayerNoise> {
        None
    }
    /// Gradients of all the data that a member takes, roughly: its epochs, and what its draws cost.
    fn passes(&self) -> f64 {
        self.rule(&Flat(vec![0.0_f64])).epochs() as f64
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

            /// How its points predict.
            pub fn noise(&self) -> Noise {
                match self { $(Self::$variant(settings) => settings.noise()),+ }
            }

            /// What it wants in the network's layers.
            pub fn layer_noise(&self) -> Option<LayerNoise> {
                match self { $(Self::$variant(settings) => settings.layer_noise()),+ }
            }

            /// Gradients of all the data that a member takes, roughly.
            pub fn passes(&self) -> f64 {
                match self { $(Self::$variant(settings) => settings.passes()),+ }
            }

            /// Independent runs unless asked otherwise.
            pub fn default_members(&self) -> usize {
                match self { $(Self::$variant(_) => $module::$variant::MEMBERS),+ }
            }

            /// Names of its settings.
            pub(crate) fn settings(&self) -> Vec<String> {
                match self { $(Self::$variant(settings) => names(settings)),+ }
            }

            /// A method by name, with settings; those left out have their defaults. Only names and
            /// types are looked at.
            pub fn read(name: &str, settings: Map<String, Value>) -> Result<Self, Error> {
                $(if name == $module::$variant::CARD.name {
                    return typed(name, settings).map(Self::$variant);
                })+
                Err(Error::UnknownMethod(name.to_string()))
            }

            /// What cannot be, in words that say what to do.
            pub fn check(&self) -> Result<(), Error> {
                let name = self.card().name;
                match self { $(Self::$variant(settings) => sound(settings)),+ }
                    .map_err(|wrong| Error::setting(name, wrong))
            }

            /// A method by name, with settings that can be.
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
    Sgld in sgld,
    Sghmc in sghmc,
    Csgld in csgld,
    Csghmc in csghmc,
    Hmc in hmc,
    Nuts in nuts,
    Subspace in subspace,
}

fn typed<S: Settings>(name: &str, settings: Map<String, Value>) -> Result<S, Error> {
    read(settings).map_err(|wrong| Error::setting(name, wrong))
}

/// Settings as a table.
fn table(settings: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(settings) {
        Ok(Value::Object(table)) => table,
        _ => unreachable!("settings are a table"),
    }
}

/// Names of the settings in a table.
pub(crate) fn names(settings: &impl Serialize) -> Vec<String> {
    table(settings).into_iter().map(|(name, _)| name).collect()
}

/// Reads a table of settings, each of which has a default. One after the other, so that what is
/// wrong with one is said of that one.
pub(crate) fn read<S: Default + Serialize + DeserializeOwned>(
    settings: Map<String, Value>,
) -> Result<S, Wrong> {
    let known = table(&S::default());
    for (name, value) in &settings {
        let Some(default) = known.get(name) else {
            return Err(Wrong::unknown(name, &names(&S::default())));
        };
        let alone = |value| {
            serde_json::from_value::<S>(Value::Object(Map::from_iter([(name.clone(), value)])))
        };
        alone(value.clone()).map_err(|error| {
            let takes = Takes::of(default, |example| alone(example).is_ok());
            Wrong::unread(name, value, takes, &error)
        })?;
    }
    let all: Vec<String> = settings.keys().cloned().collect();
    serde_json::from_value(Value::Object(settings)).map_err(|error| Wrong {
        settings: all,
        kind: Kind::Value,
        what: error.to_string(),
    })
}

/// The largest number of anything that can be set. Products of two fit into 64 bits with room to spare for
/// what the data multiply them with, and nobody waits for more.
pub(crate) const MOST: u64 = 1_000_000;

/// That no whole number is above [`MOST`]; first, so that a method may multiply what it checks.
pub(crate) fn at_most(settings: &impl Serialize) -> Result<(), Wrong> {
    let number = |(name, value): (String, Value)| Some((name, value.as_u64()?));
    match table(settings).into_iter().filter_map(number).find(|(_, number)| *number > MOST) {
        None => Ok(()),
        Some((name, number)) => {
            Err(Wrong::value(&[&name], format!("`{name}` must be at most {MOST}, got {number}")))
        }
    }
}

fn sound(settings: &impl Settings) -> Result<(), Wrong> {
    at_most(settings)?;
    settings.check()
}

/// That a number of settings are positive and finite.
fn positive(settings: &[(&str, f64)]) -> Result<(), Wrong> {
    match settings.iter().find(|(_, value)| !(value.is_finite() && *value > 0.0)) {
        None => Ok(()),
        Some((name, value)) => {
            Err(Wrong::value(&[name], format!("`{name}` must be above 0, got {value}")))
        }
    }
}

/// That counts are at least 1.
pub(crate) fn at_least_one(settings: &[(&str, usize)]) -> Result<(), Wrong> {
    match settings.iter().find(|(_, count)| *count == 0) {
        None => Ok(()),
        Some((name, _)) => {
            Err(Wrong::value(&[name], format!("`{name}` must be at least 1, got 0")))
        }
    }
}

/// That a share is in `[0, 1)`.
fn share(name: &str, value: f64) -> Result<(), Wrong> {
    if (0.0..1.0).contains(&value) {
        return Ok(());
    }
    let what = format!("`{name}` must be at least 0 and below 1, got {value}");
    Err(Wrong::value(&[name], what))
}

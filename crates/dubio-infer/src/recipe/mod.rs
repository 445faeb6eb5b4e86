//! What a user writes: a method with its settings, and the wrappers that go with every method.

mod warm_up;

pub use warm_up::WarmUp;

use std::path::PathBuf;
use std::sync::Arc;

use dubio_data::dataset::{Answers, Dataset};
use dubio_nn::engine::Engine;
use dubio_nn::network::Network;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::augment::Augmentation;
use crate::error::Error;
use crate::layers::Layers;
use crate::likelihood::{self, Likelihood};
use crate::methods::{self, Method, no_potential};
use crate::noise::Noise;
use crate::regulariser::{self, Regulariser};
use crate::training::{self, Training};
use crate::wrong::Wrong;

/// Settings that every method has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Setup {
    /// Examples in a mini-batch. If there are fewer in all, the default means all of them.
    pub batch: usize,
    /// Standard deviation `s` of the prior `Normal(0, s^2)` on every parameter. Samplers and variational methods
    /// have 1 where neither this nor weight decay is given.
    pub prior_std: Option<f64>,
    /// The same prior as a weight in the gradient of the mean loss: `1 / (N s^2)`.
    pub weight_decay: Option<f64>,
    /// Independent runs of the method, from starts of their own, whose samples are pooled.
    pub members: Option<usize>,
    /// Which layers move.
    pub layers: Layers,
    /// Standard deviation of the targets of a regression around their mean: predicted for every example, shared
    /// by all and learnt, or a number in the unit of the targets.
    pub noise: Noise,
    /// Terms that are added to the loss of a classification, as in `["uce:10", "label-smoothing:0.1"]`.
    #[serde(deserialize_with = "one_or_many")]
    pub regularise: Vec<Regulariser>,
    /// Random changes of training images.
    #[serde(deserialize_with = "one_or_many")]
    pub augment: Vec<Augmentation>,
    /// Weights to start from: one file for all members, or one for each.
    #[serde(deserialize_with = "one_or_many")]
    pub start: Vec<PathBuf>,
    /// A method whose last sample is the start.
    pub warm_up: Option<WarmUp>,
}

impl Setup {
    /// Examples in a mini-batch by default.
    const BATCH: usize = 128;

    /// Examples in a mini-batch, given how many there are in all.
    pub fn batch_of(&self, examples: usize) -> Result<usize, Error> {
        match self.batch {
            batch if batch <= examples => Ok(batch),
            Self::BATCH => Ok(examples),
            batch => Err(Error::BatchTooLarge { batch, examples }),
        }
    }
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            batch: Self::BATCH,
            prior_std: None,
            weight_decay: None,
            members: None,
            layers: Layers::All,
            noise: Noise::PerExample,
            regularise: Vec::new(),
            augment: Vec::new(),
            start: Vec::new(),
            warm_up: None,
        }
    }
}

/// Reads a list, or one element as a list.
fn one_or_many<'a, D: Deserializer<'a>, T: DeserializeOwned>(from: D) -> Result<Vec<T>, D::Error> {
    let list = match Value::deserialize(from)? {
        Value::Array(list) => list,
        one => vec![one],
    };
    let read = |value| serde_json::from_value(value).map_err(D::Error::custom);
    list.into_iter().map(read).collect()
}

/// The most members of a recipe, each of which has folders and records of its own.
const MEMBERS: usize = 10_000;
/// The widest prior, and one over the narrowest: their squares are finite in any precision.
const PRIOR: f64 = 1e9;
/// Weight decay of descent where neither it nor the prior is given.
const WEIGHT_DECAY: f64 = 5e-4;

impl Setup {
    fn check(&self) -> Result<(), Wrong> {
        if self.prior_std.is_some() && self.weight_decay.is_some() {
            let what = "`prior_std` and `weight_decay` set the same thing; give one";
            return Err(Wrong::value(&["prior_std", "weight_decay"], what));
        }
        if self.warm_up.is_some() && !self.start.is_empty() {
            let what = "`start` and `warm_up` both say where to begin; give one";
            return Err(Wrong::value(&["start", "warm_up"], what));
        }
        if let Some(std) = self.prior_std
            && !(1.0 / PRIOR..=PRIOR).contains(&std)
        {
            let least = 1.0 / PRIOR;
            let what = format!("`prior_std` must be from {least:e} to {PRIOR:e}, got {std}");
            return Err(Wrong::value(&["prior_std"], what));
        }
        if let Some(decay) = self.weight_decay
            && !(0.0..=PRIOR).contains(&decay)
        {
            let what = format!("`weight_decay` must be from 0 to {PRIOR:e}, got {decay}");
            return Err(Wrong::value(&["weight_decay"], what));
        }
        methods::at_most(self)?;
        if let Some(members) = self.members.filter(|&members| members > MEMBERS) {
            let what = format!("`members` must be at most {MEMBERS}, got {members}");
            return Err(Wrong::value(&["members"], what));
        }
        let counts = [("batch", self.batch), ("members", self.members.unwrap_or(1))];
        methods::at_least_one(&counts)
    }
}

/// A method and its setup.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    /// What goes with every method.
    pub setup: Setup,
    /// The method.
    pub method: Method,
}

impl From<Method> for Recipe {
    fn from(method: Method) -> Self {
        Self { setup: Setup::default(), method }
    }
}

impl Recipe {
    /// Reads a recipe from the method's name and all settings in one table; those left out have their defaults. Only
    /// names and types are checked.
    pub fn read(name: &str, settings: Map<String, Value>) -> Result<Self, Error> {
        let method = Method::read(name, Map::new())?;
        let of = |wrong| Error::setting(method.card().name, wrong);
        let mut known = method.settings();
        let both: Vec<String> =
            known.iter().cloned().chain(methods::names(&Setup::default())).collect();
        let meant = |key: &str| dubio_words::meant(key, both.iter().map(String::as_str));
        let mut settings: Map<String, Value> = settings
            .into_iter()
            .map(|(key, value)| (meant(&key).map_or(key.clone(), str::to_string), value))
            .collect();
        let shared = methods::names(&Setup::default());
        let common: Map<String, Value> = shared
            .iter()
            .filter_map(|key| settings.remove(key).map(|value| (key.clone(), value)))
            .collect();
        known.extend(shared);
        if let Some(key) = settings.keys().find(|key| !known.contains(key)) {
            return Err(of(Wrong::unknown(key, &known)));
        }
        let mut setup: Setup = methods::read(common).map_err(of)?;
        if setup.prior_std.is_none() && setup.weight_decay.is_none() {
            setup.prior_std = method.default_prior_std();
        }
        Ok(Self { setup, method: Method::read(name, settings)? })
    }

    /// Checks the settings; an error says what to do.
    pub fn check(&self) -> Result<(), Error> {
        let name = self.method.card().name;
        self.setup.check().map_err(|wrong| Error::setting(name, wrong))?;
        self.method.check()
    }

    /// Reads a recipe from a name and settings, and checks it.
    pub fn parse(name: &str, settings: Map<String, Value>) -> Result<Self, Error> {
        let recipe = Self::read(name, settings)?;
        recipe.check().map(|()| recipe)
    }

    /// The recipe of this method with default settings.
    pub fn named(name: &str) -> Result<Self, Error> {
        Self::parse(name, Map::new())
    }

    /// Independent runs.
    pub fn members(&self) -> usize {
        self.setup.members.unwrap_or_else(|| self.method.default_members())
    }

    /// `1 / s^2` of the prior `Normal(0, s^2)` for `n` examples. Weight decay is `1 / (n s^2)`.
    pub fn prior_precision(&self, n: usize) -> f64 {
        let Setup { prior_std, weight_decay, .. } = self.setup;
        match (prior_std.or(self.method.default_prior_std()), weight_decay) {
            (_, Some(decay)) => decay * n as f64,
            (Some(std), None) => 1.0 / (std * std),
            (None, None) => WEIGHT_DECAY * n as f64,
        }
    }

    /// Passes over the data for training all members, forward and backward counted as one.
    pub fn passes(&self) -> f64 {
        let warm_up = self.setup.warm_up.as_ref().map_or(0.0, |first| first.0.passes());
        (warm_up + self.method.passes()) * self.members() as f64
    }

    /// What the outputs of its networks stand for: the method's own likelihood, or the one that goes with such answers.
    pub fn likelihood(&self, answers: &Answers) -> Result<Arc<dyn Likelihood>, Error> {
        match self.method.likelihood() {
            Some(own) => Ok(own),
            None => likelihood::of(answers, self.setup.noise),
        }
    }

    /// The network that the method needs: the named one, rewritten where the method requires it.
    pub fn network<E: Engine>(&self, name: &str, training: &Training<E>) -> Result<Network, Error> {
        self.network_sized_for(self, name, training)
    }

    /// The same with the widths that another recipe needs, which this one warms up.
    pub(crate) fn network_sized_for<E: Engine>(
        &self,
        other: &Self,
        name: &str,
        training: &Training<E>,
    ) -> Result<Network, Error> {
        let network = training.network(name).map_err(Error::Unsuited)?;
        Ok(self.method.network(other.method.resized(network)))
    }

    /// Checks that it can learn from a data set, without preparing the data.
    pub fn learns(&self, data: &Dataset) -> Result<(), Error> {
        let Setup { augment, noise, regularise, warm_up, .. } = &self.setup;
        training::check(data, augment, *noise)?;
        regulariser::check(&data.answers, regularise)?;
        if self.method.is_for_regression() && matches!(data.answers, Answers::Classes { .. }) {
            let name = self.method.card().name;
            let what =
                format!("{name} is for regression, and these are classes; choose another method");
            return Err(Error::Unsuited(what));
        }
        self.has_one_likelihood()?;
        if self.method.is_taught() && self.likelihood(&data.answers)?.taught().is_none() {
            let name = self.method.card().name;
            let what = format!(
                "{name} predicts the spread of its teachers, for which a network with a known noise has no output; leave `noise` out"
            );
            return Err(Error::Unsuited(what));
        }
        self.fits(data.len())?;
        warm_up.as_ref().map_or(Ok(()), |WarmUp(first)| first.learns(data))
    }

    /// Checks that no setting conflicts with a likelihood that the method brings itself.
    fn has_one_likelihood(&self) -> Result<(), Error> {
        let Setup { noise, warm_up, .. } = &self.setup;
        let name = self.method.card().name;
        if self.method.likelihood().is_some() && *noise != Noise::PerExample {
            let what =
                format!("{name} learns the whole distribution of the targets; leave `noise` out");
            return Err(Error::Unsuited(what));
        }
        match warm_up {
            Some(WarmUp(first)) if first.method.likelihood().is_some() => {
                let first = first.method.card().name;
                let what = format!(
                    "{first} has a loss and a network of its own, which {name} cannot start from; warm up with another method"
                );
                Err(Error::Unsuited(what))
            }
            _ => Ok(()),
        }
    }

    /// Checks that there are enough examples for a batch.
    pub fn fits(&self, examples: usize) -> Result<(), Error> {
        self.setup.batch_of(examples)?;
        self.setup.warm_up.as_ref().map_or(Ok(()), |first| first.0.fits(examples))
    }

    /// Checks that it can move this network: its layers are there, and none of those that move normalises over the
    /// batch where the method needs a potential.
    pub fn suits(&self, network: &Network) -> Result<(), Error> {
        let moving = self.setup.layers.range(&network.slices())?;
        let moving = moving.unwrap_or(0..network.parameters());
        if network.moves_statistics(&moving) && !self.method.bears_batch_norm() {
            return Err(no_potential(self.method.card().name));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prior_is_said_as_its_deviation_or_as_weight_decay() {
        let of = |name: &str, value: f64| {
            let settings = Map::from_iter([(name.to_string(), Value::from(value))]);
            Recipe::parse("sgd", settings).unwrap().prior_precision(60_000)
        };
        assert!((of("prior_std", 0.1) - 100.0).abs() < 1e-9);
        assert!((of("weight_decay", 1.0 / (60_000.0 * 0.01)) - 100.0).abs() < 1e-9);
        assert!(Recipe::named("sgd").is_ok());
        let both = Map::from_iter(["prior_std", "weight_decay"].map(|n| (n.into(), 0.1.into())));
        assert!(Recipe::parse("sgd", both).is_err());
    }

    #[test]
    fn samplers_have_a_standard_normal_prior_by_default_and_descent_has_weight_decay() {
        let samplers =
            ["sgld", "sghmc", "csgld", "csghmc", "hmc", "nuts", "svgd", "vi", "ivon", "distill"];
        for card in methods::CARDS {
            let recipe = Recipe::named(card.name).unwrap();
            let [few, many] = [100, 60_000].map(|n| recipe.prior_precision(n));
            let bare = Recipe::from(recipe.method.clone());
            assert_eq!(bare.prior_precision(100), few, "{}: read or made", card.name);
            if samplers.contains(&card.name) {
                assert_eq!((few, many), (1.0, 1.0), "{}", card.name);
                assert_eq!(recipe.setup.prior_std, Some(1.0), "{}: written out", card.name);
            } else {
                assert_eq!((few, many), (0.05, 30.0), "{}", card.name);
            }
            let decay = Map::from_iter([("weight_decay".to_string(), Value::from(0.01))]);
            let decay = Recipe::parse(card.name, decay).unwrap();
            assert_eq!(decay.prior_precision(100), 1.0, "{}: what is asked for", card.name);
        }
    }
}

//! `layers`: inference over some layers only, for every method.

use std::ops::Range;

use dubio_nn::engine::{Slice, Vector};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::Error;
use crate::posterior::Point;
use crate::target::Target;

/// Which layers move; the others stay where they start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", try_from = "Value")]
pub enum Layers {
    /// All.
    #[default]
    All,
    /// The last one that has parameters.
    Last,
    /// Those with these names, or inside blocks with these names.
    #[serde(untagged)]
    Named(Vec<String>),
}

impl TryFrom<Value> for Layers {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        let names = match value {
            Value::String(name) if name == "all" => return Ok(Self::All),
            Value::String(name) if name == "last" => return Ok(Self::Last),
            Value::String(name) => Some(vec![name]),
            Value::Array(names) => {
                names.iter().map(|name| name.as_str().map(str::to_string)).collect()
            }
            _ => None,
        };
        match names {
            Some(names) if !names.is_empty() => Ok(Self::Named(names)),
            _ => Err("must be \"all\", \"last\", or a list of names".to_string()),
        }
    }
}

impl Layers {
    /// The one stretch of the flat vector that moves; `None` for all of it.
    pub(crate) fn range(&self, slices: &[Slice]) -> Result<Option<Range<usize>>, Error> {
        let layer = |slice: &Slice| slice.name.rsplit_once('.').map_or("", |(l, _)| l).to_string();
        let names = match self {
            Self::All => return Ok(None),
            Self::Last => slices.last().map(layer).into_iter().collect(),
            Self::Named(names) => names.clone(),
        };
        let belongs = |slice: &Slice, name: &str| {
            slice.name.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'))
        };
        if let Some(name) = names.iter().find(|name| !slices.iter().any(|s| belongs(s, name))) {
            let mut all: Vec<String> = slices.iter().map(layer).collect();
            all.dedup();
            return Err(Error::Unsuited(format!(
                "`layers`: no layer is called `{name}`; there are {}",
                all.join(", ")
            )));
        }
        let chosen: Vec<&Slice> =
            slices.iter().filter(|s| names.iter().any(|name| belongs(s, name))).collect();
        let gap = chosen.windows(2).any(|pair| pair[0].range.end != pair[1].range.start);
        match (chosen.first(), chosen.last()) {
            (Some(first), Some(last)) if !gap => Ok(Some(first.range.start..last.range.end)),
            _ => {
                Err(Error::Unsuited("`layers` must be neighbours, with none left out".to_string()))
            }
        }
    }
}

/// A target as a function of some layers' parameters, the others at their start.
pub struct Part<'a, T: Target> {
    whole: &'a mut T,
    range: Range<usize>,
    /// All parameters; the stretch that moves is overwritten.
    theta: T::Vector,
    gradient: T::Vector,
}

impl<'a, T: Target> Part<'a, T> {
    /// `None` when all layers move.
    pub fn new(whole: &'a mut T, layers: &Layers) -> Result<Option<Self>, Error> {
        let range = layers.range(&whole.slices())?;
        Ok(range.map(|range| {
            let theta = whole.start();
            let gradient = theta.clone();
            Self { whole, range, theta, gradient }
        }))
    }

    /// A point of the whole network.
    pub fn complete(&self, point: Point<T::Vector>) -> Point<T::Vector> {
        let mut theta = self.theta.clone();
        theta.put(self.range.start, &point.theta);
        Point { theta, statistics: point.statistics }
    }
}

impl<T: Target> Target for Part<'_, T> {
    type Vector = T::Vector;

    fn examples(&self) -> usize {
        self.whole.examples()
    }
    fn prior_precision(&self) -> f64 {
        self.whole.prior_precision()
    }
    fn is_steep(&self) -> bool {
        self.whole.is_steep()
    }
    fn batches(&self) -> usize {
        self.whole.batches()
    }
    fn start(&self) -> T::Vector {
        self.theta.part(self.range.clone())
    }
    fn slices(&self) -> Vec<Slice> {
        let start = self.range.start;
        let inside = self.whole.slices().into_iter().filter(|slice| {
            self.range.start <= slice.range.start && slice.range.end <= self.range.end
        });
        let moved = inside.map(|slice| Slice {
            range: slice.range.start - start..slice.range.end - start,
            ..slice
        });
        moved.collect()
    }
    fn batch(
        &mut self,
        theta: &T::Vector,
        epoch: usize,
        batch: usize,
        gradient: &mut T::Vector,
    ) -> f64 {
        self.theta.put(self.range.start, theta);
        let loss = self.whole.batch(&self.theta, epoch, batch, &mut self.gradient);
        gradient.copy_from(&self.gradient.part(self.range.clone()));
        loss
    }
    fn whole(&mut self, theta: &T::Vector, gradient: &mut T::Vector) -> f64 {
        self.theta.put(self.range.start, theta);
        let loss = self.whole.whole(&self.theta, &mut self.gradient);
        gradient.copy_from(&self.gradient.part(self.range.clone()));
        loss
    }
    fn whole_loss(&mut self, theta: &T::Vector) -> f64 {
        self.theta.put(self.range.start, theta);
        self.whole.whole_loss(&self.theta)
    }
    fn statistics(&self) -> Vec<f64> {
        self.whole.statistics()
    }
    fn set_statistics(&mut self, statistics: &[f64]) {
        self.whole.set_statistics(statistics);
    }
    fn refresh(&mut self, theta: &T::Vector) {
        self.theta.put(self.range.start, theta);
        self.whole.refresh(&self.theta);
    }
}

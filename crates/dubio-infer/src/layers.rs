//! `layers`: inference over some layers only, for every method.

use std::mem::swap;
use std::ops::Range;
use std::sync::Arc;

use dubio_nn::engine::{Point, Seed, Slice, Vector, Visited};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::Error;
use crate::prior::Prior;
use crate::target::{BatchName, Target};

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
    pub fn range(&self, slices: &[Slice]) -> Result<Option<Range<usize>>, Error> {
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
    prior: Arc<dyn Prior<T::Vector>>,
    /// All parameters; the stretch that moves is overwritten.
    point: Point<T::Vector>,
    gradient: T::Vector,
}

impl<'a, T: Target> Part<'a, T> {
    /// Of the parameters in a stretch.
    pub fn new(whole: &'a mut T, range: Range<usize>) -> Self {
        let point = whole.start(0);
        let gradient = point.theta.clone();
        let prior = whole.prior().part(range.clone()).into();
        Self { whole, range, prior, point, gradient }
    }

    /// A point of the whole network.
    pub fn complete(&self, point: Point<T::Vector>) -> Point<T::Vector> {
        let mut theta = self.point.theta.clone();
        theta.put(self.range.start, &point.theta);
        Point { theta, statistics: point.statistics }
    }

    /// Calls `f` with the whole target at the point of the whole network, and a gradient's room.
    fn at<R>(
        &mut self,
        part: &mut Point<T::Vector>,
        f: impl FnOnce(&mut T, &mut Point<T::Vector>, &mut T::Vector) -> R,
    ) -> R {
        self.point.theta.put(self.range.start, &part.theta);
        swap(&mut self.point.statistics, &mut part.statistics);
        let result = f(self.whole, &mut self.point, &mut self.gradient);
        swap(&mut self.point.statistics, &mut part.statistics);
        result
    }

    fn own(&self, gradient: &mut T::Vector) {
        gradient.copy_from(&self.gradient.part(self.range.clone()));
    }
}

impl<T: Target> Target for Part<'_, T> {
    type Vector = T::Vector;

    fn examples(&self) -> usize {
        self.whole.examples()
    }
    fn prior(&self) -> Arc<dyn Prior<T::Vector>> {
        Arc::clone(&self.prior)
    }
    fn is_steep(&self) -> bool {
        self.whole.is_steep()
    }
    fn batches(&self) -> usize {
        self.whole.batches()
    }
    fn start(&self, index: usize) -> Point<T::Vector> {
        let Point { theta, statistics } = self.whole.start(index);
        Point { theta: theta.part(self.range.clone()), statistics }
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
    fn gradient(
        &mut self,
        point: &mut Point<T::Vector>,
        batch: BatchName,
        gradient: &mut T::Vector,
    ) {
        self.at(point, |whole, point, gradient| whole.gradient(point, batch, gradient));
        self.own(gradient);
    }
    fn losses(&mut self) -> Vec<f64> {
        self.whole.losses()
    }
    fn whole(&mut self, theta: &T::Vector, gradient: &mut T::Vector) -> f64 {
        self.point.theta.put(self.range.start, theta);
        let loss = self.whole.whole(&self.point.theta, &mut self.gradient);
        self.own(gradient);
        loss
    }
    fn whole_loss(&mut self, theta: &T::Vector) -> f64 {
        self.point.theta.put(self.range.start, theta);
        self.whole.whole_loss(&self.point.theta)
    }
    fn has_statistics(&self) -> bool {
        self.whole.has_statistics()
    }
    fn statistics(&mut self, theta: &T::Vector) -> T::Vector {
        self.point.theta.put(self.range.start, theta);
        self.whole.statistics(&self.point.theta)
    }
    fn outputs(&mut self, point: &Point<T::Vector>, batch: BatchName) -> Vec<f64> {
        self.at(&mut point.clone(), |whole, point, _| whole.outputs(point, batch))
    }
    fn seeded_gradient(
        &mut self,
        point: &mut Point<T::Vector>,
        batch: BatchName,
        seed: Seed<'_>,
        gradient: &mut T::Vector,
    ) {
        self.at(point, |whole, point, gradient| {
            whole.seeded_gradient(point, batch, seed, gradient);
        });
        self.own(gradient);
    }
    fn visit(
        &mut self,
        point: &Point<T::Vector>,
        batch: BatchName,
        seed: Seed<'_>,
        visitor: &mut dyn FnMut(Visited<'_, T::Vector>),
    ) {
        self.at(&mut point.clone(), |whole, point, _| whole.visit(point, batch, seed, visitor));
    }
}

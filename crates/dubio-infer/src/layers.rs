//! `layers`: inference over some layers only, for every method.

use std::ops::Range;

use dubio_nn::parameter::Slice;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::Error;
use crate::likelihood::NOISE;

/// Which layers move; the others stay where they start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", try_from = "Value")]
pub enum Layers {
    /// All.
    #[default]
    All,
    /// The last one that has parameters, with a noise that all examples share.
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
            Self::Last => {
                let last = slices.iter().rev().map(layer).find(|layer| layer != NOISE);
                let noise = slices.iter().map(layer).find(|layer| layer == NOISE);
                last.into_iter().chain(noise).collect()
            }
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
                Err(Error::Unsuited("`layers` must be consecutive, with none left out".to_string()))
            }
        }
    }
}

//! Settings that are searched, and the values that they may have.

use dubio_infer::recipe::Recipe;
use serde_json::{Map, Value};

/// A method with settings that are searched.
#[derive(Clone, Debug, PartialEq)]
pub struct Space {
    /// The method.
    pub method: String,
    /// Settings that are given.
    pub fixed: Map<String, Value>,
    /// Settings that are searched.
    pub axes: Vec<Axis>,
}

/// A setting that is searched.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Its name.
    pub key: String,
    /// Its values.
    pub values: Values,
}

/// Values of a setting that is searched.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// `{ of = [64, 128] }`.
    Of(Vec<Value>),
    /// `{ from = 0.01, to = 1.0, scale = "log", steps = 5 }`.
    Between {
        /// The smallest.
        from: f64,
        /// The largest.
        to: f64,
        /// Whether steps multiply instead of adding.
        scale: Scale,
        /// Points of a grid.
        steps: usize,
        /// Whether the setting is a whole number.
        number: Number,
    },
}

/// How values are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Evenly.
    Linear,
    /// Evenly in their logarithms.
    Log,
}

/// What kind of number a setting is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// Any.
    Real,
    /// Rounded to the nearest.
    Whole,
}

/// Most trials of one search.
pub(super) const MOST_TRIALS: usize = 100_000;

impl Values {
    /// The value at a fraction of the way from first to last.
    fn at(&self, fraction: f64) -> Value {
        match self {
            Self::Of(all) => {
                all[((fraction * all.len() as f64) as usize).min(all.len() - 1)].clone()
            }
            Self::Between { from, to, scale, number, .. } => {
                let value = match scale {
                    Scale::Linear => from + fraction * (to - from),
                    Scale::Log => from * (to / from).powf(fraction),
                };
                match number {
                    Number::Real => Value::from(value.clamp(*from, *to)),
                    Number::Whole => Value::from(value.round() as i64),
                }
            }
        }
    }

    /// How many points a grid has.
    pub(super) fn points(&self) -> usize {
        match self {
            Self::Of(all) => all.len(),
            Self::Between { steps, .. } => *steps,
        }
    }

    /// The points of a grid.
    fn grid(&self) -> Vec<f64> {
        match self {
            Self::Of(all) => (0..all.len()).map(|i| (i as f64 + 0.5) / all.len() as f64).collect(),
            Self::Between { steps: 1, .. } => vec![0.5],
            Self::Between { steps, .. } => {
                (0..*steps).map(|i| i as f64 / (*steps - 1) as f64).collect()
            }
        }
    }
}

impl Space {
    /// The settings at a point of the unit cube.
    pub fn at(&self, point: &[f64]) -> Map<String, Value> {
        let mut settings = self.fixed.clone();
        for (axis, fraction) in self.axes.iter().zip(point) {
            settings.insert(axis.key.clone(), axis.values.at(*fraction));
        }
        settings
    }

    /// The method with the settings at a point, if they are valid.
    pub fn recipe(&self, point: &[f64]) -> Option<Recipe> {
        Recipe::parse(&self.method, self.at(point)).ok()
    }
}

/// Every point of a grid over the unit cube.
pub(super) fn grid(space: &Space) -> Vec<Vec<f64>> {
    let mut all = vec![Vec::new()];
    for axis in &space.axes {
        let longer = |point: Vec<f64>| {
            axis.values.grid().into_iter().map(move |fraction| [&point[..], &[fraction]].concat())
        };
        all = all.into_iter().flat_map(longer).collect();
    }
    all
}

/// Reads the values of a setting whose default is `default`; says what is wrong with them.
pub(crate) fn values(table: &Map<String, Value>, default: &Value) -> Result<Values, String> {
    const FORM: &str =
        "a search is written { of = [1, 2] } or { from = 0.01, to = 1.0, scale = \"log\" }";
    let keys = ["of", "from", "to", "scale", "steps"];
    if let Some(key) = table.keys().find(|key| !keys.contains(&&key[..])) {
        return Err(format!("{FORM}; it has no `{key}`"));
    }
    if let Some(of) = table.get("of") {
        return match of {
            Value::Array(all) if !all.is_empty() && table.len() == 1 => Ok(Values::Of(all.clone())),
            _ => Err(format!("{FORM}; `of` is a list, and stands alone")),
        };
    }
    let end = |key: &str| table.get(key).and_then(Value::as_f64).ok_or(FORM.to_string());
    let (from, to) = (end("from")?, end("to")?);
    let scale = match table.get("scale").map(Value::as_str) {
        None | Some(Some("linear")) => Scale::Linear,
        Some(Some("log")) => Scale::Log,
        Some(_) => return Err(format!("{FORM}; `scale` is \"linear\" or \"log\"")),
    };
    if from >= to || (scale == Scale::Log && from <= 0.0) {
        let above = if scale == Scale::Log { "above 0 and " } else { "" };
        return Err(format!("{FORM}; `from` must be {above}below `to`, got {from} and {to}"));
    }
    if !(to - from).is_finite() || (scale == Scale::Log && !(to / from).is_finite()) {
        return Err(format!("{FORM}; {from} and {to} are too far apart"));
    }
    let steps = match table.get("steps").map(Value::as_u64) {
        None => 5,
        Some(Some(steps)) if (1..=MOST_TRIALS as u64).contains(&steps) => steps as usize,
        Some(_) => {
            return Err(format!("{FORM}; `steps` is a whole number from 1 to {MOST_TRIALS}"));
        }
    };
    let number = if default.is_u64() { Number::Whole } else { Number::Real };
    Ok(Values::Between { from, to, scale, steps, number })
}

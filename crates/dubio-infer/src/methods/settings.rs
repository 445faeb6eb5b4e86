//! Settings of a method: read from a table one by one, and checked.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::Settings;
use crate::wrong::{Kind, Takes, Wrong};

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

/// Reads a table of settings, each of which has a default. They are read one at a time, so that an error names the
/// setting that is wrong.
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
    // A setting that is left out has the default of this method, not that of a part that it shares with other methods.
    let mut whole = known;
    whole.extend(settings);
    serde_json::from_value(Value::Object(whole)).map_err(|error| Wrong {
        settings: all,
        kind: Kind::Value,
        what: error.to_string(),
    })
}

/// The largest whole number that a setting may have. The product of two fits into 64 bits with room to spare for what
/// the data multiply it with, and nobody would wait for more.
pub(crate) const MOST: u64 = 1_000_000;

/// Checks that no whole number is above [`MOST`]. This comes first, so that a method may multiply what it checks.
pub(crate) fn at_most(settings: &impl Serialize) -> Result<(), Wrong> {
    let number = |(name, value): (String, Value)| Some((name, value.as_u64()?));
    match table(settings).into_iter().filter_map(number).find(|(_, number)| *number > MOST) {
        None => Ok(()),
        Some((name, number)) => {
            Err(Wrong::value(&[&name], format!("`{name}` must be at most {MOST}, got {number}")))
        }
    }
}

pub(super) fn sound(settings: &impl Settings) -> Result<(), Wrong> {
    at_most(settings)?;
    settings.check()
}

/// Checks that these settings are positive and finite.
pub(super) fn positive(settings: &[(&str, f64)]) -> Result<(), Wrong> {
    match settings.iter().find(|(_, value)| !(value.is_finite() && *value > 0.0)) {
        None => Ok(()),
        Some((name, value)) => {
            Err(Wrong::value(&[name], format!("`{name}` must be above 0, got {value}")))
        }
    }
}

/// Checks that these counts are at least 1.
pub(crate) fn at_least_one(settings: &[(&str, usize)]) -> Result<(), Wrong> {
    match settings.iter().find(|(_, count)| *count == 0) {
        None => Ok(()),
        Some((name, _)) => {
            Err(Wrong::value(&[name], format!("`{name}` must be at least 1, got 0")))
        }
    }
}

/// Checks that a fraction is in `[0, 1)`.
pub(super) fn fraction(name: &str, value: f64) -> Result<(), Wrong> {
    if (0.0..1.0).contains(&value) {
        return Ok(());
    }
    let what = format!("`{name}` must be at least 0 and below 1, got {value}");
    Err(Wrong::value(&[name], what))
}

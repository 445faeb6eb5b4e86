//! The noise of a regression: how far targets are from the mean that a network predicts.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The standard deviation of a target around its mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", try_from = "Value")]
pub enum Noise {
    /// Predicted for every example: heteroscedastic.
    #[default]
    PerExample,
    /// One number for all examples, learnt with the network: homoscedastic.
    Shared,
    /// This one, in the unit of the targets.
    #[serde(untagged)]
    Fixed(f64),
}

/// The largest that can be set, and one over the smallest.
const MOST: f64 = 1e9;

impl TryFrom<Value> for Noise {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        match value {
            Value::String(name) if name == "per-example" => Ok(Self::PerExample),
            Value::String(name) if name == "shared" => Ok(Self::Shared),
            Value::Number(std) => match std.as_f64() {
                Some(std) if (1.0 / MOST..=MOST).contains(&std) => Ok(Self::Fixed(std)),
                _ => Err(format!("a standard deviation must be from {:e} to {MOST:e}", 1.0 / MOST)),
            },
            _ => Err("must be \"per-example\", \"shared\", or a standard deviation".to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn noise_is_read_as_it_is_written() {
        for (noise, text) in [
            (Noise::PerExample, json!("per-example")),
            (Noise::Shared, json!("shared")),
            (Noise::Fixed(0.1), json!(0.1)),
        ] {
            assert_eq!(serde_json::to_value(noise).unwrap(), text);
            assert_eq!(serde_json::from_value::<Noise>(text).unwrap(), noise);
        }
        for text in [json!("loud"), json!(0), json!(-1), json!([]), json!(1e300)] {
            assert!(serde_json::from_value::<Noise>(text.clone()).is_err(), "{text}");
        }
    }
}

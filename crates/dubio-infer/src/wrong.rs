//! What is wrong with a setting, as data: code that shows it knows which setting is meant without reading the words.

use serde_json::Value;

/// What is wrong with a setting, or with several together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct Wrong {
    /// Names of the settings; several where they do not go together.
    pub settings: Vec<String>,
    /// In which way.
    pub kind: Kind,
    /// In words that name them and say what to do.
    pub what: String,
}

/// In which way a setting is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// No setting has this name.
    Unknown,
    /// It takes values of another type.
    Type,
    /// The type is right, but the value is not allowed.
    Value,
}

impl Wrong {
    /// Values that are not allowed.
    pub(crate) fn value(settings: &[&str], what: impl Into<String>) -> Self {
        let settings = settings.iter().map(|name| name.to_string()).collect();
        Self { settings, kind: Kind::Value, what: what.into() }
    }

    /// A name that no setting has.
    pub(crate) fn unknown(name: &str, known: &[String]) -> Self {
        let what = dubio_words::unknown("setting", name, known.iter().map(String::as_str));
        Self { settings: vec![name.to_string()], kind: Kind::Unknown, what }
    }

    /// A value that could not be read, given what the setting takes.
    pub(crate) fn unread(
        name: &str,
        value: &Value,
        takes: Takes,
        error: &serde_json::Error,
    ) -> Self {
        let kind = if takes.fits(value) { Kind::Value } else { Kind::Type };
        let what = match (takes.number(), kind) {
            (Some(number), Kind::Type) => format!("`{name}`: expected {number}, got {value}"),
            _ => format!("`{name}`: {error}"),
        };
        Self { settings: vec![name.to_string()], kind, what }
    }
}

/// The type of a setting's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    Number,
    Whole,
    Switch,
    /// A word, or a list of words.
    Words,
    Table,
}

impl Takes {
    /// From the default; where that is null, from whether numbers can be read.
    pub(crate) fn of(default: &Value, reads: impl Fn(Value) -> bool) -> Self {
        match default {
            Value::Number(number) if number.is_f64() => Self::Number,
            Value::Number(_) => Self::Whole,
            Value::Bool(_) => Self::Switch,
            Value::String(_) | Value::Array(_) => Self::Words,
            Value::Null if reads(0.5.into()) => Self::Number,
            Value::Null if reads(1.into()) => Self::Whole,
            Value::Null | Value::Object(_) => Self::Table,
        }
    }

    fn fits(self, value: &Value) -> bool {
        match self {
            Self::Number => value.is_number(),
            Self::Whole => value.is_u64(),
            Self::Switch => value.is_boolean(),
            Self::Words => value.is_string() || value.is_array(),
            Self::Table => value.is_object(),
        }
    }

    fn number(self) -> Option<&'static str> {
        match self {
            Self::Number => Some("a number"),
            Self::Whole => Some("a whole number from 0"),
            Self::Switch | Self::Words | Self::Table => None,
        }
    }
}

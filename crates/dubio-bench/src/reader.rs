//! Reading tables of TOML so that no mistake hides another.

use std::ops::Range;

use serde_json::{Map, Number, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::mistakes::Collector;

/// A value with its span in the file, in bytes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Located<T> {
    pub(crate) value: T,
    pub(crate) span: Range<usize>,
}

/// A table that knows which of its keys were asked for.
pub(crate) struct Section<'a> {
    table: &'a DeTable<'a>,
    span: Range<usize>,
    known: Vec<&'static str>,
}

impl<'a> Section<'a> {
    pub(crate) fn new(table: &'a DeTable<'a>, span: Range<usize>) -> Self {
        Self { table, span, known: Vec::new() }
    }

    pub(crate) fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    pub(crate) fn value(&mut self, key: &'static str) -> Option<&'a Spanned<DeValue<'a>>> {
        if !self.known.contains(&key) {
            self.known.push(key);
        }
        self.table.get(key)
    }

    pub(crate) fn text(
        &mut self,
        key: &'static str,
        mistakes: &mut Collector<'_>,
    ) -> Option<Located<String>> {
        text(key, self.value(key)?, mistakes)
    }

    /// A list of strings; a single string is a list of one.
    pub(crate) fn texts(
        &mut self,
        key: &'static str,
        mistakes: &mut Collector<'_>,
    ) -> Vec<Located<String>> {
        match self.value(key) {
            None => Vec::new(),
            Some(value) => match value.get_ref() {
                DeValue::Array(all) => all.iter().filter_map(|v| text(key, v, mistakes)).collect(),
                _ => text(key, value, mistakes).into_iter().collect(),
            },
        }
    }

    /// A list of whole numbers from 0; a single one is a list of one.
    pub(crate) fn counts(
        &mut self,
        key: &'static str,
        mistakes: &mut Collector<'_>,
    ) -> Vec<Located<u64>> {
        match self.value(key) {
            None => Vec::new(),
            Some(value) => match value.get_ref() {
                DeValue::Array(all) => all.iter().filter_map(|v| count(key, v, mistakes)).collect(),
                _ => count(key, value, mistakes).into_iter().collect(),
            },
        }
    }

    pub(crate) fn number(
        &mut self,
        key: &'static str,
        mistakes: &mut Collector<'_>,
    ) -> Option<Located<f64>> {
        number(key, self.value(key)?, mistakes)
    }

    /// A list of numbers; a single one is a list of one.
    pub(crate) fn numbers(
        &mut self,
        key: &'static str,
        mistakes: &mut Collector<'_>,
    ) -> Vec<Located<f64>> {
        match self.value(key) {
            None => Vec::new(),
            Some(value) => match value.get_ref() {
                DeValue::Array(all) => {
                    all.iter().filter_map(|v| number(key, v, mistakes)).collect()
                }
                _ => number(key, value, mistakes).into_iter().collect(),
            },
        }
    }

    pub(crate) fn section(
        &mut self,
        key: &'static str,
        mistakes: &mut Collector<'_>,
    ) -> Option<Section<'a>> {
        let value = self.value(key)?;
        match value.get_ref() {
            DeValue::Table(table) => Some(Section::new(table, value.span())),
            other => {
                mistakes.add(value.span(), format!("`{key}` must be a table, got {}", kind(other)));
                None
            }
        }
    }

    /// `[[key]]`, table after table.
    pub(crate) fn sections(
        &mut self,
        key: &'static str,
        mistakes: &mut Collector<'_>,
    ) -> Vec<Section<'a>> {
        let Some(value) = self.value(key) else { return Vec::new() };
        let DeValue::Array(all) = value.get_ref() else {
            let got = kind(value.get_ref());
            mistakes
                .add(value.span(), format!("`{key}` must be tables, written [[{key}]], got {got}"));
            return Vec::new();
        };
        let mut sections = Vec::new();
        for value in all.iter() {
            match value.get_ref() {
                DeValue::Table(table) => sections.push(Section::new(table, value.span())),
                other => mistakes.add(
                    value.span(),
                    format!(
                        "each of `{key}` must be a table, written [[{key}]], got {}",
                        kind(other)
                    ),
                ),
            }
        }
        sections
    }

    /// The keys that were not asked for, each with its value as JSON, and the spans of both.
    pub(crate) fn rest(
        &self,
        mistakes: &mut Collector<'_>,
    ) -> Vec<(Located<String>, Located<Value>)> {
        let mut rest = Vec::new();
        for (key, value) in self.table.iter() {
            if self.known.iter().any(|known| *known == key.get_ref().as_ref()) {
                continue;
            }
            if let Some(json) = json(value, mistakes) {
                let name = Located { value: key.get_ref().to_string(), span: key.span() };
                rest.push((name, Located { value: json, span: value.span() }));
            }
        }
        rest
    }

    /// Every key that was not asked for is a mistake.
    pub(crate) fn refuse_rest(&self, what: &str, mistakes: &mut Collector<'_>) {
        for (key, _) in self.table.iter() {
            let name = key.get_ref().as_ref();
            if !self.known.contains(&name) {
                mistakes.unknown(key.span(), what, name, self.known.iter().copied());
            }
        }
    }
}

pub(crate) fn text(
    key: &str,
    value: &Spanned<DeValue<'_>>,
    mistakes: &mut Collector<'_>,
) -> Option<Located<String>> {
    match value.get_ref() {
        DeValue::String(text) => Some(Located { value: text.to_string(), span: value.span() }),
        other => {
            mistakes
                .add(value.span(), format!("`{key}` must be text in quotes, got {}", kind(other)));
            None
        }
    }
}

fn count(
    key: &str,
    value: &Spanned<DeValue<'_>>,
    mistakes: &mut Collector<'_>,
) -> Option<Located<u64>> {
    let parsed = match value.get_ref() {
        DeValue::Integer(i) => u64::from_str_radix(&i.as_str().replace('_', ""), i.radix()).ok(),
        _ => None,
    };
    if parsed.is_none() {
        let got = kind(value.get_ref());
        mistakes.add(value.span(), format!("`{key}` must be a whole number from 0, got {got}"));
    }
    parsed.map(|number| Located { value: number, span: value.span() })
}

fn number(
    key: &str,
    value: &Spanned<DeValue<'_>>,
    mistakes: &mut Collector<'_>,
) -> Option<Located<f64>> {
    let parsed = match value.get_ref() {
        DeValue::Integer(i) => i.as_str().replace('_', "").parse().ok(),
        DeValue::Float(x) => x.as_str().replace('_', "").parse().ok(),
        _ => None,
    };
    match parsed.filter(|number: &f64| number.is_finite()) {
        Some(number) => Some(Located { value: number, span: value.span() }),
        None => {
            let got = kind(value.get_ref());
            mistakes.add(value.span(), format!("`{key}` must be a number, got {got}"));
            None
        }
    }
}

fn kind(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("the text \"{text}\""),
        DeValue::Integer(i) => format!("the number {}", i.as_str()),
        DeValue::Float(x) => format!("the number {}", x.as_str()),
        DeValue::Boolean(b) => format!("{b}"),
        DeValue::Datetime(_) => "a date".to_string(),
        DeValue::Array(_) => "a list".to_string(),
        DeValue::Table(_) => "a table".to_string(),
    }
}

/// A value as JSON, which settings are read from.
pub(crate) fn json(value: &Spanned<DeValue<'_>>, mistakes: &mut Collector<'_>) -> Option<Value> {
    let bad = |mistakes: &mut Collector<'_>, what: &str| {
        mistakes.add(value.span(), what.to_string());
        None
    };
    match value.get_ref() {
        DeValue::String(text) => Some(Value::from(text.as_ref())),
        DeValue::Boolean(b) => Some(Value::from(*b)),
        DeValue::Integer(i) => match i64::from_str_radix(&i.as_str().replace('_', ""), i.radix()) {
            Ok(number) => Some(Value::from(number)),
            Err(_) => bad(mistakes, "a whole number that is too large"),
        },
        DeValue::Float(x) => {
            let number: Option<f64> = x.as_str().replace('_', "").parse().ok();
            match number.and_then(Number::from_f64) {
                Some(number) => Some(Value::Number(number)),
                None => bad(mistakes, "a setting must be a finite number"),
            }
        }
        DeValue::Datetime(_) => bad(mistakes, "no setting is a date"),
        DeValue::Array(all) => {
            all.iter().map(|v| json(v, mistakes)).collect::<Option<Vec<_>>>().map(Value::Array)
        }
        DeValue::Table(table) => {
            let each =
                table.iter().map(|(key, v)| Some((key.get_ref().to_string(), json(v, mistakes)?)));
            each.collect::<Option<Map<_, _>>>().map(Value::Object)
        }
    }
}

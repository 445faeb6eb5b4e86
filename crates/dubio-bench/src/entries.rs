//! The methods of a suite: each `[[methods]]` with its grid written out.

use std::ops::Range;

use dubio_infer::recipe::{Recipe, Setup};
use dubio_infer::{Error, methods};
use dubio_words::{meant, unknown};
use serde_json::{Map, Value};

use crate::entry::{Choice, Entry};
use crate::mistakes::Collector;
use crate::name::Name;
use crate::reader::{Located, Section};
use crate::search::{Axis, Space, values};
use crate::seeds::seeds;

/// The entries of one `[[methods]]`: one for each point of its grid.
pub(crate) fn entries(
    section: &mut Section<'_>,
    mistakes: &mut Collector<'_>,
) -> Vec<Located<Entry>> {
    let mut name = section.text("method", mistakes);
    if let Some(name) = &mut name
        && let Some(known) = meant(&name.value, methods::CARDS.iter().map(|card| card.name))
    {
        name.value = known.to_string();
    }
    let label = section.text("label", mistakes);
    let seeds = seeds(section, mistakes);
    let Some(name) = name else {
        if section.value("method").is_none() {
            let names: Vec<&str> = methods::CARDS.iter().map(|card| card.name).collect();
            let what = format!("`method` is missing; it names one of {}", names.join(", "));
            mistakes.add(section.span(), what);
        }
        return Vec::new();
    };
    let settings = section.rest(mistakes);
    let Ok(default) = Recipe::named(&name.value) else {
        let known = methods::CARDS.iter().map(|card| card.name);
        mistakes.add(name.span, unknown("method", &name.value, known));
        return Vec::new();
    };
    let known = known_settings(&default);
    let mut written =
        Written { method: &name, searched: Vec::new(), axes: Vec::new(), spans: Vec::new() };
    let before = mistakes.len();
    for (key, value) in settings {
        let found = meant(&key.value, known.keys().map(|key| &key[..]));
        match found.and_then(|name| known.get_key_value(name)) {
            Some((name, default)) => written.add(name.clone(), value, default, mistakes),
            None => {
                let names = known.keys().map(|key| &key[..]);
                let what = format!("setting of {}", name.value);
                mistakes.unknown(key.span, &what, &key.value, names);
            }
        }
    }
    if mistakes.len() > before {
        return Vec::new();
    }
    let Located { value: label, span: label_span } = label.unwrap_or_else(|| name.clone());
    let named = Name::try_from(label);
    let entry = |(settings, suffix): Combination| {
        let label = match &named {
            Ok(name) => name.then(&suffix),
            Err(error) => Err(error.clone()),
        };
        let label = label.map_err(|error| (label_span.clone(), format!("`label`: {error}")))?;
        let choice =
            written.choice(settings).map_err(|error| (written.span(&error), words(&error)))?;
        Ok(Located { value: Entry { label, seeds: seeds.clone(), choice }, span: section.span() })
    };
    let points = grid(&written.axes).map_err(|error| (name.span.clone(), error));
    let all = points.and_then(|points| points.into_iter().map(entry).collect());
    all.unwrap_or_else(|(span, error)| {
        mistakes.add(span, error);
        Vec::new()
    })
}

/// The settings of one `[[methods]]`.
struct Written<'a> {
    method: &'a Located<String>,
    searched: Vec<Axis>,
    axes: Vec<(String, Vec<Value>)>,
    spans: Vec<(String, Range<usize>)>,
}

impl Written<'_> {
    fn add(
        &mut self,
        key: String,
        written: Located<Value>,
        default: &Value,
        mistakes: &mut Collector<'_>,
    ) {
        let Located { value, span } = written;
        let values = match value {
            Value::Array(all) if all.is_empty() => {
                let what = format!("`{key}` must not be an empty list; a list is a grid");
                return mistakes.add(span, what);
            }
            // A list where one value is wanted is a grid.
            Value::Array(all) if !takes_lists(&key) => all,
            // A table where one value is wanted is a search; a warm-up is a table.
            Value::Object(table) if key != "warm_up" => match values(&table, default) {
                Ok(values) => {
                    self.searched.push(Axis { key: key.clone(), values });
                    self.spans.push((key, span));
                    return;
                }
                Err(error) => return mistakes.add(span, format!("`{key}`: {error}")),
            },
            single => vec![single],
        };
        for one in &values {
            let alone = Map::from_iter([(key.clone(), one.clone())]);
            if let Err(error) = Recipe::read(&self.method.value, alone) {
                mistakes.add(span.clone(), words(&error));
            }
        }
        self.spans.push((key.clone(), span));
        self.axes.push((key, values));
    }

    /// The settings, if they are valid; in a search, its first and its last corner must be.
    fn choice(&self, fixed: Map<String, Value>) -> Result<Choice, Error> {
        let method = self.method.value.clone();
        let parse = |settings| Recipe::parse(&method, settings);
        if self.searched.is_empty() {
            return parse(fixed).map(Choice::Fixed);
        }
        let space = Space { method: method.clone(), fixed, axes: self.searched.clone() };
        for corner in [0.0, 1.0] {
            parse(space.at(&vec![corner; space.axes.len()]))?;
        }
        Ok(Choice::Searched(space))
    }

    /// The span of the first setting that is wrong.
    fn span(&self, error: &Error) -> Range<usize> {
        let wrong = match error {
            Error::Setting { wrong, .. } => &wrong.settings[..],
            _ => &[],
        };
        let written = self.spans.iter().find(|(key, _)| wrong.contains(key));
        written.map_or(self.method.span.clone(), |(_, span)| span.clone())
    }
}

/// All settings of a method, its own and those of every method, with their defaults.
pub(crate) fn known_settings(recipe: &Recipe) -> Map<String, Value> {
    let own = serde_json::to_value(&recipe.method).unwrap_or_default();
    let common = serde_json::to_value(&recipe.setup).unwrap_or_default();
    let mut all = Map::new();
    for part in [own, common] {
        all.extend(part.as_object().cloned().unwrap_or_default());
    }
    all.shift_remove("method");
    all
}

pub(crate) fn takes_lists(key: &str) -> bool {
    let setup = serde_json::to_value(Setup::default()).unwrap_or_default();
    key == "layers" || setup.get(key).is_some_and(Value::is_array)
}

/// What is wrong, without the method: its position says which is meant.
fn words(error: &Error) -> String {
    match error {
        Error::Setting { wrong, .. } => wrong.to_string(),
        other => other.to_string(),
    }
}

/// Most points of one grid.
const MOST_POINTS: usize = 100_000;

/// Settings, and what to add to a label for them.
type Combination = (Map<String, Value>, String);

/// All combinations, with what to add to a label to tell them apart.
fn grid(axes: &[(String, Vec<Value>)]) -> Result<Vec<Combination>, String> {
    let points = axes.iter().try_fold(1_usize, |all, (_, values)| all.checked_mul(values.len()));
    if points.is_none_or(|points| points > MOST_POINTS) {
        return Err(format!("a grid may have {MOST_POINTS} combinations; give shorter lists"));
    }
    let mut all = vec![(Map::new(), String::new())];
    for (key, values) in axes {
        let mut next = Vec::new();
        for (settings, suffix) in &all {
            for value in values {
                let mut settings = settings.clone();
                settings.insert(key.clone(), value.clone());
                let suffix = match values.len() {
                    1 => suffix.clone(),
                    _ => format!("{suffix}, {key} = {value}"),
                };
                next.push((settings, suffix));
            }
        }
        all = next;
    }
    Ok(all)
}

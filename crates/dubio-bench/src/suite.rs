//! A suite as written: data sets, networks, methods, seeds, and what to evaluate.

use dubio_data::sets;
use dubio_data::shifts;
use dubio_infer::methods;
use dubio_infer::recipe::{Recipe, Setup};
use dubio_nn::networks;
use dubio_nn::shape::Shape;
use serde_json::{Map, Value};
use toml::de::DeTable;

use crate::mistakes::{Collector, Mistakes};
use crate::reader::{Placed, Section, unknown};

/// A study as its author wrote it, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Suite {
    /// Its name; the file's when it has none.
    pub name: String,
    /// One sentence.
    pub title: String,
    /// The paper it comes from.
    pub paper: String,
    /// Names of data sets, or of splits of tables.
    pub data: Vec<String>,
    /// Names of networks.
    pub networks: Vec<String>,
    /// Seeds, each of which makes a run.
    pub seeds: Vec<u64>,
    /// What is evaluated besides the test part.
    pub evaluate: Evaluate,
    /// The methods, grids written out.
    pub methods: Vec<Entry>,
}

/// What is evaluated besides the test part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluate {
    /// Out-of-domain sets.
    pub ood: Vec<String>,
    /// Shifts of the test pictures.
    pub shifts: Vec<String>,
    /// Severities of the shifts, 1 to 5.
    pub severities: Vec<u8>,
}

/// A method under a label.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// What tables call it.
    pub label: String,
    /// The method with its settings.
    pub recipe: Recipe,
}

impl Suite {
    /// Reads a suite; every mistake is reported, with its place.
    pub fn parse(file: &str, text: &str) -> Result<Self, Mistakes> {
        let mut mistakes = Collector::new(text);
        let (table, errors) = DeTable::parse_recoverable(text);
        for error in &errors {
            mistakes.add(error.span().unwrap_or(0..0), error.message());
        }
        if !errors.is_empty() {
            mistakes.finish(file)?;
        }
        let mut top = Section::new(table.get_ref(), 0..0);
        let suite = Self::read(file, &mut top, &mut mistakes);
        mistakes.finish(file)?;
        Ok(suite)
    }

    fn read(file: &str, top: &mut Section<'_>, mistakes: &mut Collector<'_>) -> Self {
        let stem = std::path::Path::new(file).file_stem().unwrap_or_default().to_string_lossy();
        let mut word = |key, default: &str, mistakes: &mut Collector<'_>| {
            top.text(key, mistakes).map_or(default.to_string(), |text| text.value)
        };
        let name = word("name", &stem, mistakes);
        let (title, paper) = (word("title", "", mistakes), word("paper", "", mistakes));
        let data = required("data", top, mistakes, |name| {
            sets::halves(name).map(|_| ()).map_err(|e| e.to_string().replace('\n', ";"))
        });
        let networks = required("networks", top, mistakes, |name| {
            // Whether it takes these inputs is known when the data are; here only its name is.
            let large = Shape::picture(3, 64, 64);
            networks::build::<f32>(name, large, 2).map(|_| ())
        });
        let seeds = seeds(top, mistakes);
        let evaluate = top.section("evaluate", mistakes);
        let evaluate = evaluate.map(|mut s| Evaluate::read(&mut s, mistakes)).unwrap_or_default();
        let sections = top.sections("methods", mistakes);
        if sections.is_empty() {
            mistakes
                .add(0..0, "there are no methods; add a table [[methods]] with method = \"sgd\"");
        }
        let methods: Vec<Entry> =
            sections.into_iter().flat_map(|mut s| entries(&mut s, mistakes)).collect();
        top.refuse_rest("key of a suite", mistakes);
        Self { name, title, paper, data, networks, seeds, evaluate, methods }
    }
}

/// A list of names that must not be empty, each of which must be right.
fn required(
    key: &'static str,
    top: &mut Section<'_>,
    mistakes: &mut Collector<'_>,
    check: impl Fn(&str) -> Result<(), String>,
) -> Vec<String> {
    let before = top.value(key).is_some();
    let names = top.texts(key, mistakes);
    if names.is_empty() && !before {
        mistakes.add(0..0, format!("`{key}` is missing; give a list of names"));
    } else if names.is_empty() {
        mistakes
            .add(top.value(key).map_or(0..0, |v| v.span()), format!("`{key}` must not be empty"));
    }
    for Placed { value, place } in &names {
        if let Err(message) = check(value) {
            mistakes.add(place.clone(), message);
        }
    }
    names.into_iter().map(|name| name.value).collect()
}

/// `seeds = 5` is 0 to 4; a list is itself.
fn seeds(top: &mut Section<'_>, mistakes: &mut Collector<'_>) -> Vec<u64> {
    let Some(value) = top.value("seeds") else { return vec![0] };
    let (is_list, place) = (value.get_ref().is_array(), value.span());
    let numbers: Vec<u64> = top.counts("seeds", mistakes).into_iter().map(|n| n.value).collect();
    let seeds = match numbers[..] {
        [count] if !is_list => (0..count).collect(),
        _ => numbers,
    };
    if seeds.is_empty() {
        mistakes.add(place, "`seeds` must be at least 1, or a list of seeds");
    }
    seeds
}

impl Evaluate {
    fn read(section: &mut Section<'_>, mistakes: &mut Collector<'_>) -> Self {
        let ood = section.texts("ood", mistakes);
        for Placed { value, place } in &ood {
            if let Err(error) = sets::parse(value) {
                mistakes.add(place.clone(), error.to_string().replace('\n', ";"));
            }
        }
        let mut names = Vec::new();
        for Placed { value, place } in section.texts("shifts", mistakes) {
            if value == "cifar-10-c" {
                names.extend(shifts::cifar_10_c().map(|shift| shift.card().name.to_string()));
            } else if shifts::find(&value).is_some() {
                names.push(value);
            } else {
                let known = shifts::list().iter().map(|shift| shift.card().name);
                mistakes.add(place, unknown("shift", &value, known));
            }
        }
        let mut severities = Vec::new();
        for Placed { value, place } in section.counts("severities", mistakes) {
            match u8::try_from(value) {
                Ok(severity @ 1..=5) => severities.push(severity),
                _ => mistakes.add(place, format!("a severity is 1, 2, 3, 4 or 5, got {value}")),
            }
        }
        if severities.is_empty() && !names.is_empty() {
            severities = vec![1, 2, 3, 4, 5];
        }
        section.refuse_rest("key of [evaluate]", mistakes);
        Self { ood: ood.into_iter().map(|name| name.value).collect(), shifts: names, severities }
    }
}

/// The entries of one `[[methods]]`: one for each point of its grid.
fn entries(section: &mut Section<'_>, mistakes: &mut Collector<'_>) -> Vec<Entry> {
    let name = section.text("method", mistakes);
    let label = section.text("label", mistakes).map(|label| label.value);
    let Some(name) = name else {
        let names: Vec<&str> = methods::CARDS.iter().map(|card| card.name).collect();
        let what = format!("`method` is missing; it names one of {}", names.join(", "));
        mistakes.add(section.place(), what);
        return Vec::new();
    };
    let settings = section.rest(mistakes);
    let Ok(default) = Recipe::named(&name.value) else {
        let known = methods::CARDS.iter().map(|card| card.name);
        mistakes.add(name.place, unknown("method", &name.value, known));
        return Vec::new();
    };
    let known = known_settings(&default);
    let mut sound = true;
    let mut axes: Vec<(String, Vec<Value>)> = Vec::new();
    let mut places = Vec::new();
    for (key, value) in settings {
        if !known.contains(&key.value) {
            let names = known.iter().map(|k| &k[..]);
            let what = format!("setting of {}", name.value);
            mistakes.add(key.place, unknown(&what, &key.value, names));
            sound = false;
            continue;
        }
        // A list where one value is wanted is a grid.
        let values = match value.value {
            Value::Array(all) if !takes_lists(&key.value) => all,
            single => vec![single],
        };
        for one in &values {
            let alone = Map::from_iter([(key.value.clone(), one.clone())]);
            if let Err(error) = Recipe::read(&name.value, alone) {
                let message = without_method(&error.to_string(), &name.value);
                mistakes.add(value.place.clone(), message);
                sound = false;
            }
        }
        places.push((key.value.clone(), value.place));
        axes.push((key.value, values));
    }
    if !sound {
        return Vec::new();
    }
    let mut all = Vec::new();
    for (settings, suffix) in grid(&axes) {
        match Recipe::parse(&name.value, settings) {
            Ok(recipe) => {
                let label = label.clone().unwrap_or_else(|| name.value.clone());
                all.push(Entry { label: label + &suffix, recipe });
            }
            Err(error) => {
                // At the first of the settings that it names.
                let message = without_method(&error.to_string(), &name.value);
                let named = places.iter().find(|(key, _)| message.contains(&format!("`{key}`")));
                let place = named.map_or(name.place.clone(), |(_, place)| place.clone());
                mistakes.add(place, message);
                return Vec::new();
            }
        }
    }
    all
}

/// Names of all settings of a method, its own and those of every method.
fn known_settings(recipe: &Recipe) -> Vec<String> {
    let own = serde_json::to_value(&recipe.method).unwrap_or_default();
    let common = serde_json::to_value(&recipe.setup).unwrap_or_default();
    let keys = |value: Value| value.as_object().map(|t| t.keys().cloned().collect::<Vec<_>>());
    let mut all: Vec<String> = [own, common].into_iter().filter_map(keys).flatten().collect();
    all.retain(|key| key != "method");
    all
}

fn takes_lists(key: &str) -> bool {
    let setup = serde_json::to_value(Setup::default()).unwrap_or_default();
    key == "layers" || setup.get(key).is_some_and(Value::is_array)
}

fn without_method(message: &str, method: &str) -> String {
    message.strip_prefix(&format!("{method}: ")).unwrap_or(message).to_string()
}

/// All combinations, with what to add to a label to tell them apart.
fn grid(axes: &[(String, Vec<Value>)]) -> Vec<(Map<String, Value>, String)> {
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
    all
}

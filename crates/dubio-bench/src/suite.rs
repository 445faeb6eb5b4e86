//! A suite as written: data sets, networks, methods, seeds, and what to evaluate.

use std::ops::Range;

use dubio_data::names::unknown;
use dubio_data::sets;
use dubio_data::shifts;
use dubio_infer::attack::{Attack, Rule};
use dubio_infer::augment::Augmentation;
use dubio_infer::methods;
use dubio_infer::recipe::{Recipe, Setup};
use dubio_nn::networks;
use dubio_nn::shape::Shape;
use serde_json::{Map, Value};
use toml::de::DeTable;

use crate::decision::Decision;
use crate::mistakes::{Collector, Mistakes};
use crate::reader::{Placed, Section};
use crate::search::{Axis, Search, Space, values};

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
    /// How settings that are ranges are found.
    pub search: Search,
    /// Decisions under costs, if they are asked for.
    pub decision: Option<Decision>,
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
    /// Attacks on the posterior predictive.
    pub attacks: Vec<Attack>,
    /// How many of the test examples are attacked.
    pub attack_examples: usize,
    /// Random changes of the test pictures, each look a sample of its own.
    pub augment: Vec<Augmentation>,
    /// Looks at the test pictures for each sample.
    pub looks: usize,
    /// A method's label or a file of predictions to compare with.
    pub reference: Option<String>,
    /// Name of the groups to score each on its own.
    pub groups: Option<String>,
}

/// A method under a label.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// What tables call it.
    pub label: String,
    /// Seeds of its own, instead of the suite's: for what is too slow to be repeated as often.
    pub seeds: Option<Vec<u64>>,
    /// The method with its settings, or with those to be found.
    pub choice: Choice,
}

/// Where a method's settings come from.
#[derive(Clone, Debug, PartialEq)]
pub enum Choice {
    /// They are written.
    Fixed(Recipe),
    /// They are searched.
    Searched(Space),
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
            let check = |name: &String| {
                sets::halves(name).map(|_| ()).map_err(|e| e.to_string().replace("\n  ", "; "))
            };
            splits(name).iter().try_for_each(check)
        });
        let data = data.iter().flat_map(|name| splits(name)).collect();
        let networks = required("networks", top, mistakes, |name| {
            // Whether it takes these inputs is known when the data are; here only its name is.
            let large = Shape::picture(3, 64, 64);
            networks::build::<f32>(name, large, 2).map(|_| ())
        });
        let seeds = seeds(top, mistakes).unwrap_or(vec![0]);
        let evaluate = top.section("evaluate", mistakes);
        let (mut evaluate, reference) =
            evaluate.map(|mut s| Evaluate::read(&mut s, mistakes)).unwrap_or_default();
        let decision = top.section("decision", mistakes);
        let decision = decision.map(|mut section| Decision::read(&mut section, mistakes));
        let search = top.section("search", mistakes);
        let search = search.map(|mut s| Search::read(&mut s, mistakes)).unwrap_or_default();
        let before = mistakes.len();
        let sections = top.sections("methods", mistakes);
        if sections.is_empty() && mistakes.len() == before {
            mistakes
                .add(0..0, "there are no methods; add a table [[methods]] with method = \"sgd\"");
        }
        let methods: Vec<Entry> =
            sections.into_iter().flat_map(|mut s| entries(&mut s, mistakes)).collect();
        if let Some(Placed { value, place }) = reference {
            let labels = methods.iter().map(|entry| &entry.label[..]);
            if !labels.clone().any(|label| label == value) && !is_file(&value) {
                mistakes.add(place, unknown("method or file for a reference", &value, labels));
            }
            evaluate.reference = Some(value);
        }
        top.refuse_rest("key of a suite", mistakes);
        Self { name, title, paper, data, networks, seeds, evaluate, search, decision, methods }
    }
}

/// `yacht:standard/0..5` is the splits 0 to 4; every other name is itself.
fn splits(name: &str) -> Vec<String> {
    let range = || {
        let (kind, range) = name.rsplit_once('/')?;
        let (from, to) = range.split_once("..")?;
        let (from, to): (usize, usize) = (from.parse().ok()?, to.parse().ok()?);
        (from < to && to - from <= 1000)
            .then(|| (from..to).map(|i| format!("{kind}/{i}")).collect())
    };
    range().unwrap_or_else(|| vec![name.to_string()])
}

/// Whether a text is meant as the path of a file of predictions.
fn is_file(text: &str) -> bool {
    text.contains(['/', '\\']) || [".npz", ".safetensors"].iter().any(|end| text.ends_with(end))
}

/// A list of names that must not be empty, each of which must be right.
fn required(
    key: &'static str,
    top: &mut Section<'_>,
    mistakes: &mut Collector<'_>,
    check: impl Fn(&str) -> Result<(), String>,
) -> Vec<String> {
    let before = mistakes.len();
    let names = top.texts(key, mistakes);
    if names.is_empty() && mistakes.len() == before {
        match top.value(key) {
            None => mistakes.add(0..0, format!("`{key}` is missing; give a list of names")),
            Some(value) => mistakes.add(value.span(), format!("`{key}` must not be empty")),
        }
    }
    for Placed { value, place } in &names {
        if let Err(message) = check(value) {
            mistakes.add(place.clone(), message);
        }
    }
    names.into_iter().map(|name| name.value).collect()
}

/// `seeds = 5` is 0 to 4; a list is itself.
fn seeds(section: &mut Section<'_>, mistakes: &mut Collector<'_>) -> Option<Vec<u64>> {
    let value = section.value("seeds")?;
    let (is_list, place) = (value.get_ref().is_array(), value.span());
    let before = mistakes.len();
    let numbers: Vec<u64> =
        section.counts("seeds", mistakes).into_iter().map(|n| n.value).collect();
    let seeds = match numbers[..] {
        [count] if !is_list => (0..count).collect(),
        _ => numbers,
    };
    if seeds.is_empty() && mistakes.len() == before {
        mistakes.add(place, "`seeds` must be at least 1, or a list of seeds");
    }
    Some(seeds)
}

impl Evaluate {
    /// All but the reference, which is a method's label or a file: which, is known after the methods.
    fn read(
        section: &mut Section<'_>,
        mistakes: &mut Collector<'_>,
    ) -> (Self, Option<Placed<String>>) {
        let ood = section.texts("ood", mistakes);
        for Placed { value, place } in &ood {
            if let Err(error) = sets::parse(value) {
                mistakes.add(place.clone(), error.to_string().replace("\n  ", "; "));
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
        let attacks = attacks(section, mistakes);
        let attack_examples = count("attack_examples", 1000, section, mistakes);
        let augment = augmentations(section, mistakes);
        let looks = count("looks", 1, section, mistakes);
        let reference = section.text("reference", mistakes);
        let groups = section.text("groups", mistakes).map(|name| name.value);
        section.refuse_rest("key of [evaluate]", mistakes);
        let ood = ood.into_iter().map(|name| name.value).collect();
        let evaluate = Self {
            ood,
            shifts: names,
            severities,
            attacks,
            attack_examples,
            augment,
            looks,
            reference: None,
            groups,
        };
        (evaluate, reference)
    }
}

/// A number of things, at least one.
fn count(
    key: &'static str,
    default: usize,
    section: &mut Section<'_>,
    mistakes: &mut Collector<'_>,
) -> usize {
    let numbers = section.counts(key, mistakes);
    match &numbers[..] {
        [] => default,
        [Placed { value: 1.., .. }] => numbers[0].value as usize,
        [first, ..] => {
            mistakes.add(first.place.clone(), format!("`{key}` must be one number, at least 1"));
            default
        }
    }
}

/// `attacks` at each of `epsilons`.
fn attacks(section: &mut Section<'_>, mistakes: &mut Collector<'_>) -> Vec<Attack> {
    let mut rules = Vec::new();
    for Placed { value, place } in section.texts("attacks", mistakes) {
        match Rule::ALL.into_iter().find(|rule| rule.name() == value) {
            Some(rule) => rules.push(rule),
            None => {
                let known = Rule::ALL.into_iter().map(Rule::name);
                mistakes.add(place, unknown("attack", &value, known));
            }
        }
    }
    let mut epsilons = Vec::new();
    for Placed { value, place } in section.numbers("epsilons", mistakes) {
        if value > 0.0 && value <= 1.0 {
            epsilons.push(value);
        } else {
            let what = "an epsilon is a share of the brightest pixel, above 0 and at most 1";
            mistakes.add(place, format!("{what}, got {value}"));
        }
    }
    if epsilons.is_empty() {
        epsilons.push(0.1);
    }
    let at = |rule: Rule| epsilons.iter().map(move |&epsilon| Attack { rule, epsilon });
    rules.into_iter().flat_map(at).collect()
}

fn augmentations(section: &mut Section<'_>, mistakes: &mut Collector<'_>) -> Vec<Augmentation> {
    let mut all: Vec<Augmentation> = Vec::new();
    for Placed { value, place } in section.texts("augment", mistakes) {
        match value.parse() {
            Ok(augmentation) => all.push(augmentation),
            Err(error) => mistakes.add(place, error),
        }
    }
    all
}

/// The entries of one `[[methods]]`: one for each point of its grid.
fn entries(section: &mut Section<'_>, mistakes: &mut Collector<'_>) -> Vec<Entry> {
    let name = section.text("method", mistakes);
    let label = section.text("label", mistakes).map(|label| label.value);
    let seeds = seeds(section, mistakes);
    let Some(name) = name else {
        if section.value("method").is_none() {
            let names: Vec<&str> = methods::CARDS.iter().map(|card| card.name).collect();
            let what = format!("`method` is missing; it names one of {}", names.join(", "));
            mistakes.add(section.place(), what);
        }
        return Vec::new();
    };
    let settings = section.rest(mistakes);
    let Ok(default) = Recipe::named(&name.value) else {
        let known = methods::CARDS.iter().map(|card| card.name);
        mistakes.add(name.place, unknown("method", &name.value, known));
        return Vec::new();
    };
    let known = known_settings(&default);
    let mut written =
        Written { method: &name, searched: Vec::new(), axes: Vec::new(), places: Vec::new() };
    let before = mistakes.len();
    for (key, value) in settings {
        match known.get(&key.value) {
            Some(default) => written.add(key.value, value, default, mistakes),
            None => {
                let names = known.keys().map(|key| &key[..]);
                let what = format!("setting of {}", name.value);
                mistakes.add(key.place, unknown(&what, &key.value, names));
            }
        }
    }
    if mistakes.len() > before {
        return Vec::new();
    }
    let label = label.unwrap_or_else(|| name.value.clone());
    let mut all = Vec::new();
    for (settings, suffix) in grid(&written.axes) {
        match written.choice(settings) {
            Ok(choice) => {
                all.push(Entry { label: label.clone() + &suffix, seeds: seeds.clone(), choice });
            }
            Err(error) => {
                mistakes.add(written.place(&error), error);
                return Vec::new();
            }
        }
    }
    all
}

/// The settings of one `[[methods]]`.
struct Written<'a> {
    method: &'a Placed<String>,
    searched: Vec<Axis>,
    axes: Vec<(String, Vec<Value>)>,
    places: Vec<(String, Range<usize>)>,
}

impl Written<'_> {
    fn add(
        &mut self,
        key: String,
        written: Placed<Value>,
        default: &Value,
        mistakes: &mut Collector<'_>,
    ) {
        let Placed { value, place } = written;
        let values = match value {
            Value::Array(all) if all.is_empty() => {
                let what = format!("`{key}` must not be an empty list; a list is a grid");
                return mistakes.add(place, what);
            }
            // A list where one value is wanted is a grid.
            Value::Array(all) if !takes_lists(&key) => all,
            // A table where one value is wanted is a search; a warm-up is a table.
            Value::Object(table) if key != "warm_up" => match values(&table, default) {
                Ok(values) => {
                    self.searched.push(Axis { key: key.clone(), values });
                    self.places.push((key, place));
                    return;
                }
                Err(error) => return mistakes.add(place, format!("`{key}`: {error}")),
            },
            single => vec![single],
        };
        for one in &values {
            let alone = Map::from_iter([(key.clone(), one.clone())]);
            if let Err(error) = Recipe::read(&self.method.value, alone) {
                let message = without_method(&error.to_string(), &self.method.value);
                mistakes.add(place.clone(), message);
            }
        }
        self.places.push((key.clone(), place));
        self.axes.push((key, values));
    }

    /// Settings that can be; of a search, its first and its last corner must be.
    fn choice(&self, fixed: Map<String, Value>) -> Result<Choice, String> {
        let method = self.method.value.clone();
        let parse = |settings| {
            Recipe::parse(&method, settings)
                .map_err(|error| without_method(&error.to_string(), &method))
        };
        if self.searched.is_empty() {
            return parse(fixed).map(Choice::Fixed);
        }
        let space = Space { method: method.clone(), fixed, axes: self.searched.clone() };
        for corner in [0.0, 1.0] {
            parse(space.at(&vec![corner; space.axes.len()]))?;
        }
        Ok(Choice::Searched(space))
    }

    /// The place of the first setting that a message names.
    fn place(&self, message: &str) -> Range<usize> {
        let named = self.places.iter().find(|(key, _)| message.contains(&format!("`{key}`")));
        named.map_or(self.method.place.clone(), |(_, place)| place.clone())
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

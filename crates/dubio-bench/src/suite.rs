//! A suite as written: data sets, networks, methods, seeds, and what to evaluate.

use std::sync::Arc;

use dubio_data::sets;
use dubio_data::shifts;
use dubio_infer::attack::{Attack, Rule};
use dubio_infer::augment::Augmentation;
use dubio_infer::recipe::Recipe;
use dubio_nn::networks;
use dubio_nn::shape::Shape;
use dubio_words::{meant, unknown};
use toml::de::DeTable;

use crate::decision::Decision;
use crate::distinct;
use crate::entries::entries;
use crate::mistakes::{Collector, Mistakes};
use crate::name::Name;
use crate::reader::{Located, Section};
use crate::search::{Search, Space};

/// A study as its author wrote it, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Suite {
    /// Its name; the file's when it has none.
    pub name: Name,
    /// One sentence.
    pub title: String,
    /// The paper it comes from.
    pub paper: String,
    /// Names of data sets, or of splits of tables.
    pub data: Vec<String>,
    /// Names of networks.
    pub networks: Vec<String>,
    /// Seeds, each of which makes a run.
    pub seeds: Arc<Vec<u64>>,
    /// What is evaluated besides the test set.
    pub evaluate: Evaluate,
    /// How settings that are ranges are found.
    pub search: Search,
    /// Decisions under costs, if they are asked for.
    pub decision: Option<Decision>,
    /// The methods, grids written out.
    pub methods: Vec<Entry>,
}

/// What is evaluated besides the test set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluate {
    /// Out-of-domain sets.
    pub ood: Vec<String>,
    /// Shifts of the test images.
    pub shifts: Vec<String>,
    /// Severities of the shifts, 1 to 5.
    pub severities: Vec<u8>,
    /// Attacks on the posterior predictive.
    pub attacks: Vec<Attack>,
    /// How many of the test examples are attacked.
    pub attack_examples: usize,
    /// Random changes of the test images, each look a sample of its own.
    pub augment: Vec<Augmentation>,
    /// Looks at the test images for each sample.
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
    pub label: Name,
    /// Seeds of its own, instead of the suite's: for what is too slow to be repeated as often.
    pub seeds: Option<Arc<Vec<u64>>>,
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
    /// Reads a suite; every mistake is reported, with its position.
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
        let name = name(&stem, top, mistakes);
        let mut word = |key, mistakes: &mut Collector<'_>| {
            top.text(key, mistakes).map_or(String::new(), |text| text.value)
        };
        let (title, paper) = (word("title", mistakes), word("paper", mistakes));
        let data = required("data", top, mistakes, sets::canonical, |name| {
            let check = |name: &String| sets::halves(name).map(|_| ()).map_err(|e| e.in_one_line());
            splits(name).iter().try_for_each(check)
        });
        let data = distinct::sets(data, mistakes);
        let networks = required("networks", top, mistakes, networks::canonical, |name| {
            // Whether it takes these inputs is known when the data are; here only its name is.
            let large = Shape::image(1, 32, 32);
            networks::build(name, large, 2).map(|_| ())
        });
        let networks = distinct::values("network", networks, mistakes);
        let seeds = seeds(top, mistakes).unwrap_or_else(|| Arc::new(vec![0]));
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
        let methods: Vec<Located<Entry>> =
            sections.into_iter().flat_map(|mut s| entries(&mut s, mistakes)).collect();
        for Located { value: entry, span } in &methods {
            if let Choice::Searched(space) = &entry.choice
                && let Err(message) = search.check(space)
            {
                mistakes.add(span.clone(), message);
            }
        }
        let methods = distinct::methods(methods, &seeds, mistakes);
        if let Some(Located { value, span }) = reference {
            let labels = methods.iter().map(|entry| &*entry.label);
            if !labels.clone().any(|label| label == value) && !is_file(&value) {
                mistakes.add(span, unknown("method or file for a reference", &value, labels));
            }
            evaluate.reference = Some(value);
        }
        top.refuse_rest("key of a suite", mistakes);
        Self { name, title, paper, data, networks, seeds, evaluate, search, decision, methods }
    }
}

fn name(stem: &str, top: &mut Section<'_>, mistakes: &mut Collector<'_>) -> Name {
    let Located { value, span } =
        top.text("name", mistakes).unwrap_or(Located { value: stem.to_string(), span: 0..0 });
    Name::try_from(value).unwrap_or_else(|message| {
        mistakes.add(span, format!("`name`: {message}"));
        Name::try_from("none".to_string()).expect("a name")
    })
}

/// `yacht:standard/0..5` is the splits 0 to 4; every other name is itself.
pub(crate) fn splits(name: &str) -> Vec<String> {
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
    canonical: impl Fn(&str) -> String,
    check: impl Fn(&str) -> Result<(), String>,
) -> Vec<Located<String>> {
    let before = mistakes.len();
    let mut names = top.texts(key, mistakes);
    names.iter_mut().for_each(|name| name.value = canonical(&name.value));
    if names.is_empty() && mistakes.len() == before {
        match top.value(key) {
            None => mistakes.add(0..0, format!("`{key}` is missing; give a list of names")),
            Some(value) => mistakes.add(value.span(), format!("`{key}` must not be empty")),
        }
    }
    names.retain(|Located { value, span }| match check(value) {
        Ok(()) => true,
        Err(message) => {
            mistakes.add(span.clone(), message);
            false
        }
    });
    names
}

/// Seeds of one list.
pub(crate) const MOST_SEEDS: u64 = 1_000_000;

/// `seeds = 5` is 0 to 4; a list is itself.
pub(crate) fn seeds(
    section: &mut Section<'_>,
    mistakes: &mut Collector<'_>,
) -> Option<Arc<Vec<u64>>> {
    let value = section.value("seeds")?;
    let (is_list, span) = (value.get_ref().is_array(), value.span());
    let before = mistakes.len();
    let numbers = section.counts("seeds", mistakes);
    let count = match &numbers[..] {
        [count] if !is_list => count.value,
        several => several.len() as u64,
    };
    if mistakes.len() == before && !(1..=MOST_SEEDS).contains(&count) {
        let what = format!("`seeds` must be from 1 to {MOST_SEEDS}, or a list of as many seeds");
        mistakes.add(span, format!("{what}, got {count}"));
        return None;
    }
    Some(Arc::new(match is_list {
        true => distinct::values("seed", numbers, mistakes),
        false => (0..count).collect(),
    }))
}

impl Evaluate {
    /// All but the reference, which is a method's label or a file: which, is known after the methods.
    fn read(
        section: &mut Section<'_>,
        mistakes: &mut Collector<'_>,
    ) -> (Self, Option<Located<String>>) {
        let mut ood = section.texts("ood", mistakes);
        ood.iter_mut().for_each(|name| name.value = sets::canonical(&name.value));
        for Located { value, span } in &ood {
            if let Err(error) = sets::parse(value) {
                mistakes.add(span.clone(), error.in_one_line());
            }
        }
        let mut names = Vec::new();
        for Located { value, span } in section.texts("shifts", mistakes) {
            let mut push = |value| names.push(Located { value, span: span.clone() });
            if value == "cifar-10-c" {
                shifts::cifar_10_c().for_each(|shift| push(shift.card().name.to_string()));
            } else if let Some(shift) = shifts::find(&value) {
                push(shift.card().name.to_string());
            } else {
                let known = shifts::list().iter().map(|shift| shift.card().name);
                mistakes.add(span, unknown("shift", &value, known));
            }
        }
        let mut severities = Vec::new();
        for Located { value, span } in section.counts("severities", mistakes) {
            match u8::try_from(value) {
                Ok(severity @ 1..=5) => severities.push(Located { value: severity, span }),
                _ => mistakes.add(span, format!("a severity is 1, 2, 3, 4 or 5, got {value}")),
            }
        }
        let names = distinct::values("shift", names, mistakes);
        let mut severities = distinct::values("severity", severities, mistakes);
        if severities.is_empty() && !names.is_empty() {
            severities = vec![1, 2, 3, 4, 5];
        }
        let attacks = attacks(section, mistakes);
        let attack_examples = count("attack_examples", 1000, MOST_EXAMPLES, section, mistakes);
        let augment = augmentations(section, mistakes);
        let looks = count("looks", 1, MOST_LOOKS, section, mistakes);
        let reference = section.text("reference", mistakes);
        let groups = section.text("groups", mistakes).map(|name| name.value);
        section.refuse_rest("key of [evaluate]", mistakes);
        let ood = distinct::values("OOD set", ood, mistakes);
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

/// Examples that an attack may be asked for; it takes as many as there are.
const MOST_EXAMPLES: u64 = 1_000_000_000;
/// Looks at a test set; as many as `dubio train --looks` takes.
const MOST_LOOKS: u64 = 1000;

/// A number of things, from 1 to `most`.
fn count(
    key: &'static str,
    default: usize,
    most: u64,
    section: &mut Section<'_>,
    mistakes: &mut Collector<'_>,
) -> usize {
    let numbers = section.counts(key, mistakes);
    match &numbers[..] {
        [] => default,
        [one] if (1..=most).contains(&one.value) => one.value as usize,
        [first, ..] => {
            let what = format!("`{key}` must be one number, from 1 to {most}");
            mistakes.add(first.span.clone(), what);
            default
        }
    }
}

/// `attacks` at each of `epsilons`.
fn attacks(section: &mut Section<'_>, mistakes: &mut Collector<'_>) -> Vec<Attack> {
    let mut rules = Vec::new();
    for Located { value, span } in section.texts("attacks", mistakes) {
        let known = Rule::ALL.into_iter().map(Rule::name);
        match meant(&value, known.clone()) {
            Some(name) => rules.push(Located { value: name.to_string(), span }),
            None => mistakes.unknown(span, "attack", &value, known),
        }
    }
    let mut epsilons = Vec::new();
    for Located { value, span } in section.numbers("epsilons", mistakes) {
        if value > 0.0 && value <= 1.0 {
            epsilons.push(Located { value, span });
        } else {
            let what = "an epsilon is a fraction of the brightest pixel, above 0 and at most 1";
            mistakes.add(span, format!("{what}, got {value}"));
        }
    }
    let rules = distinct::values("attack", rules, mistakes);
    let mut epsilons = distinct::values("epsilon", epsilons, mistakes);
    if epsilons.is_empty() {
        epsilons.push(0.1);
    }
    let at = |rule: Rule| epsilons.iter().map(move |&epsilon| Attack { rule, epsilon });
    let named = |name: &String| Rule::ALL.into_iter().find(|rule| rule.name() == name);
    rules.iter().filter_map(named).flat_map(at).collect()
}

fn augmentations(section: &mut Section<'_>, mistakes: &mut Collector<'_>) -> Vec<Augmentation> {
    let mut all: Vec<Augmentation> = Vec::new();
    for Located { value, span } in section.texts("augment", mistakes) {
        match value.parse() {
            Ok(augmentation) => all.push(augmentation),
            Err(error) => mistakes.add(span, error),
        }
    }
    all
}

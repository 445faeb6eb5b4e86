//! `[evaluate]` of a suite: what is evaluated besides the test set.

use dubio_data::sets;
use dubio_data::shifts;
use dubio_infer::attack::{Attack, Rule};
use dubio_infer::augment::Augmentation;
use dubio_words::{meant, unknown};

use crate::data_names::data_names;
use crate::distinct;
use crate::mistakes::Collector;
use crate::reader::{Located, Section};

/// What is evaluated besides the test set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluate {
    /// Out-of-distribution sets.
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

impl Evaluate {
    /// Reads everything; returns the reference apart, since only after the methods it is known whether it is a
    /// method's label or a file.
    pub(crate) fn read(
        section: &mut Section<'_>,
        mistakes: &mut Collector<'_>,
    ) -> (Self, Option<Located<String>>) {
        let mut ood = data_names("ood", section, mistakes);
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

/// Most examples that an attack may be asked for; where there are fewer, it takes them all.
const MOST_EXAMPLES: u64 = 1_000_000_000;
/// Most looks at a test set; as many as `dubio train --looks` takes.
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

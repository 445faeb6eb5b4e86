//! A suite as written: data sets, networks, methods, seeds, and what to evaluate.

use std::str::FromStr;
use std::sync::Arc;

use dubio_data::sets;
use dubio_nn::networks;
use dubio_nn::shape::Shape;
use dubio_nn::{Device, Precision};
use dubio_words::unknown;
use toml::de::DeTable;

use crate::data_names::data_names;
use crate::decision::Decision;
use crate::distinct::{self, splits};
use crate::entries::entries;
use crate::entry::{Choice, Entry};
use crate::evaluate::Evaluate;
use crate::mistakes::{Collector, Mistakes};
use crate::name::Name;
use crate::reader::{Located, Section};
use crate::search::Search;
use crate::seeds::seeds;

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
    /// Where networks are trained and run.
    pub device: Device,
    /// How precisely a GPU multiplies.
    pub precision: Precision,
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
        let before = mistakes.len();
        let data = data_names("data", top, mistakes);
        let data = required("data", data, before, top, mistakes, sets::canonical, |name| {
            let check = |name: &String| sets::halves(name).map(|_| ()).map_err(|e| e.in_one_line());
            splits(name).iter().try_for_each(check)
        });
        let data = distinct::sets(data, mistakes);
        let before = mistakes.len();
        let named = top.texts("networks", mistakes);
        let networks =
            required("networks", named, before, top, mistakes, networks::canonical, |name| {
                // Whether it takes these inputs is known once the data are; here only its name is checked.
                let large = Shape::image(1, 32, 32);
                networks::build(name, large, 2).map(|_| ())
            });
        let networks = distinct::values("network", networks, mistakes);
        let (device, precision) = device(top, mistakes);
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
        Self {
            name,
            title,
            paper,
            data,
            networks,
            device,
            precision,
            seeds,
            evaluate,
            search,
            decision,
            methods,
        }
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

/// Where networks run. Only a GPU has a choice of precision.
fn device(top: &mut Section<'_>, mistakes: &mut Collector<'_>) -> (Device, Precision) {
    let device: Device = one_of("device", top, mistakes);
    let at = top.value("precision").map_or(0..0, |value| value.span());
    let precision: Precision = one_of("precision", top, mistakes);
    if device == Device::Cpu && precision != Precision::F32 {
        let what = "is for a GPU; add device = \"cuda\", or leave it out";
        mistakes.add(at, format!("`precision` = \"{precision}\" {what}"));
    }
    (device, precision)
}

/// A text with few possible values; the first of them when it is left out.
fn one_of<T: Default + FromStr<Err = String>>(
    key: &'static str,
    top: &mut Section<'_>,
    mistakes: &mut Collector<'_>,
) -> T {
    let Some(Located { value, span }) = top.text(key, mistakes) else { return T::default() };
    value.parse().unwrap_or_else(|message| {
        mistakes.add(span, format!("`{key}`: {message}"));
        T::default()
    })
}

/// Whether a text is meant as the path of a file of predictions.
fn is_file(text: &str) -> bool {
    text.contains(['/', '\\']) || [".npz", ".safetensors"].iter().any(|end| text.ends_with(end))
}

/// A list of names that must not be empty, each of which must be valid. `before` is how many mistakes
/// there were before it was read.
fn required(
    key: &'static str,
    mut names: Vec<Located<String>>,
    before: usize,
    top: &mut Section<'_>,
    mistakes: &mut Collector<'_>,
    canonical: impl Fn(&str) -> String,
    check: impl Fn(&str) -> Result<(), String>,
) -> Vec<Located<String>> {
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

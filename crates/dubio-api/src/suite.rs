//! Suites by name or file, and where their runs and data are.

use std::path::{Path, PathBuf};

use dubio_bench::plan::{MANY, runs};
use dubio_bench::store::Store;
use dubio_bench::suite::Suite;
use dubio_bench::{Device, Precision};
use dubio_data::folder::folder_of_all;
use dubio_predictions::input;
use dubio_words::{meant, unknown};
use serde::Deserialize;

use crate::Error;
use crate::error::refuse;

/// Suites that are part of the program.
const SUITES: [(&str, &str); 8] = [
    ("quick", include_str!("../suites/quick.toml")),
    ("quick-regression", include_str!("../suites/quick-regression.toml")),
    ("gopal-simulated", include_str!("../suites/gopal-simulated.toml")),
    ("ppc-tabular", include_str!("../suites/ppc-tabular.toml")),
    ("beyond-uci", include_str!("../suites/beyond-uci.toml")),
    ("uce-regularisation", include_str!("../suites/uce-regularisation.toml")),
    ("ensembles-mnist", include_str!("../suites/ensembles-mnist.toml")),
    ("ursabench-small", include_str!("../suites/ursabench-small.toml")),
];

/// The suites that are part of the program: name and title.
pub fn suites() -> impl Iterator<Item = (&'static str, &'static str)> {
    let title = |text: &'static str| {
        let line = text.lines().find_map(|line| line.strip_prefix("title = "));
        line.unwrap_or_default().trim_matches('"')
    };
    SUITES.into_iter().map(move |(name, text)| (name, title(text)))
}

/// Where runs and data sets are.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Places {
    /// Folder of the runs.
    pub runs: PathBuf,
    /// Folder of the data sets; that of the environment where it is left out.
    pub data: Option<PathBuf>,
}

impl Default for Places {
    fn default() -> Self {
        Self { runs: PathBuf::from("runs"), data: None }
    }
}

impl Places {
    /// The runs.
    pub fn store(&self) -> Store {
        Store::new(&self.runs)
    }

    /// The folder of the data sets with these names; only some sets need one.
    pub fn data<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Result<PathBuf, Error> {
        Ok(match &self.data {
            Some(folder) => folder.clone(),
            None => folder_of_all(names)?,
        })
    }

    /// The folder of the data sets of a suite.
    pub(crate) fn data_of(&self, suite: &Suite) -> Result<PathBuf, Error> {
        self.data(suite.data.iter().chain(&suite.evaluate.ood).map(|name| &name[..]))
    }
}

/// Whether a very large number of runs is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Count {
    /// More than a hundred thousand are a mistake.
    #[default]
    Usual,
    /// As many as there are.
    AsWritten,
}

/// Where networks run, instead of what the suite says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct EngineChoice {
    /// The processor or a GPU.
    pub device: Option<Device>,
    /// How precisely a GPU multiplies.
    pub precision: Option<Precision>,
}

impl EngineChoice {
    fn on(self, mut suite: Suite) -> Result<Suite, Error> {
        suite.precision = match (self.device, self.precision) {
            (_, Some(precision)) => precision,
            // The precision that a suite gives for its GPU does not apply to a processor.
            (Some(Device::Cpu), None) => Precision::F32,
            (_, None) => suite.precision,
        };
        suite.device = self.device.unwrap_or(suite.device);
        if suite.device == Device::Cpu && suite.precision != Precision::F32 {
            refuse!(
                "--precision {} is for a GPU; add --device cuda, or leave it out",
                suite.precision
            );
        }
        Ok(suite)
    }
}

/// The suite of this name or in this file. Refuses one with so many runs that they are probably a mistake,
/// unless they are meant.
pub(crate) fn suite(name: &str, meant: Count, engine: EngineChoice) -> Result<Suite, Error> {
    let suite = engine.on(parsed(name)?)?;
    match runs(&suite)? {
        count if count > MANY && meant == Count::Usual => {
            refuse!("{}: {count} runs; add --yes if that is what you want", suite.name)
        }
        _ => Ok(suite),
    }
}

fn parsed(name: &str) -> Result<Suite, Error> {
    let known = meant(name, SUITES.iter().map(|(known, _)| *known));
    if let Some((name, text)) = SUITES.iter().find(|(suite, _)| Some(*suite) == known) {
        return Ok(Suite::parse(&format!("suites/{name}.toml"), text)?);
    }
    let path = Path::new(name);
    let looks_like_file = path.extension().is_some() || name.contains(['/', '\\']);
    if !looks_like_file && !path.exists() {
        let names = SUITES.iter().map(|(known, _)| *known);
        refuse!("{} (a file's name ends in .toml)", unknown("suite", name, names));
    }
    let text = input::read_text(path).map_err(Error::file(format!("cannot read {name}")))?;
    Ok(Suite::parse(name, &text)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_suites_that_are_part_of_the_program_have_no_mistakes() {
        for (name, _) in SUITES {
            suite(name, Count::Usual, EngineChoice::default()).unwrap_or_else(|e| panic!("{e}"));
        }
    }
}

//! `diagnose`: whether the chains behind predictions have converged.

use std::path::{Path, PathBuf};

use dubio_bench::diagnosis::diagnosis;
use dubio_bench::store::{Record, Store};
use dubio_metrics::diagnostics::Diagnosis;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::error::{guard, refuse};

/// What to look at.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// A file of predictions, or the folder of a run.
    pub path: PathBuf,
    /// Chains that the members come from, one after the other; those of the run, or one, if left out.
    pub chains: Option<usize>,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Diagnosed {
    /// The predictions that were looked at.
    pub file: PathBuf,
    /// Convergence of predictions and loss.
    #[serde(flatten)]
    pub diagnosis: Diagnosis,
    /// What the sampler itself reports, for each chain of a run: acceptance rates, divergent draws, E-BFMI.
    pub sampler: Vec<serde_json::Map<String, serde_json::Value>>,
    /// What must be known before the samples are trusted, in words.
    pub warnings: Vec<String>,
}

/// Looks at the members of a file as draws of chains.
pub fn diagnose(settings: &Settings) -> Result<Diagnosed, Error> {
    guard(|| {
        let record = record(&settings.path)?;
        let file = match record {
            Some(_) => settings.path.join("test.npz"),
            None => settings.path.clone(),
        };
        let of_run = record.as_ref().map(|record| record.settings.recipe.members());
        let chains = settings.chains.or(of_run).unwrap_or(1);
        let diagnosis = diagnosis(&file, chains)?;
        let mut warnings = diagnosis.warnings();
        let sampler = record.map_or(Vec::new(), |record| {
            let said = record.convergence.map_or(Vec::new(), |then| then.warnings());
            // What the record says about convergence is replaced by what was found now.
            warnings.extend(record.warnings.into_iter().filter(|told| !said.contains(told)));
            record.report
        });
        Ok(Diagnosed { file, diagnosis, sampler, warnings })
    })
}

/// The record of a run, where the path is a run's folder.
fn record(path: &Path) -> Result<Option<Record>, Error> {
    if !path.join("record.json").is_file() {
        return Ok(None);
    }
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return Ok(None) };
    let found = Store::new(folder).finished()?.into_iter();
    match found.into_iter().find(|record| *record.id.to_string() == *name.to_string_lossy()) {
        Some(record) => Ok(Some(record)),
        None => refuse!("{}: its record is of another run", path.display()),
    }
}

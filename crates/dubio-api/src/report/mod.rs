//! `report`: runs or predictions from elsewhere, joined to one study that can be rendered.

mod examine;
mod files;
mod growth;
mod level;
mod looks;
mod observe;
mod runs;

use std::path::PathBuf;

use dubio_progress::Progress;
use dubio_report::study::Study;
use serde::Deserialize;

use crate::Error;
use crate::error::{guard_in_pool, refuse};
use crate::range::{RESAMPLES, within};

pub(crate) use runs::study_of_plan;

/// What to report.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// A folder of runs, or predictions files.
    pub inputs: Vec<PathBuf>,
    /// What to call the files, one name each; their file names where it is empty.
    pub names: Vec<String>,
    /// Scores per group of the array `groups.NAME`, or of `groups` where the name is empty.
    pub groups: Option<String>,
    /// Cost matrix as CSV.
    pub costs: Option<PathBuf>,
    /// Which study of a folder of runs, where it holds several.
    pub study: Option<String>,
    /// The model that is a deep ensemble.
    pub baseline: Option<String>,
    /// Heading of the report.
    pub title: Option<String>,
    /// Resamples behind the intervals, and replicates of the checks.
    pub resamples: usize,
    /// Level of the central intervals of a regression. When left out 0.95; where a file of quantiles does not
    /// have it, the widest that all such files have.
    pub level: Option<f64>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            inputs: Vec::new(),
            names: Vec::new(),
            groups: None,
            costs: None,
            study: None,
            baseline: None,
            title: None,
            resamples: 1000,
            level: None,
        }
    }
}

/// The study of a folder of runs, or of predictions files.
pub fn report(settings: &Settings, progress: &dyn Progress) -> Result<Study, Error> {
    within("resamples", settings.resamples, RESAMPLES)?;
    if let Some(level) = settings.level
        && !(level > 0.0 && level < 1.0)
    {
        refuse!("level must be between 0 and 1, got {level}");
    }
    let mut study = guard_in_pool(|| study(settings, progress))?;
    if let Some(title) = &settings.title {
        study.title.clone_from(title);
    }
    Ok(study)
}

fn study(settings: &Settings, progress: &dyn Progress) -> Result<Study, Error> {
    let Some(first) = settings.inputs.first() else {
        refuse!("nothing to report: name a folder of runs, or predictions files")
    };
    if let [folder] = &settings.inputs[..]
        && runs::is_store(folder)
    {
        let given = [
            ("--names", !settings.names.is_empty()),
            ("--groups", settings.groups.is_some()),
            ("--costs", settings.costs.is_some()),
            ("--baseline", settings.baseline.is_some()),
            ("--level", settings.level.is_some()),
        ];
        if let Some((flag, _)) = given.iter().find(|(_, given)| *given) {
            refuse!(
                "{flag} is for predictions files, and {} is a folder of runs",
                folder.display()
            );
        }
        let name = settings.study.as_deref();
        return runs::study_of_folder(folder, name, settings.resamples, progress);
    }
    if let Some(folder) = settings.inputs.iter().find(|input| runs::is_store(input)) {
        refuse!(
            "{} is a folder of runs; report it by itself, or name predictions files only",
            folder.display()
        );
    }
    if settings.study.is_some() {
        refuse!("--study is for a folder of runs, and {} is not one", first.display());
    }
    files::study_of_files(settings, progress)
}

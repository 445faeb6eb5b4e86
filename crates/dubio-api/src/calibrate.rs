//! `calibrate`: fit a temperature on one file and apply it to another.

use std::path::{Path, PathBuf};

use dubio_metrics::calibrate::temperature::fit;
use dubio_metrics::distributions::Kind;
use dubio_metrics::examples::Examples;
use dubio_metrics::members::Members;
use dubio_metrics::numeric::transcendental::logsumexp;
use dubio_metrics::pool::{Pooled, pool};
use dubio_metrics::views::Chosen;
use dubio_predictions::{Classification, Floats, Output, Predictions, open, write};
use serde::{Deserialize, Serialize};

use crate::error::{guard, guard_in_pool, refuse};
use crate::loading::at_fault;
use crate::{Error, destination};

/// What to fit temperatures to, and what to apply them to.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Predictions with labels, to fit on. Never the ones that will be scored.
    pub file: PathBuf,
    /// Predictions to apply the temperature to, and where to write them as `log_probs`.
    pub apply: Option<(PathBuf, PathBuf)>,
    /// A temperature for each member instead of one for their mean.
    pub per_member: bool,
}

/// Temperatures that are known, and what to apply them to.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Application {
    /// The predictions.
    pub file: PathBuf,
    /// One for the members' mean, or one for each member.
    pub temperatures: Vec<f64>,
    /// Whether there is one for each member.
    pub per_member: bool,
}

/// The temperatures that fit best.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Calibrated {
    /// One for the members' mean, or one for each member.
    pub temperatures: Vec<f64>,
}

/// Fits temperatures, and applies them where that is asked for.
pub fn calibrate(settings: &Settings) -> Result<Calibrated, Error> {
    guard_in_pool(|| calibrated(settings))
}

fn calibrated(settings: &Settings) -> Result<Calibrated, Error> {
    let (file, per_member) = (&settings.file, settings.per_member);
    if let Some((input, output)) = &settings.apply {
        destination::keep([file, input], &[output])?;
    }
    let validation = classes(file)?;
    let labels = validation.need_labels()?.to_vec();
    let members = if per_member { validation.source.members() } else { 1 };
    let fitted = |member: usize| {
        let examples = Examples::new(part(&validation, per_member, member)?, labels.clone());
        let why = |why: &str| Error::Unfit(format!("{}: no temperature: {why}", file.display()));
        Ok(fit(&examples).map_err(|undefined| why(&undefined.0))?.temperature())
    };
    let temperatures = (0..members).map(fitted).collect::<Result<Vec<f64>, Error>>()?;
    if let Some((input, output)) = &settings.apply {
        write_scaled(input, output, &temperatures, per_member)?;
    }
    Ok(Calibrated { temperatures })
}

fn classes(path: &Path) -> Result<Classification, Error> {
    match open(path)? {
        Predictions::Classification(file) => Ok(file),
        Predictions::Regression(_) => {
            refuse!(
                "{}: temperatures are for classification, and this is a regression",
                path.display()
            )
        }
    }
}

/// The predictive distributions of one member, or of all together.
fn part(file: &Classification, per_member: bool, member: usize) -> Result<Pooled, Error> {
    let single = Chosen::of(&file.source, [member]);
    let source: &dyn Members = if per_member { &single } else { &file.source };
    pool(source, file.form, &|_| {}).map_err(|mut fault| {
        fault.member += if per_member { member } else { 0 };
        at_fault(file, &fault)
    })
}

/// Log-probabilities at known temperatures, `[members, examples, classes]`; one member is their mean.
pub fn apply(application: &Application) -> Result<(Vec<f32>, [usize; 3]), Error> {
    guard(|| {
        let Application { file, temperatures, per_member } = application;
        scaled(&classes(file)?, temperatures, *per_member)
    })
}

fn write_scaled(
    path: &Path,
    output: &Path,
    temperatures: &[f64],
    per_member: bool,
) -> Result<(), Error> {
    let file = classes(path)?;
    let (log_probs, shape) = scaled(&file, temperatures, per_member)?;
    let mut integers = Vec::new();
    if let Some(labels) = &file.labels {
        integers.push(("labels".to_string(), labels.iter().map(|&y| i64::from(y)).collect()));
    }
    integers.extend(file.groups.arrays().map(|(name, groups)| (name, groups.to_vec())));
    let floats = vec![Floats { name: "log_probs", values: &log_probs, shape: shape.to_vec() }];
    write(output, &Output { floats, integers })
        .map_err(Error::file("cannot write the calibrated predictions"))
}

fn scaled(
    file: &Classification,
    temperatures: &[f64],
    per_member: bool,
) -> Result<(Vec<f32>, [usize; 3]), Error> {
    let (examples, classes) = (file.source.examples(), file.source.width());
    if per_member && file.source.members() != temperatures.len() {
        refuse!(
            "{}: {} members, but temperatures were fitted to {}",
            file.path.display(),
            file.source.members(),
            temperatures.len()
        );
    }
    let mut log_probs: Vec<f32> = Vec::new();
    for (member, temperature) in temperatures.iter().enumerate() {
        let pooled = part(file, per_member, member)?;
        let mut row = vec![0.0; classes];
        let rows = pooled.distributions.rows(Kind::LogP, 0..examples);
        for log_p in rows.chunks(classes) {
            for (scaled, l) in row.iter_mut().zip(log_p) {
                *scaled = l / temperature;
            }
            let log_z = logsumexp(&row);
            log_probs.extend(row.iter().map(|l| (l - log_z) as f32));
        }
    }
    Ok((log_probs, [temperatures.len(), examples, classes]))
}

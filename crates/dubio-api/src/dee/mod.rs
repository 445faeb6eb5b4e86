//! `dee`: deep ensemble equivalents, from prediction files or from a table of scores.

mod files;
mod runs;
mod table;

use std::path::PathBuf;

use dubio_metrics::card::Direction;
use dubio_metrics::dee::{Equivalent, Falling, Point, Worth, equivalents};
use dubio_progress::Progress;
use dubio_words::{nearest, unknown_of_many};
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::error::{guard_in_pool, refuse};
use crate::names::{base, known};
use crate::range::within;
use crate::scorecard::number;

/// What to compare with deep ensembles, and how.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Predictions of the methods: a file each, or a folder of files, each an independent run.
    pub methods: Vec<PathBuf>,
    /// Deep ensembles: a file or folder; with a table, the name of a method.
    pub baseline: String,
    /// Name of the baseline; that of its file if left out.
    pub baseline_name: Option<String>,
    /// Scores instead of predictions, as CSV with a header.
    pub table: Option<PathBuf>,
    /// The scores to compare by; `calibrated.nll` where it is empty (`nll` for a regression), or all metrics of
    /// a table.
    pub scores: Vec<String>,
    /// Which values are better, for metrics of a table that are not scores here.
    pub better: Option<Direction>,
    /// Numbers of samples to report; all where it is empty.
    pub samples: Vec<usize>,
    /// Subsets drawn of each run for each number of samples.
    pub draws: usize,
    /// Whether a method's equivalent may fall when more samples make it worse.
    pub falling: Falling,
    /// Names of the methods, in their order; those of the files where it is empty.
    pub names: Vec<String>,
    /// Seed of the subsets and of the cross-validation's splits.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            methods: Vec::new(),
            baseline: String::new(),
            baseline_name: None,
            table: None,
            scores: Vec::new(),
            better: None,
            samples: Vec::new(),
            draws: 5,
            falling: Falling::Allowed,
            names: Vec::new(),
            seed: 0,
        }
    }
}

/// What a method is worth by one score.
#[derive(Clone, Debug, Serialize)]
pub struct Equivalents {
    /// Data set, where a table says so.
    pub dataset: Option<String>,
    /// Model, where a table says so.
    pub model: Option<String>,
    /// Name of the method.
    pub method: String,
    /// Name of the score.
    pub metric: String,
    /// A row for each number of samples.
    pub rows: Vec<Row>,
    /// Why nothing is equivalent.
    pub why: Option<String>,
}

/// A method with some number of samples.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Number of samples.
    pub n_samples: usize,
    /// Mean score, which may be infinite.
    #[serde(serialize_with = "number")]
    pub value: Option<f64>,
    /// Its standard deviation, where it is known.
    pub std: Option<f64>,
    /// Number of networks that are as good.
    pub dee: Option<Equivalent>,
    /// Against a baseline better by its standard deviation.
    pub lower: Option<Equivalent>,
    /// Against a baseline worse by its standard deviation.
    pub upper: Option<Equivalent>,
}

/// A method's score against its number of samples.
struct Curve {
    dataset: Option<String>,
    model: Option<String>,
    method: String,
    metric: String,
    points: Vec<Point>,
}

impl Curve {
    /// Whether another curve is of the same score on the same data and model.
    fn beside(&self, other: &Self) -> bool {
        (&self.dataset, &self.model, &self.metric) == (&other.dataset, &other.model, &other.metric)
    }
}

/// How many independently trained networks each method is worth.
pub fn dee(settings: &Settings, progress: &dyn Progress) -> Result<Vec<Equivalents>, Error> {
    guard_in_pool(|| worked_out(settings, progress))
}

fn worked_out(settings: &Settings, progress: &dyn Progress) -> Result<Vec<Equivalents>, Error> {
    within("draws", settings.draws, 1..=usize::from(u16::MAX))?;
    let (curves, baseline) = match &settings.table {
        Some(table) => (table::curves(settings, table)?, settings.baseline.clone()),
        None if settings.methods.is_empty() => {
            refuse!("no method to compare: name prediction files, or --table FILE")
        }
        None => files::curves(settings, progress)?,
    };
    let all = |curve: &Curve| {
        let worth = worth(settings, curve, &curves, &baseline)?;
        Ok(Equivalents::of(settings, curve, worth))
    };
    let equivalents = curves.iter().map(all).collect::<Result<_, Error>>()?;
    note_smallest(&curves, &baseline, progress);
    Ok(equivalents)
}

/// Notes where an equivalent of 1 only means "fewer than the smallest ensemble".
fn note_smallest(curves: &[Curve], baseline: &str, progress: &dyn Progress) {
    let deep = curves.iter().filter(|curve| curve.method == baseline);
    let smallest = deep.filter_map(|curve| Some(curve.points.first()?.n_samples)).max();
    if let Some(n) = smallest.filter(|n| *n > 1) {
        progress.note(&format!(
            "note: {baseline} has no score of one network; methods worse than its {n} networks count as 1"
        ));
    }
}

/// What a method is worth, row by row; or why it has no equivalent.
fn worth(
    settings: &Settings,
    curve: &Curve,
    all: &[Curve],
    baseline: &str,
) -> Result<Result<Vec<Worth>, String>, Error> {
    let direction = direction(settings, &curve.metric)?;
    let Some(deep) = all.iter().find(|other| other.method == baseline && other.beside(curve))
    else {
        return Ok(Err(format!("there are no scores of {baseline} to compare with")));
    };
    let Some(rows) = equivalents(&deep.points, &curve.points, direction, settings.falling) else {
        refuse!("`{}` has no better direction, so nothing is equivalent by it", curve.metric);
    };
    Ok(Ok(rows.into_iter().filter(|row| settings.wants(row.n_samples)).collect()))
}

impl Equivalents {
    fn of(settings: &Settings, curve: &Curve, worth: Result<Vec<Worth>, String>) -> Self {
        let points = curve.points.iter().filter(|point| settings.wants(point.n_samples));
        let row = |(i, point): (usize, &Point)| {
            let worth = worth.as_ref().ok().map(|rows| rows[i]);
            Row {
                n_samples: point.n_samples,
                value: Some(point.mean),
                std: point.std,
                dee: worth.map(|worth| worth.dee),
                lower: worth.and_then(|worth| worth.lower),
                upper: worth.and_then(|worth| worth.upper),
            }
        };
        Self {
            dataset: curve.dataset.clone(),
            model: curve.model.clone(),
            method: curve.method.clone(),
            metric: curve.metric.clone(),
            rows: points.enumerate().map(row).collect(),
            why: worth.err(),
        }
    }
}

impl Settings {
    fn wants(&self, n_samples: usize) -> bool {
        self.samples.is_empty() || self.samples.contains(&n_samples)
    }

    /// Checks that some method has each number of samples that is asked for.
    fn check_samples(&self, has: impl Fn(usize) -> bool, largest: usize) -> Result<(), Error> {
        match self.samples.iter().find(|&&n| !has(n)) {
            Some(n) => refuse!("--samples: nothing has {n} samples; the most are {largest}"),
            None => Ok(()),
        }
    }
}

/// Which values of a score are better.
fn direction(settings: &Settings, metric: &str) -> Result<Direction, Error> {
    if let Some(better) = settings.better {
        return Ok(better);
    }
    // Short names that tables in the literature use.
    match metric {
        "ll" | "cll" | "acc" => return Ok(Direction::Higher),
        "err" => return Ok(Direction::Lower),
        _ => {}
    }
    let names = known();
    if let Some(score) = names.iter().find(|score| score.name == base(metric)) {
        return Ok(score.card.direction);
    }
    let near = nearest(metric, names.iter().map(|score| &score.name[..]));
    refuse!(
        "{}. Or say with --better which values of it are better, or leave it out with --score",
        unknown_of_many("score", metric, near, "dubio list scores")
    )
}

//! Scores of some of the members of an ensemble, method by method.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;

use anyhow::Result;
use dubio_metrics::dee::{Subsets, curve};
use dubio_metrics::examples::Examples;
use dubio_metrics::members::Members;
use dubio_metrics::pool::pool;
use dubio_metrics::regression::Outcomes;
use dubio_metrics::score::{Options, Undefined};
use dubio_metrics::scorecard::{Entry, Scoring, Silent, calibrated, plain};
use dubio_metrics::stream::Stream;
use dubio_metrics::{classification, regression};
use dubio_predictions::{Predictions, RegressionKind, open};
use dubio_report::chapter::{Chapter, Method, chapters};
use dubio_report::study::{Growth, Study};

const OF_CLASSES: [&str; 5] = ["calibrated.nll", "nll", "accuracy", "brier", "ece"];
const OF_NUMBERS: [&str; 3] = ["nll", "crps", "rmse"];
/// Numbers of members that are tried, and all there are.
const SIZES: [usize; 14] = [1, 2, 3, 4, 5, 8, 10, 16, 20, 32, 50, 64, 100, 200];
/// Random subsets for each run and number of members.
const DRAWS: usize = 3;

/// Some members of an ensemble.
struct Chosen<'a> {
    all: &'a dyn Members,
    members: &'a [usize],
}

impl Members for Chosen<'_> {
    fn members(&self) -> usize {
        self.members.len()
    }
    fn examples(&self) -> usize {
        self.all.examples()
    }
    fn width(&self) -> usize {
        self.all.width()
    }
    fn read(&self, member: usize, rows: Range<usize>, out: &mut [f64]) {
        self.all.read(self.members[member], rows, out);
    }
}

/// Adds to a study how its methods' scores change with the number of members. `files` are the
/// predictions of the test part by the id of the run.
pub(super) fn grow(study: &mut Study, files: &HashMap<String, PathBuf>) -> Result<()> {
    let mut growth = Vec::new();
    for chapter in &chapters(study) {
        for method in &chapter.methods {
            growth.extend(grown(chapter, method, files)?);
        }
    }
    study.growth = growth;
    Ok(())
}

fn grown(
    chapter: &Chapter<'_>,
    method: &Method<'_>,
    files: &HashMap<String, PathBuf>,
) -> Result<Vec<Growth>> {
    let paths = method.finished().filter_map(|(run, _)| files.get(&run.id));
    let opened: Vec<Predictions> = paths.map(|path| open(path)).collect::<Result<_, _>>()?;
    let runs: Vec<usize> = opened.iter().filter_map(count).collect();
    let Some(&most) = runs.iter().max() else { return Ok(Vec::new()) };
    let mut sizes: Vec<usize> = SIZES.into_iter().filter(|size| *size < most).collect();
    sizes.push(most);
    let names = if chapter.is_classification() { &OF_CLASSES[..] } else { &OF_NUMBERS };
    // All scores of a subset are worked out together, and asked for one after the other.
    let known: RefCell<HashMap<(usize, Vec<usize>), Vec<Entry>>> = RefCell::default();
    let subsets = Subsets { draws: DRAWS, stream: Stream::root(0).child("subsets") };
    let of = |name: &&&str| {
        let points = curve(&runs, &sizes, &subsets, |run, members| {
            let mut known = known.borrow_mut();
            let entries = known
                .entry((run, members.to_vec()))
                .or_insert_with(|| entries(&opened[run], members, names));
            let entry = entries.iter().find(|entry| entry.name == **name);
            entry.map_or(Err(Undefined::because("it has no such score")), |e| e.value.clone())
        });
        Some(Growth {
            data: chapter.data.to_string(),
            network: chapter.network.to_string(),
            method: method.name.to_string(),
            score: (**name).to_string(),
            // A score that some subset does not have is no curve.
            points: points.ok()?,
        })
    };
    Ok(names.iter().collect::<Vec<_>>().iter().filter_map(of).collect())
}

fn count(predictions: &Predictions) -> Option<usize> {
    match predictions {
        Predictions::Classification(file) => Some(file.source.members()),
        Predictions::Regression(file) => match &file.kind {
            RegressionKind::Gaussians(mean, _) => Some(mean.members()),
            // Draws and quantiles are no members.
            RegressionKind::Samples(_) | RegressionKind::Quantiles(..) => None,
        },
    }
}

fn entries(predictions: &Predictions, members: &[usize], names: &[&str]) -> Vec<Entry> {
    let wanted = |name: &str| names.contains(&name);
    let scoring = Scoring {
        options: Options::default(),
        bootstrap: None,
        splits: Stream::root(0).child("calibrated"),
        wanted: &wanted,
        progress: &Silent,
    };
    match predictions {
        Predictions::Classification(file) => {
            let chosen = Chosen { all: &file.source, members };
            // What cannot be pooled was refused when the whole file was.
            let (Ok(pooled), Some(labels)) = (pool(&chosen, file.form, &|_| ()), &file.labels)
            else {
                return Vec::new();
            };
            let examples = Examples::new(pooled, labels.clone());
            let scores = classification::scores();
            let mut entries = plain(&examples, &scores, &scoring);
            entries.extend(calibrated(&examples, &scores, &scoring));
            entries
        }
        Predictions::Regression(file) => {
            let RegressionKind::Gaussians(mean, std) = &file.kind else { return Vec::new() };
            let (mean, std) = (Chosen { all: mean, members }, Chosen { all: std, members });
            let outcomes =
                Outcomes::gaussians(&mean, &std, file.targets.clone(), scoring.options.level);
            outcomes.map_or(Vec::new(), |o| plain(&o, &regression::scores(), &scoring))
        }
    }
}

//! Scores of some of the members of an ensemble, method by method.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::PathBuf;

use dubio_metrics::dee::{Subsets, curve};
use dubio_metrics::examples::Examples;
use dubio_metrics::members::Members;
use dubio_metrics::pool::pool;
use dubio_metrics::regression::Outcomes;
use dubio_metrics::score::{Options, Undefined};
use dubio_metrics::scorecard::Entry;
use dubio_metrics::views::Chosen;
use dubio_predictions::{Predictions, RegressionKind, open};
use dubio_progress::{Progress, Silent};
use dubio_random::stream::Stream;
use dubio_report::chapter::{Chapter, Method, chapters};
use dubio_report::study::{Growth, Study};

use crate::Error;
use crate::kept::{self, Identity, Key};
use crate::names::Selection;
use crate::scorecard::Scorecard;

const OF_CLASSES: [&str; 5] = ["calibrated.nll", "nll", "accuracy", "brier", "ece"];
const OF_NUMBERS: [&str; 3] = ["nll", "crps", "rmse"];
/// Numbers of members that are tried, besides the number of all.
const SIZES: [usize; 14] = [1, 2, 3, 4, 5, 8, 10, 16, 20, 32, 50, 64, 100, 200];
/// Random subsets for each run and number of members.
const DRAWS: usize = 3;

/// A member of some file.
type Member = (usize, usize);

/// Name of the file in the folder of a method's first run.
const FILE: &str = "growth.json";

/// Whose predictions they are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    /// A run's: what is worked out from them is kept in its folder.
    Runs,
    /// A user's, whose folders are not ours.
    Users,
}

/// Adds to a study how its methods' scores change with the number of members. `files` are the
/// predictions of the test set by the id of the run.
pub(super) fn grow(
    study: &mut Study,
    files: &HashMap<String, PathBuf>,
    whose: Whose,
    progress: &dyn Progress,
) -> Result<(), Error> {
    let mut growth = Vec::new();
    let chapters = chapters(study);
    progress.start("members", chapters.iter().map(|chapter| chapter.methods.len()).sum());
    for chapter in &chapters {
        for method in &chapter.methods {
            growth.extend(grown(chapter, method, files, whose)?);
            progress.advance(1);
        }
    }
    study.growth = growth;
    Ok(())
}

fn grown(
    chapter: &Chapter<'_>,
    method: &Method<'_>,
    files: &HashMap<String, PathBuf>,
    whose: Whose,
) -> Result<Vec<Growth>, Error> {
    let known = method.finished().filter_map(|(run, _)| Some((&run.data[..], files.get(&run.id)?)));
    let (sets, paths): (Vec<&str>, Vec<&PathBuf>) = known.unzip();
    let work_out = || worked_out(chapter, method, &sets, &paths);
    match paths.first().and_then(|path| path.parent()).filter(|_| whose == Whose::Runs) {
        None => work_out(),
        Some(folder) => kept::or_else(
            &folder.join(FILE),
            key(chapter, method, &sets, &paths).as_ref(),
            work_out,
        ),
    }
}

/// All that the growth of a method depends on.
fn key(
    chapter: &Chapter<'_>,
    method: &Method<'_>,
    sets: &[&str],
    paths: &[&PathBuf],
) -> Option<Key> {
    let file = |path: &&PathBuf| {
        Some((path.parent()?.file_name()?.to_str()?.to_string(), Identity::of(path)?))
    };
    let files: Vec<_> = paths.iter().map(file).collect::<Option<_>>()?;
    let together = chapter.baseline == Some(method.name);
    Key::of(&("growth", chapter.data, chapter.network, method.name, together, sets, files))
}

fn worked_out(
    chapter: &Chapter<'_>,
    method: &Method<'_>,
    sets: &[&str],
    paths: &[&PathBuf],
) -> Result<Vec<Growth>, Error> {
    let opened: Vec<Predictions> = paths.iter().map(|path| open(path)).collect::<Result<_, _>>()?;
    let runs = match chapter.baseline == Some(method.name) {
        true => together(sets, &opened),
        false => (0..opened.len()).map(|file| members(file, &opened[file])).collect(),
    };
    let counts: Vec<usize> = runs.iter().map(Vec::len).collect();
    let Some(&most) = counts.iter().max().filter(|most| **most > 0) else { return Ok(Vec::new()) };
    let mut sizes: Vec<usize> = SIZES.into_iter().filter(|size| *size < most).collect();
    sizes.push(most);
    let names = if chapter.is_classification() { &OF_CLASSES[..] } else { &OF_NUMBERS };
    // All scores of a subset are worked out together, and asked for one after the other.
    let known: RefCell<HashMap<Vec<Member>, Vec<Entry>>> = RefCell::default();
    let subsets = Subsets { draws: DRAWS, stream: Stream::root(0).child("subsets") };
    let of = |name: &&str| {
        let points = curve(&counts, &sizes, &subsets, |run, chosen| {
            let members: Vec<Member> = chosen.iter().map(|&member| runs[run][member]).collect();
            let mut known = known.borrow_mut();
            let entries =
                known.entry(members).or_insert_with_key(|members| entries(&opened, members, names));
            let entry = entries.iter().find(|entry| entry.name == *name);
            entry.map_or(Err(Undefined::because("it has no such score")), |e| e.value.clone())
        });
        Some(Growth {
            data: chapter.data.to_string(),
            network: chapter.network.to_string(),
            method: method.name.to_string(),
            score: (*name).to_string(),
            // A score that some subset does not have gives no curve.
            points: points.ok()?,
        })
    };
    Ok(names.iter().filter_map(of).collect())
}

/// Every network of a deep ensemble is trained by itself, so those of all runs on the same data are
/// one larger ensemble.
fn together(sets: &[&str], opened: &[Predictions]) -> Vec<Vec<Member>> {
    let mut by_set: Vec<(&str, Vec<Member>)> = Vec::new();
    for (file, (set, predictions)) in sets.iter().zip(opened).enumerate() {
        match by_set.iter_mut().find(|(own, _)| own == set) {
            Some((_, all)) => all.extend(members(file, predictions)),
            None => by_set.push((set, members(file, predictions))),
        }
    }
    by_set.into_iter().map(|(_, all)| all).collect()
}

/// The members of a file; draws and quantiles do not count as members.
fn members(file: usize, predictions: &Predictions) -> Vec<Member> {
    let count = match predictions {
        Predictions::Classification(own) => own.source.members(),
        Predictions::Regression(own) => match &own.kind {
            RegressionKind::Gaussians(mean, _) => mean.members(),
            RegressionKind::Samples(_) | RegressionKind::Quantiles(..) => 0,
        },
    };
    (0..count).map(|member| (file, member)).collect()
}

fn entries(opened: &[Predictions], members: &[Member], names: &[&str]) -> Vec<Entry> {
    let wanted = |name: &str| names.contains(&name);
    let selection = Selection::all();
    let card = Scorecard {
        options: Options::default(),
        resamples: 0,
        seed: 0,
        wanted: &wanted,
        selection: &selection,
        groups: None,
        progress: &Silent,
    };
    match &opened[members[0].0] {
        Predictions::Classification(first) => {
            let source = |&(file, member): &Member| match &opened[file] {
                Predictions::Classification(own) => Some((&own.source as &dyn Members, member)),
                Predictions::Regression(_) => None,
            };
            let chosen = Chosen::new(members.iter().filter_map(source));
            // A file that cannot be pooled was refused when the whole of it was read.
            let (Ok(pooled), Some(labels)) = (pool(&chosen, first.form, &|_| ()), &first.labels)
            else {
                return Vec::new();
            };
            card.classes(&mut Examples::new(pooled, labels.clone()))
        }
        Predictions::Regression(first) => {
            let array = |pick: fn(&RegressionKind) -> Option<&dyn Members>| {
                let source = |&(file, member): &Member| match &opened[file] {
                    Predictions::Regression(own) => Some((pick(&own.kind)?, member)),
                    Predictions::Classification(_) => None,
                };
                Chosen::new(members.iter().filter_map(source))
            };
            let mean = array(|kind| match kind {
                RegressionKind::Gaussians(mean, _) => Some(mean),
                _ => None,
            });
            let std = array(|kind| match kind {
                RegressionKind::Gaussians(_, std) => Some(std),
                _ => None,
            });
            let targets = first.targets.clone();
            let (level, parts) = (card.options.level, card.parts());
            let outcomes = Outcomes::gaussians(&mean, &std, targets, level, parts);
            outcomes.map_or(Vec::new(), |outcomes| card.numbers(&outcomes))
        }
    }
}

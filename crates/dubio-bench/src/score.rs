//! Scores of finished runs, long and tidy: pure, so that a new score never needs retraining.

use std::path::{Path, PathBuf};

use dubio_metrics::bootstrap::Bootstrap;
use dubio_metrics::curves::mixing::{self, mixing};
use dubio_metrics::detection::ood::Uncertainties;
use dubio_metrics::examples::Examples;
use dubio_metrics::given::possible;
use dubio_metrics::members::Members;
use dubio_metrics::pool::{Pooled, pool};
use dubio_metrics::regression::Outcomes;
use dubio_metrics::score::Options;
use dubio_metrics::scorecard::{self, Entry, Scoring, Silent, composite};
use dubio_metrics::{classification, regression};
use dubio_predictions::{Classification, Error, Predictions, Regression, RegressionKind, open};
use dubio_random::stream::Stream;

use crate::decision::Decision;
use crate::evaluation::Evaluation;
use crate::store::{Record, Store};

/// A score of a run on a split.
#[derive(Clone, Debug)]
pub struct Row {
    /// The run's id.
    pub run: String,
    /// Which predictions: `test`, `shift.fog.3`, `decision`, `mixing.kmnist-test.30`; detection of
    /// another set is a score of `test`.
    pub split: String,
    /// Name, value or why there is none, interval.
    pub entry: Entry,
}

/// Which scores to work out; asked with a split and a name.
pub type Wanted<'a> = &'a (dyn Fn(&str, &str) -> bool + Sync);

/// How runs are scored.
pub struct Asked<'a> {
    /// Resamples behind the intervals, which the scores of the test part have; 0 for none.
    pub resamples: usize,
    /// Predictions of the same test part to compare with.
    pub reference: Option<PathBuf>,
    /// The array of groups to score each on its own.
    pub groups: Option<String>,
    /// Which scores.
    pub wanted: Wanted<'a>,
}

/// Every score of a run that is wanted.
pub fn score(store: &Store, record: &Record, asked: &Asked<'_>) -> Result<Vec<Row>, Error> {
    let folder = store.run(&record.id);
    let mut scored = Scored { rows: Vec::new(), run: &record.id, inside: None, asked };
    for evaluation in &record.settings.predict {
        let path = folder.join(format!("{}.npz", record.settings.file(evaluation)));
        scored.add(evaluation, &path)?;
    }
    scored.compose();
    scored.rows.retain(|row| (asked.wanted)(&row.split, &row.entry.name));
    Ok(scored.rows)
}

struct Scored<'a> {
    rows: Vec<Row>,
    run: &'a str,
    /// The test part's.
    inside: Option<(Uncertainties, usize)>,
    asked: &'a Asked<'a>,
}

impl Scored<'_> {
    fn add(&mut self, evaluation: &Evaluation, path: &Path) -> Result<(), Error> {
        let split = evaluation.name();
        match evaluation {
            Evaluation::Ood { .. } => {
                let file = match open(path)? {
                    // Nothing is detected among numbers, but they have targets and so scores.
                    Predictions::Regression(_) => return self.plain(&split, path, None),
                    Predictions::Classification(file) => file,
                };
                let outside = pooled(&file)?;
                self.detect(split.trim_start_matches("ood."), &Uncertainties::of(&outside));
            }
            Evaluation::Decision(decision) => self.plain(&split, path, Some(decision))?,
            Evaluation::Attack { .. } => {
                self.plain(&split, path, None)?;
                self.detect(&split, &Uncertainties::of(&pooled(&classes(path)?)?));
            }
            _ => self.plain(&split, path, None)?,
        }
        Ok(())
    }

    fn push(&mut self, split: &str, entries: Vec<Entry>) {
        let (run, split) = (self.run.to_string(), split.to_string());
        let row = |entry| Row { run: run.clone(), split: split.clone(), entry };
        self.rows.extend(entries.into_iter().map(row));
    }

    /// The scores of predictions with labels or targets.
    fn plain(
        &mut self,
        split: &str,
        path: &Path,
        decision: Option<&Decision>,
    ) -> Result<(), Error> {
        let here = |name: &str| self.needs(split, name);
        let file = match open(path)? {
            Predictions::Regression(file) => {
                let outcomes = outcomes(&file)?;
                let entries =
                    scorecard::plain(&outcomes, &regression::scores(), &self.scoring(split, &here));
                self.push(split, entries);
                return Ok(());
            }
            Predictions::Classification(file) => file,
        };
        let pooled = pooled(&file)?;
        let uncertainties = Uncertainties::of(&pooled);
        let labels = file.labels.clone().ok_or_else(|| {
            Error::file(path, "there is no array `labels`", "remove the run and do it again")
        })?;
        let mut examples = Examples::new(pooled, labels);
        let reference = self.asked.reference.as_deref().filter(|_| split == "test");
        if let Some(path) = reference {
            let reference = same(path, &examples)?;
            examples = examples.with_reference(&reference);
        }
        if let Some(decision) = decision {
            let costs = decision.costs(examples.classes);
            examples = examples.with_costs(costs);
        }
        // What would need a reference or a cost matrix that is not there has no row.
        let scores = possible(classification::scores(), &examples, |_| false);
        let scoring = self.scoring(split, &here);
        let mut entries = scorecard::plain(&examples, &scores, &scoring);
        entries.extend(scorecard::calibrated(&examples, &scores, &scoring));
        if let Some(name) = self.asked.groups.as_deref().filter(|_| split == "test") {
            let groups = file.groups.get(name).ok_or_else(|| {
                let what = format!("there is no array `groups.{name}`");
                Error::file(path, &what, "take `groups` out of the suite")
            })?;
            entries.extend(scorecard::grouped(&examples, &scores, groups, &scoring));
        }
        if split == "test" {
            self.inside = Some((uncertainties, examples.classes));
        }
        self.push(split, entries);
        Ok(())
    }

    /// How well uncertainty tells other examples from those of the test part, and how it grows as
    /// they are mixed in.
    fn detect(&mut self, name: &str, outside: &Uncertainties) {
        let Some((inside, classes)) = &self.inside else { return };
        let on_test = |name: &str| self.needs("test", name);
        let entries = scorecard::ood(name, inside, outside, &self.scoring("test", &on_test));
        let curve = mixed(name, inside, outside, *classes);
        self.push("test", entries);
        curve.into_iter().for_each(|(split, entry)| self.push(&split, vec![entry]));
    }

    /// Whether a score is wanted, or part of one that is.
    fn needs(&self, split: &str, name: &str) -> bool {
        let wanted = |name: &str| (self.asked.wanted)(split, name);
        wanted(name) || composite::part_of(name).is_some_and(|whole| wanted(whole.name))
    }

    /// Scores made of others.
    fn compose(&mut self) {
        let on_test = self.rows.iter().filter(|row| row.split == "test");
        let entries: Vec<Entry> = on_test.map(|row| row.entry.clone()).collect();
        self.push("test", scorecard::composite(&entries));
    }

    fn scoring<'b>(&self, split: &str, wanted: &'b (dyn Fn(&str) -> bool + Sync)) -> Scoring<'b> {
        let root = Stream::root(0);
        let resamples = self.asked.resamples;
        let counted = ["test", "decision"].contains(&split) && resamples > 0;
        Scoring {
            options: Options::default(),
            bootstrap: counted.then(|| Bootstrap { resamples, stream: root.child("bootstrap") }),
            splits: root.child("calibrated"),
            wanted,
            progress: &Silent,
        }
    }
}

/// The mixing curve of another set, a split for each share in percent.
fn mixed(
    name: &str,
    inside: &Uncertainties,
    outside: &Uncertainties,
    classes: usize,
) -> Vec<(String, Entry)> {
    let normal = |all: &[f64]| all.iter().map(|h| h / (classes as f64).ln()).collect::<Vec<f64>>();
    let stream = Stream::root(0).child("mixing");
    let curve = mixing(&normal(&inside.total), &normal(&outside.total), &stream);
    let entry = |point: mixing::Point| {
        let entry = Entry {
            name: mixing::CARD.name.to_string(),
            card: &mixing::CARD,
            n: mixing::BATCH.min(inside.len()).min(outside.len()),
            value: Ok(point.mean),
            note: None,
            interval: Some(point.range),
            replicates: Vec::new(),
        };
        (format!("mixing.{name}.{:.0}", 100.0 * point.share), entry)
    };
    curve.into_iter().flatten().map(entry).collect()
}

fn outcomes(file: &Regression) -> Result<Outcomes, Error> {
    let again = "remove the run and do it again";
    let RegressionKind::Gaussians(mean, std) = &file.kind else {
        return Err(Error::file(&file.path, "holds no Gaussians", again));
    };
    let level = Options::default().level;
    Outcomes::gaussians(mean, std, file.targets.clone(), level)
        .map_err(|bad| Error::array(&file.path, bad.array, &bad, again))
}

fn classes(path: &Path) -> Result<Classification, Error> {
    match open(path)? {
        Predictions::Classification(file) => Ok(file),
        Predictions::Regression(_) => {
            Err(Error::file(path, "predicts no classes", "remove the run and do it again"))
        }
    }
}

/// Reference predictions, which must be of these examples.
fn same(path: &Path, examples: &Examples) -> Result<Pooled, Error> {
    let file = classes(path)?;
    let (rows, width) = (file.source.examples(), file.source.width());
    let unlike = match &file.labels {
        _ if rows != examples.len() => Some(format!("{rows} examples, not {}", examples.len())),
        _ if width != examples.classes => {
            Some(format!("{width} classes, not {}", examples.classes))
        }
        Some(labels) if *labels != examples.labels => Some("other labels".to_string()),
        _ => None,
    };
    match unlike {
        Some(what) => Err(Error::file(path, &what, "a reference must predict the same test part")),
        None => pooled(&file),
    }
}

fn pooled(file: &Classification) -> Result<Pooled, Error> {
    pool(&file.source, file.form, &|_| ()).map_err(|fault| {
        Error::array(
            &file.path,
            &file.source.name,
            &fault,
            "the method diverged; change its settings",
        )
    })
}

//! `evaluate`: every score of a predictions file.

use std::path::PathBuf;

use dubio_metrics::binning::Edges;
use dubio_metrics::card::Setting;
use dubio_metrics::curves::reliability::{ReliabilityBin, reliability};
use dubio_metrics::curves::risk_coverage::RiskCoverage;
use dubio_metrics::detection::ood::Uncertainties;
use dubio_metrics::detection::{Measure, Signal};
use dubio_metrics::examples::Examples;
use dubio_metrics::members::Members;
use dubio_metrics::score::Options;
use dubio_metrics::scorecard::Entry;
use dubio_predictions::{Classification, Predictions, Regression, open, open_with_level};
use dubio_progress::Progress;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::costs::read_costs;
use crate::error::{guard_in_pool, refuse};
use crate::loading::{labels, note_crossings, outcomes, pooled, tell};
use crate::names::{Known, Selection, known};
use crate::range::{BINS, RESAMPLES, within};
use crate::reference::{reference, same_classes};
use crate::scorecard::{Score, Scorecard};

/// What to score, and how.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The predictions.
    pub file: PathBuf,
    /// Only these scores, by name, family or pattern; all where it is empty.
    pub scores: Vec<String>,
    /// Out-of-distribution predictions of the same model, by name.
    pub ood: Vec<(String, PathBuf)>,
    /// Reference predictions of the same examples.
    pub reference: Option<PathBuf>,
    /// Scores per group of the array `groups.NAME`, or of `groups` where the name is empty.
    pub groups: Option<String>,
    /// Cost matrix as CSV: a row per decision, a column per true class.
    pub costs: Option<PathBuf>,
    /// Number of bins of every binned score.
    pub bins: usize,
    /// Bin edges of `ece`, `sece` and `mce`.
    pub edges: Edges,
    /// Probabilities at or below it, in `[0, 1)`, do not count in `tace`.
    pub threshold: f64,
    /// Mass of the central interval of `picp`, `mpiw` and `interval_score`, in `(0, 1)`.
    pub level: f64,
    /// Resamples behind the 95 % intervals, at least 20; 0 for none.
    pub resamples: usize,
    /// Seed of the resamples and of the cross-validation's splits.
    pub seed: u64,
    /// Whether to work out the curves, too.
    pub curves: bool,
}

impl Default for Settings {
    fn default() -> Self {
        let Options { bins, edges, threshold, level } = Options::default();
        Self {
            file: PathBuf::new(),
            scores: Vec::new(),
            ood: Vec::new(),
            reference: None,
            groups: None,
            costs: None,
            bins,
            edges,
            threshold,
            level,
            resamples: 1000,
            seed: 0,
            curves: false,
        }
    }
}

/// The scores of a predictions file.
#[derive(Clone, Debug, Serialize)]
pub struct Evaluated {
    /// Every score that is wanted.
    pub scores: Vec<Score>,
    /// The curves, where they are wanted.
    pub curves: Option<Curves>,
    /// Scores that were asked for by their names and have no value.
    pub undefined: Vec<String>,
}

/// The reliability diagram and the risk-coverage curve.
#[derive(Clone, Debug, Serialize)]
pub struct Curves {
    /// Accuracy against confidence, bin by bin.
    pub reliability: Vec<ReliabilityBin>,
    /// Coverage and risk.
    pub risk_coverage: Vec<(f64, f64)>,
}

/// Scores a predictions file.
pub fn evaluate(settings: &Settings, progress: &dyn Progress) -> Result<Evaluated, Error> {
    guard_in_pool(|| evaluated(settings, progress))
}

fn evaluated(settings: &Settings, progress: &dyn Progress) -> Result<Evaluated, Error> {
    settings.check()?;
    let selection = Selection::new(&settings.scores)?;
    let wanted = |name: &str| selection.wants(name);
    let card = Scorecard {
        options: settings.options(),
        resamples: settings.resamples,
        seed: settings.seed,
        wanted: &wanted,
        selection: &selection,
        groups: None,
        progress,
    };
    let (entries, curves) = match open_with_level(&settings.file, settings.level)? {
        Predictions::Classification(file) => {
            settings.warn_of_idle("classification", &selection, progress);
            file.need_labels()?; // before the remarks, which list what else is in the file
            tell(&file.path, &file.notes, progress);
            classified(settings, &file, card)?
        }
        Predictions::Regression(file) => {
            settings.warn_of_idle("regression", &selection, progress);
            tell(&file.path, &file.notes, progress);
            (regressed(settings, &file, card)?, None)
        }
    };
    let names: Vec<&str> = entries.iter().map(|e| &e.name[..]).collect();
    if let Some(name) = selection.missing(&names).first() {
        refuse!("`{name}` is not a score of this file: {}", why_missing(name, settings));
    }
    let undefined = entries.iter().filter(|e| e.value.is_err() && selection.names(&e.name));
    let undefined = undefined.map(|entry| entry.name.clone()).collect();
    Ok(Evaluated { scores: entries.into_iter().map(Score::from).collect(), curves, undefined })
}

impl Settings {
    /// Every file that is read.
    pub fn inputs(&self) -> impl Iterator<Item = &PathBuf> {
        let outside = self.ood.iter().map(|(_, path)| path);
        [&self.file].into_iter().chain(outside).chain(&self.reference).chain(&self.costs)
    }

    /// Warns of options that change nothing, since no score that uses them is asked for.
    fn warn_of_idle(&self, task: &str, selection: &Selection, progress: &dyn Progress) {
        let of_set = |(name, _): &(String, PathBuf)| {
            let names =
                Measure::ALL.map(|m| Signal::ALL.map(|s| m.name(&format!("ood.{name}"), s)));
            names.concat()
        };
        let ood: Vec<String> = self.ood.iter().flat_map(of_set).collect();
        let named = |names: [&str; 2]| names.map(String::from).to_vec();
        let mut users = vec![
            ("costs", self.costs.is_some(), named(["decision_cost", "decision_cost_mean"])),
            ("reference", self.reference.is_some(), named(["agreement", "total_variation"])),
            ("ood", !self.ood.is_empty(), ood),
        ];
        let known = known();
        users.extend(Setting::ALL.map(|setting| {
            let uses = |score: &&Known| score.task == task && score.card.facts.has(setting);
            let names = known.iter().filter(uses).map(|score| score.name.clone()).collect();
            (setting.option(), self.changes(setting), names)
        }));
        for (option, given, scores) in users {
            if !given || scores.iter().any(|name| selection.uses(name)) {
                continue;
            }
            let why = match scores.first() {
                None => format!("no score of {task} uses it"),
                Some(first) => {
                    let first = if option == "ood" { "ood" } else { first };
                    format!("--scores asks for no score that uses it; add {first}")
                }
            };
            progress.note(&format!("warning: --{option} changes nothing: {why}"));
        }
    }

    /// Whether a setting of scores has another value than by default, for scores alone: curves have bins, too.
    fn changes(&self, setting: Setting) -> bool {
        let usual = Options::default();
        match setting {
            Setting::Bins => self.bins != usual.bins && !self.curves,
            Setting::Edges => self.edges != usual.edges && !self.curves,
            Setting::Threshold => self.threshold != usual.threshold,
            Setting::Level => self.level != usual.level,
        }
    }

    fn options(&self) -> Options {
        let (bins, edges) = (self.bins, self.edges);
        Options { bins, edges, threshold: self.threshold, level: self.level }
    }

    fn check(&self) -> Result<(), Error> {
        within("bins", self.bins, BINS)?;
        if self.resamples > 0 {
            within("resamples", self.resamples, RESAMPLES)?;
        }
        if let Some((name, _)) = self.ood.iter().find(|(n, _)| n.is_empty() || n.contains('.')) {
            refuse!("`{name}` cannot name an out-of-distribution set; give a name without dots");
        }
        if !(0.0..1.0).contains(&self.threshold) {
            refuse!("threshold must be at least 0 and below 1, got {}", self.threshold);
        }
        if !(self.level > 0.0 && self.level < 1.0) {
            refuse!("level must be between 0 and 1, got {}", self.level);
        }
        Ok(())
    }
}

fn why_missing(name: &str, settings: &Settings) -> &'static str {
    match name.split('.').next().unwrap_or_default() {
        "ood" => "give that set with --ood NAME=FILE",
        "group" | "worst_group" | "p10_group" | "median_group" if settings.groups.is_none() => {
            "give groups with --groups"
        }
        "group" => {
            "no example has this group, or there are more than 100, which are only summarised"
        }
        "worst_group" | "p10_group" => "it has no better direction, so no group is the worst",
        "median_group" => "it is for more than 100 groups; fewer are listed one by one",
        "calibrated" => "it has no calibrated form",
        _ => "it belongs to the other kind of predictions (classification or regression)",
    }
}

fn classified(
    settings: &Settings,
    file: &Classification,
    card: Scorecard<'_>,
) -> Result<(Vec<Entry>, Option<Curves>), Error> {
    let labels = labels(file)?;
    let groups = settings.groups.as_deref().map(|name| file.groups.need(&file.path, name));
    let card = Scorecard { groups: groups.transpose()?, ..card };
    let costs = settings.costs.as_deref().map(|path| read_costs(path, file.source.width()));
    let costs = costs.transpose()?;
    let inside = pooled(file, card.progress)?;
    let uncertainties = (!settings.ood.is_empty()).then(|| Uncertainties::of(&inside));
    let mut examples = Examples::new(inside, labels);
    if let Some(path) = &settings.reference {
        let reference = reference(path, &examples, card.progress)?;
        examples = examples.with_reference(&reference);
    }
    if let Some(costs) = costs {
        examples = examples.with_costs(costs);
    }
    let mut entries = card.classes(&mut examples);
    for (name, path) in &settings.ood {
        let Some(inside) = &uncertainties else { continue };
        let Predictions::Classification(other) = open(path)? else {
            refuse!(
                "{}: out-of-distribution detection needs predictions of classes",
                path.display()
            )
        };
        same_classes(path, file.source.width(), other.source.width())?;
        let outside = Uncertainties::of(&pooled(&other, card.progress)?);
        entries.extend(card.ood(name, inside, &outside));
    }
    Ok((entries, settings.curves.then(|| Curves::of(&examples, settings.bins))))
}

impl Curves {
    fn of(examples: &Examples, bins: usize) -> Self {
        let risk_coverage = RiskCoverage::of(examples).points();
        Self { reliability: reliability(examples, bins), risk_coverage }
    }
}

fn regressed(
    settings: &Settings,
    file: &Regression,
    card: Scorecard<'_>,
) -> Result<Vec<Entry>, Error> {
    for (flag, given) in [
        ("--ood", !settings.ood.is_empty()),
        ("--reference", settings.reference.is_some()),
        ("--costs", settings.costs.is_some()),
        ("--curves", settings.curves),
    ] {
        if given {
            refuse!("{flag} is for classification, and {} holds a regression", file.path.display());
        }
    }
    let groups = settings.groups.as_deref().map(|name| file.groups.need(&file.path, name));
    let card = Scorecard { groups: groups.transpose()?, ..card };
    let outcomes = outcomes(file, card.options.level, card.parts())?;
    note_crossings(&file.path, &outcomes, card.progress);
    Ok(card.numbers(&outcomes))
}

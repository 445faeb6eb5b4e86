//! What takes longer than a score: checks, and scores over settings.

use dubio_metrics::check::{self, Checking, Mode, Predictive, Rule};
use dubio_metrics::compare::{Stability, over_bins, over_temperatures};
use dubio_metrics::examples::Examples;
use dubio_metrics::score::{Options, Score};
use dubio_metrics::{classification, regression};
use dubio_predictions::RegressionKind;
use dubio_progress::Silent;
use dubio_random::stream::Stream;
use dubio_report::study::{Check, Setting, Sweep};

use super::observe::Observed;

const CHECKED_CLASSES: [&str; 4] = ["accuracy", "ece", "nll", "brier"];
const CHECKED_NUMBERS: [&str; 4] = ["quantile_calibration", "nll", "rmse", "picp"];
const BINNED: [&str; 4] = ["ece", "mce", "uce", "sce"];
const TEMPERED: [&str; 4] = ["nll", "brier", "ece", "uce"];

/// Checks in both readings of the members; one member can be read in one way only.
pub(super) fn checks(split: &str, observed: &Observed, replicates: usize) -> Vec<Check> {
    let modes = match observed.members() {
        1 => &[Mode::Bayesian][..],
        _ => &[Mode::Bayesian, Mode::Independent],
    };
    let checked = |mode: &Mode| {
        let (split, mode) = (split.to_string(), *mode);
        let summaries = check_as(mode, observed, replicates);
        summaries.into_iter().map(move |summary| Check { split: split.clone(), mode, summary })
    };
    modes.iter().flat_map(checked).collect()
}

fn check_as(mode: Mode, observed: &Observed, replicates: usize) -> Vec<check::Summary> {
    let root = Stream::root(0);
    let statistics = match observed {
        Observed::Classes { .. } => CHECKED_CLASSES,
        Observed::Numbers { .. } => CHECKED_NUMBERS,
    };
    let wanted = |name: &str| statistics.contains(&name);
    let checking = Checking {
        mode,
        replicates,
        options: Options::default(),
        stream: root.child("check"),
        splits: root.child("calibrated"),
        wanted: &wanted,
        progress: &Silent,
    };
    let checked = match observed {
        Observed::Classes { examples, file, .. } => {
            let scores = classification::scores();
            check::classification(&file.source, file.form, examples, &scores, &checking)
        }
        Observed::Numbers { outcomes, file } => {
            let predictive = match &file.kind {
                RegressionKind::Gaussians(mean, std) => Predictive::Gaussians(mean, std),
                RegressionKind::Samples(samples) => Predictive::Samples(samples),
                RegressionKind::Quantiles(..) => return Vec::new(),
            };
            check::regression(predictive, outcomes, &regression::scores(), &checking)
        }
    };
    checked.iter().map(|checked| checked.summary(Rule::default())).collect()
}

/// Scores over settings that have nothing to do with the method: bins and temperature.
pub(super) fn sweeps(observed: &Observed) -> Vec<Sweep> {
    let Observed::Classes { examples, .. } = observed else { return Vec::new() };
    let examples: &Examples = examples;
    let scores = classification::scores();
    let named = |names: &[&str]| -> Vec<&dyn Score<Examples>> {
        scores.iter().map(|score| &**score).filter(|s| names.contains(&&s.name()[..])).collect()
    };
    let options = Options::default();
    let sweep = |setting: Setting| {
        move |mut stability: Stability| Sweep {
            setting,
            score: stability.score,
            values: stability.values.remove(0),
        }
    };
    let bins = over_bins(&[examples], &named(&BINNED), &options);
    let temperatures = over_temperatures(&[examples], &named(&TEMPERED), &options);
    let bins = bins.into_iter().map(sweep(Setting::Bins));
    bins.chain(temperatures.into_iter().map(sweep(Setting::Temperature))).collect()
}

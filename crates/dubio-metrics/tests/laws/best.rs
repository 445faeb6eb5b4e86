//! The best predictions that there are have the best scores.

use dubio_metrics::card::Direction;
use dubio_metrics::members::Form;
use dubio_metrics::scorecard::Entry;
use proptest::prelude::*;

use crate::support::*;
use crate::{Law, cases, exception};

proptest! {
    #![proptest_config(cases(48))]

    /// Scores of detection of OOD examples are about other examples, and those of wrong
    /// predictions find none: theirs is the law below.
    #[test]
    fn certain_and_right_is_best(
        (data, targets) in shape(2, 10).prop_flat_map(|s| (smooth(s), targets(s, 0.0)))
    ) {
        let right = certain(&data);
        let mut entries = right.scores_and_groups(&defaults());
        entries.retain(|entry| !entry.name.starts_with("ood."));
        entries.extend(right.calibrated(&defaults()));
        for entry in &entries {
            let excepted = exception(Law::CertainClass, &entry.name).is_some();
            // Of costs, the matrix decides: here the best decision costs nothing.
            assert_best(entry, excepted.then_some(0.0));
        }
        let at_target = |scale: f64| Targets {
            locations: targets.targets.repeat(targets.members),
            scales: vec![scale; targets.scales.len()],
            ..targets.clone()
        };
        let point = at_target(0.0);
        for kind in [Kind::Samples, Kind::Quantiles] {
            let entries = point.scores_and_groups(kind);
            entries.iter().for_each(|entry| assert_best(entry, at_point(entry, kind)));
        }
        // A Gaussian cannot be a point; this is as good as one, but for its density.
        let entries = at_target(NARROW).scores_and_groups(Kind::Gaussians);
        for entry in entries.iter().filter(|entry| exception(Law::Unit, &entry.name).is_none()) {
            assert_best(entry, at_point(entry, Kind::Gaussians));
        }
    }

    /// Also `e_aurc`, for which the order of the confidences is all that matters.
    #[test]
    fn uncertainty_that_separates_detects_perfectly(
        (mut data, beta) in shape(2, 20).prop_flat_map(|s| (smooth(s), 0.25..4.0_f64))
    ) {
        (data.ood[0], data.ood[1]) = (false, true);
        let data = separated(&data);
        let detects = |entry: &Entry| {
            let name = base(&entry.name);
            name.starts_with("ood.") || name.starts_with("misclassification.") || name == "e_aurc"
        };
        let mut entries = data.scores(&defaults());
        entries.retain(detects);
        prop_assert_eq!(entries.len(), 19);
        for entry in &entries {
            let silent = data.members == 1 && entry.name.ends_with(".model");
            prop_assert_eq!(entry.value.is_err(), silent, "{}", entry.name);
            assert_best(entry, None);
        }
        // A group may have nothing wrong, or nothing right, to tell apart.
        let mut entries = data.scores_and_groups(&defaults());
        entries.extend(data.tempered(beta, &defaults()));
        // So may a random half, or no best temperature.
        let calibrated = data.calibrated(&defaults());
        entries.extend(calibrated.into_iter().filter(|entry| entry.value.is_ok()));
        entries.iter().filter(|entry| detects(entry)).for_each(|entry| assert_best(entry, None));
    }
}

/// The labels with probability 1, by every member and by the reference, and a decision for each
/// that costs nothing.
fn certain(data: &Data) -> Data {
    let (n, classes) = (data.n(), data.classes);
    let hot = |i: usize, on: f64, off: f64| -> Vec<f64> {
        let label = data.labels[i % n] as usize;
        (0..classes).map(|c| if c == label { on } else { off }).collect()
    };
    let reference = (0..n).flat_map(|i| hot(i, 0.0, f64::NEG_INFINITY)).collect();
    let least = |c: usize| data.costs.iter().map(|row| row[c]).fold(f64::INFINITY, f64::min);
    let less = |row: &Vec<f64>| row.iter().enumerate().map(|(c, cost)| cost - least(c)).collect();
    let costs = data.costs.iter().map(less).collect();
    Data { reference, costs, ..data.each_row(Form::Probs, |i, _| hot(i, 1.0, 0.0)) }
}

/// Own examples with a certain and right prediction, out-of-distribution ones with a doubtful and wrong one:
/// their members contradict each other, or a single one is undecided. Log probabilities of OOD
/// ones are close to each other, so that no temperature makes them the more certain ones.
fn separated(data: &Data) -> Data {
    let (n, classes) = (data.n(), data.classes);
    let logits = |i: usize, row: &[f64]| -> Vec<f64> {
        let (member, example) = (i / n, i % n);
        let (favourite, lead) = match (data.ood[example], data.members) {
            (false, _) => (data.labels[example] as usize, 20.0),
            (true, 1) => (0, 0.0),
            (true, _) => (member % classes, 2.0),
        };
        let push = |c: usize| if favourite == c { lead } else { 0.0 };
        row.iter().enumerate().map(|(c, x)| push(c) + 0.01 * x).collect()
    };
    let mut data = data.each_row(Form::Logits, logits);
    let predicted = data.try_pool().expect("finite logits").predicted;
    for i in (0..n).filter(|&i| data.ood[i]) {
        data.labels[i] = (predicted[i] + 1) % classes as u32;
    }
    data
}

/// A scale that is next to none.
const NARROW: f64 = 1e-30;

/// What the exceptions say of predictions with all mass on the target; `None` for the others.
fn at_point(entry: &Entry, kind: Kind) -> Option<f64> {
    exception(Law::CertainTarget, &entry.name)?;
    let log_density = -(NARROW * std::f64::consts::TAU.sqrt()).ln();
    // F jumps from 0 to 1 at the target, or is 1/2 there: it is outside of all central intervals
    // but the whole line, or inside of all.
    let inside = kind == Kind::Gaussians;
    let middle = |p: f64| if inside && p > 0.5 { 1.0 - p } else { p };
    let levels: Vec<f64> = match kind {
        Kind::Quantiles => QUANTILES.iter().map(|&(level, _)| level).collect(),
        _ => (1..=100).map(|j| f64::from(j) / 101.0).collect(),
    };
    Some(match base(&entry.name) {
        "mpiw" | "interval_score" => 0.0,
        "nll" => -log_density,
        "pslml" | "lml" => entry.n as f64 * log_density,
        "qce" => {
            if inside {
                0.5
            } else {
                0.4
            }
        }
        "sqce" => {
            if inside {
                0.5
            } else {
                -0.4
            }
        }
        "quantile_calibration" => levels.into_iter().map(|p| middle(p).powi(2)).sum(),
        other => panic!("nothing is known of {other} at a point"),
    })
}

/// Why a score may be undefined for the best predictions that there are.
const SILENT: [&str; 8] = [
    "no prediction is wrong",
    "every prediction is wrong",
    "needs several members",
    "so there is no correlation",
    "draws have no density",
    "a few quantiles do not determine it",
    "no group has a value",
    "needs a file of quantiles",
];

/// At the best end of its card's range, or at `best`; or undefined for one of the known reasons.
fn assert_best(entry: &Entry, best: Option<f64>) {
    let best = best.or(match entry.card.direction {
        Direction::Higher => Some(entry.card.range.1),
        Direction::Lower => Some(entry.card.range.0),
        Direction::Zero => Some(0.0),
        Direction::Neither => None,
    });
    match (&entry.value, best) {
        (Ok(value), Some(best)) => {
            assert!(close(*value, best, 1e-12), "{} is {value}, not {best}", entry.name)
        }
        (Ok(_), None) => {}
        (Err(why), _) => {
            let known = SILENT.iter().any(|reason| why.0.contains(reason));
            assert!(known, "{} is undefined: {}", entry.name, why.0);
        }
    }
}

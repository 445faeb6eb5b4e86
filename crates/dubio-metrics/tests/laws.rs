//! Laws that every score of the tables obeys, whatever the data.
//!
//! A law is checked over whole tables: classification with costs and a reference, detection of
//! OOD examples, the calibrated form, groups, and regression in its three forms. Where it
//! cannot hold for a score, [`exception`] says why, and the test checks the weaker law that does
//! hold; where it says nothing of a whole table, the reason stands beside the law.

mod support;

use dubio_metrics::card::Direction;
use dubio_metrics::classification;
use dubio_metrics::detection::{Measure, Signal, ood};
use dubio_metrics::members::Form;
use dubio_metrics::regression;
use dubio_metrics::score::{Options, Score};
use dubio_metrics::scorecard::{self, Entry, Examined};
use dubio_metrics::weights::{Count, LANES, Weights};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngSeed, TestRunner};
use support::*;

/// What a law changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Law {
    /// Every example twice.
    Duplication,
    /// Whole weights instead of repeated examples.
    Weights,
    /// All probability on the label.
    CertainClass,
    /// All probability on the target.
    CertainTarget,
    /// Copies of one member instead of the one.
    Copies,
    /// Targets and predictions in another unit.
    Unit,
}

/// Why a law cannot hold for a score: the only place where a score is let off.
fn exception(law: Law, name: &str) -> Option<&'static str> {
    Some(match (law, base(name)) {
        (Law::Duplication, "decision_cost" | "pslml") => "a sum over examples, not a mean",
        (Law::Duplication, "lml") => "each member's likelihood is squared before the average",
        (Law::Duplication, "debiased_ece") => "it subtracts variances over n_m - 1, not n_m",
        (Law::Duplication, "aurc" | "au_arc" | "e_aurc") => {
            "a sum over whole numbers of kept examples: twice the examples, half the step"
        }
        (Law::Weights, "ace" | "tace" | "debiased_ece") => {
            "bins of equal mass stay at the cuts of the file, where repeated rows move them"
        }
        (Law::Weights, "temperature") => "a resample's temperature is one Newton step away",
        (Law::CertainClass, "decision_cost" | "decision_cost_mean") => {
            "costs have no least value of their own: the matrix decides"
        }
        (Law::CertainTarget, "qce" | "sqce" | "quantile_calibration") => {
            "calibrated F(y) are spread evenly; those of a point mass are all the same"
        }
        (Law::CertainTarget, "nll" | "pslml" | "lml") => {
            "a density has no largest value: it grows as the scale shrinks"
        }
        (Law::CertainTarget, "mpiw" | "interval_score") => {
            "quantiles that cross make a negative width, so that the card knows no least one"
        }
        (Law::Copies, name) if name.ends_with(".model") => "absent for one member",
        (Law::Copies, "uncertainty.data" | "uncertainty.knowledge") => "absent for one member",
        (Law::Unit, "pslml" | "lml") if over_groups(name) => {
            "a sum over a group's examples moves with their number, so that groups change places"
        }
        _ => return None,
    })
}

/// Compares two tables: equal values, or undefined together; for the exceptions to the law, what
/// `weaker(before, after)` checks.
fn compare(law: Law, before: &[Entry], after: &[Entry], weaker: impl Fn(&Entry, &Entry)) {
    assert_eq!(before.len(), after.len());
    for (a, b) in before.iter().zip(after) {
        match exception(law, &a.name) {
            Some(_) if over_groups(&a.name) => assert_moved_with_groups(a, b, before, after),
            Some(_) => weaker(a, b),
            None => assert_same_entry(a, b, ROUNDING),
        }
    }
}

/// The worst and the tenth percentile move no further than the group that moves most.
fn assert_moved_with_groups(a: &Entry, b: &Entry, before: &[Entry], after: &[Entry]) {
    let (Ok(old), Ok(new)) = (&a.value, &b.value) else {
        // One member has no disagreement, copies of it have none: a value may come, but not go.
        assert!(a.value.is_err(), "{} lost its value", a.name);
        return;
    };
    let groups = before.iter().zip(after).filter(|(group, _)| {
        group.name.starts_with("group.") && base(&group.name) == base(&a.name)
    });
    let moves = groups.map(|(a, b)| match (&a.value, &b.value) {
        (Ok(a), Ok(b)) => (a - b).abs(),
        _ => 0.0,
    });
    let most = moves.fold(0.0, f64::max);
    assert!((old - new).abs() <= most + ROUNDING, "{}: {old} became {new}", a.name);
}

/// The same numbers in every run, unless PROPTEST_RNG_SEED says otherwise; nothing is written
/// beside the sources.
fn cases(cases: u32) -> ProptestConfig {
    let given = ProptestConfig::default();
    let rng_seed = match given.rng_seed {
        RngSeed::Random => RngSeed::Fixed(1),
        fixed => fixed,
    };
    ProptestConfig { cases, failure_persistence: None, rng_seed, ..given }
}

/// Data with and without ties, ordinary and not.
fn any_data(shape: Shape) -> impl Strategy<Value = Data> {
    prop_oneof![smooth(shape), tied(shape), extreme(shape)]
}

fn any_targets(shape: Shape) -> impl Strategy<Value = Targets> {
    prop_oneof![targets(shape, 0.0), targets(shape, 0.125)]
}

proptest! {
    #![proptest_config(cases(48))]

    /// Calibrated scores are the exception: random halves are drawn by number of row. What holds
    /// for them is the law at any one temperature.
    #[test]
    fn the_order_of_the_rows_does_not_matter(
        (data, targets, order, beta) in shape(1, 60)
            .prop_flat_map(|s| (any_data(s), any_targets(s), order(s.n), 0.25..4.0_f64))
    ) {
        let (before, after) = (&data, data.rows(&order));
        let options = defaults();
        let pairs = [
            (before.scores_and_groups(&options), after.scores_and_groups(&options)),
            (before.tempered(beta, &options), after.tempered(beta, &options)),
        ];
        pairs.iter().for_each(|(before, after)| assert_unchanged(before, after, ROUNDING));
        for kind in Kind::ALL {
            let after = targets.rows(&order).scores_and_groups(kind);
            assert_unchanged(&targets.scores_and_groups(kind), &after, ROUNDING);
        }
    }

    /// Calibrated scores as for the order of the rows.
    #[test]
    fn every_row_twice_changes_nothing(
        (mut data, mut targets, beta) in shape(5, 12)
            .prop_flat_map(|s| (any_data(s), any_targets(s), 0.25..4.0_f64))
    ) {
        let twice: Vec<usize> = (0..2 * data.n()).map(|i| i % data.n()).collect();
        // Bins of equal mass are the same ones only where they divide the number of values: five
        // bins when no value is below the threshold, or a single one. So must groups be fives.
        data.groups = (0..data.n()).map(|i| (i / 5 % 3) as i64).collect();
        targets.groups.clone_from(&data.groups);
        for (bins, threshold) in [(5, -1.0), (1, 1e-3)] {
            let options = Options { bins, threshold, ..defaults() };
            let doubled = data.rows(&twice);
            let weaker = |a: &Entry, b: &Entry| duplicated_class_score(a, b, bins);
            for (before, after) in [
                (data.scores_and_groups(&options), doubled.scores_and_groups(&options)),
                (data.tempered(beta, &options), doubled.tempered(beta, &options)),
            ] {
                compare(Law::Duplication, &before, &after, weaker);
            }
        }
        for kind in Kind::ALL {
            let before = targets.scores_and_groups(kind);
            let after = targets.rows(&twice).scores_and_groups(kind);
            let weaker = |a: &Entry, b: &Entry| duplicated_target_score(a, b, &targets);
            compare(Law::Duplication, &before, &after, weaker);
        }
    }

    /// Without ties: among equal probabilities the lower class comes first, by definition.
    /// Regression has no classes.
    #[test]
    fn the_order_of_the_classes_does_not_matter(
        (data, order) in shape(1, 60).prop_flat_map(|s| (smooth(s), order(s.classes)))
    ) {
        assert_same_tables(&data, &data.classes_from(&order));
    }

    /// Without ties, which the rounding of a mean of members can break. The rows of a file of
    /// quantiles are no members: they stand in the order of their levels.
    #[test]
    fn the_order_of_the_members_does_not_matter(
        (data, targets, order) in shape(1, 60)
            .prop_flat_map(|s| (smooth(s), any_targets(s), order(s.members)))
    ) {
        assert_same_tables(&data, &data.members_from(&order));
        for kind in [Kind::Gaussians, Kind::Samples] {
            let after = targets.members_from(&order).scores_and_groups(kind);
            assert_unchanged(&targets.scores_and_groups(kind), &after, ROUNDING);
        }
    }

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

/// Every table of classification, the calibrated one included.
fn assert_same_tables(before: &Data, after: &Data) {
    let options = defaults();
    let plain = (before.scores_and_groups(&options), after.scores_and_groups(&options));
    assert_unchanged(&plain.0, &plain.1, ROUNDING);
    assert_unchanged(&before.calibrated(&options), &after.calibrated(&options), FITTED);
}

/// What doubling does to the exceptions among the scores of classification.
fn duplicated_class_score(once: &Entry, twice: &Entry, bins: usize) {
    let (name, n, size) = (base(&once.name), once.n as f64, (once.n / bins) as f64);
    let (once, twice) = (once.value.clone().unwrap(), twice.value.clone().unwrap());
    match name {
        "decision_cost" => assert_same(name, 2.0 * once, twice, ROUNDING),
        // With B = sum n_m/n acc_m (1 - acc_m) <= 1/4 and bins of s examples, the square grows by
        // B/(s - 1) - B/(2s - 1), or by less where it started at 0. A bin of one subtracts
        // nothing, a bin of two B.
        "debiased_ece" => {
            let noise = |size: f64| if size > 1.0 { 0.25 / (size - 1.0) } else { 0.0 };
            let most = noise(size) - noise(2.0 * size);
            let growth = twice * twice - once * once;
            let bounds = most.min(0.0) - ROUNDING..=most.max(0.0) + ROUNDING;
            assert!(bounds.contains(&growth), "{name}: {once} became {twice}");
        }
        // The area is a sum with step 1/n over R(t) = W(t)/t, where W(0) = 0 and 0 <= W' <= 1, so
        // |R'| <= 1/t: it is off the integral, which stays the same, by (1 + ln n)/n at most.
        "aurc" | "au_arc" | "e_aurc" => {
            let off = |n: f64| (1.0 + n.ln()) / n;
            let curves = if name == "e_aurc" { 2.0 } else { 1.0 };
            let bound = curves * (off(n) + off(2.0 * n));
            assert!((once - twice).abs() <= bound, "{name}: {once} became {twice}");
        }
        other => panic!("nothing is known of {other} when every row comes twice"),
    }
}

/// The same among the scores of regression.
fn duplicated_target_score(once: &Entry, twice: &Entry, targets: &Targets) {
    let of_group = once.name.strip_prefix("group.").and_then(|rest| rest.split_once('.'));
    let targets = match of_group.map(|(group, _)| group.parse::<i64>().expect("a number")) {
        None => targets.clone(),
        Some(group) => {
            let own = (0..targets.n()).filter(|&i| targets.groups[i] == group);
            targets.rows(&own.collect::<Vec<usize>>())
        }
    };
    match (base(&once.name), &once.value, &twice.value) {
        (_, Err(_), Err(_)) => {}
        ("pslml", Ok(once), Ok(twice)) => assert_same("pslml", 2.0 * once, *twice, ROUNDING),
        ("lml", Ok(_), Ok(twice)) => {
            assert_same("lml", squared_likelihoods(&targets), *twice, ROUNDING);
        }
        other => panic!("nothing is known of {other:?} when every row comes twice"),
    }
}

/// `lml` of every row twice, from the definition: `log mean_m L_m^2`.
fn squared_likelihoods(targets: &Targets) -> f64 {
    let n = targets.n();
    let log_likelihood = |m: usize| -> f64 {
        let row = |i: usize| {
            let (mean, std) = (targets.locations[m * n + i], targets.scales[m * n + i]);
            let z = (targets.targets[i] - mean) / std;
            -0.5 * z * z - std.ln() - 0.5 * std::f64::consts::TAU.ln()
        };
        (0..n).map(row).sum()
    };
    let each: Vec<f64> = (0..targets.members).map(log_likelihood).collect();
    let top = each.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mean = each.iter().map(|l| (2.0 * (l - top)).exp()).sum::<f64>() / targets.members as f64;
    2.0 * top + mean.ln()
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

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn values_stay_in_the_range_of_the_card_and_are_never_nan(
        (data, targets, unit) in shape(1, 12).prop_flat_map(|s| (
            any_data(s), any_targets(s), -300..300_i32,
        ))
    ) {
        let scoring = scoring(&defaults(), 2 * LANES);
        let (examples, scores) = (data.examples(), classification::scores());
        let mut entries = scorecard::plain(&examples, &scores, &scoring);
        entries.extend(scorecard::calibrated(&examples, &scores, &scoring));
        entries.extend(scorecard::grouped(&examples, &scores, &data.groups, &scoring));
        let (own, ood) = data.sides();
        entries.extend(scorecard::ood("other", &own, &ood, &scoring));
        // In any unit, and so certain that some densities underflow to 0.
        let certain = Targets { scales: vec![1e-200; targets.scales.len()], ..targets.clone() };
        for targets in [targets.in_unit(2.0_f64.powi(unit), 0.0), certain] {
            for kind in Kind::ALL {
                let (outcomes, scores) = (targets.outcomes(kind), regression::scores());
                entries.extend(scorecard::plain(&outcomes, &scores, &scoring));
                entries.extend(scorecard::grouped(&outcomes, &scores, &targets.groups, &scoring));
            }
        }
        entries.iter().for_each(assert_in_range);
    }

    #[test]
    fn a_unit_scales_each_score_as_its_dimension_says(
        (targets, exponent, shift) in shape(1, 40)
            .prop_flat_map(|s| (targets(s, 0.0), -300..300_i32, -100..100_i32))
    ) {
        for (factor, shift) in [(2.0_f64.powi(exponent), 0.0), (3.7, f64::from(shift))] {
            for kind in Kind::ALL {
                let mut before = targets.scores_and_groups(kind);
                let mut after = targets.in_unit(factor, shift).scores_and_groups(kind);
                for entries in [&mut before, &mut after] {
                    entries.retain(|entry| exception(Law::Unit, &entry.name).is_none());
                }
                for entry in &mut after {
                    let back = |value| in_unit(&entry.name, value, 1.0 / factor, entry.n as f64);
                    entry.value = entry.value.clone().map(back);
                }
                assert_unchanged(&before, &after, ROUNDING);
            }
        }
    }
}

/// A score after the targets and their predictions were multiplied by `factor`.
fn in_unit(name: &str, value: f64, factor: f64, n: f64) -> f64 {
    match base(name) {
        "mse" => value * factor * factor,
        "rmse" | "mae" | "crps" | "pinball" | "mpiw" | "interval_score" => value * factor,
        "nll" => value + factor.ln(),
        "pslml" | "lml" => value - n * factor.ln(),
        "pearson" | "picp" | "qce" | "sqce" | "quantile_calibration" => value,
        other => panic!("{other} has a unit that this test does not know"),
    }
}

fn assert_in_range(entry: &Entry) {
    let (low, high) = entry.card.range;
    let inside = |v: f64| v >= low - 1e-12 && v <= high + 1e-12;
    match &entry.value {
        Ok(value) => assert!(inside(*value), "{} is {value}", entry.name),
        Err(why) => {
            let said = !why.0.is_empty() && !why.0.contains("not a number");
            assert!(said, "{} does not say why: {}", entry.name, why.0);
        }
    }
    // Only a score that can be undefined for a few examples may have no value for a resample.
    let fickle = ["auroc", "aupr", "fpr95", "pearson"].iter().any(|m| entry.name.contains(m));
    for replicate in &entry.replicates {
        let fine = inside(*replicate) || (fickle && replicate.is_nan());
        assert!(fine, "{} has a replicate of {replicate}", entry.name);
    }
}

proptest! {
    #![proptest_config(cases(32))]

    #[test]
    fn single_precision_input_gives_the_same_bits(
        (data, mut targets) in shape(1, 40).prop_flat_map(|s| (smooth(s), targets(s, 0.0)))
    ) {
        let round = |values: &mut Vec<f64>| values.iter_mut().for_each(|v| *v = f64::from(*v as f32));
        let log_probs = data.each_row(Form::LogProbs, |_, row| log_softmax(row));
        let exp = |row: &[f64]| row.iter().map(|x| x.exp()).collect();
        let probs = log_probs.each_row(Form::Probs, |_, row| exp(row));
        for mut wide in [data, log_probs, probs] {
            round(&mut wide.values);
            round(&mut wide.reference);
            let narrow = Data { narrow: true, ..wide.clone() };
            let options = defaults();
            let plain = (wide.scores_and_groups(&options), narrow.scores_and_groups(&options));
            assert_unchanged(&plain.0, &plain.1, 0.0);
            assert_unchanged(&wide.calibrated(&options), &narrow.calibrated(&options), 0.0);
        }
        round(&mut targets.locations);
        round(&mut targets.scales);
        let narrow = Targets { narrow: true, ..targets.clone() };
        for kind in Kind::ALL {
            // Levels such as 0.975, and quantiles at them, are rounded; not so what is drawn.
            let tolerance = if kind == Kind::Quantiles { SINGLE } else { 0.0 };
            let after = narrow.scores_and_groups(kind);
            assert_unchanged(&targets.scores_and_groups(kind), &after, tolerance);
        }
    }

    #[test]
    fn logits_log_probabilities_and_probabilities_agree(
        data in shape(1, 40).prop_flat_map(smooth)
    ) {
        let log_probs = data.each_row(Form::LogProbs, |_, row| log_softmax(row));
        let exp = |row: &[f64]| row.iter().map(|x| x.exp()).collect();
        let probs = log_probs.each_row(Form::Probs, |_, row| exp(row));
        [log_probs, probs].iter().for_each(|other| assert_same_tables(&data, other));
    }

    #[test]
    fn a_constant_added_to_a_row_of_logits_changes_nothing(
        (data, shifts) in shape(1, 40).prop_flat_map(|s| (
            smooth(s), proptest::collection::vec(-100.0..100.0_f64, s.members * s.n),
        ))
    ) {
        let shift = |i: usize, row: &[f64]| row.iter().map(|x| x + shifts[i]).collect();
        assert_same_tables(&data, &data.each_row(Form::Logits, shift));
    }

    /// The rows of a file of quantiles are no members: a level cannot come twice.
    #[test]
    fn copies_of_a_member_are_as_good_as_the_member(
        (data, targets, copies) in shape(1, 40)
            .prop_flat_map(|s| (smooth(s), any_targets(s), 2..6_usize))
    ) {
        let (one, many) = (data.members_from(&[0]), data.members_from(&vec![0; copies]));
        let before = one.scores_and_groups(&defaults());
        let after = many.scores_and_groups(&defaults());
        compare(Law::Copies, &before, &after, |_, after| assert_no_knowledge(after, &before));
        let calibrated = (one.calibrated(&defaults()), many.calibrated(&defaults()));
        assert_unchanged(&calibrated.0, &calibrated.1, FITTED);

        let (one, many) = (targets.members_from(&[0]), targets.members_from(&vec![0; copies]));
        for kind in [Kind::Gaussians, Kind::Samples] {
            let after = many.scores_and_groups(kind);
            assert_unchanged(&one.scores_and_groups(kind), &after, ROUNDING);
        }
    }

    #[test]
    fn exchanging_own_and_ood_turns_the_roc_curve_over(
        mut data in shape(2, 30).prop_flat_map(any_data)
    ) {
        (data.ood[0], data.ood[1]) = (false, true);
        let (own, ood) = data.sides();
        for signal in Signal::ALL {
            let area = |a, b| {
                let ones = vec![[1]; data.n()];
                ood::prepare(Measure::Auroc, signal, a, b).map(|p| p.value(&Weights::new(&ones)))
            };
            if let (Ok(there), Ok(back)) = (area(&own, &ood), area(&ood, &own)) {
                prop_assert!(close(there + back, 1.0, 1e-12));
            }
        }
    }
}

/// What the scores that need several members say when all members agree.
fn assert_no_knowledge(entry: &Entry, single: &[Entry]) {
    let Ok(value) = entry.value.clone() else { return }; // nothing is wrong, or everything
    match base(&entry.name) {
        "uncertainty.knowledge" => assert_eq!(value, 0.0),
        "uncertainty.data" => {
            let total = entry.name.replace(".data", ".total");
            assert_same(&entry.name, value_in(single, &total), value, ROUNDING);
        }
        // Everything is tied: a coin, the fraction of positives, and every negative flagged.
        name if name.contains("auroc") => assert_eq!(value, 0.5),
        name if name.contains("fpr95") => assert_eq!(value, 1.0),
        name => assert!(name.contains("aupr") && value > 0.0 && value < 1.0, "{name} is {value}"),
    }
}

/// Laws compare what is undefined with what is undefined as well; so every score must have a value
/// for ordinary data.
#[test]
fn no_law_is_about_undefined_values_only() {
    let (mut runner, shape) =
        (TestRunner::deterministic(), Shape { members: 3, n: 60, classes: 7 });
    let data = smooth(shape).new_tree(&mut runner).unwrap().current();
    let targets = targets(shape, 0.0).new_tree(&mut runner).unwrap().current();
    let mut classified = data.scores_and_groups(&defaults());
    classified.extend(data.calibrated(&defaults()));
    for entry in &classified {
        assert!(entry.value.is_ok(), "{}: {:?}", entry.name, entry.value);
    }
    let tables = Kind::ALL.map(|kind| targets.scores_and_groups(kind));
    for (i, entry) in tables[0].iter().enumerate() {
        let defined = tables.iter().any(|table| table[i].value.is_ok());
        assert!(defined, "{}: {:?}", entry.name, entry.value);
    }
}

proptest! {
    #![proptest_config(cases(32))]

    /// Groups and calibrated scores are left out: to its scores a group is a file of its own, and
    /// calibrated ones resample within halves of a split, which repeated rows would change.
    #[test]
    fn whole_weights_are_as_good_as_repeated_rows(
        (data, targets, weights) in shape(1, 40)
            .prop_flat_map(|s| (any_data(s), any_targets(s), weights(s.n)))
    ) {
        let repeat = |lane: usize| -> Vec<usize> {
            let times = |i: usize| usize::from(weights[i][lane]);
            (0..weights.len()).flat_map(|i| vec![i; times(i)]).collect()
        };
        let lanes: Vec<Vec<Entry>> =
            (0..LANES).map(|l| data.rows(&repeat(l)).scores(&defaults())).collect();
        check_weights(&data.examples(), &classification::scores(), &weights, &lanes);
        check_ood_weights(&data, &weights, &lanes);
        // An infinitely unlikely target must not cost a resample anything that leaves it out.
        let mut with_impossible = targets.clone();
        (0..targets.members).for_each(|m| with_impossible.scales[(m + 1) * data.n() - 1] = 1e-200);
        for targets in [targets, with_impossible] {
            for kind in Kind::ALL {
                let lanes: Vec<Vec<Entry>> =
                    (0..LANES).map(|l| targets.rows(&repeat(l)).scores(kind)).collect();
                check_weights(&targets.outcomes(kind), &regression::scores(), &weights, &lanes);
            }
        }
    }
}

/// `lanes[l]` are the scores of the rows repeated as the weights of lane `l` say.
fn check_weights<E: Examined>(
    examples: &E,
    scores: &[Box<dyn Score<E>>],
    weights: &[[Count; LANES]],
    lanes: &[Vec<Entry>],
) {
    let (ones, once) = (vec![[1]; examples.count()], vec![[1; LANES]; examples.count()]);
    let (ones, once) = (Weights::new(&ones), Weights::new(&once));
    let weights = Weights::new(weights);
    for score in scores {
        let (name, prepared) = (score.name(), score.prepare(examples, &defaults()));
        let Ok(prepared) = prepared else { continue };
        if exception(Law::Weights, &name).is_some() {
            // Its own rows once each put it where it is.
            assert_same(&name, prepared.value(&ones), prepared.replicates(&once)[0], SINGLE);
            continue;
        }
        assert_lanes(&name, prepared.replicates(&weights), lanes);
    }
}

fn check_ood_weights(data: &Data, weights: &[[Count; LANES]], lanes: &[Vec<Entry>]) {
    let (own, ood) = data.sides();
    let side = |side: bool| (0..data.n()).filter(move |&i| data.ood[i] == side);
    let weights: Vec<[Count; LANES]> = side(false).chain(side(true)).map(|i| weights[i]).collect();
    let weights = Weights::new(&weights);
    for (measure, signal) in Measure::ALL.into_iter().flat_map(|m| Signal::ALL.map(|s| (m, s))) {
        if let Ok(prepared) = ood::prepare(measure, signal, &own, &ood) {
            assert_lanes(&measure.name("ood.other", signal), prepared.replicates(&weights), lanes);
        }
    }
}

/// Undefined for the repeated rows is NaN for the resample.
fn assert_lanes(name: &str, replicates: [f64; LANES], lanes: &[Vec<Entry>]) {
    let tolerance = if name == "sce" { SINGLE } else { ROUNDING };
    for (replicate, entries) in replicates.into_iter().zip(lanes) {
        let repeated = entries.iter().find(|entry| entry.name == name).unwrap();
        match repeated.value {
            Ok(value) => assert_same(name, value, replicate, tolerance),
            Err(_) => assert!(replicate.is_nan(), "{name} should have no value: {replicate}"),
        }
    }
}

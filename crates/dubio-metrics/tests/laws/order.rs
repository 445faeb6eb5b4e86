//! Rows, classes and members in another order, and every row twice.

use dubio_metrics::score::Options;
use dubio_metrics::scorecard::Entry;
use proptest::prelude::*;

use crate::support::*;
use crate::{Law, any_data, any_targets, assert_same_tables, cases, compare};

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

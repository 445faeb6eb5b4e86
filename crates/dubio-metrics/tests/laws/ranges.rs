//! Values in the range of their cards, and in the unit of the targets.

use dubio_metrics::classification;
use dubio_metrics::regression;
use dubio_metrics::scorecard::{self, Entry};
use dubio_metrics::weights::LANES;
use proptest::prelude::*;

use crate::support::*;
use crate::{Law, any_data, any_targets, cases, exception};

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

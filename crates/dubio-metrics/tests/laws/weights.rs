//! Weights instead of repeated rows.

use dubio_metrics::classification;
use dubio_metrics::detection::{Measure, Signal, ood};
use dubio_metrics::regression;
use dubio_metrics::score::Score;
use dubio_metrics::scorecard::{Entry, Examined};
use dubio_metrics::weights::{Count, LANES, Weights};
use proptest::prelude::*;

use crate::support::*;
use crate::{Law, any_data, any_targets, cases, exception};

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

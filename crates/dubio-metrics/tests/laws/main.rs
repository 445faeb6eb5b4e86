//! Laws that every score of the tables obeys, whatever the data.
//!
//! A law is checked over whole tables: classification with costs and a reference, detection of
//! OOD examples, the calibrated form, groups, and regression in its three forms. Where it
//! cannot hold for a score, [`exception`] says why, and the test checks the weaker law that does
//! hold; where it says nothing of a whole table, the reason stands beside the law.

#[path = "../support/mod.rs"]
mod support;

mod best;
mod forms;
mod order;
mod ranges;
mod weights;

use dubio_metrics::scorecard::Entry;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngSeed, TestRunner};
use support::*;

/// What a law changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Law {
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
pub(crate) fn exception(law: Law, name: &str) -> Option<&'static str> {
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
pub(crate) fn compare(
    law: Law,
    before: &[Entry],
    after: &[Entry],
    weaker: impl Fn(&Entry, &Entry),
) {
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
pub(crate) fn cases(cases: u32) -> ProptestConfig {
    let given = ProptestConfig::default();
    let rng_seed = match given.rng_seed {
        RngSeed::Random => RngSeed::Fixed(1),
        fixed => fixed,
    };
    ProptestConfig { cases, failure_persistence: None, rng_seed, ..given }
}

/// Data with and without ties, ordinary and not.
pub(crate) fn any_data(shape: Shape) -> impl Strategy<Value = Data> {
    prop_oneof![smooth(shape), tied(shape), extreme(shape)]
}

pub(crate) fn any_targets(shape: Shape) -> impl Strategy<Value = Targets> {
    prop_oneof![targets(shape, 0.0), targets(shape, 0.125)]
}

/// Every table of classification, the calibrated one included.
pub(crate) fn assert_same_tables(before: &Data, after: &Data) {
    let options = defaults();
    let plain = (before.scores_and_groups(&options), after.scores_and_groups(&options));
    assert_unchanged(&plain.0, &plain.1, ROUNDING);
    assert_unchanged(&before.calibrated(&options), &after.calibrated(&options), FITTED);
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

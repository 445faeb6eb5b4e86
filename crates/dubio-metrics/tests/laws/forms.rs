//! The same predictions in another form: precision, logits, copies of members.

use dubio_metrics::detection::{Measure, Signal, ood};
use dubio_metrics::members::Form;
use dubio_metrics::regression::{self, Outcomes, Parts};
use dubio_metrics::scorecard::{self, Entry};
use dubio_metrics::weights::{LANES, Weights};
use proptest::prelude::*;

use crate::support::*;
use crate::{Law, any_data, any_targets, assert_same_tables, cases, compare};

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

    #[test]
    fn a_score_has_the_same_bits_alone_as_among_all(
        targets in shape(1, 40).prop_flat_map(any_targets)
    ) {
        let level = defaults().level;
        let scoring = scoring(&defaults(), 2 * LANES);
        for own in regression::scores() {
            let name = own.name();
            let parts = Parts::of(|wanted| wanted == name);
            let alone = targets.parts_at(Kind::Gaussians, level, parts);
            let value = |outcomes: &Outcomes| {
                let entries = scorecard::plain(outcomes, &regression::scores(), &scoring);
                entries.into_iter().find(|entry| entry.name == name).expect("an entry")
            };
            let all = value(&targets.outcomes(Kind::Gaussians));
            assert_unchanged(&[all], &[value(&alone)], 0.0);
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

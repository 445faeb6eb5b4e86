//! Places where published implementations part ways, one named test for each. The numbers come
//! from the definitions worked by hand, from sums over all pairs, or from closed forms.

mod support;

use dubio_metrics::binning::Edges;
use dubio_metrics::members::Form::{Logits, Probs};
use dubio_metrics::numeric::normal;
use dubio_metrics::score::Options;
use dubio_metrics::scorecard::{self, Entry};
use dubio_random::stream::Stream;
use std::f64::consts::{LN_2, PI, SQRT_2, TAU};
use support::*;

fn score(data: &Data, name: &str) -> f64 {
    value_in(&data.scores(&Options::default()), name)
}

fn score_in(data: &Data, name: &str, bins: usize) -> f64 {
    value_in(&data.scores(&Options { bins, ..Options::default() }), name)
}

fn entry(data: &Data, name: &str) -> Entry {
    let entries = data.scores(&Options::default());
    entries.into_iter().find(|entry| entry.name == name).unwrap()
}

fn calibrated(data: &Data, name: &str) -> f64 {
    value_in(&data.calibrated(&Options::default()), &format!("calibrated.{name}"))
}

#[track_caller]
fn assert_is(value: f64, expected: f64) {
    assert!(close(value, expected, 1e-12), "{value}, not {expected}");
}

/// Numbers in `[0, 1)`, the same in every run.
fn numbers(count: usize) -> Vec<f64> {
    let mut generator = Stream::root(5).generator();
    (0..count).map(|_| uniform(&mut generator)).collect()
}

/// Confidences in `[1/2, 1)`, about as often right as they say.
fn ordinary(n: usize) -> Data {
    let numbers = numbers(2 * n);
    let (confidence, chance) = numbers.split_at(n);
    let confidence: Vec<f64> = confidence.iter().map(|u| 0.5 + 0.5 * u).collect();
    let hits = chance.iter().zip(&confidence).map(|(u, c)| u8::from(u < c));
    let correct: Vec<u8> = hits.collect();
    Data::confident(&confidence, &correct)
}

/// Which bin an edge belongs to, and what becomes of a confidence of exactly 1.
mod bin_edges {
    use super::*;

    #[test]
    fn each_of_the_five_conventions_gives_its_own_number() {
        let data = Data::confident(&[1.0, 1.0, 0.95, 0.9, 0.6, 0.6], &[1, 0, 1, 1, 0, 1]);
        let by_hand = [
            // (0.9, 1]: 3 |2/3 - 2.95/3| = 0.95; (0.8, 0.9]: 0.1; (0.5, 0.6]: 2 |1/2 - 0.6| = 0.2
            (Edges::RightClosed, 10, 1.25 / 6.0),
            // [0.9, 1]: 4 |3/4 - 3.85/4| = 0.85; [0.6, 0.7): 0.2
            (Edges::LeftClosed, 10, 1.05 / 6.0),
            // {1}: 2 |1/2 - 1| = 1; [0.9, 1): 2 |1 - 1.85/2| = 0.15; [0.6, 0.7): 0.2
            (Edges::Torchmetrics, 10, 1.35 / 6.0),
            // [0.9, 1): 0.15; [0.6, 0.7): 0.2; of the four that are left
            (Edges::DropOne, 10, 0.35 / 4.0),
            // Edges 0.6, 0.9, 1, 1; only 0.95 is strictly between two of them.
            (Edges::QuantileStrict, 3, 0.05 / 6.0),
        ];
        for (edges, bins, expected) in by_hand {
            let options = Options { edges, bins, ..Options::default() };
            assert_is(value_in(&data.scores(&options), "ece"), expected);
        }
        assert_eq!(Edges::ALL.len(), by_hand.len());
    }

    #[test]
    fn a_probability_of_zero_is_in_the_first_bin_and_not_dropped() {
        // Class 0 promises 1 and never comes; class 1 promises 0 and always does.
        assert_is(score(&Data::single(Probs, &[vec![1.0, 0.0]], &[1]), "sce"), 1.0);
    }

    #[test]
    fn the_largest_gap_is_a_gap_and_not_a_count() {
        let data = Data::confident(&[0.9; 40], &[0; 40]);
        assert_is(score(&data, "mce"), 0.9);
        assert!(score(&ordinary(300), "mce") <= 1.0);
    }

    #[test]
    fn the_sign_of_sece_is_accuracy_minus_confidence_whatever_the_bins() {
        let data = Data::confident(&[0.9, 0.9, 0.8, 0.6], &[1, 0, 0, 1]);
        // Accuracy 1/2, mean confidence 0.8: overconfident. Empty bins weigh nothing.
        for bins in [1, 2, 10, 1000] {
            assert_is(score_in(&data, "sece", bins), 0.5 - 0.8);
        }
    }
}

/// Bins of equal mass: ties, remainders, thresholds, and the three meanings of one name.
mod equal_mass {
    use super::*;

    #[test]
    fn tied_confidences_fall_together_in_any_order_of_the_rows() {
        let right: Vec<u8> = (0..1000).map(|i| u8::from(i < 600)).collect();
        let wrong_first: Vec<u8> = right.iter().rev().copied().collect();
        let mixed: Vec<u8> = (0..1000).map(|i| u8::from(i * 7 % 10 < 6)).collect();
        // Each of 15 bins is 0.3 off, less the variance of 66 (the last one of 76) coin flips.
        let noise = 14.0 * 66.0 / 1000.0 * 0.24 / 65.0 + 76.0 / 1000.0 * 0.24 / 75.0;
        for correct in [right, wrong_first, mixed] {
            let data = Data::confident(&[0.9; 1000], &correct);
            for name in ["ece", "mce", "sce", "ace", "tace"] {
                assert_is(score(&data, name), 0.3);
            }
            assert_is(score(&data, "debiased_ece"), f64::sqrt(0.09 - noise));
        }
    }

    #[test]
    fn ace_is_over_classes_and_not_over_top_labels() {
        let rows = [vec![0.5, 0.3, 0.2], vec![0.2, 0.6, 0.2], vec![0.1, 0.2, 0.7]];
        let data = Data::single(Probs, &rows, &[0, 2, 2]);
        // One bin: sums of p are 0.8, 1.1 and 1.1, of labels 1, 0 and 2.
        assert_is(score_in(&data, "ace", 1), (0.2 + 1.1 + 0.9) / 9.0);
        // Of top labels it would be the gap between 2/3 and 0.6.
        assert_is(score_in(&data, "ece", 1), 2.0 / 3.0 - 0.6);
    }

    #[test]
    fn ace_weighs_bins_by_their_size() {
        let rows = [0.1, 0.2, 0.6, 0.7, 0.8].map(|p| vec![p, 1.0 - p]);
        let data = Data::single(Probs, &rows, &[1, 1, 0, 1, 1]);
        // Class 0: {0.1, 0.2} has 0 of 0.3, {0.6, 0.7, 0.8} has 1 of 2.1.
        // Class 1: {0.2, 0.3} has 2 of 0.5, {0.4, 0.8, 0.9} has 2 of 2.1.
        // Without weights it would be 0.325.
        assert_is(score_in(&data, "ace", 2), (0.3 + 1.1 + 1.5 + 0.1) / 10.0);
    }

    #[test]
    fn tace_obeys_its_threshold_and_has_a_value_for_fewer_rows_than_bins() {
        let rows = [vec![0.9995, 0.0005], vec![0.6, 0.4], vec![0.7, 0.3]];
        let data = Data::single(Probs, &rows, &[0, 1, 0]);
        let tace = |threshold: f64| {
            value_in(&data.scores(&Options { threshold, ..Options::default() }), "tace")
        };
        // Three rows make no 15 runs: all are the remainder. Class 0 has 2 of 2.2995; class 1 has
        // 1 of 0.7, of 0.7005 with nothing left out, of nothing above 1/2.
        assert_is(tace(1e-3), (0.2995 + 0.3) / 6.0);
        assert_is(tace(0.0), (0.2995 + 0.2995) / 6.0);
        assert_is(tace(0.5), 0.2995 / 6.0);
        assert_is(tace(0.9999), 0.0);
    }

    #[test]
    fn the_debiased_error_subtracts_the_variance_of_the_mean() {
        let of = |correct: &[u8]| {
            score_in(&Data::confident(&vec![0.9; correct.len()], correct), "debiased_ece", 1)
        };
        assert_is(of(&[1, 0, 0, 0]), 0.6); // 0.65^2 - (3/16)/3 = 0.36
        assert_is(of(&[1, 1, 1, 0]), 0.0); // 0.15^2 is less than (3/16)/3
        assert_is(of(&[1]), 0.1); // the variance of one is not known, and not subtracted
    }
}

/// Calibration without bins, or with bins of something else.
mod other_calibration {
    use super::*;

    #[test]
    fn mmce_equals_the_sum_over_all_pairs() {
        let data = ordinary(200);
        let examples = data.examples();
        let right = (0..200).map(|i| examples.correct(i)).sum::<f64>();
        let pairs = |scale: [f64; 2]| {
            let v = |i: usize| {
                let hit = examples.correct(i);
                (hit - examples.confidence[i]) / scale[usize::from(hit == 0.0)]
            };
            let kernel = |i: usize, j: usize| {
                (-(examples.confidence[i] - examples.confidence[j]).abs() / 0.4).exp()
            };
            let row = |i: usize| (0..200).map(|j| v(i) * v(j) * kernel(i, j)).sum::<f64>();
            (0..200).map(row).sum::<f64>().sqrt()
        };
        assert_is(score(&data, "mmce"), pairs([200.0, 200.0]));
        assert_is(score(&data, "mmce_weighted"), pairs([right, 200.0 - right]));
    }

    #[test]
    fn uce_holds_normalised_entropy_against_error() {
        // The first is as uncertain as can be, and right; the second is certain, and right.
        let quarter = vec![0.25; 4];
        let data = Data::single(Probs, &[quarter, vec![1.0, 0.0, 0.0, 0.0]], &[0, 0]);
        assert_is(score(&data, "uce"), 0.5);
    }
}

/// Scoring rules: scales, floors and averages.
mod scoring_rules {
    use super::*;

    #[test]
    fn brier_is_the_sum_over_classes_of_the_mean_prediction() {
        let data = Data::single(Probs, &[vec![0.5, 0.3, 0.2]], &[0]);
        assert_is(score(&data, "brier"), 0.25 + 0.09 + 0.04);
        assert_is(score(&data, "brier_per_class"), 0.38 / 3.0);
        let members = [vec![vec![1.0, 0.0]], vec![vec![0.0, 1.0]]];
        // Of the mean 0.5; the mean of the members' own would be 1.
        assert_is(score(&Data::ensemble(Probs, &members, &[0]), "brier"), 0.5);
    }

    #[test]
    fn the_log_likelihood_has_no_floor() {
        for members in [1, 3] {
            let nll = |form, row: Vec<f64>| {
                score(&Data::ensemble(form, &vec![vec![row]; members], &[1]), "nll")
            };
            assert_is(nll(Probs, vec![1.0, 1e-300]), 300.0 * 10.0_f64.ln());
            assert_is(nll(Logits, vec![1000.0, 0.0]), 1000.0);
            assert_is(nll(Logits, vec![0.0, 1000.0]), 0.0);
        }
        // log((e^-1000 + e^-2000) / 2)
        let members = [vec![vec![1000.0, 0.0]], vec![vec![2000.0, 0.0]]];
        assert_is(score(&Data::ensemble(Logits, &members, &[1]), "nll"), 1000.0 + LN_2);
    }

    #[test]
    fn an_impossible_label_costs_infinitely_much_and_is_counted() {
        let rows = [vec![1.0, 0.0], vec![0.5, 0.5], vec![1.0, 0.0]];
        let entry = entry(&Data::single(Probs, &rows, &[1, 0, 0]), "nll");
        assert_eq!(entry.value, Ok(f64::INFINITY));
        assert!(entry.note.unwrap().contains("1 of 3"));
    }

    #[test]
    fn members_are_averaged_as_probabilities() {
        let members = [vec![vec![0.9, 0.1]], vec![vec![0.1, 0.9]]];
        // The mean of the logarithms would give 1.204.
        assert_is(score(&Data::ensemble(Probs, &members, &[0]), "nll"), LN_2);
    }

    #[test]
    fn numbers_that_are_no_probabilities_are_refused() {
        let refused = |row: Vec<f64>| Data::single(Probs, &[row], &[0]).try_pool().unwrap_err();
        assert_eq!(refused(vec![3.2, -2.2]).class, Some(0));
        assert!(refused(vec![0.5, 0.4]).what.contains("sum to 0.9"));
        assert!(refused(vec![f64::NAN, 1.0]).what.contains("NaN"));
    }
}

/// Predictions beside reference predictions, such as those of HMC.
mod references {
    use super::*;

    fn beside(rows: &[Vec<f64>], reference: &[f64]) -> Data {
        let reference = reference.iter().map(|q| q.ln()).collect();
        Data { reference, ..Data::single(Probs, rows, &vec![0; rows.len()]) }
    }

    /// T59. Half the sum of absolute differences, so that it is at most 1, averaged over examples; and the fraction of
    /// examples with the same most probable class, whatever the labels are.
    #[test]
    fn total_variation_is_half_the_absolute_difference_and_agreement_ignores_labels() {
        let rows = [vec![0.7, 0.2, 0.1], vec![0.4, 0.35, 0.25]];
        let data = beside(&rows, &[0.5, 0.3, 0.2, 0.3, 0.45, 0.25]);
        // (0.2 + 0.1 + 0.1) / 2 and (0.1 + 0.1) / 2
        assert_is(score(&data, "total_variation"), 0.15);
        assert_is(score(&data, "agreement"), 0.5);
        let apart = beside(&[vec![1.0, 0.0]], &[1e-300, 1.0]);
        assert_is(score(&apart, "total_variation"), 1.0);
        let same = beside(&[vec![0.25, 0.75]], &[0.25, 0.75]);
        assert_is(score(&same, "total_variation"), 0.0);
        assert_is(score(&same, "agreement"), 1.0);
    }

    /// T59. Two halves of one ensemble differ too: what a method is compared with is their distance, not 0.
    #[test]
    fn two_halves_of_one_ensemble_are_not_at_distance_zero() {
        let draws = numbers(400);
        let mean = |half: usize| draws[200 * half..200 * (half + 1)].iter().sum::<f64>() / 200.0;
        let data = beside(&[vec![mean(0), 1.0 - mean(0)]], &[mean(1), 1.0 - mean(1)]);
        let floor = score(&data, "total_variation");
        assert_is(floor, (mean(0) - mean(1)).abs());
        assert!(floor > 0.0);
    }
}

/// Entropies, and detection with them.
mod entropies {
    use super::*;

    #[test]
    fn zero_times_its_logarithm_is_zero() {
        for (form, row) in
            [(Probs, vec![1.0, 0.0, 0.0]), (Logits, vec![0.0, f64::NEG_INFINITY, -1e4])]
        {
            let data = Data::single(form, &[row], &[0]);
            assert_eq!(score(&data, "uncertainty.total"), 0.0);
            assert_eq!(score(&data, "uce"), 0.0);
        }
        let members = [vec![vec![1.0, 0.0]], vec![vec![0.0, 1.0]]];
        let data = Data::ensemble(Probs, &members, &[0]);
        assert_is(score(&data, "uncertainty.total"), LN_2);
        assert_eq!(score(&data, "uncertainty.data"), 0.0);
        assert_is(score(&data, "uncertainty.knowledge"), LN_2);
    }

    #[test]
    fn members_that_agree_know_exactly_nothing_of_one_another() {
        let logits: Vec<Vec<f64>> = numbers(600).chunks(6).map(<[f64]>::to_vec).collect();
        let labels: Vec<u32> = (0..100).map(|i| i % 6).collect();
        for members in [2, 3, 7] {
            let data = Data::ensemble(Logits, &vec![logits.clone(); members], &labels);
            assert_eq!(score(&data, "uncertainty.knowledge"), 0.0);
            assert_eq!(score(&data, "misclassification.auroc.model"), 0.5);
        }
        let alone = Data::single(Logits, &logits, &labels);
        for name in ["uncertainty.knowledge", "uncertainty.data", "misclassification.auroc.model"] {
            assert!(entry(&alone, name).value.unwrap_err().0.contains("several members"));
        }
    }
}

/// Detection and rejection: ties, degenerate sets, steps.
mod ranking {
    use super::*;

    /// Confidences 0.6 and 0.9 are right, 0.6 and 0.8 are wrong.
    fn four() -> Data {
        Data::confident(&[0.6, 0.6, 0.8, 0.9], &[1, 0, 0, 1])
    }

    /// The same whole-number logits in every row, each time in another order.
    fn shuffled_rows(n: usize, classes: usize, member: f64) -> Vec<Vec<f64>> {
        let row = |i: usize| {
            let step = (1..).filter(|s| gcd(*s, classes) == 1).nth(i % 3).unwrap_or(1);
            (0..classes).map(|c| member * (((c + i) * step) % classes) as f64).collect()
        };
        (0..n).map(row).collect()
    }

    fn gcd(a: usize, b: usize) -> usize {
        if b == 0 { a } else { gcd(b, a % b) }
    }

    #[test]
    fn rows_with_the_same_numbers_in_another_order_are_tied_to_the_last_bit() {
        for classes in [3, 7, 10, 29, 100] {
            let members = [shuffled_rows(200, classes, 1.0), shuffled_rows(200, classes, 0.37)];
            // Every third prediction is wrong.
            let top = |row: &[f64]| row.iter().position(|&x| x == (classes - 1) as f64);
            let label = |(i, row): (usize, &Vec<f64>)| {
                (top(row).expect("a largest") + usize::from(i % 3 == 0)) % classes
            };
            let labels: Vec<u32> =
                members[0].iter().enumerate().map(|row| label(row) as u32).collect();
            for data in [
                Data::single(Logits, &members[0], &labels),
                Data::ensemble(Logits, &members, &labels),
            ] {
                // Nothing can be told apart: every pair is a tie, every prefix has the mean error.
                assert_eq!(score(&data, "misclassification.auroc.confidence"), 0.5, "{classes}");
                assert_is(score(&data, "aurc"), score(&data, "error"));
            }
        }
    }

    #[test]
    fn ties_count_one_half_in_the_area_under_the_roc_curve() {
        // Of the pairs wrong-right, 0.6-0.9 and 0.8-0.9 are in order, 0.6-0.6 is tied.
        assert_is(score(&four(), "misclassification.auroc.confidence"), 2.5 / 4.0);
    }

    #[test]
    fn the_area_under_the_roc_curve_is_a_share_of_pairs() {
        let mut data = ordinary(300);
        data.values.iter_mut().for_each(|p| *p = (*p * 32.0).round() / 32.0);
        let examples = data.examples();
        let side = |hit: f64| -> Vec<f64> {
            let rows = (0..300).filter(|&i| examples.correct(i) == hit);
            rows.map(|i| examples.confidence[i]).collect()
        };
        let (wrong, right) = (side(0.0), side(1.0));
        let win = |a: f64, b: f64| if a == b { 0.5 } else { f64::from(u8::from(a < b)) };
        let won: f64 = wrong.iter().flat_map(|&a| right.iter().map(move |&b| win(a, b))).sum();
        let pairs = (wrong.len() * right.len()) as f64;
        assert_is(score(&data, "misclassification.auroc.confidence"), won / pairs);
    }

    #[test]
    fn nothing_to_detect_is_undefined_and_not_one_half() {
        for correct in [[1, 1], [0, 0]] {
            let data = Data::confident(&[0.9, 0.6], &correct);
            let names = ["auroc", "aupr", "fpr95"];
            for name in names.map(|name| format!("misclassification.{name}.confidence")) {
                assert!(!entry(&data, &name).value.unwrap_err().0.is_empty());
            }
        }
    }

    #[test]
    fn aupr_is_average_precision_of_the_errors() {
        // At 0.6 one of two is wrong, recall 1/2; at 0.8 two of three, recall 1. Trapezoids would
        // give 2/3; with right predictions as positives it would be another number.
        let expected = 0.5 * 0.5 + 0.5 * 2.0 / 3.0;
        assert_is(score(&four(), "misclassification.aupr.confidence"), expected);
        // Both errors are found at 0.8, where one of two right predictions is flagged.
        assert_is(score(&four(), "misclassification.fpr95.confidence"), 0.5);
    }

    #[test]
    fn ood_examples_are_the_positives() {
        let mut data = Data::confident(&[0.99, 0.98, 0.97, 0.6], &[1, 1, 1, 1]);
        data.ood = vec![false, false, false, true];
        assert_eq!(score(&data, "ood.other.auroc.confidence"), 1.0);
        assert_eq!(score(&data, "ood.other.aupr.total"), 1.0);
        assert_eq!(score(&data, "ood.other.fpr95.confidence"), 0.0);
    }

    #[test]
    fn the_rejection_curve_takes_every_step_whatever_the_number_of_rows() {
        for n in [1, 2, 7, 999, 1000, 1001, 1500] {
            let data = ordinary(n);
            let examples = data.examples();
            let mut rows: Vec<usize> = (0..n).collect();
            rows.sort_by(|&a, &b| examples.confidence[b].total_cmp(&examples.confidence[a]));
            let (mut wrong, mut area) = (0.0, 0.0);
            for (k, &row) in rows.iter().enumerate() {
                wrong += 1.0 - examples.correct(row);
                area += wrong / (k + 1) as f64 / n as f64;
            }
            assert_is(score(&data, "aurc"), area);
            assert_is(score(&data, "au_arc"), 1.0 - area);
        }
    }

    #[test]
    fn the_rejection_curve_goes_straight_through_ties() {
        // Whichever two are kept, a third of them is wrong on average.
        assert_is(score(&Data::confident(&[0.7; 3], &[0, 1, 1]), "aurc"), 1.0 / 3.0);
        // Errors last: nothing is left to gain.
        let sorted = Data::confident(&[0.9, 0.8, 0.7, 0.6], &[1, 1, 0, 0]);
        assert_is(score(&sorted, "aurc"), (1.0 / 3.0 + 2.0 / 4.0) / 4.0);
        assert_is(score(&sorted, "e_aurc"), 0.0);
    }
}

/// Regression: mixtures, draws and levels.
mod distributions {
    use super::*;

    /// `[members][examples]` means, all standard deviations 1.
    fn unit(means: &[&[f64]], targets: &[f64]) -> Targets {
        Targets {
            members: means.len(),
            locations: means.concat(),
            scales: vec![1.0; means.len() * targets.len()],
            targets: targets.to_vec(),
            groups: vec![0; targets.len()],
            narrow: false,
        }
    }

    fn gaussian(means: &[&[f64]], targets: &[f64], name: &str) -> f64 {
        value_in(&unit(means, targets).scores(Kind::Gaussians), name)
    }

    #[test]
    fn the_density_is_that_of_the_mixture_and_keeps_its_constant() {
        // Members at -2 and 2, target 2: densities 1/sqrt(2 pi) times (1 + e^-8)/2. One Gaussian
        // with the same moments has variance 5.
        let mixture = 0.5 * TAU.ln() + LN_2 - (-8.0_f64).exp().ln_1p();
        let matched = 0.5 * (5.0 * TAU).ln() + 2.0 * 2.0 / 10.0;
        let nll = gaussian(&[&[-2.0], &[2.0]], &[2.0], "nll");
        assert_is(nll, mixture);
        assert!((nll - matched).abs() > 0.5);
    }

    #[test]
    fn one_member_has_to_explain_all_targets_in_lml_and_not_in_pslml() {
        let of = |name: &str| gaussian(&[&[-2.0, -2.0], &[2.0, 2.0]], &[2.0, -2.0], name);
        // Either member is exactly right once and off by 4 once.
        assert_is(of("lml"), -TAU.ln() - 8.0);
        assert_is(of("pslml"), 2.0 * ((-8.0_f64).exp().ln_1p() - LN_2) - TAU.ln());
        assert_is(of("pslml"), -2.0 * of("nll"));
    }

    #[test]
    fn crps_is_that_of_the_distribution_given_averaged_over_examples() {
        let targets = unit(&[&[0.0, 0.0], &[1.0, 1.0]], &[0.0, 3.0]);
        // Draws 0 and 1: E|X - X'| = 1/2 over all four pairs, with themselves too. At 0 it is
        // 1/2 - 1/4, at 3 it is 5/2 - 1/4.
        assert_is(value_in(&targets.scores(Kind::Samples), "crps"), 0.5 * (0.25 + 2.25));
        // Standard normal at its mean: 2 phi(0) - 1/sqrt(pi).
        assert_is(gaussian(&[&[0.0]], &[0.0], "crps"), (SQRT_2 - 1.0) / PI.sqrt());
    }

    #[test]
    fn central_intervals_come_from_distribution_functions() {
        let of = |means: &[&[f64]], y: f64, name: &str| gaussian(means, &[y], name);
        // At the centre every level holds the target: the mean of 1 - j/9.
        assert_is(of(&[&[0.0]], 0.0, "qce"), 0.5);
        assert_is(of(&[&[0.0]], 0.0, "sqce"), 0.5);
        // Far out only the last one does: nine gaps of j/9, which sum to 4.
        assert_is(of(&[&[0.0]], 100.0, "qce"), 0.4);
        assert_is(of(&[&[0.0]], 100.0, "sqce"), -0.4);
        // Between two peaks the density is least, and the target in the centre all the same.
        assert_is(of(&[&[-10.0], &[10.0]], 0.0, "qce"), 0.5);
        // Between the first two of three far peaks |2 F - 1| is 1/3, the fourth level: gaps of
        // 0, 1 and 2 ninths below, of 6 to 0 ninths from there on.
        for y in [-50.0, 50.0] {
            assert_is(of(&[&[-100.0], &[0.0], &[100.0]], y, "qce"), 24.0 / 90.0);
        }
    }

    #[test]
    fn targets_spread_as_promised_have_no_quantile_error() {
        // One target in the middle of each ninth of |2 F(y) - 1|.
        let centrality = |j: i32| (f64::from(j) + 0.5) / 9.0;
        let targets: Vec<f64> =
            (0..9).map(|j| normal::quantile(0.5 + 0.5 * centrality(j))).collect();
        assert_is(gaussian(&[&[0.0; 9]], &targets, "qce"), 0.0);
    }
}

/// Temperature scaling and test-time cross-validation.
mod temperature {
    use super::*;

    /// Two classes, a gap between their logits, and labels that go with it three times in four.
    fn three_in_four(n: usize, gap: f64) -> Data {
        let labels: Vec<u32> = (0..n as u32).map(|i| u32::from(i % 4 == 3)).collect();
        Data::single(Logits, &vec![vec![gap, 0.0]; n], &labels)
    }

    /// Three members that disagree, and labels of their mean.
    fn ensemble(n: usize) -> Data {
        let logits: Vec<f64> = numbers(12 * n).iter().map(|u| 6.0 * u - 3.0).collect();
        let rows: Vec<Vec<f64>> = logits.chunks(4).map(<[f64]>::to_vec).collect();
        let members: Vec<Vec<Vec<f64>>> = rows.chunks(n).map(<[Vec<f64>]>::to_vec).collect();
        let mut data = Data::ensemble(Logits, &members, &vec![0; n]);
        let predicted = data.try_pool().unwrap().predicted;
        for (i, label) in data.labels.iter_mut().enumerate() {
            *label = if i % 3 == 0 { i as u32 % 4 } else { predicted[i] };
        }
        data
    }

    #[test]
    fn the_optimum_is_found_from_any_distance() {
        // sigmoid(gap / T) = 3/4.
        for gap in [1e-3, 0.1, 1.0, 30.0, 500.0] {
            let t = score(&three_in_four(100, gap), "temperature");
            assert!((t * 3.0_f64.ln() / gap - 1.0).abs() < 1e-6, "{t} for a gap of {gap}");
        }
    }

    #[test]
    fn a_likelihood_without_a_maximum_has_no_temperature() {
        let why = |rows: &[Vec<f64>], labels: &[u32]| {
            entry(&Data::single(Probs, rows, labels), "temperature").value.unwrap_err().0
        };
        // Always right; right or tied with the prediction; wrong more often than by guessing.
        assert!(why(&[vec![0.9, 0.1], vec![0.6, 0.4]], &[0, 0]).contains("falls to 0"));
        assert!(why(&[vec![0.5, 0.5], vec![0.75, 0.25]], &[1, 0]).contains("falls to 0"));
        assert!(why(&[vec![0.9, 0.1], vec![0.6, 0.4]], &[1, 0]).contains("uniform"));
        assert!(why(&[vec![1.0, 0.0], vec![0.6, 0.4]], &[1, 0]).contains("1 of 2"));
    }

    #[test]
    fn members_are_pooled_before_they_are_calibrated() {
        let data = ensemble(200);
        let pooled = data.try_pool().unwrap();
        let p = pooled.distributions.rows(dubio_metrics::distributions::Kind::P, 0..200);
        let rows: Vec<Vec<f64>> = p.chunks(4).map(<[f64]>::to_vec).collect();
        let mean = Data::single(Probs, &rows, &data.labels);
        let nll = calibrated(&data, "nll");
        assert!(close(nll, calibrated(&mean, "nll"), 1e-9));
        // Each member at the temperature of the mean, pooled afterwards, is another prediction.
        let t = score(&data, "temperature");
        let cooled = data.each_row(Logits, |_, row| row.iter().map(|x| x / t).collect());
        let of_mean = mean.each_row(Logits, |_, row| row.iter().map(|p| p.ln() / t).collect());
        assert!((score(&cooled, "nll") - score(&of_mean, "nll")).abs() > 1e-3);
    }

    #[test]
    fn no_row_is_scored_at_a_temperature_it_helped_to_fit() {
        // The likelihood falls on both sides of its maximum, and the best common temperature lies
        // between those of two halves: each half does worse at the other's than at the common one,
        // and would do better at its own.
        for n in [20, 60, 200] {
            let data = ensemble(n);
            let t = score(&data, "temperature");
            let best = data.examples().tempered(None, 1.0 / t);
            let common = -best.log_likelihood().iter().sum::<f64>() / n as f64;
            assert!(calibrated(&data, "nll") > common, "{n} rows");
        }
    }

    #[test]
    fn splits_depend_on_the_seed_alone() {
        let examples = ensemble(100).examples();
        let nll = |seed: u64| {
            let mut scoring = scoring(&Options::default(), 0);
            scoring.splits = Stream::root(seed);
            let scores = dubio_metrics::classification::scores();
            value_in(&scorecard::calibrated(&examples, &scores, &scoring), "calibrated.nll")
        };
        assert_eq!(nll(1).to_bits(), nll(1).to_bits());
        assert_ne!(nll(1), nll(2));
    }

    #[test]
    fn predictions_survive_any_temperature() {
        // Gaps that single precision cannot hold, and others that even doubles underflow in.
        let rows = [vec![1.0, 1.0 + 1e-12, 0.0], vec![0.0, -900.0, -1000.0], vec![5.0, 5.0, 7.0]];
        let examples = Data::single(Logits, &rows, &[1, 0, 2]).examples();
        assert_eq!(examples.predicted, [1, 0, 2]);
        for beta in [1e-12, 1e-3, 1.0, 1e3, 1e12] {
            let at = examples.tempered(None, beta);
            assert_eq!(at.predicted, [1, 0, 2]);
            assert_eq!(*at.label_rank(), [0, 0, 0]);
            assert!(at.confidence.iter().all(|c| (1.0 / 3.0..=1.0).contains(c)));
        }
        let data = three_in_four(40, 1000.0);
        assert_eq!(calibrated(&data, "accuracy"), score(&data, "accuracy"));
    }
}

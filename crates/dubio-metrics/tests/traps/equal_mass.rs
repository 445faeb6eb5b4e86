//! Bins of equal mass: ties, remainders, thresholds, and the three meanings of one name.

use crate::*;

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

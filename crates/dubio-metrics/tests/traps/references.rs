//! Predictions beside reference predictions, such as those of HMC.

use crate::*;

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

//! Calibration without bins, or with bins of something else.

use crate::*;

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

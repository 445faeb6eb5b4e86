//! Scoring rules: scales, floors and averages.

use crate::*;

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

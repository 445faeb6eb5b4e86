//! Detection and rejection: ties, degenerate sets, steps.

use crate::*;

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
        let labels: Vec<u32> = members[0].iter().enumerate().map(|row| label(row) as u32).collect();
        for data in
            [Data::single(Logits, &members[0], &labels), Data::ensemble(Logits, &members, &labels)]
        {
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

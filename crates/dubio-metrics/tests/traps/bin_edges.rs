//! Which bin an edge belongs to, and what becomes of a confidence of exactly 1.

use crate::*;

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

//! Entropies, and detection with them.

use crate::*;

#[test]
fn zero_times_its_logarithm_is_zero() {
    for (form, row) in [(Probs, vec![1.0, 0.0, 0.0]), (Logits, vec![0.0, f64::NEG_INFINITY, -1e4])]
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

//! Temperature scaling and test-time cross-validation.

use crate::*;

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

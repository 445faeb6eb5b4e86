//! Gaussian process layers.

use dubio_infer::likelihood::Categorical;
use dubio_infer::methods::Method;
use dubio_nn::examples::Answers;
use serde_json::{Value, json};
use std::sync::Arc;

use crate::support::*;
use crate::{close, variance};

/// Three classes of points in the plane, and a Gaussian process with 7 features.
fn process_of_classes(settings: &Value) -> (Process, Method) {
    let mut all = json!({"epochs": 40, "lr": 0.2, "features": 7, "prior_precision": 0.3});
    all.as_object_mut().expect("a table").extend(settings.as_object().expect("a table").clone());
    let method = method("sngp", all);
    let inputs: Vec<f64> = (0..24).map(|i| 2.0 * (1.3 * f64::from(i)).sin()).collect();
    let answers = Answers::Labels(Arc::new((0..12).map(|n| n % 3).collect()));
    let likelihood = Arc::new(Categorical { classes: 3 });
    (Process::new(&method, (2, 3), likelihood, inputs, answers), method)
}

/// Logits at the most probable last layer, and the variance of each: `phi' (d + sum_n p (1 - p) phi_n phi_n')^-1 phi`, by
/// plain loops.
fn logits_and_variances(
    process: &Process,
    theta: &[f64],
    d: f64,
    x: &[f64],
) -> (Vec<f64>, Vec<f64>) {
    let side = process.features(x).len();
    let logits = |phi: &[f64]| -> Vec<f64> {
        let weight = |c: usize, j: usize| match j + 1 == side {
            true => theta[3 * (side - 1) + c],
            false => theta[c * (side - 1) + j],
        };
        (0..3).map(|c| (0..side).map(|j| weight(c, j) * phi[j]).sum()).collect()
    };
    let rows = process.rows();
    let variance = |c: usize| {
        let mut precision = vec![vec![0.0; side]; side];
        for phi in &rows {
            let f = logits(phi);
            let p = f[c].exp() / f.iter().map(|f| f.exp()).sum::<f64>();
            for i in 0..side {
                for j in 0..side {
                    precision[i][j] += p * (1.0 - p) * phi[i] * phi[j];
                }
            }
        }
        (0..side).for_each(|i| precision[i][i] += d);
        let phi = process.features(x);
        solved(precision, phi.clone()).iter().zip(&phi).map(|(a, b)| a * b).sum()
    };
    (logits(&process.features(x)), (0..3).map(variance).collect())
}

/// T49, T55. The mean field of a Gaussian process divides a logit by `sqrt(1 + pi v / 8)`, Beyond_Deep_Ensembles by
/// `sqrt(1 + v / 4)`; and its precision has the weight `p (1 - p)` of each class, which edward2's "gaussian" and
/// Beyond_Deep_Ensembles leave out.
#[test]
fn a_gaussian_process_of_classes_has_the_variance_of_its_probabilities_and_a_mean_field_of_pi_over_eight()
 {
    let (process, method) = process_of_classes(&json!({}));
    let posterior = process.posterior(&method);
    let tests = [[0.3, -0.8], [1.5, 1.5], [9.0, -4.0]];
    let found = process.outputs(&method, &posterior, &tests.concat()).remove(0);
    for (found, x) in found.chunks(3).zip(tests) {
        let (f, v) = logits_and_variances(&process, &posterior.points[0].theta.0, 0.3, &x);
        for c in 0..3 {
            let expected = f[c] / (1.0 + std::f64::consts::PI / 8.0 * v[c]).sqrt();
            assert!((found[c] - expected).abs() < 1e-9, "{x:?}: {} {expected}", found[c]);
            let quarter = f[c] / (1.0 + v[c] / 4.0).sqrt();
            let apart = (quarter / expected - 1.0).abs();
            assert!(apart > 0.01, "the test can tell: {expected} {quarter}");
        }
    }
}

/// The mean-field factor of Liu et al. 2020 in place of `pi / 8`: logits over `sqrt(1 + 20 v)`.
#[test]
fn the_mean_field_factor_of_a_gaussian_process_is_that_of_its_noise_scale() {
    let scale = (20.0 * 8.0 / std::f64::consts::PI).sqrt();
    let (process, method) = process_of_classes(&json!({"noise_scale": scale}));
    let posterior = process.posterior(&method);
    let tests = [[0.3, -0.8], [9.0, -4.0]];
    let found = process.outputs(&method, &posterior, &tests.concat()).remove(0);
    for (found, x) in found.chunks(3).zip(tests) {
        let (f, v) = logits_and_variances(&process, &posterior.points[0].theta.0, 0.3, &x);
        for c in 0..3 {
            let expected = f[c] / (1.0 + 20.0 * v[c]).sqrt();
            assert!((found[c] - expected).abs() < 1e-9, "{x:?}: {} {expected}", found[c]);
        }
    }
}

/// T55. Beyond_Deep_Ensembles takes the variance of a logit for its standard deviation when it draws, and mixes the axes of
/// examples and samples. Here draws have the variance, and examples in another order have the same draws.
#[test]
fn logits_that_are_drawn_have_the_root_of_their_variance_as_standard_deviation() {
    let (process, method) = process_of_classes(&json!({"predict": "mc", "samples": 20_000}));
    let posterior = process.posterior(&method);
    let (near, far) = ([0.3, -0.8], [9.0, -4.0]);
    let both = process.outputs(&method, &posterior, &[near, far].concat());
    let turned = process.outputs(&method, &posterior, &[far, near].concat());
    let (_, map) = process_of_classes(&json!({}));
    let theta = &process.posterior(&map).points[0].theta.0;
    let mut tells = false;
    for (at, x) in [near, far].into_iter().enumerate() {
        let (f, v) = logits_and_variances(&process, theta, 0.3, &x);
        for c in 0..3 {
            let drawn: Vec<f64> = both.iter().map(|sample| sample[3 * at + c]).collect();
            close(variance(&drawn), v[c], 0.06, "variance of a logit");
            let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
            assert!((mean - f[c]).abs() < 5.0 * (v[c] / 20_000.0).sqrt(), "{mean} {}", f[c]);
            tells |= (v[c] - 1.0).abs() > 0.3;
        }
    }
    assert!(tells, "where a variance is 1 it is its own root");
    let swapped = both.iter().zip(&turned).all(|(a, b)| a[..3] == b[3..] && a[3..] == b[..3]);
    assert!(swapped, "a draw is a function of the input alone");
}

/// T55. The precision is that of the data once, however many epochs there were: sums that go on from epoch to epoch, without
/// a reset, have as many times the data.
#[test]
fn the_precision_of_a_gaussian_process_does_not_grow_with_the_epochs() {
    let of = |epochs: usize| {
        let (process, method) = process_of_classes(&json!({"epochs": epochs, "lr": 1e-30}));
        let posterior = process.posterior(&method);
        process.outputs(&method, &posterior, &[0.3, -0.8]).remove(0)
    };
    assert_eq!(of(1), of(7));
}

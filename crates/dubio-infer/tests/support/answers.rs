//! What methods make of a network's last layer under a known noise, on any engine, where that is known.

use dubio_nn::engine::Engine;
use serde_json::{Value, json};

use super::last_layer::{assert_law, assert_posterior, fitted};
use super::{mean_and_error, stationary_variance};

/// What is known, in words, and the test of it.
pub type Answer<E> = (&'static str, fn(&E));

/// All of them. A noise of 30 makes the posterior rounder than one of 9: of the eigenvalues of its precision
/// the largest is 34 times the smallest, not 210 times, and chains of small steps need fewer of them.
pub fn known_answers<E: Engine>() -> Vec<Answer<E>> {
    vec![
        ("hmc has the posterior of linear regression", |engine| {
            let chain = json!({"burn_in": 200, "samples": 1500, "leapfrog": 12, "step": 0.1});
            assert_posterior(engine, "hmc", chain);
        }),
        ("nuts has the posterior of linear regression", |engine| {
            assert_posterior(engine, "nuts", json!({"burn_in": 200, "samples": 1500}));
        }),
        ("laplace has the posterior of linear regression", |engine| {
            // With one noise for all examples a Kronecker product is exact, too.
            for structure in ["full", "kfac"] {
                let settings = json!({"epochs": 2000, "lr": 0.05, "structure": structure,
                    "predict": "mc", "prior_precision": "given", "samples": 5000});
                assert_posterior(engine, "laplace", settings);
            }
        }),
        ("sgld has the stationary law of its recursion", |engine| {
            let chain = json!({"noise": 30.0, "burn_in": 200, "samples": 12_000, "thin": 5, "lr": 0.5,
                "schedule": "constant"});
            assert_law(engine, "sgld", chain, |u| 1.0 / u / (1.0 - 0.5 * 0.5 * u / 40.0));
        }),
        ("sghmc has the stationary law of its recursion", |engine| {
            let chain = json!({"noise": 30.0, "burn_in": 200, "samples": 12_000, "thin": 5, "lr": 0.2,
                "friction": 0.3, "schedule": "constant"});
            let variance = |u| stationary_variance(0.2, 0.3, 1.0, 40.0, u / 40.0);
            assert_law(engine, "sghmc", chain, variance);
        }),
        ("csgld has the law of its cycles", |engine| {
            assert_law(engine, "csgld", cycles(0.5, json!({})), |u| end_of_cycle(0.5, 1.0, u));
        }),
        ("csghmc has the law of its cycles", |engine| {
            let chain = cycles(0.2, json!({"friction": 0.3}));
            assert_law(engine, "csghmc", chain, |u| end_of_cycle(0.2, 0.3, u));
        }),
        ("vi finds the closest factorised gaussian", |engine| {
            let settings = json!({"noise": 30.0, "epochs": 8000, "lr": 0.02, "log_std_lr": 0.02,
                "draws": 2, "samples": 5000});
            assert_factorised(engine, "vi", settings, |log_std| (2.0 * log_std).exp());
        }),
        ("ivon finds the closest factorised gaussian", |engine| {
            let settings = json!({"noise": 30.0, "epochs": 20_000, "lr": 0.05, "curvature": 0.1,
                "curvature_momentum": 0.9998, "samples": 5000});
            assert_factorised(engine, "ivon", settings, f64::recip);
        }),
        ("descent ends at the most probable parameters", |engine| {
            for (name, settings) in [
                ("sgd", json!({"epochs": 1500})),
                ("snapshot", json!({"samples": 1, "cycle_epochs": 1500})),
                ("fge", json!({"epochs": 1500, "samples": 1, "cycle_epochs": 2})),
                ("swa", json!({"epochs": 1500, "collect_epochs": 5, "collect": 5})),
            ] {
                assert_most_probable(engine, name, settings);
            }
        }),
        ("svgd comes to rest where its own equation says", particles),
    ]
}

/// Epochs of a cycle, and those at its end that have noise. An epoch is one step.
const CYCLE: [usize; 2] = [20, 15];

/// Cycles of Langevin dynamics, whose samples are their ends.
fn cycles(lr: f64, more: Value) -> Value {
    let mut all = json!({"noise": 30.0, "lr": lr, "samples": 4000, "cycle_epochs": CYCLE[0],
        "noise_epochs": CYCLE[1], "cycle_samples": 1});
    all.as_object_mut().expect("a table").extend(more.as_object().expect("a table").clone());
    all
}

/// Variance at the end of a cycle, along an eigenvector of the posterior's precision with the eigenvalue `u`, of `v = (1 - a) v - r u
/// x / N + Normal(0, 2 a r / N)`, `x += v` with the rate `r` of Zhang et al. 2020, eq. 1: the covariance of `x` and `v` from step to
/// step, until it is the same in every cycle. `csgld` is `a = 1`.
fn end_of_cycle(lr: f64, a: f64, u: f64) -> f64 {
    let [length, noisy] = CYCLE;
    let [mut xx, mut xv, mut vv] = [0.0; 3];
    for step in 0..200 * length {
        let place = step % length;
        let rate = lr / 2.0 * (1.0 + (std::f64::consts::PI * place as f64 / length as f64).cos());
        let noise = if place + noisy >= length { 2.0 * a * rate / 40.0 } else { 0.0 };
        let (keep, pull) = (1.0 - a, rate * u / 40.0);
        vv = keep * keep * vv - 2.0 * keep * pull * xv + pull * pull * xx + noise;
        xv = keep * xv - pull * xx;
        xx += 2.0 * xv + vv;
        xv += vv;
    }
    xx
}

/// A ten-thousandth of its standard deviation from the exact mean, which is also the mode.
fn assert_most_probable<E: Engine>(engine: &E, name: &str, settings: Value) {
    let mut all = json!({"lr": 0.2, "momentum": 0.9});
    all.as_object_mut().expect("a table").extend(settings.as_object().expect("a table").clone());
    let (exact, points, _) = fitted(engine, name, all);
    let covariance = exact.by_eigenvalues(f64::recip);
    let last = points.last().expect("a point");
    for i in 0..4 {
        let off = (last[i] - exact.mean[(i, 0)]) / covariance[(i, i)].sqrt();
        assert!(off.abs() < 1e-4, "{name}: {i} is off by {off} standard deviations");
    }
}

/// The exact mean, and as variances one over the diagonal of the exact precision (Bishop 2006, section 10.1.2), which come from the
/// factors by `variance`.
fn assert_factorised<E: Engine>(
    engine: &E,
    name: &str,
    settings: Value,
    variance: impl Fn(f64) -> f64,
) {
    let (exact, points, factors) = fitted(engine, name, settings);
    for i in 0..4 {
        let ratio = variance(factors[0][i]) * exact.precision[(i, i)];
        assert!((0.93..1.07).contains(&ratio), "{name}: {ratio} times the closest variance");
        let values: Vec<f64> = points.iter().map(|p| p[i]).collect();
        let ((value, error), mean) = (mean_and_error(&values), exact.mean[(i, 0)]);
        let near = 5.0 * error + 0.05 * exact.precision[(i, i)].sqrt().recip();
        assert!((value - mean).abs() < near, "{name}: mean {i} is {value}, not {mean}");
        let squares: Vec<f64> = values.iter().map(|v| (v - value).powi(2)).collect();
        let (spread, error) = mean_and_error(&squares);
        let expected = variance(factors[0][i]);
        assert!((spread - expected).abs() < 5.0 * error, "{name}: samples {spread} {expected}");
    }
}

/// The mean is exact, and the variances are these times the exact ones. An independent loop in numpy has them from any start, with `P`
/// the exact precision, `x = normal(size=(16, 4))`, and 20,000 steps of Adam on
///
/// d2 = ((x[:, None] - x[None]) ** 2).sum(-1)
/// h = np.median(d2[np.triu_indices(16, 1)]) / np.log(17)
/// K = np.exp(-d2 / h)
/// phi = (K @ (x @ P / 40) - 2 / (h * 40) * (K.sum(1)[:, None] * x - K @ x)) / 16
fn particles<E: Engine>(engine: &E) {
    let settings =
        json!({"noise": 30.0, "particles": 16, "epochs": 2000, "lr": 0.05, "schedule": "cosine"});
    let (exact, points, _) = fitted(engine, "svgd", settings);
    let covariance = exact.by_eigenvalues(f64::recip);
    for (i, expected) in [0.60548, 0.65097, 0.67496, 0.62711].into_iter().enumerate() {
        let mean = points.iter().map(|p| p[i]).sum::<f64>() / 16.0;
        let variance = points.iter().map(|p| (p[i] - mean).powi(2)).sum::<f64>() / 16.0;
        let (off, ratio) = (mean - exact.mean[(i, 0)], variance / covariance[(i, i)]);
        assert!(off.abs() < 0.01 * covariance[(i, i)].sqrt(), "mean {i} is off by {off}");
        assert!(
            (ratio - expected).abs() < 0.001,
            "variance {i}: {ratio} of the exact one, not {expected}"
        );
    }
}

//! Gaussians by descent: `vi` and `ivon`.

use serde_json::json;

use crate::support::*;

/// The factorised Gaussian that is closest to a Gaussian posterior has its mean, and as variances one over the
/// diagonal of its precision: smaller ones than the posterior's (Bishop 2006, section 10.1.2).
#[test]
fn variational_methods_find_the_closest_factorised_gaussian() {
    for (name, settings) in [
        (
            "vi",
            json!({"epochs": 20_000, "lr": 0.02, "log_std_lr": 0.02, "draws": 2, "samples": 50_000}),
        ),
        (
            "ivon",
            json!({"epochs": 60_000, "lr": 0.05, "curvature": 0.1, "curvature_momentum": 0.9998, "samples": 50_000}),
        ),
    ] {
        let mut target = LinearRegression::new(20, 2.0);
        let posterior = run(&method(name, settings), &mut target, 5);
        let [[a, _], [_, b]] = target.hessian();
        let found = posterior.factors[0][0].0.clone();
        // `vi` leaves log standard deviations, `ivon` precisions.
        let variances = match name {
            "vi" => found.iter().map(|r| (2.0 * r).exp()).collect(),
            _ => found.iter().map(|p| 1.0 / p).collect::<Vec<f64>>(),
        };
        for (variance, precision) in variances.iter().zip([a, b]) {
            let ratio = variance * precision;
            assert!((0.93..1.07).contains(&ratio), "{name}: {ratio} times the closest variance");
        }
        let mean = target.mean();
        for i in 0..2 {
            let values: Vec<f64> = posterior.points.iter().map(|p| p.theta.0[i]).collect();
            let (value, error) = mean_and_error(&values);
            let near = 5.0 * error + 0.05 * variances[i].sqrt();
            assert!((value - mean[i]).abs() < near, "{name}: mean {i} is {value}, not {}", mean[i]);
            let squares: Vec<f64> = values.iter().map(|v| (v - value).powi(2)).collect();
            let (spread, error) = mean_and_error(&squares);
            assert!(
                (spread - variances[i]).abs() < 5.0 * error,
                "{name}: {spread} {}",
                variances[i]
            );
        }
    }
}

#[test]
fn ivon_at_half_the_temperature_has_half_the_variance() {
    let mut target = LinearRegression::new(20, 2.0);
    let settings = json!({"epochs": 60_000, "lr": 0.05, "curvature": 0.1, "curvature_momentum": 0.9998, "samples": 10, "temperature": 0.5});
    let posterior = run(&method("ivon", settings), &mut target, 5);
    let [[a, _], [_, b]] = target.hessian();
    for (found, precision) in posterior.factors[0][0].0.iter().zip([a, b]) {
        assert!((0.93..1.07).contains(&(found / (2.0 * precision))), "{found} {precision}");
    }
}

/// With the likelihood to the power `a` the precision of the posterior is `a X'X + p I`, and its mean solves that for `a X'y`: the
/// prior counts for less.
#[test]
fn ivon_counts_every_example_as_often_as_the_augmentation_factor_says() {
    let mut target = LinearRegression::new(20, 6.0);
    let factor = 3.0;
    let settings = json!({"epochs": 60_000, "lr": 0.05, "curvature": 0.1, "curvature_momentum": 0.9998, "samples": 50_000,
        "augmentation_factor": factor});
    let posterior = run(&method("ivon", settings), &mut target, 5);
    // The same posterior: three times the likelihood under a prior is that under a third of its precision, and three times as precise.
    let wide = LinearRegression::new(20, 6.0 / factor);
    let [[a, _], [_, b]] = wide.hessian();
    for (found, precision) in posterior.factors[0][0].0.iter().zip([a, b]) {
        assert!((0.93..1.07).contains(&(found / (factor * precision))), "{found} {precision}");
    }
    let (mean, without) = (wide.mean(), target.mean());
    for i in 0..2 {
        let values: Vec<f64> = posterior.points.iter().map(|p| p.theta.0[i]).collect();
        let (value, error) = mean_and_error(&values);
        let near = 5.0 * error + 0.05 * posterior.factors[0][0].0[i].recip().sqrt();
        assert!((value - mean[i]).abs() < near, "mean {i} is {value}, not {}", mean[i]);
        assert!((without[i] - mean[i]).abs() > near, "the test can tell: {near}");
    }
}

//! Targets whose posterior is a Gaussian.

use std::sync::Arc;

use dubio_infer::fit::{Options, fit as run_rule};
use dubio_infer::problem::Start;
use dubio_infer::target::Target;
use dubio_nn::cpu::Flat;
use dubio_nn::engine::Point;
use dubio_nn::layer::Layer;
use dubio_nn::parameter::Initial;
use dubio_random::stream::Stream;
use serde_json::json;

use crate::case::case;
use crate::support::*;

/// With a Gaussian likelihood the posterior is a Gaussian, and its curvature is all there is to it. With a noise that
/// is the same for all examples the Kronecker product is exact, too.
#[test]
fn laplace_is_the_exact_posterior_of_linear_regression() {
    for structure in ["full", "kfac", "diag"] {
        let mut target = LinearRegression::new(20, 2.0);
        let settings = json!({"epochs": 400, "lr": 0.2, "structure": structure, "predict": "mc",
            "prior_precision": "given", "samples": 50_000});
        let posterior = run(&method("laplace", settings), &mut target, 1);
        let [[a, _], [_, b]] = target.hessian();
        let expected = match structure {
            "diag" => [[1.0 / a, 0.0], [0.0, 1.0 / b]],
            _ => target.covariance(),
        };
        assert_gaussian(&places(&posterior), target.mean(), expected, structure);
    }
}

/// The standard deviations of the Gaussian are multiplied: of samples, and of what the linearised network says. What the
/// data say of the prior stays.
#[test]
fn a_noise_scale_multiplies_the_standard_deviations() {
    let mut target = LinearRegression::new(20, 2.0);
    let settings = json!({"epochs": 400, "lr": 0.2, "structure": "full", "predict": "mc",
        "prior_precision": "given", "samples": 50_000, "noise_scale": 1.5});
    let posterior = run(&method("laplace", settings), &mut target, 1);
    let wider = target.covariance().map(|row| row.map(|c| 2.25 * c));
    assert_gaussian(&places(&posterior), target.mean(), wider, "1.5 times as wide");
    for structure in ["diag", "units", "kfac", "full"] {
        let case = case("regression");
        let of = |scale: f64| {
            let settings = json!({"epochs": 0, "structure": structure, "noise_scale": scale});
            let method = method("laplace", settings);
            let posterior = case.posterior(&method);
            let outputs = case.outputs(&method, &posterior);
            let variances = [outputs[1], outputs[3]].map(|log_std| (2.0 * log_std).exp() - 0.16);
            (posterior.records[0].report.clone(), variances)
        };
        let ((plain, once), (scaled, wide)) = (of(1.0), of(3.0));
        assert_eq!(plain, scaled, "{structure}");
        for (once, wide) in once.iter().zip(wide) {
            assert!((wide / once - 9.0).abs() < 1e-9, "{structure}: {once} {wide}");
        }
    }
}

/// The evidence of linear regression is that of a Gaussian over the targets, `Normal(0, I + X X' / d)`:
///
/// log N(y; 0, I + X X' / d) = -(n log(2 pi) + log det(I + X'X / d) + y'y - y'X C X'y) / 2, C = (X'X + d I)^-1
#[test]
fn the_marginal_likelihood_of_linear_regression_is_that_of_its_targets() {
    let mut target = LinearRegression::new(20, 2.0);
    let settings =
        json!({"epochs": 400, "lr": 0.2, "structure": "full", "prior_precision": "given"});
    let posterior = run(&method("laplace", settings), &mut target, 1);
    let [[a, b], [_, c]] = target.hessian();
    let log_determinant = ((a * c - b * b) / 4.0).ln();
    let mean = target.mean();
    let explained: f64 =
        target.x.iter().zip(&target.y).map(|(x, y)| y * (x[0] * mean[0] + x[1] * mean[1])).sum();
    let squares: f64 = target.y.iter().map(|y| y * y).sum();
    // The loss of this target leaves n log(2 pi) out.
    let expected = -0.5 * (log_determinant + squares - explained);
    let report = &posterior.records[0].report;
    assert_eq!(report[0], ("prior_precision", 2.0));
    assert!((report[1].1 - expected).abs() < 1e-6, "{report:?} {expected}");
}

/// With `noise = "shared"` the marginal likelihood chooses the noise, too: no other pair has a larger one. Those of the
/// others come from runs of their own, which choose nothing.
#[test]
fn no_other_noise_and_prior_precision_have_a_larger_marginal_likelihood() {
    use dubio_infer::likelihood::SharedNoise;
    for structure in ["diag", "kfac", "full"] {
        let mut case = case("regression");
        case.network.then("noise", Layer::Append { numbers: 1, initial: Initial::Constant(0.0) });
        case.likelihood = Arc::new(SharedNoise);
        let evidence = |std: f64, precision: serde_json::Value| {
            let mut problem = case.problem();
            let mut theta = problem.start(0).theta;
            theta.0[21] = std.ln();
            let settings =
                json!({"epochs": 0, "structure": structure, "prior_precision": precision});
            let method = method("laplace", settings);
            let start = Start::Warm(Point { theta, statistics: Flat(Vec::new()) });
            problem = case.problem_at(start);
            let rule = method.rule(&problem.start(0).theta);
            run_rule(rule, &mut problem, &Stream::root(2), 0, &Options::default()).unwrap()
        };
        let best = evidence(0.3, json!("marginal-likelihood"));
        let report = &best.records[0].report;
        let (precision, most) = (report[0].1, report[1].1);
        let std = best.points[0].theta.0[21].exp();
        // The curvature goes with the noise: it predicts like a run that began with the one that is chosen.
        let method = method("laplace", json!({"structure": structure}));
        let [ours, expected] =
            [&best, &evidence(std, json!(precision))].map(|fit| case.outputs(&method, fit));
        for (ours, expected) in ours.iter().zip(&expected) {
            assert!((ours - expected).abs() < 1e-6, "{structure}: {ours} {expected}");
        }
        for (a, b) in [(1.0, 1.0), (1.1, 1.0), (0.9, 1.0), (1.0, 1.1), (1.0, 0.9), (1.05, 1.05)] {
            let other = evidence(a * std, json!(b * precision)).records[0].report[1].1;
            let same = (a, b) == (1.0, 1.0);
            assert!(
                if same { (other - most).abs() < 1e-6 } else { other < most - 1e-4 },
                "{structure} {a} {b}: {other} {most}"
            );
        }
        // From another start to the same.
        let again = evidence(2.0, json!("marginal-likelihood"));
        assert!((again.points[0].theta.0[21].exp() / std - 1.0).abs() < 1e-6);
    }
}

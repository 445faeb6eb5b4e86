//! Chains of mini-batch steps: `sgld`, `sghmc` and their cycles.

use serde_json::json;

use crate::support::*;

/// On a quadratic with full batches, `theta' - m = (1 - lr h)(theta - m) + Normal(0, 2 lr T / N)` along
/// an eigenvector of `H / N` with eigenvalue `h`, so the stationary variance is
/// `(2 lr T / N) / (1 - (1 - lr h)^2) = T / (N h) / (1 - lr h / 2)`: the posterior's, and a
/// discretisation error that goes with the step.
fn langevin(target: &LinearRegression, lr: f64, temperature: f64) -> [[f64; 2]; 2] {
    let n = target.x.len() as f64;
    of_eigenvalues(target.hessian(), |u| temperature / u / (1.0 - 0.5 * lr * u / n))
}

#[test]
fn sgld_has_the_stationary_law_of_its_recursion_for_every_step_temperature_and_number_of_examples()
{
    for (n, lr, temperature) in
        [(20, 0.1, 1.0), (20, 0.4, 1.0), (20, 0.2, 4.0), (320, 0.2, 1.0), (320, 0.4, 0.1)]
    {
        let mut target = LinearRegression::new(n, 2.0);
        let settings = json!({"burn_in": 200, "samples": 150_000, "lr": lr, "schedule": "constant",
            "temperature": temperature});
        let posterior = run(&method("sgld", settings), &mut target, 5);
        let what = format!("sgld, N = {n}, lr = {lr}, T = {temperature}");
        let expected = langevin(&target, lr, temperature);
        assert_gaussian(&places(&posterior), target.mean(), expected, &what);
    }
}

#[test]
fn sghmc_has_the_stationary_law_of_its_recursion_for_every_step_friction_and_temperature() {
    for (n, lr, friction, temperature) in
        [(20, 0.02, 0.3, 1.0), (20, 0.2, 0.3, 1.0), (320, 0.05, 0.1, 1.0), (320, 0.05, 0.5, 0.1)]
    {
        let mut target = LinearRegression::new(n, 2.0);
        let settings = json!({"burn_in": 500, "samples": 300_000, "lr": lr, "schedule": "constant",
            "friction": friction, "temperature": temperature});
        let posterior = run(&method("sghmc", settings), &mut target, 6);
        let expected = of_eigenvalues(target.hessian(), |u| {
            stationary_variance(lr, friction, temperature, n as f64, u / n as f64)
        });
        let what = format!("sghmc, N = {n}, lr = {lr}, a = {friction}, T = {temperature}");
        assert_gaussian(&places(&posterior), target.mean(), expected, &what);
    }
}

/// What both sample is the posterior in the limit of small steps. `(theta - m)' H (theta - m)` has the mean 2 under it,
/// the number of parameters, and a larger one where a step adds variance.
#[test]
fn the_error_of_both_shrinks_with_the_step() {
    for (name, coarse, fine, settings) in
        [("sgld", 0.4, 0.05, json!({})), ("sghmc", 0.5, 0.02, json!({"friction": 0.3}))]
    {
        let distance = |lr: f64| {
            let mut target = LinearRegression::new(20, 2.0);
            let mut settings = settings.clone();
            let chain =
                json!({"burn_in": 500, "samples": 400_000, "lr": lr, "schedule": "constant"});
            settings
                .as_object_mut()
                .expect("a table")
                .extend(chain.as_object().expect("a table").clone());
            let places = places(&run(&method(name, settings), &mut target, 8));
            let (m, h) = (target.mean(), target.hessian());
            let squares = places.iter().map(|p| {
                let d = [p[0] - m[0], p[1] - m[1]];
                let hd = times(h, d);
                d[0] * hd[0] + d[1] * hd[1]
            });
            mean_and_error(&squares.collect::<Vec<_>>())
        };
        let ((far, far_error), (near, near_error)) = (distance(coarse), distance(fine));
        assert!(far - 5.0 * far_error > 2.2, "{name} at {coarse}: {far} (error {far_error})");
        // Of the fine step itself there are left one to three parts in a hundred.
        assert!(
            (near - 2.0).abs() < 5.0 * near_error + 0.08,
            "{name} at {fine}: {near} (error {near_error})"
        );
        assert!(near_error < 0.03, "{name}: the test can tell");
    }
}

#[test]
fn mini_batches_add_a_variance_that_goes_with_the_step() {
    // With batches of 4 of 20 the gradient is noisy; at a small step that noise, of order lr^2, is
    // little beside the Langevin noise of order lr, and the posterior comes out.
    let mut target = LinearRegression::new(20, 2.0);
    target.batch = 4;
    let exact = target.covariance();
    let trace = |lr: f64, samples: usize, target: &mut LinearRegression| {
        let settings =
            json!({"burn_in": 500, "samples": samples, "lr": lr, "schedule": "constant"});
        let places = places(&run(&method("sgld", settings), target, 9));
        let m = target.mean();
        let squares: Vec<f64> =
            places.iter().map(|p| (p[0] - m[0]).powi(2) + (p[1] - m[1]).powi(2)).collect();
        mean_and_error(&squares)
    };
    let exact = exact[0][0] + exact[1][1];
    let (coarse, _) = trace(0.3, 50_000, &mut target);
    let (fine, error) = trace(0.01, 400_000, &mut target);
    assert!(coarse > 1.1 * exact, "{coarse} {exact}");
    assert!((fine - exact).abs() < 5.0 * error + 0.02 * exact, "{fine} {exact} {error}");
}

#[test]
fn cycles_of_langevin_dynamics_sample_the_posterior_when_the_step_has_become_small() {
    // Samples from the end of a cycle, where the rate is low: the error of the step is small, but a
    // cycle's samples hang together, so many cycles are run and one sample taken of each. Friction is
    // high, since a velocity has to forget the rates of before within the last few of 150 steps.
    let mut target = LinearRegression::new(20, 2.0);
    for (name, settings) in [
        (
            "csgld",
            json!({"lr": 0.3, "samples": 10_000, "cycle_epochs": 150, "noise_epochs": 120, "cycle_samples": 1}),
        ),
        (
            "csghmc",
            json!({"lr": 0.1, "friction": 0.5, "samples": 10_000, "cycle_epochs": 150, "noise_epochs": 120, "cycle_samples": 1}),
        ),
    ] {
        let posterior = run(&method(name, settings), &mut target, 4);
        assert_gaussian(&places(&posterior), target.mean(), target.covariance(), name);
    }
}

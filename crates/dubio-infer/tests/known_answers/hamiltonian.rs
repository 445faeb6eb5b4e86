//! Chains over all the data: `hmc` and `nuts`.

use dubio_nn::cpu::Flat;
use dubio_nn::engine::Vector;
use dubio_random::stream::Stream;
use serde_json::json;

use crate::logistic::Logistic;
use crate::support::*;

#[test]
fn hmc_samples_the_posterior_of_linear_regression() {
    let mut target = LinearRegression::new(20, 1.0);
    let settings = json!({"burn_in": 300, "samples": 20_000, "leapfrog": 7, "step": 0.1});
    let posterior = run(&method("hmc", settings), &mut target, 1);
    assert_gaussian(&places(&posterior), target.mean(), target.covariance(), "hmc");
    let accepted = posterior.records[0].report[0].1;
    assert!((0.6..0.97).contains(&accepted), "brought to 0.8, got {accepted}");
}

#[test]
fn hmc_with_long_steps_refuses_moves_and_still_samples_the_posterior() {
    let mut target = LinearRegression::new(20, 1.0);
    let settings = json!({"burn_in": 100, "samples": 40_000, "leapfrog": 3, "step": 0.2,
        "target_acceptance": 0.0});
    let posterior = run(&method("hmc", settings), &mut target, 2);
    let accepted = posterior.records[0].report[0].1;
    assert!((0.3..0.9).contains(&accepted), "some must be refused, got {accepted}");
    assert_gaussian(&places(&posterior), target.mean(), target.covariance(), "hmc");
}

/// Burn-in brings the step near the acceptance that was asked for, however far off the first one is.
#[test]
fn hmc_adapts_its_step_to_the_acceptance_that_was_asked_for() {
    let [bold, careful] = [0.8, 0.95].map(|asked| {
        let steps = [0.003, 0.1, 3.0].map(|first| {
            let settings = json!({"burn_in": 1000, "samples": 4000, "leapfrog": 7, "step": first,
                "target_acceptance": asked});
            let mut target = LinearRegression::new(20, 1.0);
            let report = run(&method("hmc", settings), &mut target, 1).records.remove(0).report;
            let told = |name: &str| report.iter().find(|(known, _)| *known == name).expect(name).1;
            let accepted = told("acceptance_rate");
            // Where steps become unstable the acceptance falls steeply, and the mean of the steps is on the safe side.
            assert!((accepted - asked).abs() < 0.15, "{accepted}, not {asked}, from {first}");
            told("step")
        });
        assert!(steps.iter().all(|step| (step / steps[0] - 1.0).abs() < 0.2), "{steps:?}");
        steps[0]
    });
    assert!(
        careful < 0.8 * bold,
        "to be accepted more often it takes shorter steps: {careful} {bold}"
    );
}

#[test]
fn hmc_at_half_the_temperature_has_half_the_covariance() {
    let mut target = LinearRegression::new(20, 1.0);
    let settings = json!({"burn_in": 300, "samples": 20_000, "leapfrog": 7, "step": 0.1,
        "temperature": 0.5});
    let posterior = run(&method("hmc", settings), &mut target, 3);
    let half = target.covariance().map(|row| row.map(|c| 0.5 * c));
    assert_gaussian(&places(&posterior), target.mean(), half, "hmc at T = 1/2");
}

/// Talts et al. 2018: with parameters from the prior and data from the model, the rank of the true parameter among
/// posterior samples is uniform. Ten thousand simulations, so that a standard deviation that is off by a twentieth
/// shows; the sum of both parameters is the direction in which the posterior is narrowest.
#[test]
fn hmc_is_calibrated_on_simulated_data() {
    let (simulations, kept, thin) = (10_000, 19, 6);
    let mut ranks = [[0_usize; 20]; 3];
    for simulation in 0..simulations {
        let stream = Stream::root(23).nth(simulation);
        let mut truth = Flat(vec![0.0; 2]);
        truth.add_noise(0.5_f64.sqrt(), &stream.child("truth")); // the prior's precision is 2
        let mut target = LinearRegression::new(8, 2.0);
        let mut noise = Flat(vec![0.0; 8]);
        noise.add_noise(1.0, &stream.child("noise"));
        let rows = target.x.iter().zip(&noise.0);
        target.y = rows.map(|(x, e)| x[0] * truth.0[0] + x[1] * truth.0[1] + e).collect();
        let settings = json!({"burn_in": 20, "samples": kept * thin, "leapfrog": 6, "step": 0.3,
            "target_acceptance": 0.0});
        let samples = places(&run(&method("hmc", settings), &mut target, simulation as u64));
        let quantities = [|p: [f64; 2]| p[0], |p: [f64; 2]| p[1], |p: [f64; 2]| p[0] + p[1]];
        for (ranks, quantity) in ranks.iter_mut().zip(quantities) {
            let true_value = quantity([truth.0[0], truth.0[1]]);
            let below = samples.iter().step_by(thin).filter(|s| quantity(**s) < true_value).count();
            ranks[below] += 1;
        }
    }
    for counts in ranks {
        let expected = simulations as f64 / 20.0;
        let chi: f64 = counts.iter().map(|&c| (c as f64 - expected).powi(2) / expected).sum();
        assert!(chi < 43.8, "19 degrees of freedom, p = 0.001: {chi} {counts:?}");
    }
}

#[test]
fn nuts_samples_the_posterior_of_linear_regression() {
    let mut target = LinearRegression::new(20, 1.0);
    let settings = json!({"burn_in": 500, "samples": 20_000});
    let posterior = run(&method("nuts", settings), &mut target, 1);
    assert_gaussian(&places(&posterior), target.mean(), target.covariance(), "nuts");
}

#[test]
fn nuts_at_half_the_temperature_has_half_the_covariance() {
    let mut target = LinearRegression::new(20, 1.0);
    let settings = json!({"burn_in": 500, "samples": 20_000, "temperature": 0.5});
    let posterior = run(&method("nuts", settings), &mut target, 3);
    let half = target.covariance().map(|row| row.map(|c| 0.5 * c));
    assert_gaussian(&places(&posterior), target.mean(), half, "nuts at T = 1/2");
}

/// Four chains of blackjax 1.7.1 of 100,000 draws each (`blackjax.window_adaptation(blackjax.nuts, log_density)`, then
/// `blackjax.nuts`) on the `log_density` of the test of `svgd`: means, variances and covariance, which quadrature on a grid of 0.01 has as
/// 0.0355, -0.1173, 0.5553, 0.5810, -0.1155.
#[test]
fn samples_of_nuts_are_distributed_like_those_of_blackjax() {
    let settings = json!({"burn_in": 500, "samples": 20_000});
    let ours = places(&run(&method("nuts", settings), &mut Logistic, 1));
    let mean = [0.0356, -0.1197];
    let off = |i: usize| move |place: &[f64; 2]| place[i] - mean[i];
    for (i, expected) in mean.into_iter().enumerate() {
        let (value, error) = mean_and_error(&ours.iter().map(|p| p[i]).collect::<Vec<f64>>());
        assert!((value - expected).abs() < 4.0 * error + 0.003, "mean {i}: {value} {expected}");
    }
    for (i, j, expected) in [(0, 0, 0.5552), (1, 1, 0.5780), (0, 1, -0.1149)] {
        let products: Vec<f64> = ours.iter().map(|p| off(i)(p) * off(j)(p)).collect();
        let (value, error) = mean_and_error(&products);
        assert!((value - expected).abs() < 4.0 * error + 0.003, "{i} {j}: {value} {expected}");
    }
}

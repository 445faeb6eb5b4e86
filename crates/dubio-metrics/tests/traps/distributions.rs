//! Regression: mixtures, draws and levels.

use crate::*;

/// `[members][examples]` means, all standard deviations 1.
fn unit(means: &[&[f64]], targets: &[f64]) -> Targets {
    Targets {
        members: means.len(),
        locations: means.concat(),
        scales: vec![1.0; means.len() * targets.len()],
        targets: targets.to_vec(),
        groups: vec![0; targets.len()],
        narrow: false,
    }
}

fn gaussian(means: &[&[f64]], targets: &[f64], name: &str) -> f64 {
    value_in(&unit(means, targets).scores(Kind::Gaussians), name)
}

#[test]
fn the_density_is_that_of_the_mixture_and_keeps_its_constant() {
    // Members at -2 and 2, target 2: densities 1/sqrt(2 pi) times (1 + e^-8)/2. One Gaussian
    // with the same moments has variance 5.
    let mixture = 0.5 * TAU.ln() + LN_2 - (-8.0_f64).exp().ln_1p();
    let matched = 0.5 * (5.0 * TAU).ln() + 2.0 * 2.0 / 10.0;
    let nll = gaussian(&[&[-2.0], &[2.0]], &[2.0], "nll");
    assert_is(nll, mixture);
    assert!((nll - matched).abs() > 0.5);
}

#[test]
fn one_member_has_to_explain_all_targets_in_lml_and_not_in_pslml() {
    let of = |name: &str| gaussian(&[&[-2.0, -2.0], &[2.0, 2.0]], &[2.0, -2.0], name);
    // Either member is exactly right once and off by 4 once.
    assert_is(of("lml"), -TAU.ln() - 8.0);
    assert_is(of("pslml"), 2.0 * ((-8.0_f64).exp().ln_1p() - LN_2) - TAU.ln());
    assert_is(of("pslml"), -2.0 * of("nll"));
}

#[test]
fn crps_is_that_of_the_distribution_given_averaged_over_examples() {
    let targets = unit(&[&[0.0, 0.0], &[1.0, 1.0]], &[0.0, 3.0]);
    // Draws 0 and 1: E|X - X'| = 1/2 over all four pairs, with themselves too. At 0 it is
    // 1/2 - 1/4, at 3 it is 5/2 - 1/4.
    assert_is(value_in(&targets.scores(Kind::Samples), "crps"), 0.5 * (0.25 + 2.25));
    // Standard normal at its mean: 2 phi(0) - 1/sqrt(pi).
    assert_is(gaussian(&[&[0.0]], &[0.0], "crps"), (SQRT_2 - 1.0) / PI.sqrt());
}

#[test]
fn central_intervals_come_from_distribution_functions() {
    let of = |means: &[&[f64]], y: f64, name: &str| gaussian(means, &[y], name);
    // At the centre every level holds the target: the mean of 1 - j/9.
    assert_is(of(&[&[0.0]], 0.0, "qce"), 0.5);
    assert_is(of(&[&[0.0]], 0.0, "sqce"), 0.5);
    // Far out only the last one does: nine gaps of j/9, which sum to 4.
    assert_is(of(&[&[0.0]], 100.0, "qce"), 0.4);
    assert_is(of(&[&[0.0]], 100.0, "sqce"), -0.4);
    // Between two peaks the density is least, and the target in the centre all the same.
    assert_is(of(&[&[-10.0], &[10.0]], 0.0, "qce"), 0.5);
    // Between the first two of three far peaks |2 F - 1| is 1/3, the fourth level: gaps of
    // 0, 1 and 2 ninths below, of 6 to 0 ninths from there on.
    for y in [-50.0, 50.0] {
        assert_is(of(&[&[-100.0], &[0.0], &[100.0]], y, "qce"), 24.0 / 90.0);
    }
}

#[test]
fn targets_spread_as_promised_have_no_quantile_error() {
    // One target in the middle of each ninth of |2 F(y) - 1|.
    let centrality = |j: i32| (f64::from(j) + 0.5) / 9.0;
    let targets: Vec<f64> = (0..9).map(|j| normal::quantile(0.5 + 0.5 * centrality(j))).collect();
    assert_is(gaussian(&[&[0.0; 9]], &targets, "qce"), 0.0);
}

//! Particles and variational posteriors.

use dubio_infer::training::Training;
use dubio_nn::cpu::Flat;
use dubio_nn::parameter::Slice;
use dubio_random::stream::Stream;
use serde_json::{Value, json};

use crate::support::*;
use crate::{Plane, Single, close, on_digits, variance};

/// T54. A particle alone is descent by its own optimiser: the median of no distances is no division by 0.
#[test]
fn one_particle_is_descent() {
    for optimiser in ["sgd", "adam"] {
        let of = |name: &str, extra: Value| {
            let mut settings = json!({"epochs": 9, "lr": 0.05, "optimiser": optimiser});
            settings
                .as_object_mut()
                .expect("a table")
                .extend(extra.as_object().expect("a table").clone());
            let mut target = LinearRegression::new(20, 2.0);
            (target.start, target.batch) = ([3.0, -2.0], 6);
            places(&run(&method(name, settings), &mut target, 1))
        };
        let (alone, descent) = (
            of("svgd", json!({"particles": 1})),
            of("sgd", json!({"schedule": "flat-then-linear"})),
        );
        assert!(
            (0..2).all(|i| (alone[0][i] - descent[0][i]).abs() < 1e-12),
            "{alone:?} {descent:?}"
        );
    }
}

/// T54. Beyond_Deep_Ensembles shares one state of the optimiser among all particles, and halves the prior. On a plane
/// every particle has one gradient, and with no data but a prior all go to 0 at its pace.
#[test]
fn particles_feel_the_whole_prior_and_have_optimisers_of_their_own() {
    // Far apart the kernel of two particles is 1 / (n + 1): particle i moves by the prior at (g_i + g_j / 3) / 2.
    let mut target = Plane { precision: 5.0, start: 100.0, ..Plane::flat(10, 1) };
    let settings =
        json!({"particles": 2, "epochs": 1, "lr": 0.001, "optimiser": "sgd", "momentum": 0.0});
    let posterior = run(&method("svgd", settings), &mut target, 1);
    let mut second = Flat(vec![100.0]);
    dubio_nn::engine::Vector::add_noise(&mut second, 1.0, &Stream::root(31).nth(1));
    let start = [100.0, second.0[0]];
    for (i, point) in posterior.points.iter().enumerate() {
        let j = 1 - i;
        let gap = start[i] - start[j];
        let (k, width) = (1.0 / 3.0, gap * gap / 3_f64.ln());
        let pull = 5.0 / 10.0 * (start[i] + k * start[j]) / 2.0;
        let push = 2.0 / (width * 10.0) * k * gap / 2.0;
        let expected = start[i] - 0.001 * (pull - push);
        assert!((point.theta.0[0] - expected).abs() < 1e-9, "{} {expected}", point.theta.0[0]);
    }
}

/// T50. With a mean loss the divergence has the weight 1 / N, and it is a sum over parameters: bayesian-torch's examples
/// divide by the batch and average over weights. Without data the closest Gaussian is the prior, whatever `N`; there
/// KL(q, q) = 0 and its gradient is 0.
#[test]
fn without_data_the_closest_gaussian_is_the_prior() {
    for (examples, std) in [(10, 0.5_f64), (1000, 3.0)] {
        let settings = json!({"epochs": 4000, "lr": 0.05, "log_std_lr": 0.05, "samples": 20, "initial_std": 0.1});
        let mut target = Plane { precision: std.powi(-2), start: 1.0, ..Plane::flat(examples, 50) };
        let posterior = run(&method("vi", settings.clone()), &mut target, 2);
        for r in &posterior.factors[0][0].0 {
            close(r.exp(), std, 0.01, "the prior's standard deviation");
        }
        let all: Vec<f64> = posterior.points.into_iter().flat_map(|p| p.theta.0).collect();
        close(variance(&all), std * std, 0.2, "of samples");
        let mut there = settings;
        there["initial_std"] = json!(std);
        let mut target = Plane { precision: std.powi(-2), ..Plane::flat(examples, 50) };
        let posterior = run(&method("vi", there), &mut target, 2);
        assert!(
            posterior.factors[0][0].0.iter().all(|r| (r - std.ln()).abs() < 1e-6),
            "KL(q, q) = 0"
        );
    }
}

/// T50. On a slope the data pull the mean by `N`, and the divergence holds it back by its weight: `m = -slope N s^2 / w`.
#[test]
fn the_divergence_weighs_what_was_asked_for() {
    for weight in [1.0, 0.5] {
        let mut target = Plane { precision: 4.0, slope: 0.1, ..Plane::flat(10, 1) };
        let settings = json!({"epochs": 4000, "lr": 0.05, "samples": 1, "kl_weight": weight, "kl_warm_up": 100});
        let rule = run(&method("vi", settings), &mut target, 2);
        let last = *target.visited.last().expect("steps");
        let std = rule.factors[0][0].0[0].exp();
        assert!((last + 0.1 * 10.0 / (4.0 * weight)).abs() < 5.0 * std, "{last} for {weight}");
        // The variance of a linear loss is the prior's, whatever the weight.
        close(std, 0.5, 0.02, "the standard deviation");
    }
}

/// T50. The weight of the divergence rises by as much in every step of the warm-up, the last of which has all of it. On flat data
/// the prior alone pulls: at step `k` of `W` a mean loses `lr p min(k / W, 1) / N` of itself, and a factor as much of its
/// distance from 1.
#[test]
fn the_weight_of_the_divergence_rises_step_by_step() {
    let (examples, lr, epochs) = (10, 0.05, 5);
    let left = |precision: f64, warm_up: usize, steps: usize| -> f64 {
        let weight = |k: usize| 0.7 * (k as f64 / (3 * warm_up).max(1) as f64).min(1.0);
        (1..=steps).map(|k| 1.0 - lr * weight(k) * precision / examples as f64).product()
    };
    for warm_up in [0, 2, 100] {
        let settings = json!({"epochs": epochs, "lr": lr, "optimiser": "sgd", "momentum": 0.0, "schedule": "constant",
            "initial_std": 1e-9, "log_std_lr": 1e-9, "samples": 1, "kl_weight": 0.7, "kl_warm_up": warm_up});
        let flat = Plane { batches: 3, start: 2.0, ..Plane::flat(examples, 30) };
        let mut target = Plane { precision: 20.0, ..flat };
        run(&method("vi", settings.clone()), &mut target, 2);
        assert_eq!(target.visited.len(), 3 * epochs);
        for (steps, mean) in target.visited.iter().enumerate() {
            close(*mean, 2.0 * left(20.0, warm_up, steps), 1e-6, "a mean");
        }
        let mut of_factors = settings;
        of_factors["components"] = json!(1);
        of_factors["factor_prior_std"] = json!(0.5);
        let mut target = Plane { batches: 3, start: 2.0, ..Plane::flat(examples, 30) };
        let posterior = run(&method("rank1-vi", of_factors), &mut target, 2);
        // From random signs: at 1 they stay, from -1 they come.
        let expected = 1.0 - 2.0 * left(4.0, warm_up, 3 * epochs);
        let means = &posterior.factors[0][0].0;
        let near = |value: f64| means.iter().filter(|mean| (**mean - value).abs() < 1e-6).count();
        assert_eq!(near(1.0) + near(expected), means.len(), "{means:?}, not {expected}");
        assert!(near(1.0) > 5 && near(expected) > 5, "{means:?}");
    }
}

/// Means and log standard deviations have optimisers of their own: by plain descent a mean moves as far as its gradient
/// and rate say, and a first step of Adam is as long as its own rate, whatever the gradient.
#[test]
fn log_standard_deviations_move_at_a_rate_of_their_own() {
    for (lr, own) in [(0.01, 0.2), (0.2, 0.003)] {
        let settings = json!({"epochs": 1, "lr": lr, "optimiser": "sgd", "momentum": 0.0, "schedule": "constant",
            "log_std_lr": own, "initial_std": 0.1, "samples": 400});
        let mut target = Plane { precision: 4.0, start: 3.0, ..Plane::flat(10, 50) };
        let posterior = run(&method("vi", settings.clone()), &mut target, 2);
        let all: Vec<f64> = posterior.points.iter().flat_map(|p| p.theta.0.clone()).collect();
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        assert!((mean - 3.0 * (1.0 - lr * 4.0 / 10.0)).abs() < 0.005, "{lr}: {mean}");
        let mut of_factors = settings;
        of_factors["components"] = json!(1);
        of_factors["factor_prior_std"] = json!(0.5);
        let factors = run(&method("rank1-vi", of_factors), &mut target, 2).factors;
        // Both are narrower than their priors, and widen.
        for log_std in posterior.factors[0][0].0.iter().chain(&factors[0][1].0) {
            close(log_std - 0.1_f64.ln(), own, 1e-4, "the first step of a log standard deviation");
        }
    }
}

/// T53. The curvature is a mean of products over draws; Beyond_Deep_Ensembles multiplies the means of several draws, whose
/// curvature is too small by their number. With 8 draws a step the precision is that of one.
#[test]
fn the_curvature_of_several_draws_is_the_mean_of_their_products() {
    let of = |draws: usize| {
        let mut target = LinearRegression::new(20, 2.0);
        let settings = json!({"epochs": 80_000 / draws, "draws": draws, "lr": 0.05, "curvature": 0.1, "curvature_momentum": 0.9995, "samples": 1});
        run(&method("ivon", settings), &mut target, 3).factors[0][0].0.clone()
    };
    let [[a, _], [_, b]] = LinearRegression::new(20, 2.0).hessian();
    for (found, expected) in of(8).iter().zip([a, b]) {
        close(*found, expected, 0.1, "the precision by 8 draws a step");
    }
}

/// T53. However wild an estimate of the curvature, the precision stays positive: where a loss is concave it falls and
/// never reaches 0.
#[test]
fn the_precision_stays_positive_where_the_loss_is_concave() {
    struct Dome;
    impl Analytic for Dome {
        fn examples(&self) -> usize {
            10
        }
        fn prior_precision(&self) -> f64 {
            0.1
        }
        fn batches(&self) -> usize {
            1
        }
        fn start(&self) -> Flat<f64> {
            Flat(vec![0.0; 20])
        }
        fn slices(&self) -> Vec<Slice> {
            vec![Slice { name: "layer.weight".to_string(), range: 0..20 }]
        }
        fn batch(&mut self, theta: &Flat<f64>, _: usize, _: usize, out: &mut Flat<f64>) -> f64 {
            self.whole(theta, out)
        }
        fn whole(&mut self, theta: &Flat<f64>, out: &mut Flat<f64>) -> f64 {
            out.0.iter_mut().zip(&theta.0).for_each(|(g, x)| *g = -5.0 * x.sin());
            self.whole_loss(theta)
        }
        fn whole_loss(&mut self, theta: &Flat<f64>) -> f64 {
            theta.0.iter().map(|x| 5.0 * x.cos()).sum()
        }
    }
    let settings = json!({"epochs": 300, "lr": 1e-6, "curvature_momentum": 0.5, "samples": 2});
    let posterior = run(&method("ivon", settings), &mut Dome, 1);
    assert!(posterior.factors[0][0].0.iter().all(|p| *p > 0.0 && p.is_finite()));
}

/// T51. With a scale-mixture prior the divergence has the entropy of the posterior in it; Beyond_Deep_Ensembles leaves it
/// out, and uses one weight for both parts. Without data the closest Gaussian has the standard deviation where
/// `E_q -log p(theta) - log std` is least, here by the rule of rectangles.
#[test]
fn under_a_scale_mixture_prior_the_closest_gaussian_is_found() {
    use dubio_infer::prior::ScaleMixture;
    let mixture = ScaleMixture { wide_std: 1.0, narrow_std: 0.1, wide_fraction: 0.25 };
    let divergence = |log_std: f64| {
        let step = 0.01;
        let cross: f64 = (-600..600)
            .map(|i| {
                let z = (f64::from(i) + 0.5) * step;
                (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt()
                    * step
                    * mixture.at(z * log_std.exp()).0
            })
            .sum();
        cross - log_std
    };
    let best = (0..4000)
        .map(|i| -4.0 + f64::from(i) * 0.001)
        .min_by(|a, b| divergence(*a).total_cmp(&divergence(*b)));
    let best = best.expect("some");
    assert!(best.exp() > 0.105 && best.exp() < 0.9, "between both: {}", best.exp());
    let settings = json!({"epochs": 8000, "lr": 0.01, "log_std_lr": 0.01, "draws": 4, "samples": 1, "prior": "scale-mixture", "narrow_std": 0.1,
        "wide_fraction": 0.25, "initial_std": 0.1});
    let mut target = Plane { precision: 1.0, ..Plane::flat(10, 40) };
    let posterior = run(&method("vi", settings), &mut target, 2);
    let mean = posterior.factors[0][0].0.iter().sum::<f64>() / 40.0;
    assert!((mean - best).abs() < 0.03, "{} {}", mean.exp(), best.exp());
}

/// T56. The prior of rank-1 factors is around 1, not 0: without data every component ends there, from random signs, and its
/// divergence is KL(q, q) = 0.
#[test]
fn without_data_rank_one_factors_are_around_one() {
    for (examples, std) in [(10, 0.3_f64), (1000, 0.1)] {
        let settings = json!({"epochs": 6000, "lr": 0.02, "log_std_lr": 0.02, "components": 3, "samples": 3,
            "factor_prior_std": std});
        let mut target = Plane { start: 1.0, ..Plane::flat(examples, 40) };
        let posterior = run(&method("rank1-vi", settings), &mut target, 2);
        assert_eq!(posterior.factors[0].len(), 2 * 3, "means and spreads of three components");
        for component in posterior.factors[0].chunks(2) {
            for (mean, log_std) in component[0].0.iter().zip(&component[1].0) {
                close(*mean, 1.0, 0.01, "the prior's mean");
                close(log_std.exp(), std, 0.01, "the prior's standard deviation");
            }
        }
        let (_, kl) = posterior.records[0].report[0];
        assert!(kl.abs() < 0.01, "KL(q, q) = 0, not {kl}");
    }
}

/// T56. Beyond_Deep_Ensembles crashes on layers with a bias, gives linear layers one component, and puts the bias under the
/// factors. Here all layers have them, means start at random signs, and biases and normalisation are those of all samples.
#[test]
fn every_layer_has_rank_one_components_and_biases_stay_outside_of_them() {
    let settings = json!({"components": 2, "samples": 2, "epochs": 1, "batch": 40, "lr": 1e-6, "initial_std": 1e-9});
    for network in ["mlp-20-20", "resnet20-cifar"] {
        let fitted = on_digits(&recipe("rank1-vi", settings.clone()), network, 80);
        let training = Training::new(&Single::default(), &digits(80), &[]).expect("digits");
        let network = recipe("sgd", json!({})).network(network, &training).expect("a network");
        let [a, b] = [0, 1].map(|k| &fitted.posterior.points[k].theta.0);
        let mut outside = vec![true; a.len()];
        for matrix in network.matrices() {
            outside[matrix.range.clone()].fill(false);
            let pairs = || a[matrix.range.clone()].iter().zip(&b[matrix.range.clone()]);
            // Factors of a sign and next to no spread: the same weights, half of them turned round.
            assert!(pairs().all(|(a, b)| (a.abs() - b.abs()).abs() < 1e-3));
            let turned = pairs().filter(|(a, b)| *a * *b < 0.0).count();
            let share = turned as f64 / matrix.range.len() as f64;
            // A convolution of three channels may well have the same signs by chance.
            let few = matrix.factors() < 20;
            assert!(few || (0.1..0.9).contains(&share), "{share} of {}", matrix.range.len());
        }
        assert!(outside.iter().any(|outside| *outside), "biases or normalisation");
        assert!((0..a.len()).filter(|i| outside[*i]).all(|i| a[i] == b[i]), "shared by all");
    }
}

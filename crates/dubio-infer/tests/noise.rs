//! The noise of a regression: predicted for every example, shared by all, or known.

mod support;

use dubio_infer::fit::Options;
use dubio_infer::fitted::Fitted;
use dubio_infer::likelihood::{FixedNoise, Gaussian as PerExample, Likelihood, SharedNoise};
use dubio_infer::predict::{Predicted, TestTime};
use dubio_infer::training::Training;
use dubio_nn::engine::{Engine, Model};
use dubio_nn::{Double, Single};
use dubio_random::stream::Stream;
use faer::Side;
use faer::prelude::Solve;
use serde_json::{Value, json};
use support::answers::known_answers;
use support::last_layer::{assert_posterior, features, table};
use support::*;

fn fitted(name: &str, settings: Value) -> Fitted<Double> {
    let recipe = recipe(name, settings);
    let fit =
        recipe.fit(&Double::default(), "mlp-3", &table(), &Stream::root(4), &Options::default());
    fit.unwrap_or_else(|e| panic!("{}", e.error))
}

fn predicted(fitted: &Fitted<Double>) -> Predicted {
    fitted.predict(&table(), &TestTime::default(), &Stream::root(1)).expect("numbers")
}

#[test]
fn with_a_known_noise_the_last_layer_has_the_posterior_of_linear_regression() {
    let chain = json!({"burn_in": 300, "samples": 8000, "leapfrog": 12, "step": 0.1});
    assert_posterior(&Double::default(), "hmc", chain);
    assert_posterior(&Double::default(), "nuts", json!({"burn_in": 300, "samples": 8000}));
}

/// In double and in single precision, of which the second is what a GPU has.
#[test]
fn what_is_known_of_methods_on_the_last_layer_is_found_through_an_engine() {
    for (_, is_found) in known_answers() {
        is_found(&Double::default());
    }
    for (_, is_found) in known_answers() {
        is_found(&Single::default());
    }
}

/// Without a prior the most probable shared noise is the root of the mean square of what the best line misses.
#[test]
fn a_shared_noise_is_learnt_and_is_the_same_for_every_example() {
    let settings = json!({"layers": "last", "noise": "shared", "weight_decay": 0.0, "epochs": 6000, "lr": 0.05,
        "batch": 40});
    let fitted = fitted("sgd", settings);
    let theta = &fitted.posterior.points[0].theta.0;
    assert_eq!(theta.len(), 6 + 3 + 3 + 1 + 1);
    let (phi, y, unit) = features(theta);
    let best = (phi.transpose() * &phi).llt(Side::Lower).expect("positive");
    let best = best.solve(&(phi.transpose() * &y));
    let missed = &phi * &best - &y;
    let std = (missed.squared_norm_l2() / 40.0).sqrt();
    let values = predicted(&fitted).values;
    assert!(values.chunks(2).all(|pair| pair[1] == values[1]), "one noise for all");
    assert!(
        (f64::from(values[1]) / (std * unit) - 1.0).abs() < 1e-3,
        "{} {}",
        values[1],
        std * unit
    );
}

#[test]
fn a_known_noise_is_predicted_as_it_was_given_in_the_unit_of_the_targets() {
    let predicted = predicted(&fitted("sgd", json!({"noise": 2.5, "epochs": 3, "batch": 40})));
    assert_eq!(predicted.shape, [1, 40, 2]);
    assert!(
        predicted.values.chunks(2).all(|pair| pair[1] == 2.5 && (100.0..500.0).contains(&pair[0]))
    );
    let folder = scratch();
    predicted.write(&folder.path().join("p.npz")).expect("written");
}

/// The gradient of the loss of a known noise, by differences; the loss is the negative log density.
#[test]
fn the_loss_of_a_known_noise_is_the_density_of_a_gaussian() {
    use dubio_infer::likelihood::FixedNoise;
    use dubio_nn::loss::{Loss, Truth};
    let (loss, targets) = (FixedNoise { std: 0.5 }, [1.0, -2.0]);
    let at = |outputs: [f64; 2]| {
        let mut gradient = [0.0; 2];
        (loss.mean(&outputs, Truth::Targets(&targets), &[0, 1], &mut gradient), gradient)
    };
    let (value, gradient) = at([0.7, -1.0]);
    // -log N(1; 0.7, 0.5) = 0.4057914; -log N(-2; -1, 0.5) = 2.2257914: scipy.stats.norm.logpdf.
    assert!(
        (value - 0.5 * (0.405_791_352_644_727_4 + 2.225_791_352_644_727)).abs() < 1e-12,
        "{value}"
    );
    for k in 0..2 {
        let moved = |h: f64| {
            let mut outputs = [0.7, -1.0];
            outputs[k] += h;
            at(outputs).0
        };
        assert!(((moved(1e-6) - moved(-1e-6)) / 2e-6 - gradient[k]).abs() < 1e-8);
    }
}

#[test]
fn a_noise_is_refused_where_there_are_classes() {
    for noise in [json!("shared"), json!(0.1)] {
        let recipe = recipe("sgd", json!({"noise": noise, "batch": 40}));
        let fit = recipe.fit(
            &Double::default(),
            "mlp-3",
            &digits(60),
            &Stream::root(1),
            &Options::default(),
        );
        let message = fit.err().expect("refused").error.to_string();
        assert!(message.contains("`noise`") && message.contains("leave it out"), "{message}");
    }
}

/// Members, checkpoints and predictions know nothing of the noise; every method runs with each kind that it can predict.
#[test]
fn every_method_runs_with_every_noise() {
    for noise in [json!("shared"), json!(3.0)] {
        for recipe in quick_recipes(&json!({"members": 1, "noise": noise, "batch": 40})) {
            let name = recipe.method.card().name;
            let fit = recipe.fit(
                &Double::default(),
                "mlp-3",
                &table(),
                &Stream::root(4),
                &Options::default(),
            );
            // One network that stands for many has to predict their spread, which is no known number.
            if recipe.method.is_taught() && noise.is_number() {
                let message = fit.err().expect("refused").error.to_string();
                assert!(message.contains("leave `noise` out"), "{message}");
                continue;
            }
            let fitted = fit.unwrap_or_else(|e| panic!("{name}: {}", e.error));
            assert_eq!(predicted(&fitted).shape[2], 2, "{name}");
        }
    }
}

/// The Fisher information of `Normal(m, s^2)` is `1 / s^2` for `m`, 2 for `log s`, and 0 between them.
#[test]
fn gradients_of_drawn_targets_have_the_fisher_information_of_their_noise() {
    let (examples, s) = (40_000, 0.4_f64);
    let all: [(&dyn Likelihood, Vec<f64>); 3] = [
        (&PerExample, vec![1.7, s.ln()]),
        (&SharedNoise, vec![1.7, s.ln()]),
        (&FixedNoise { std: s }, vec![1.7]),
    ];
    for (likelihood, row) in all {
        let curved = likelihood.curved().expect("a curvature");
        let drawn = curved.drawn(&row.repeat(examples), &Stream::root(6));
        assert_eq!(drawn.len(), examples * row.len());
        let mean = |i: usize, j: usize| {
            drawn.chunks(row.len()).map(|g| g[i] * g[j]).sum::<f64>() / examples as f64
        };
        // More than five standard errors, which are sqrt(2 / n), sqrt(56 / n) and sqrt(10 / n).
        assert!((mean(0, 0) * s * s - 1.0).abs() < 0.04, "{}", mean(0, 0));
        if row.len() == 2 {
            assert!((mean(1, 1) - 2.0).abs() < 0.2, "{}", mean(1, 1));
            assert!((mean(0, 1) * s).abs() < 0.1, "{}", mean(0, 1));
        }
    }
}

/// A shared noise is a layer of its own: its gradient reaches it, and what comes before it too.
#[test]
fn the_network_of_a_shared_noise_ends_with_it() {
    let engine = Double::default();
    let noise = dubio_infer::noise::Noise::Shared;
    let training = Training::with_noise(&engine, &table(), &[], noise).expect("a table");
    let network = recipe("sgd", json!({})).network("mlp-3", &training).expect("a network");
    let names: Vec<String> = network.slices().into_iter().map(|slice| slice.name).collect();
    assert_eq!(names.last().map(String::as_str), Some("noise.value"));
    let last = recipe("sgd", json!({"layers": "last"})).setup.layers.range(&network.slices());
    assert_eq!(last.expect("layers"), Some(9..14), "the last layer and the noise");
    let mut model = engine.model(&network, 4);
    let mut point = model.start(&Stream::root(1));
    point.theta.0[13] = 0.25;
    let mut out = Vec::new();
    model.predict(&point, &[0.0; 8], None, &mut out);
    assert!(out.chunks(2).all(|pair| pair[1] == 0.25), "{out:?}");
}

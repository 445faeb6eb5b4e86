//! Dropout, and ensembles.

use dubio_infer::methods::CARDS;
use dubio_infer::predict::TestTime;
use dubio_infer::training::Training;
use dubio_nn::cpu;
use dubio_nn::engine::{Engine, Model};
use dubio_nn::loss::Truth;
use dubio_random::stream::Stream;
use serde_json::{Value, json};

use crate::support::*;
use crate::{Single, on_digits, variance};

/// T52. URSABench ignores the rate it is given; Beyond_Deep_Ensembles forgets to divide by 1 - p
/// when it predicts. Each number behind the layer is 0, or the one before it over 1 - p.
#[test]
fn dropout_has_the_rate_that_was_set_in_training_and_in_prediction() {
    for rate in [0.0, 0.2, 0.6] {
        let recipe = recipe("mc-dropout", json!({"rate": rate, "position": "linear-and-inputs"}));
        let data = digits(60);
        let training = Training::new(&Single::default(), &data, &[]).expect("digits");
        let inputs: Vec<f32> = training.scaling().inputs(&data).expect("digits");
        let network = recipe.network("mlp-300", &training).expect("a network");
        let nodes = network.nodes().iter();
        let place = |name: &str| nodes.clone().position(|node| node.name == name).expect(name);
        let mut model = Single::default().model(&network, 60);
        let (mut point, noise) = (model.start(&Stream::root(1)), Stream::root(2));
        let labels = vec![0; 60];
        // In training every number has a chance of its own, in prediction every unit.
        let check = |model: &cpu::Model<f32>, [before, after]: [&str; 2], chances: usize| {
            let what = format!("{after}, {chances} chances");
            let (inside, outside) =
                (model.activations(place(before)), model.activations(place(after)));
            let active: Vec<(f32, f32)> = inside
                .iter()
                .zip(outside)
                .filter(|(x, _)| **x != 0.0)
                .map(|(x, y)| (*x, *y))
                .collect();
            let left_out = active.iter().filter(|(_, y)| *y == 0.0).count() as f64;
            let fraction = left_out / active.len() as f64;
            let error = (rate * (1.0 - rate) / chances.min(active.len()) as f64).sqrt();
            assert!((fraction - rate).abs() <= 5.0 * error, "{what}: {fraction}, not {rate}");
            let kept = active.iter().filter(|(_, y)| *y != 0.0);
            let factors = kept.map(|(x, y)| f64::from(y / x) * (1.0 - rate));
            assert!(factors.into_iter().all(|f| (f - 1.0).abs() < 1e-5), "{what}");
        };
        let mut gradient = point.theta.clone();
        let batch = (&inputs[..], Truth::Labels(&labels));
        model.loss_and_gradient(&mut point, batch, Some(&noise), &mut gradient);
        let [hidden, read] = [["relu1", "fc2.dropout"], ["flatten", "fc1.dropout"]];
        check(&model, hidden, usize::MAX);
        check(&model, read, usize::MAX);
        model.predict(&point, &inputs, Some(&noise), &mut Vec::new());
        check(&model, hidden, 300);
        check(&model, read, 64);
    }
}

/// T52. And the rate reaches what is trained and what is written: at 0 it is plain descent.
#[test]
fn without_dropout_the_passes_are_those_of_descent_and_with_more_they_spread_more() {
    let data = digits(60);
    let of = |name: &str, settings: Value| {
        let fitted = on_digits(&recipe(name, settings), "mlp-30", 60);
        let predicted = fitted.predict(&data, &TestTime::default(), &Stream::root(1));
        predicted.unwrap_or_else(|e| panic!("{e}"))
    };
    let plain = of("sgd", json!({"epochs": 2, "batch": 30})).values;
    let spread = |rate: f64, name: &str| {
        let settings = json!({"epochs": 2, "batch": 30, "samples": 8, "rate": rate});
        let values = of(name, settings).values;
        let of_logit = |i: usize| {
            variance(&(0..8).map(|p| f64::from(values[p * 600 + i])).collect::<Vec<_>>())
        };
        ((0..600).map(of_logit).sum::<f64>() / 600.0, values)
    };
    for name in ["mc-dropout", "gaussian-dropout"] {
        let (none, values) = spread(0.0, name);
        assert!(none == 0.0 && values[..600] == plain[..], "{name}");
        let (little, much) = (spread(0.05, name).0, spread(0.5, name).0);
        assert!(little > 0.0 && much > 4.0 * little, "{name}: {little} {much}");
    }
}

/// T57. Beyond_Deep_Ensembles divides a budget of samples among members and drops the remainder.
/// Here each member has as many as were asked for, and the file holds them all.
#[test]
fn the_number_of_forward_passes_is_what_was_asked_for() {
    for (name, settings, passes) in [
        ("deep-ensemble", json!({"epochs": 1}), 5),
        ("deep-ensemble", json!({"epochs": 1, "members": 3}), 3),
        ("mc-dropout", json!({"epochs": 1, "samples": 7, "members": 2}), 14),
        ("gaussian-dropout", json!({"epochs": 1, "samples": 7}), 7),
        ("sgld", json!({"burn_in": 0, "samples": 3, "members": 2}), 6),
        (
            "swag",
            json!({"epochs": 0, "collect_epochs": 2, "collect": 2, "samples": 3, "members": 3}),
            9,
        ),
    ] {
        let mut settings = settings;
        settings["batch"] = json!(30);
        let fitted = on_digits(&recipe(name, settings), "mlp-4", 60);
        assert_eq!(fitted.samples(), passes, "{name}");
        let predicted = fitted.predict(&digits(60), &TestTime::default(), &Stream::root(1));
        assert_eq!(predicted.expect("predicted").shape, [passes, 60, 10], "{name}");
    }
}

/// T58. A script of pytorch-ensembles looks for the method in the argument that has the number of the run, so that the
/// branch of snapshot ensembles is never taken. Every name here is read as the method of that name, and written as it.
#[test]
fn every_name_is_the_method_of_that_name() {
    for card in CARDS {
        let method = method(card.name, json!({}));
        assert_eq!(method.card().name, card.name);
        let written = serde_json::to_value(&method).expect("a table");
        assert_eq!(written["method"], card.name);
    }
    let cycles = |name: &str, settings: Value| {
        let mut target = LinearRegression { start: [3.0, -2.0], ..LinearRegression::new(20, 2.0) };
        contents(&run(&method(name, settings), &mut target, 1))
    };
    let snapshot = cycles("snapshot", json!({"samples": 2, "cycle_epochs": 3, "lr": 0.05}));
    for name in ["csgld", "csghmc"] {
        let settings = json!({"samples": 2, "cycle_epochs": 3, "noise_epochs": 1, "cycle_samples": 1, "lr": 0.05});
        assert_ne!(cycles(name, settings), snapshot, "{name}");
    }
}

/// T27. URSABench builds every trial from one network that has been trained already.
#[test]
fn every_member_starts_from_numbers_of_its_own() {
    // Steps too small to move a number of 32 bits: the samples are the starts.
    let settings = json!({"epochs": 1, "lr": 1e-30, "members": 4, "batch": 30});
    let points =
        on_digits(&recipe("deep-ensemble", settings), "preresnet20/8", 60).posterior.points;
    for (index, point) in points.iter().enumerate() {
        for other in &points[..index] {
            let same = point.theta.0.iter().zip(&other.theta.0).filter(|(a, b)| a == b).count();
            // Scales and shifts of normalisation start at 1 and 0 in every network.
            assert!(same < point.theta.0.len() / 4, "{same} of {}", point.theta.0.len());
        }
    }
}

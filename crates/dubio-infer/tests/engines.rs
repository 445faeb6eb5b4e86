//! Two engines that share nothing but the contract agree on every method.

mod plain_engine;
mod support;

use dubio_infer::attack::{Attack, Rule};
use dubio_infer::fit::Options;
use dubio_infer::fitted::Fitted;
use dubio_infer::predict::TestTime;
use dubio_infer::recipe::Recipe;
use dubio_nn::Double;
use dubio_nn::engine::{Engine, Vector};
use dubio_random::stream::Stream;
use plain_engine::Plain;
use serde_json::json;
use support::*;

fn fitted<E: Engine>(engine: &E, recipe: &Recipe, network: &str) -> Fitted<E> {
    let data = digits(80);
    let fit = recipe.fit(engine, network, &data, &Stream::root(5), &Options::default());
    fit.unwrap_or_else(|e| panic!("{}: {}", recipe.method.card().name, e.error))
}

/// All that comes of a recipe: weights, losses, predictions, predictions under attack.
fn all<E: Engine>(engine: &E, recipe: &Recipe, network: &str) -> Vec<f64> {
    let fitted = fitted(engine, recipe, network);
    let data = digits(100).subset(&(80..100).collect::<Vec<_>>());
    let stream = Stream::root(6);
    let plain = fitted.predict(&data, &TestTime::default(), &stream).expect("predicted");
    let attack = Attack { rule: Rule::Fgsm, epsilon: 0.05 };
    let attacked = fitted.predict_attacked(&data, &attack, &stream).expect("attacked");
    let points = fitted.posterior.points.iter().flat_map(|p| p.theta.read(0..p.theta.len()));
    let losses = fitted.posterior.records.iter().flat_map(|record| record.losses.clone());
    let values = plain.values.into_iter().chain(attacked.values).map(f64::from);
    points.chain(losses).chain(values).collect()
}

fn agree(recipe: &Recipe, network: &str) {
    let (first, second) = (all(&Double::default(), recipe, network), all(&Plain, recipe, network));
    assert_eq!(first.len(), second.len());
    let apart = first.iter().zip(&second).map(|(a, b)| (a - b).abs() / (1.0 + a.abs()));
    let apart = apart.fold(0.0, f64::max);
    assert!(apart < 1e-5, "{} on {network}: {apart}", recipe.method.card().name);
}

#[test]
fn every_method_is_the_same_on_a_second_engine() {
    for recipe in quick_recipes(&json!({"members": 1})) {
        agree(&recipe, "mlp-4-3");
    }
    for structure in ["diag", "units", "kfac", "full"] {
        let settings = json!({"epochs": 3, "batch": 40, "structure": structure});
        agree(&recipe("laplace", settings), "mlp-4-3");
    }
    for directions in ["gaussian", "orthogonal"] {
        let settings = json!({"epochs": 3, "batch": 40, "features": 7, "directions": directions});
        agree(&recipe("sngp", settings), "mlp-4-3");
    }
}

#[test]
fn layers_members_and_warm_ups_are_the_same_on_a_second_engine() {
    for settings in [
        json!({"members": 2}),
        json!({"members": 1, "layers": "last"}),
        json!({"members": 1, "layers": ["fc2"]}),
        json!({"members": 1, "warm_up": {"method": "sgd", "epochs": 2, "batch": 40}}),
    ] {
        for recipe in quick_recipes(&settings) {
            agree(&recipe, "mlp-4-3");
        }
    }
}

//! Layers that move, and layers that stay.

use dubio_infer::fit::{self, Options};
use dubio_infer::problem::{Problem, Start};
use dubio_infer::recipe::Recipe;
use dubio_infer::subnetwork::Subnetwork;
use dubio_infer::target::Target as _;
use dubio_infer::training::Training;
use dubio_nn::Double;
use dubio_nn::cpu::Flat;
use dubio_nn::engine::{Engine, Model};
use dubio_nn::network::Network;
use dubio_random::stream::Stream;
use serde_json::json;

use crate::support::*;
use crate::{Single, fitted, keeps_widths};

/// Where a single member begins.
fn begin(recipe: &Recipe, network: &str, seed: u64) -> (Flat<f32>, Network) {
    let engine = Single::default();
    let training = Training::new(&engine, &digits(80), &[]).expect("digits");
    let network = recipe.network(network, &training).expect("a network");
    let stream = Stream::root(seed).child("member").nth(0).child("start");
    (engine.model(&network, 1).start(&stream).theta, network)
}

#[test]
fn with_layers_only_those_named_move() {
    for (layers, moves) in [
        (json!("last"), &["fc3"][..]),
        (json!(["fc2"]), &["fc2"]),
        (json!(["fc2", "fc3"]), &["fc2", "fc3"]),
        (json!("all"), &["fc1", "fc2", "fc3"]),
    ] {
        for recipe in quick_recipes(&json!({"members": 1, "layers": layers})) {
            let (start, network) = begin(&recipe, "mlp-4-3", 6);
            for point in fitted(&recipe, "mlp-4-3", 80, 6).posterior.points {
                assert_eq!(point.theta.0.len(), start.0.len());
                for slice in network.slices() {
                    let layer = slice.name.split('.').next().expect("a name");
                    let stays = point.theta.0[slice.range.clone()] == start.0[slice.range];
                    let name = recipe.method.card().name;
                    // Where a chain refuses all its moves, nothing moves.
                    let still = name == "hmc" && stays;
                    assert!(stays != moves.contains(&layer) || still, "{name} {layers} {layer}");
                }
            }
        }
    }
}

/// What layers that stay make of the inputs is worked out once; the chain is the same as if it were
/// worked out at every step.
#[test]
fn layers_that_stay_are_as_good_as_never_looked_at_again() {
    let (seed, network) = (6, "mlp-4-3");
    for layers in [json!("last"), json!(["fc2"]), json!(["fc2", "fc3"])] {
        for recipe in quick_recipes(&json!({"members": 1, "layers": layers})) {
            let name = recipe.method.card().name;
            let data = digits(80);
            let root = Stream::root(seed);
            let fast = recipe.fit(&Double::default(), network, &data, &root, &Options::default());
            let fast = fast.unwrap_or_else(|e| panic!("{name}: {}", e.error)).posterior;

            let engine = Double::default();
            let training = Training::new(&engine, &data, &[]).expect("digits");
            let network = recipe.network(network, &training).expect("a network");
            let task = task(&training, recipe.prior_precision(training.len()));
            let stream = root.child("member").nth(0);
            let moving = recipe.setup.layers.range(&network.slices()).expect("layers");
            let moving = moving.expect("not all");
            let held = Some(moving.clone());
            let problem = Problem::new(&engine, &network, &task, 40, held, Start::Fresh, &stream);
            let mut problem = problem.expect("a problem");
            let mut part = Subnetwork::new(&mut problem, moving);
            let rule = recipe.method.rule(&part.start(0).theta);
            let slow = fit::fit(rule, &mut part, &stream, 0, &Options::default());
            let slow = slow.unwrap_or_else(|e| panic!("{name}: {}", e.error));
            assert_eq!(fast.points.len(), slow.points.len(), "{name}");
            for (fast, slow) in fast.points.into_iter().zip(slow.points) {
                let slow = part.complete(slow);
                let pairs = fast.theta.0.iter().zip(&slow.theta.0);
                let apart =
                    pairs.fold(0.0, |most: f64, (a, b): (&f64, &f64)| most.max((a - b).abs()));
                assert!(apart < 1e-9, "{name} {layers}: {apart}");
            }
        }
    }
}

/// A layer that stays is a function: it normalises by the statistics that it has, and these stay too.
#[test]
fn layers_that_stay_keep_their_running_statistics() {
    let start = json!({"batch": 40, "epochs": 2});
    let trained = fitted(&recipe("sgd", start), "preresnet20/8", 80, 1);
    let folder = scratch();
    let weights = folder.path().join("start.safetensors");
    std::fs::write(&weights, &trained.weights().expect("weights")[0]).expect("written");
    let begin = &trained.posterior.points[0];
    let part = json!(["layer3", "bn", "fc"]);
    // Augmented images are run through the layers that stay at every step, others only once.
    for (layers, augment, moving) in
        [(json!("last"), json!([]), 0), (json!("last"), json!(["flip"]), 0), (part, json!([]), 1)]
    {
        let settings =
            json!({"members": 1, "start": weights, "layers": layers, "augment": augment});
        let settings = quick_recipes(&settings).into_iter().filter(keeps_widths);
        for recipe in settings.filter(|recipe| moving == 0 || recipe.method.bears_batch_norm()) {
            for point in fitted(&recipe, "preresnet20/8", 80, 6).posterior.points {
                let name = recipe.method.card().name;
                let pairs = point.statistics.0.iter().zip(&begin.statistics.0);
                let moved = pairs.filter(|(a, b)| a != b).count();
                assert_eq!(moved > 0, moving > 0, "{name} {layers}: {moved} statistics moved");
                assert!(moved < begin.statistics.0.len() / 2 + begin.statistics.0.len() / 4);
            }
        }
    }
}

/// A plan accepts what can be run: all methods on the last layer, and those that need a potential on no layers that
/// normalise over the batch.
#[test]
fn methods_that_need_a_potential_move_no_batch_normalisation() {
    let engine = Single::default();
    let training = Training::new(&engine, &digits(80), &[]).expect("digits");
    for (layers, moves) in
        [(json!("last"), false), (json!(["bn", "fc"]), true), (json!("all"), true)]
    {
        for recipe in quick_recipes(&json!({"layers": layers})) {
            let network = recipe.network("preresnet20/8", &training).expect("a network");
            let suits = recipe.suits(&network);
            assert_eq!(suits.is_ok(), !moves || recipe.method.bears_batch_norm(), "{suits:?}");
            if let Err(error) = suits {
                assert!(error.to_string().contains("layers = \"last\""), "{error}");
            }
        }
    }
}

#[test]
fn unknown_layers_are_refused_with_the_list_of_those_there_are() {
    for (layers, expected) in [
        (json!(["fc2", "fc9"]), "no layer is called `fc9`; there are fc1, fc2, fc3"),
        (json!("first"), "no layer is called `first`; there are fc1, fc2, fc3"),
        (json!(["fc1", "fc3"]), "must be consecutive"),
    ] {
        let recipe = recipe("sgd", json!({"layers": layers, "batch": 40}));
        let fit = recipe.fit(
            &Single::default(),
            "mlp-4-3",
            &digits(80),
            &Stream::root(0),
            &Options::default(),
        );
        let message = fit.err().expect("refused").error.to_string();
        assert!(message.contains(expected) && message.contains("`layers`"), "{message}");
    }
}

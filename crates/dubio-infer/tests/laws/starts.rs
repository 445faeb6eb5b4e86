//! Where members start.

use dubio_infer::fit::Options;
use dubio_random::stream::Stream;
use serde_json::json;

use crate::support::*;
use crate::{Single, fitted, keeps_widths};

#[test]
fn a_warm_start_begins_at_the_weights_of_the_file() {
    let folder = scratch();
    let trained = fitted(&recipe("sgd", json!({"batch": 40, "epochs": 2})), "mlp-4", 80, 1);
    let file = folder.path().join("trained.safetensors");
    std::fs::write(&file, &trained.weights().expect("weights")[0]).expect("written");
    // Steps too small to move a number of 32 bits: the sample is the start.
    let still = json!({"epochs": 1, "lr": 1e-30, "batch": 40, "start": file, "members": 2});
    let points = fitted(&recipe("deep-ensemble", still), "mlp-4", 80, 2).posterior.points;
    assert!(points.len() == 2 && points.iter().all(|p| *p == trained.posterior.points[0]));
    // And the first loss of a warm start is no higher than the last of the training before it.
    let more = json!({"epochs": 1, "lr": 1e-3, "batch": 40, "start": file});
    let warm = fitted(&recipe("sgd", more.clone()), "mlp-4", 80, 2).posterior.records.remove(0);
    let mut cold = more;
    cold["start"] = json!([]);
    let cold = fitted(&recipe("sgd", cold), "mlp-4", 80, 2).posterior.records.remove(0);
    assert!(warm.losses[0] < cold.losses[0], "{warm:?} {cold:?}");
}

#[test]
fn each_member_may_start_from_a_file_of_its_own() {
    let folder = scratch();
    let two =
        fitted(&recipe("sgd", json!({"batch": 40, "epochs": 1, "members": 2})), "mlp-4", 80, 1);
    let files = ["a", "b"].map(|name| folder.path().join(name));
    for (file, weights) in files.iter().zip(two.weights().expect("weights")) {
        std::fs::write(file, weights).expect("written");
    }
    let mut settings = json!({"epochs": 1, "lr": 1e-30, "batch": 40, "start": files, "members": 2});
    let points = fitted(&recipe("sgd", settings.clone()), "mlp-4", 80, 2).posterior.points;
    assert!(points == two.posterior.points && points[0] != points[1]);
    settings["members"] = json!(3);
    let three = recipe("sgd", settings);
    let fit =
        three.fit(&Single::default(), "mlp-4", &digits(80), &Stream::root(0), &Options::default());
    let message = fit.err().expect("refused").error.to_string();
    assert!(message.contains("`start` names 2 files for 3 members"), "{message}");
}

/// Members that share weights start from the weights of a plain network; those of other widths say what does not fit.
#[test]
fn every_method_starts_from_the_weights_of_a_plain_network_or_says_why_not() {
    let folder = scratch();
    let trained = fitted(&recipe("sgd", json!({"batch": 40, "epochs": 1})), "mlp-4", 80, 1);
    let file = folder.path().join("trained");
    std::fs::write(&file, &trained.weights().expect("weights")[0]).expect("written");
    for recipe in quick_recipes(&json!({"members": 1, "start": file})) {
        let (name, engine) = (recipe.method.card().name, Single::default());
        let (data, options) = (digits(80), Options::default());
        match recipe.fit(&engine, "mlp-4", &data, &Stream::root(2), &options) {
            Ok(_) => assert!(keeps_widths(&recipe), "{name}"),
            Err(unfinished) => {
                let message = unfinished.error.to_string();
                assert!(!keeps_widths(&recipe), "{name}: {message}");
                assert!(message.contains("tensor `fc"), "{name}: {message}");
                assert!(message.contains("name a .safetensors file of this network's weights"));
            }
        }
    }
}

#[test]
fn a_start_that_cannot_be_read_is_a_clear_error() {
    let folder = scratch();
    let wrong = fitted(&recipe("sgd", json!({"batch": 40, "epochs": 1})), "mlp-4-3", 80, 1);
    let bytes = wrong.weights().expect("weights").remove(0);
    std::fs::write(folder.path().join("wrong"), &bytes).expect("written");
    std::fs::write(folder.path().join("cut"), &bytes[..bytes.len() / 2]).expect("written");
    for (name, expected) in [
        ("missing", "No such file"),
        ("wrong", "tensor `fc2.weight`"),
        ("cut", "not a readable .safetensors file"),
    ] {
        let file = folder.path().join(name);
        let recipe = recipe("sgd", json!({"batch": 40, "start": file}));
        let fit = recipe.fit(
            &Single::default(),
            "mlp-4",
            &digits(80),
            &Stream::root(0),
            &Options::default(),
        );
        let message = fit.err().expect("refused").error.to_string();
        assert!(message.starts_with(&file.display().to_string()), "{message}");
        assert!(message.contains(expected), "{message}");
        assert!(message.contains("name a .safetensors file of this network's weights"));
    }
}

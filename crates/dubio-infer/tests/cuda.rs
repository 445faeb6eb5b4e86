//! Every method on a GPU agrees with the same on a CPU, from the same seed.
//!
//! Without a GPU these tests are reported as ignored; with `DUBIO_CUDA=1` that is a failure instead.

mod support;

use std::process::ExitCode;

use dubio_infer::attack::{Attack, Rule};
use dubio_infer::fit::Options;
use dubio_infer::predict::TestTime;
use dubio_infer::recipe::Recipe;
use dubio_nn::cuda::Cuda;
use dubio_nn::engine::Engine;
use dubio_nn::{Precision, Single};
use dubio_random::stream::Stream;
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::json;
use support::answers::known_answers;
use support::*;

fn main() -> ExitCode {
    let gpu = Cuda::open(0, Precision::F32);
    if let Err(missing) = &gpu {
        eprintln!("note: {missing}");
    }
    let ignored = gpu.is_err() && std::env::var_os("DUBIO_CUDA").is_none_or(|value| value != "1");
    let mut trials = Vec::new();
    for settings in [
        json!({"members": 1}),
        json!({"members": 2}),
        json!({"members": 1, "augment": ["crop", "flip"]}),
        json!({"members": 1, "layers": "last"}),
        json!({"members": 1, "warm_up": {"method": "sgd", "epochs": 2, "batch": 40}}),
    ] {
        for recipe in quick_recipes(&settings) {
            let name = format!("{} with {settings}", recipe.method.card().name);
            let gpu = gpu.clone();
            // Tests run side by side: each has a stream of its own.
            let run = move || {
                agree(&gpu.map_err(|error| Failed::from(error.to_string()))?.beside(), &recipe)
            };
            trials.push(Trial::test(name, run).with_ignored_flag(ignored));
        }
    }
    // Through the network. Each gradient waits for the GPU: there are no more draws than the tests need to tell.
    for (name, is_found) in known_answers() {
        let gpu = gpu.clone();
        let run = move || {
            is_found(&gpu.map_err(|error| Failed::from(error.to_string()))?.beside());
            Ok(())
        };
        trials.push(Trial::test(name, run).with_ignored_flag(ignored));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// What a recipe predicts, plainly and under attack.
fn predictions<E: Engine>(engine: &E, recipe: &Recipe) -> Vec<f64> {
    let data = digits(80);
    let fit = recipe.fit(engine, "mlp-4-3", &data, &Stream::root(5), &Options::default());
    let fitted = fit.unwrap_or_else(|e| panic!("{}", e.error));
    let data = digits(100).subset(&(80..100).collect::<Vec<_>>());
    let stream = Stream::root(6);
    let plain = fitted.predict(&data, &TestTime::default(), &stream).expect("predicted");
    let attack = Attack { rule: Rule::Fgsm, epsilon: 0.05 };
    let attacked = fitted.predict_attacked(&data, &attack, &stream).expect("attacked");
    plain.values.into_iter().chain(attacked.values).map(f64::from).collect()
}

/// The noise is the same to the last bit, so only rounding separates the two.
fn agree(gpu: &Cuda, recipe: &Recipe) -> Result<(), Failed> {
    let (expected, found) = (predictions(&Single::default(), recipe), predictions(gpu, recipe));
    assert_eq!(expected.len(), found.len());
    let apart = expected.iter().zip(&found).map(|(a, b)| (a - b).abs() / (1.0 + a.abs()));
    let apart = apart.fold(0.0, f64::max);
    if apart < 1e-2 { Ok(()) } else { Err(format!("predictions differ by {apart:e}").into()) }
}

//! Every method on a GPU agrees with the same on a CPU, from the same seed.
//!
//! Without a GPU these tests are reported as ignored; with `DUBIO_CUDA=1` that is a failure instead.

mod support;

use std::fmt;
use std::process::ExitCode;

use dubio_data::dataset::{Answers, Dataset};
use dubio_infer::attack::{Attack, Rule};
use dubio_infer::fit::Options;
use dubio_infer::predict::TestTime;
use dubio_infer::recipe::Recipe;
use dubio_nn::cuda::Cuda;
use dubio_nn::engine::Engine;
use dubio_nn::{Precision, Single};
use dubio_random::stream::Stream;
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::{Value, json};
use support::answers::known_answers;
use support::last_layer::table;
use support::*;

fn main() -> ExitCode {
    let gpu = Cuda::open(0, Precision::F32);
    if let Err(missing) = &gpu {
        eprintln!("note: {missing}");
    }
    let ignored = gpu.is_err() && std::env::var_os("DUBIO_CUDA").is_none_or(|value| value != "1");
    // Tests run side by side: each has a stream of its own.
    let on_gpu = |name: String, test: Box<dyn FnOnce(&Cuda) + Send>| {
        let gpu = gpu.clone();
        let run = move || {
            test(&gpu.map_err(|error| Failed::from(error.to_string()))?.beside());
            Ok(())
        };
        Trial::test(name, run).with_ignored_flag(ignored)
    };
    let works = classifications().into_iter().chain(regressions()).chain(convolutions());
    let agree = works.map(|work| on_gpu(work.to_string(), Box::new(move |gpu| work.agree(gpu))));
    // Each gradient waits for the GPU: there are no more draws than the tests need to tell.
    let answers = known_answers().into_iter();
    let answers = answers.map(|(name, is_found)| on_gpu(name.to_string(), Box::new(is_found)));
    libtest_mimic::run(&Arguments::from_args(), agree.chain(answers).collect()).exit_code()
}

/// A recipe, what it learns from and what it predicts.
struct Work {
    recipe: Recipe,
    /// What is said about it in the name of its test.
    about: String,
    network: &'static str,
    train: Dataset,
    test: Dataset,
    attacked: bool,
    tolerance: f64,
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { recipe, about, network, .. } = self;
        write!(f, "{} of {network} with {about}", recipe.method.card().name)
    }
}

/// How far rounding may bring predictions of a small network apart. `usual` is more than a hundred times what relative errors of 5e-7
/// in every activation and gradient do on a CPU; where an energy or a curvature decides they do ten times as much.
fn tolerance(recipe: &Recipe, usual: f64) -> f64 {
    let steep = ["hmc", "nuts", "laplace"].contains(&recipe.method.card().name);
    if steep { 10.0 * usual } else { usual }
}

/// Of the first 80 digits and the 20 after them.
fn on_digits(recipe: Recipe, about: String, network: &'static str) -> Work {
    let test = digits(100).subset(&(80..100).collect::<Vec<_>>());
    let tolerance = tolerance(&recipe, 1e-3);
    Work { recipe, about, network, train: digits(80), test, attacked: true, tolerance }
}

/// Every method on a small network.
fn classifications() -> Vec<Work> {
    let common = [
        json!({"members": 1}),
        json!({"members": 2}),
        json!({"members": 1, "augment": ["crop", "flip"]}),
        json!({"members": 1, "layers": "last"}),
        json!({"members": 1, "warm_up": {"method": "sgd", "epochs": 2, "batch": 40}}),
    ];
    let of = |settings: &Value| {
        let about = settings.to_string();
        let work = move |recipe| on_digits(recipe, about.clone(), "mlp-4-3");
        quick_recipes(settings).into_iter().map(work)
    };
    common.iter().flat_map(of).collect()
}

/// Every method on a table: losses on the host where noise is shared or a density has another shape, and inputs that the host
/// makes anew for every step.
fn regressions() -> Vec<Work> {
    let common = [json!({"members": 1}), json!({"members": 1, "noise": "shared"})];
    let of = |settings: &Value| {
        let about = format!("{settings} on a table");
        let noise = settings.get("noise").is_some();
        let own = quick_regressions(settings).into_iter();
        // Those with a likelihood of their own have no other noise.
        let own = own.filter(move |recipe| !noise || recipe.method.card().name == "bayesian-ridge");
        own.chain(quick_recipes(settings)).map(move |recipe| Work {
            tolerance: tolerance(&recipe, 1e-4),
            recipe,
            about: about.clone(),
            network: "mlp-4-3",
            train: table(),
            test: table(),
            attacked: false,
        })
    };
    common.iter().flat_map(of).collect()
}

/// A method of every kind on deep networks of convolutions, with either normalisation.
fn convolutions() -> Vec<Work> {
    // Two directions of four points: of two points the second direction is nothing but rounding.
    let path = json!({"epochs": 1, "lr": 0.005, "collect_epochs": 4, "collect": 4, "collect_lr": 0.005,
        "rank": 2, "samples": 2});
    // By plain descent: Adam makes whole steps of gradients that are nothing but rounding.
    let vi = json!({"epochs": 2, "lr": 0.02, "optimiser": "sgd", "samples": 2});
    let mut flipout = vi.clone();
    flipout["estimator"] = json!("flipout");
    let both = [
        ("swag", path.clone()),
        ("subspace", path),
        ("sghmc", json!({"burn_in": 1, "samples": 2})),
        ("vi", vi),
        ("vi", flipout),
        ("mc-dropout", json!({"epochs": 2, "lr": 0.02, "samples": 2})),
    ];
    let last = |structure: &str| json!({"epochs": 2, "structure": structure, "layers": "last"});
    let without_batches = [
        ("laplace", json!({"epochs": 2, "structure": "kfac"})),
        ("laplace", last("diag")),
        ("laplace", last("full")),
        ("hmc", json!({"burn_in": 1, "samples": 2, "leapfrog": 2, "step": 1e-3})),
    ];
    let on = |network: &'static str, (name, settings): &(&str, Value)| {
        let mut all = settings.clone();
        all["batch"] = json!(40);
        // Of relative errors of up to 4e-6 in every activation and gradient come 2e-3 at most, on a CPU: a ReLU's corner is soon
        // crossed. Errors of 5 parts in a hundred in the gradients of parameters give 1e-3 to 5e-2. There is no attack, which
        // takes whole steps by the signs of gradients that may be nothing but rounding.
        let work = on_digits(recipe(name, all), settings.to_string(), network);
        Work { attacked: false, tolerance: 5e-3, ..work }
    };
    let frn = both.iter().chain(&without_batches).map(|one| on("resnet20-frn/4", one));
    frn.chain(both.iter().map(|one| on("preresnet20/4", one))).collect()
}

impl Work {
    /// What it predicts, plainly and under attack.
    fn predictions<E: Engine>(&self, engine: &E) -> Vec<f64> {
        let Self { recipe, network, train, test, attacked, .. } = self;
        let fit = recipe.fit(engine, network, train, &Stream::root(5), &Options::default());
        let fitted = fit.unwrap_or_else(|e| panic!("{self}: {}", e.error));
        let stream = Stream::root(6);
        let mut values =
            fitted.predict(test, &TestTime::default(), &stream).expect("predicted").values;
        if *attacked {
            let attack = Attack { rule: Rule::Fgsm, epsilon: 0.05 };
            values
                .extend(fitted.predict_attacked(test, &attack, &stream).expect("attacked").values);
        }
        values.into_iter().map(f64::from).collect()
    }

    /// The noise is the same to the last bit, so only rounding separates the two: by the root of the mean square, in units of
    /// the logits, or of the spread of the targets.
    fn agree<E: Engine>(&self, gpu: &E) {
        let (expected, found) = (self.predictions(&Single::default()), self.predictions(gpu));
        assert_eq!(expected.len(), found.len());
        let length = |values: &[f64]| values.iter().map(|v| v * v).sum::<f64>().sqrt();
        let away: Vec<f64> = expected.iter().zip(&found).map(|(a, b)| a - b).collect();
        let unit = match &self.test.answers {
            Answers::Targets(targets) => {
                let mean = targets.iter().sum::<f64>() / targets.len() as f64;
                let away: Vec<f64> = targets.iter().map(|y| y - mean).collect();
                length(&away) * (expected.len() as f64 / targets.len() as f64).sqrt()
            }
            _ => length(&expected),
        };
        let apart = length(&away) / unit;
        assert!(apart < self.tolerance, "predictions differ by {apart:e}");
    }
}

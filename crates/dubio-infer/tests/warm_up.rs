//! A method that begins where another ended.

mod support;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dubio_data::dataset::Dataset;
use dubio_infer::Error;
use dubio_infer::fit::{self, Checkpoints, Options};
use dubio_infer::fitted::Fitted;
use dubio_infer::problem::{Problem, Start};
use dubio_infer::recipe::Recipe;
use dubio_infer::target::Target as _;
use dubio_infer::training::Training;
use dubio_nn::Single;
use dubio_progress::Progress;
use dubio_random::stream::Stream;
use serde_json::json;
use support::*;

fn fitted(recipe: &Recipe, data: &Dataset, options: &Options<'_>) -> Result<Fitted<Single>, Error> {
    recipe
        .fit(&Single::default(), "mlp-10", data, &Stream::root(3), options)
        .map_err(|unfinished| unfinished.error)
}

#[test]
fn a_chain_that_does_not_move_keeps_the_last_sample_of_its_warm_up() {
    let data = digits(900);
    let warmed = |epochs: usize| {
        let settings = json!({"epochs": 1, "lr": 1e-30, "weight_decay": 0.0,
            "warm_up": {"method": "sgd", "epochs": epochs, "lr": 0.1}});
        fitted(&recipe("sgd", settings), &data, &Options::default()).expect("fits")
    };
    let (short, long) = (warmed(1), warmed(20));
    // The loss of the epoch at a rate of nothing is that of the warm-up's last network.
    let last =
        |fitted: &Fitted<Single>| *fitted.posterior.records[0].losses.last().expect("losses");
    assert_eq!(long.posterior.records[0].losses.len(), 21);
    assert!(last(&long) < 0.2 && last(&short) > 0.5, "{} {}", last(&long), last(&short));
    assert!(last(&long) <= long.posterior.records[0].losses[19] * 1.05);
}

/// A chain of samples is followed by one that does not move: its sample is the last of the chain, which runs on the
/// warm-up's own stream.
#[test]
fn the_start_is_the_last_sample_of_the_warm_up_and_not_another() {
    let data = digits(80);
    let first = json!({"burn_in": 1, "samples": 3, "lr": 0.05, "batch": 40});
    let mut named = first.clone();
    named["method"] = json!("sgld");
    let settings =
        json!({"epochs": 1, "lr": 1e-30, "weight_decay": 0.0, "batch": 40, "warm_up": named});
    let whole = fitted(&recipe("sgd", settings), &data, &Options::default()).expect("fits");

    let (engine, first) = (Single::default(), recipe("sgld", first));
    let training = Training::new(&engine, &data, &[]).expect("digits");
    let network = first.network("mlp-10", &training).expect("a network");
    let stream = Stream::root(3).child("member").nth(0).child("warm-up");
    let task = task(&training, first.prior_precision(training.len()));
    let problem = Problem::new(&engine, &network, &task, 40, None, Start::Fresh, &stream);
    let mut problem = problem.expect("a problem");
    let rule = first.method.rule(&problem.start(0).theta);
    let chain = fit::fit(rule, &mut problem, &stream, 0, &Options::default()).expect("fits").points;
    assert_eq!(chain.len(), 3);
    assert_eq!(whole.posterior.points[0].theta, chain[2].theta);
    assert!(chain[0].theta != chain[2].theta && chain[1].theta != chain[2].theta);
}

/// Asks for a stop after so many steps, and counts what is done.
#[derive(Default)]
struct Stops {
    left: AtomicUsize,
    done: AtomicUsize,
    total: AtomicUsize,
}

impl Stops {
    fn done(&self) -> usize {
        self.done.load(Ordering::Relaxed)
    }
    fn total(&self) -> usize {
        self.total.load(Ordering::Relaxed)
    }
}

impl Progress for Stops {
    fn start(&self, _: &'static str, total: usize) {
        self.total.store(total, Ordering::Relaxed);
    }
    fn advance(&self, pieces: usize) {
        self.done.fetch_add(pieces, Ordering::Relaxed);
    }
    fn should_stop(&self) -> bool {
        let one_less = |left: usize| left.checked_sub(1);
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_err()
    }
}

#[test]
fn stopped_anywhere_it_ends_with_the_same_bytes() {
    let data = digits(40);
    let settings = json!({"burn_in": 1, "samples": 2, "leapfrog": 2, "step": 0.001, "batch": 20,
        "warm_up": {"method": "sghmc", "burn_in": 1, "samples": 2, "lr": 0.01, "batch": 20}});
    let recipe = recipe("hmc", settings);
    let whole = fitted(&recipe, &data, &Options::default()).expect("fits");
    for steps in 0..9 {
        let folder = tempfile::tempdir().expect("a folder");
        let options = |progress| {
            let (folder, identity) = (folder.path().to_path_buf(), "a test".to_string());
            let checkpoints = Some(Checkpoints { folder, every: Duration::MAX, identity });
            Options { progress, checkpoints }
        };
        let stops = Stops { left: AtomicUsize::new(steps), ..Default::default() };
        assert!(matches!(fitted(&recipe, &data, &options(&stops)), Err(Error::Stopped)), "{steps}");
        assert!(stops.done() < stops.total(), "{steps}");
        let rest = Stops { left: AtomicUsize::new(usize::MAX), ..Default::default() };
        let resumed = fitted(&recipe, &data, &options(&rest)).expect("fits");
        assert_eq!(rest.done(), rest.total(), "{steps}");
        assert_eq!(resumed.posterior.points, whole.posterior.points, "{steps}");
    }
}

#[test]
fn a_warm_up_is_read_as_a_method_is_and_written_so_that_it_is_read_again() {
    let settings = json!({"warm_up": {"method": "sghmc", "lr": 0.03, "prior_std": 0.1}});
    let whole = recipe("hmc", settings);
    let text = serde_json::to_string(&whole).expect("plain data");
    assert_eq!(serde_json::from_str::<Recipe>(&text).expect("the same"), whole);
    assert!(whole.passes() > recipe("hmc", json!({})).passes());
    let refused = |settings, expected: &str| {
        let serde_json::Value::Object(settings) = settings else { unreachable!("a table") };
        let error = Recipe::parse("hmc", settings).expect_err("refused").to_string();
        assert!(error.contains(expected), "{error}");
    };
    refused(json!({"warm_up": {"lr": 0.1}}), "`method` is missing");
    refused(json!({"warm_up": {"method": "sgdd"}}), "sgdd");
    refused(json!({"warm_up": {"method": "sgd", "lrr": 0.1}}), "lrr");
    refused(json!({"warm_up": {"method": "deep-ensemble"}}), "set members = 1");
    refused(json!({"warm_up": {"method": "sgd"}, "start": "a.safetensors"}), "give one");
}

/// Each level is read twice, so a hundred would take 2^100 readings.
#[test]
fn warm_ups_inside_one_another_have_an_end() {
    let nested = |depth: usize| {
        let inner = (0..depth).fold(
            serde_json::json!({"method": "sgd"}),
            |inner, _| serde_json::json!({"method": "sgd", "warm_up": inner}),
        );
        Recipe::parse("sgd", serde_json::Map::from_iter([("warm_up".to_string(), inner)]))
    };
    assert!(nested(2).is_ok());
    for depth in [3, 18, 100] {
        let said = nested(depth).expect_err("too deep").to_string();
        assert!(said.contains("a warm-up may have 2 inside it"), "{said}");
    }
}

//! What an epoch shows, and with which noise.

use std::collections::BTreeSet;

use dubio_data::dataset::{Answers, Dataset, Inputs};
use dubio_infer::problem::{Problem, Start};
use dubio_infer::target::{BatchName, Target as _};
use dubio_infer::training::Training;
use dubio_nn::Double;
use dubio_random::stream::Stream;
use serde_json::json;

use crate::support::*;

/// The losses of an epoch's batches at one place.
fn losses(problem: &mut Problem<Double>, epoch: usize) -> Vec<f64> {
    let mut point = problem.start(0);
    let mut gradient = point.theta.clone();
    for batch in 0..problem.batches() {
        problem.gradient(&mut point, BatchName { epoch, batch }, &mut gradient);
    }
    problem.losses()
}

fn problem(name: &str, network: &str, data: &Dataset) -> Problem<Double> {
    let engine = Double::default();
    let training = Training::new(&engine, data, &[]).expect("data");
    let network = recipe(name, json!({"batch": 1})).network(network, &training).expect("a network");
    let (task, stream) = (task(&training, 1.0), Stream::root(1));
    let problem = Problem::new(&engine, &network, &task, 1, None, Start::Fresh, &stream);
    problem.unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn an_epoch_shows_every_example_once_in_an_order_of_its_own() {
    let mut problem = problem("sgd", "mlp-12", &digits(60));
    let [first, again, second] = [0, 0, 1].map(|epoch| losses(&mut problem, epoch));
    assert_eq!(first, again, "an epoch is the same whenever it is asked for");
    assert_ne!(first, second);
    let sorted = |mut losses: Vec<f64>| {
        losses.sort_by(f64::total_cmp);
        losses
    };
    assert_eq!(sorted(first.clone()), sorted(second));
    let mut distinct = sorted(first);
    distinct.dedup();
    assert_eq!(distinct.len(), 60, "no two digits have the same loss");
}

#[test]
fn the_noise_of_layers_is_another_in_every_step() {
    // The same row over and over: all that can differ is the noise.
    let data = Dataset {
        inputs: Inputs::Features { width: 3, values: vec![1.0; 60] },
        answers: Answers::Targets(vec![1.0; 20]),
        groups: Default::default(),
    };
    let distinct = |name: &str| {
        let mut problem = problem(name, "mlp-300", &data);
        let all = [losses(&mut problem, 0), losses(&mut problem, 1)].concat();
        all.iter().map(|loss| loss.to_bits()).collect::<BTreeSet<_>>().len()
    };
    assert_eq!(distinct("sgd"), 1);
    assert_eq!(distinct("mc-dropout"), 40);
    assert_eq!(distinct("gaussian-dropout"), 40);
}

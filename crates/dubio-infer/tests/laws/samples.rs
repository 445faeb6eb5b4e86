//! As many samples as were promised, from as many members and looks.

use std::collections::BTreeSet;

use dubio_infer::augment::Augmentation;
use dubio_infer::fit::{self, Options};
use dubio_infer::likelihood::Categorical;
use dubio_infer::methods::Scene;
use dubio_infer::predict::TestTime;
use dubio_infer::problem::{Problem, Start};
use dubio_infer::recipe::Recipe;
use dubio_infer::target::Target as _;
use dubio_infer::training::Training;
use dubio_nn::Double;
use dubio_nn::cpu::Flat;
use dubio_nn::network::Network;
use dubio_nn::shape::Shape;
use dubio_random::stream::Stream;
use serde_json::json;

use crate::support::*;
use crate::{Single, fitted, small};

#[test]
fn the_promised_number_of_samples_comes_out() {
    for (method, samples) in quick_methods() {
        let posterior = run(&method, &mut small(), 1);
        assert_eq!(method.samples(), samples, "{method:?}");
        assert_eq!(posterior.points.len(), method.points(), "{method:?}");
        let network = Network::new(Shape::vector(2));
        let scene = Scene { network, moving: 0..2, likelihood: &Categorical { classes: 2 } };
        let predictive = method.predictive::<Double>(&posterior, &scene);
        assert_eq!(predictive.parts() * predictive.samples_of_part(), samples, "{method:?}");
    }
}

/// A member of a recipe by itself: a problem of its own on the member's stream.
fn alone(recipe: &Recipe, network: &str, examples: u32, stream: &Stream) -> Vec<Flat<f32>> {
    let engine = Single::default();
    let training = Training::new(&engine, &digits(examples), &[]).expect("digits");
    let network = recipe.network(network, &training).expect("a network");
    let batch = recipe.setup.batch;
    let task = task(&training, recipe.prior_precision(training.len()));
    let problem = Problem::new(&engine, &network, &task, batch, None, Start::Fresh, stream);
    let mut problem = problem.expect("a problem");
    let rule = recipe.method.rule(&problem.start(0).theta);
    let posterior = fit::fit(rule, &mut problem, stream, 0, &Options::default());
    let posterior = posterior.unwrap_or_else(|e| panic!("{}", e.error));
    posterior.points.into_iter().map(|point| point.theta).collect()
}

#[test]
fn three_members_are_three_runs_on_the_members_streams_put_together() {
    for recipe in quick_recipes(&json!({"members": 3})) {
        let together = fitted(&recipe, "mlp-4", 80, 5).posterior;
        let streams = (0..3).map(|member| Stream::root(5).child("member").nth(member));
        let apart: Vec<Flat<f32>> =
            streams.flat_map(|stream| alone(&recipe, "mlp-4", 80, &stream)).collect();
        let together: Vec<Flat<f32>> = together.points.into_iter().map(|p| p.theta).collect();
        assert!(together == apart, "{}", recipe.method.card().name);
        assert!(together.len() >= 3 && together[0] != together[together.len() - 1]);
    }
}

#[test]
fn looks_at_test_time_multiply_the_samples() {
    let data = digits(40);
    for recipe in quick_recipes(&json!({"members": 1})) {
        let name = recipe.method.card().name;
        let fitted = fitted(&recipe, "mlp-4", 80, 1);
        let samples = fitted.samples();
        let of = |looks: usize, augment: &[Augmentation]| {
            let test_time = TestTime { augment: augment.to_vec(), looks };
            fitted.predict(&data, &test_time, &Stream::root(1)).unwrap_or_else(|e| panic!("{e}"))
        };
        let (plain, looks) = (of(3, &[]), of(3, &[Augmentation::Crop]));
        assert_eq!(plain.shape, [samples, 40, 10], "{name}: no changes, no second look");
        assert_eq!(looks.shape, [3 * samples, 40, 10], "{name}");
        assert_eq!(of(0, &[Augmentation::Crop]).shape, [samples, 40, 10], "{name}");
        let each: Vec<&[f32]> = looks.values.chunks(400).collect();
        assert!(each[0] != each[1] && each[0] != &plain.values[..400], "{name}: looks differ");
    }
}

#[test]
fn passes_with_noise_times_looks_times_members_are_all_samples() {
    let settings = json!({"epochs": 1, "samples": 5, "members": 2, "batch": 40});
    let fitted = fitted(&recipe("mc-dropout", settings), "mlp-8", 80, 1);
    assert_eq!(fitted.samples(), 5 * 2);
    let test_time = TestTime { augment: vec![Augmentation::Flip], looks: 3 };
    let predicted = fitted.predict(&digits(40), &test_time, &Stream::root(1)).expect("predicted");
    assert_eq!(predicted.shape, [5 * 2 * 3, 40, 10]);
    let distinct: BTreeSet<Vec<u32>> =
        predicted.values.chunks(400).map(|s| s.iter().map(|v| v.to_bits()).collect()).collect();
    assert_eq!(distinct.len(), 30, "no two passes are the same");
}

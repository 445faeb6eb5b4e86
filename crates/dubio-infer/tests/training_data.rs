//! What a network learns from: which examples, in which order, changed in which way, in which unit.

mod support;

use dubio_data::dataset::{Answers, Dataset, Inputs};
use dubio_data::sets::{self, Part};
use dubio_infer::augment::Augmentation;
use dubio_infer::fit::Options;
use dubio_infer::predict::TestTime;
use dubio_infer::problem::{Problem, Start};
use dubio_infer::target::{BatchName, Target as _};
use dubio_infer::training::Training;
use dubio_nn::engine::{Engine, Model, Vector};
use dubio_nn::{Double, Single};
use dubio_random::stream::Stream;
use serde_json::json;
use support::*;

fn problem(
    network: &str,
    data: &Dataset,
    augment: &[Augmentation],
    batch: usize,
) -> Problem<Double> {
    let engine = Double::default();
    let training = Training::new(&engine, data, augment).expect("data");
    let network = recipe("sgd", json!({})).network(network, &training).expect("a network");
    let (task, stream) = (task(&training, 1.0), Stream::root(1));
    let problem = Problem::new(&engine, &network, &task, batch, None, Start::Fresh, &stream);
    problem.unwrap_or_else(|e| panic!("{e}"))
}

/// The losses of an epoch of single examples, at one place, from the smallest.
fn losses(problem: &mut Problem<Double>, epoch: usize) -> Vec<f64> {
    let mut point = problem.start(0);
    let mut gradient = point.theta.clone();
    for batch in 0..problem.batches() {
        problem.gradient(&mut point, BatchName { epoch, batch }, &mut gradient);
    }
    let mut losses = problem.losses();
    losses.sort_by(f64::total_cmp);
    losses
}

#[test]
fn augmentation_changes_the_images_and_otherwise_in_every_epoch() {
    let (data, crop) = (digits(60), [Augmentation::Crop]);
    let (mut plain, mut changed) =
        (problem("mlp-4", &data, &[], 1), problem("mlp-4", &data, &crop, 1));
    assert_eq!(losses(&mut plain, 0), losses(&mut plain, 1), "the same images in another order");
    let [first, again, second] = [0, 0, 1].map(|epoch| losses(&mut changed, epoch));
    assert_eq!(first, again, "an epoch is the same whenever it is asked for");
    let apart = |a: &[f64], b: &[f64]| a.iter().zip(b).filter(|(a, b)| a != b).count();
    assert!(apart(&first, &losses(&mut plain, 0)) > 40, "images are changed");
    assert!(apart(&first, &second) > 40, "and changed anew in the next epoch");
}

#[test]
fn statistics_are_refreshed_on_images_as_the_network_learns_from_them() {
    let (data, crop) = (digits(60), [Augmentation::Crop]);
    let (mut plain, mut changed) =
        (problem("preresnet20/8", &data, &[], 20), problem("preresnet20/8", &data, &crop, 20));
    let theta = plain.start(0).theta;
    assert_eq!(theta, changed.start(0).theta);
    assert_ne!(plain.statistics(&theta), changed.statistics(&theta), "crops have other statistics");
    // What is worked out of all the data without normalisation is of the images as they are.
    let (mut plain, mut changed) =
        (problem("mlp-4", &data, &[], 20), problem("mlp-4", &data, &crop, 20));
    let theta = plain.start(0).theta;
    assert_eq!(plain.whole_loss(&theta), changed.whole_loss(&theta));
}

/// 1301 digits are looked at in a piece of 1000 and one of 301, whose means count by their sizes.
#[test]
fn the_gradient_of_all_the_data_is_the_mean_over_examples_however_many_pieces_it_takes() {
    let data = sets::digits::SET.load("".as_ref(), Part::Train).expect("embedded");
    let rows = 0..data.len() as u32;
    let data = data.subset(&rows.chain(0..400).collect::<Vec<_>>());
    assert!(data.len() > 1000 && !data.len().is_multiple_of(1000));
    let mut problem = problem("mlp-4", &data, &[], data.len());
    let mut point = problem.start(0);
    let [mut at_once, mut in_pieces] = [(); 2].map(|()| point.theta.clone());
    problem.gradient(&mut point, BatchName { epoch: 0, batch: 0 }, &mut at_once);
    let loss = problem.losses()[0];
    assert!((problem.whole(&point.theta, &mut in_pieces) - loss).abs() < 1e-12);
    assert!((problem.whole_loss(&point.theta) - loss).abs() < 1e-12);
    let apart = at_once.0.iter().zip(&in_pieces.0).map(|(a, b)| (a - b).abs());
    assert!(apart.fold(0.0, f64::max) < 1e-12);
    assert!(at_once.dot(&at_once) > 1e-3, "there is something to compare");
}

/// 80 examples in batches of 50 and 30: the mean over batches of their losses, at one place, depends on which
/// examples are in the smaller batch and so on the order.
#[test]
fn every_member_has_an_order_of_its_own() {
    let folder = scratch();
    let fitted = |settings| {
        let recipe = recipe("deep-ensemble", settings);
        let stream = Stream::root(5);
        let fit =
            recipe.fit(&Single::default(), "mlp-4", &digits(80), &stream, &Options::default());
        fit.unwrap_or_else(|e| panic!("{}", e.error))
    };
    let one = fitted(json!({"epochs": 1, "batch": 50, "members": 1}));
    let start = folder.path().join("start.safetensors");
    std::fs::write(&start, &one.weights().expect("weights")[0]).expect("written");
    let still = json!({"epochs": 1, "lr": 1e-30, "batch": 50, "members": 3, "start": start});
    let records = fitted(still).posterior.records;
    let losses: Vec<f64> = records.iter().map(|record| record.losses[0]).collect();
    assert!(
        losses[0] != losses[1] && losses[1] != losses[2] && losses[0] != losses[2],
        "{losses:?}"
    );
}

/// Rows of three numbers, and targets far from mean 0 and standard deviation 1.
fn table() -> Dataset {
    let values: Vec<f64> = (0..90).map(|i| (f64::from(i) * 0.7).sin()).collect();
    let targets = values.chunks(3).map(|x| 1000.0 + 50.0 * (x[0] - x[1] * x[2])).collect();
    Dataset {
        inputs: Inputs::Features { width: 3, values },
        answers: Answers::Targets(targets),
        groups: Default::default(),
    }
}

/// Outputs are the mean and the log standard deviation of a target with mean 0 and standard deviation 1.
#[test]
fn a_regression_predicts_in_the_unit_of_the_targets() {
    let (data, recipe) = (table(), recipe("sgd", json!({"epochs": 5, "batch": 10})));
    let engine = Double::default();
    let fit = recipe.fit(&engine, "mlp-4", &data, &Stream::root(1), &Options::default());
    let fitted = fit.unwrap_or_else(|e| panic!("{}", e.error));
    let predicted = fitted.predict(&data, &TestTime::default(), &Stream::root(2)).expect("numbers");
    assert_eq!(predicted.shape, [1, 30, 2]);
    let Answers::Targets(targets) = &data.answers else { unreachable!("numbers") };
    let mean = targets.iter().sum::<f64>() / 30.0;
    let std = (targets.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / 30.0).sqrt();
    assert!(std > 20.0);
    let training = Training::new(&engine, &data, &[]).expect("a table");
    let inputs: Vec<f64> = training.scaling().inputs(&data).expect("a table");
    let network = recipe.network("mlp-4", &training).expect("a network");
    let mut outputs = Vec::new();
    engine.model(&network, 30).predict(&fitted.posterior.points[0], &inputs, None, &mut outputs);
    for (said, output) in predicted.values.chunks(2).zip(outputs.chunks(2)) {
        let expected = [mean + std * output[0], std * output[1].exp()];
        for (said, expected) in said.iter().zip(expected) {
            assert!((f64::from(*said) / expected - 1.0).abs() < 1e-5, "{said}, not {expected}");
        }
        assert!(output[1].abs() > 1e-3, "so that halving a logarithm shows");
    }
}

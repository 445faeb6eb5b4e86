//! Averages and Gaussians along a path, and batch statistics.

use dubio_infer::predict::TestTime;
use dubio_infer::problem::{Problem, Start};
use dubio_infer::recipe::Recipe;
use dubio_infer::target::Target as _;
use dubio_infer::training::Training;
use dubio_nn::Double;
use dubio_nn::cpu::Flat;
use dubio_nn::engine::{Batch, Engine, Model, Point, Rows};
use dubio_nn::layer::Layer::{BatchNorm, Flatten, Linear};
use dubio_nn::loss::Loss;
use dubio_nn::network::Network;
use dubio_nn::shape::Shape;
use dubio_random::stream::Stream;
use serde_json::json;
use std::sync::Arc;

use crate::support::*;
use crate::{Plane, Single, close, on_digits, variance};

/// T40. URSABench counts before it collects, so that its mean of k points is the sum over k + 1.
#[test]
fn the_average_of_a_path_that_stands_still_is_where_it_stands() {
    let mut target = Plane { start: 3.7, ..Plane::flat(10, 2) };
    for collect in [1, 2, 5] {
        let settings = json!({"epochs": 1, "collect_epochs": 5, "collect": collect});
        let posterior = run(&method("swa", settings), &mut target, 1);
        assert!(posterior.points[0].theta.0.iter().all(|v| (v - 3.7).abs() < 1e-12));
    }
}

/// On a slope the path is a straight line, all parameters in step: at -d, 0 and d around its mean.
fn swag_on_a_line(rank: usize) -> (Vec<Flat<f64>>, f64) {
    let mut target = Plane { slope: 1.0, tensors: 2, ..Plane::flat(10, 400) };
    let settings = json!({"epochs": 2, "collect_epochs": 3, "collect": 3, "lr": 0.1,
        "collect_lr": 0.1, "momentum": 0.0, "schedule": "constant", "rank": rank,
        "samples": 6000});
    let posterior = run(&method("swag", settings), &mut target, 1);
    (posterior.points.into_iter().map(|point| point.theta).collect(), 0.1)
}

/// T41. fortuna divides by the rank, others by the largest rank less one even when fewer points were
/// collected; a scale of 1 in swa_gaussian is twice the variance. Three points at -d, 0, d: half of
/// the diagonal's 2 d^2 / 3, and half of the low-rank part's 2 d^2 / (3 - 1).
#[test]
fn swag_divides_by_the_columns_it_has_less_one() {
    for rank in [3, 20] {
        let (samples, d) = swag_on_a_line(rank);
        let one: Vec<f64> = samples.iter().map(|theta| theta.0[0]).collect();
        close(variance(&one), d * d * (1.0 / 3.0 + 1.0 / 2.0), 0.1, "one parameter");
        // Within a sample the parameters differ by the diagonal's part alone.
        let within: f64 = samples.iter().map(|theta| variance(&theta.0)).sum::<f64>() / 6000.0;
        close(within, d * d / 3.0, 0.02, "among the parameters of a sample");
    }
}

/// T44. torch-uncertainty draws a new z2 for every parameter tensor, so that parameters of different
/// layers are never correlated.
#[test]
fn swag_correlates_parameters_of_different_layers() {
    let (samples, d) = swag_on_a_line(3);
    let centre = 0.0 - 4.0 * d; // two steps of training, then the second of three
    let product = |theta: &Flat<f64>| (theta.0[0] - centre) * (theta.0[399] - centre);
    let covariance = samples.iter().map(product).sum::<f64>() / 6000.0;
    close(covariance, d * d / 2.0, 0.15, "of the first and the last parameter");
}

/// T42. URSABench never counts its points and overwrites every sample by the mean.
#[test]
fn swag_samples_differ_from_the_mean_and_from_one_another() {
    let path = json!({"epochs": 2, "collect_epochs": 4, "collect": 4, "batch": 40, "samples": 4});
    let samples = on_digits(&recipe("swag", path.clone()), "mlp-4", 80).posterior.points;
    let mut path = path;
    path.as_object_mut().expect("a table").remove("samples");
    let mean = on_digits(&recipe("swa", path), "mlp-4", 80).posterior.points;
    for (index, sample) in samples.iter().enumerate() {
        assert!(sample.theta != mean[0].theta);
        assert!(samples[..index].iter().all(|other| other.theta != sample.theta));
    }
}

/// T43. Beyond_Deep_Ensembles counts the weights that the optimiser was made with as the first
/// point: random numbers in the mean and, squared, in the variance.
#[test]
fn where_the_path_starts_is_not_in_its_mean_or_variance() {
    let mut target = LinearRegression::new(20, 2.0);
    target.start = [1e6, -1e6];
    let settings = json!({"epochs": 600, "collect_epochs": 5, "collect": 5, "lr": 0.1,
        "collect_lr": 0.1, "schedule": "constant", "samples": 50});
    let best = target.mean();
    for place in places(&run(&method("swag", settings), &mut target, 1)) {
        assert!((0..2).all(|i| (place[i] - best[i]).abs() < 1e-3), "{place:?} {best:?}");
    }
}

/// The running statistics of a network at some weights: a pass over all the data.
fn statistics_of(recipe: &Recipe, network: &str, theta: &Flat<f32>, examples: u32) -> Flat<f32> {
    let data = digits(examples);
    let training = Training::new(&Single::default(), &data, &[]).expect("digits");
    let network = recipe.network(network, &training).expect("a network");
    let (task, stream) = (task(&training, 1.0), Stream::root(0));
    let engine = Single::default();
    let mut model = engine.model(&network, examples as usize);
    let loss: Arc<dyn Loss> = task.likelihood;
    model.learn(&task.data, &loss, 0..network.parameters());
    let mut statistics = model.start(&stream).statistics;
    let rows = Rows::Stored(0..examples as usize);
    model.observe(theta, &mut statistics, &Batch { rows, augment: None, noise: None }, 1.0);
    statistics
}

/// T39, T45. Statistics of the last training batches belong to no sampled network: URSABench
/// refreshes them for the last sample only.
#[test]
fn every_sample_has_the_batch_statistics_of_its_own_network() {
    let recipes = quick_recipes(&json!({"members": 1, "batch": 30})).into_iter();
    for recipe in recipes.filter(|recipe| recipe.method.bears_batch_norm()) {
        let name = recipe.method.card().name;
        let points = on_digits(&recipe, "preresnet20/8", 60).posterior.points;
        for point in points.iter().take(3) {
            let expected = statistics_of(&recipe, "preresnet20/8", &point.theta, 60);
            assert!(!expected.0.is_empty());
            assert_eq!(point.statistics, expected, "{name}");
        }
        // Samples of sngp differ in the last layer alone.
        let alike = points.len() > 1 && points[0].statistics == points[1].statistics;
        assert_eq!(alike, name == "sngp", "{name}");
    }
}

/// T45. The statistics are an average over all the data, each example with the same weight, not an
/// exponential one that remembers the last batches; nothing of what they were before stays.
#[test]
fn recomputed_statistics_are_a_plain_mean_over_all_the_data() {
    let data = dubio_data::sets::digits::SET
        .load("".as_ref(), dubio_data::sets::Part::Train)
        .expect("embedded");
    let rows = 0..data.len() as u32;
    let data = data.subset(&rows.clone().chain(rows).collect::<Vec<u32>>());
    let training = Training::new(&Double::default(), &data, &[]).expect("digits");
    assert!(training.len() > 1000, "more than is looked at in one piece");
    let inputs: Vec<f64> = training.scaling().inputs(&data).expect("digits");
    let mut network = Network::new(Shape::image(1, 8, 8));
    network.then("flatten", Flatten);
    network.then("bn", BatchNorm);
    network.then("fc", Linear { outputs: 10 });
    let (engine, task, stream) = (Double::default(), task(&training, 1.0), Stream::root(1));
    let start = engine.model(&network, 1).start(&stream);
    let problem = |statistics: Vec<f64>| {
        let point = Point { theta: start.theta.clone(), statistics: Flat(statistics) };
        Problem::new(&engine, &network, &task, 100, None, Start::Warm(point), &stream)
            .expect("a problem")
    };
    let (mut fresh, mut odd) = (problem(start.statistics.0.clone()), problem(vec![1e6; 128]));
    let loss = fresh.whole_loss(&start.theta);
    assert_eq!(odd.whole_loss(&start.theta), loss, "a likelihood is that of the network alone");
    let statistics = odd.statistics(&start.theta).0;
    for pixel in 0..64 {
        let column: Vec<f64> = inputs.iter().skip(pixel).step_by(64).copied().collect();
        let mean = column.iter().sum::<f64>() / column.len() as f64;
        assert!((statistics[pixel] - mean).abs() < 1e-9, "{pixel}: {} {mean}", statistics[pixel]);
        let spread = variance(&column);
        assert!((statistics[64 + pixel] - spread).abs() <= 0.02 * spread, "{pixel}");
    }
}

/// T45. Beyond_Deep_Ensembles predicts with the statistics of the batch at hand, so that what it
/// says of an example depends on its neighbours.
#[test]
fn what_is_said_of_an_example_does_not_depend_on_its_neighbours() {
    let settings =
        json!({"epochs": 1, "collect_epochs": 2, "collect": 2, "batch": 30, "samples": 2});
    let fitted = on_digits(&recipe("swag", settings), "preresnet20/8", 60);
    let data = digits(60);
    let predict = |rows: &[u32]| {
        let predicted = fitted.predict(&data.subset(rows), &TestTime::default(), &Stream::root(1));
        predicted.unwrap_or_else(|e| panic!("{e}"))
    };
    let all = predict(&(0..60).collect::<Vec<_>>());
    for row in [0, 17, 59] {
        let alone = predict(&[row as u32]);
        for sample in 0..2 {
            let here = &alone.values[sample * 10..][..10];
            let there = &all.values[(sample * 60 + row) * 10..][..10];
            let gap = here.iter().zip(there).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(gap < 1e-4, "{here:?} {there:?}");
        }
    }
    let spread = all.values.iter().fold(0.0_f32, |most, v| most.max(v.abs()));
    assert!(spread > 0.01, "there is something to compare");
}

/// T45. And the statistics that a sample was kept with are those it predicts with.
#[test]
fn a_sample_predicts_with_its_own_parameters_and_statistics() {
    let settings =
        json!({"epochs": 1, "collect_epochs": 2, "collect": 2, "batch": 30, "samples": 2});
    let recipe = recipe("swag", settings);
    let (fitted, data) = (on_digits(&recipe, "preresnet20/8", 60), digits(60));
    let predicted = fitted.predict(&data, &TestTime::default(), &Stream::root(1));
    let predicted = predicted.unwrap_or_else(|e| panic!("{e}"));
    let training = Training::new(&Single::default(), &data, &[]).expect("digits");
    let inputs: Vec<f32> = training.scaling().inputs(&data).expect("digits");
    let mut expected = Vec::new();
    for point in &fitted.posterior.points {
        let network = recipe.network("preresnet20/8", &training).expect("a network");
        let mut model = Single::default().model(&network, 60);
        model.predict(point, &inputs, None, &mut expected);
    }
    assert_eq!(predicted.values, expected);
}

//! `vi` with each of its estimators on networks: known answers, kills, and what a sample is.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dubio_infer::Error;
use dubio_infer::fit::{self, Checkpoints, Options};
use dubio_infer::likelihood::FixedNoise;
use dubio_infer::posterior::Posterior;
use dubio_infer::predict::TestTime;
use dubio_infer::prior::Gaussian;
use dubio_infer::problem::{Problem, Start, Task};
use dubio_infer::subnetwork::Subnetwork;
use dubio_infer::target::Target as _;
use dubio_nn::Double;
use dubio_nn::cpu::Flat;
use dubio_nn::engine::{Engine, Point};
use dubio_nn::examples::{Answers, Examples, Inputs};
use dubio_nn::layer::Layer;
use dubio_nn::network::Network;
use dubio_nn::shape::Shape;
use dubio_progress::{Progress, Silent};
use dubio_random::stream::Stream;
use serde_json::{Value, json};
use support::*;

const ESTIMATORS: [&str; 3] = ["weights", "local", "flipout"];

/// Where a linear unit stands.
#[derive(Clone, Copy, Debug)]
enum Unit {
    Alone,
    /// Behind a layer that stays and changes nothing, as the only one that moves.
    Last,
}

/// A linear unit with a known noise on pairs of inputs, under a Gaussian prior on its weights and its bias.
fn of_unit(
    unit: Unit,
    (rows, y): (&[[f64; 2]], &[f64]),
    (std, precision): (f64, f64),
    settings: Value,
) -> Posterior<Flat<f64>> {
    let mut network = Network::new(Shape::vector(2));
    let mut theta = vec![0.0; 3];
    if matches!(unit, Unit::Last) {
        network.then("before", Layer::Linear { outputs: 2 });
        theta.splice(0..0, [1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    }
    network.then("unit", Layer::Linear { outputs: 1 });
    let moving = theta.len() - 3..theta.len();
    let answers = Answers::Targets(Arc::new(y.to_vec()));
    let inputs = Inputs::Ready(Arc::new(rows.concat()));
    let engine = Double::default();
    let data = engine.data(&Examples { inputs, answers: answers.clone() });
    let prior = Arc::new(Gaussian { precision });
    let task = Task { data, answers, likelihood: Arc::new(FixedNoise { std }), prior };
    let (stream, held) = (Stream::root(1), Some(moving.clone()));
    let start = Start::Warm(Point { theta: Flat(theta), statistics: Flat(Vec::new()) });
    let problem = Problem::new(&engine, &network, &task, y.len(), held, start, &stream);
    let mut problem = problem.unwrap_or_else(|e| panic!("{e}"));
    let mut target = Subnetwork::new(&mut problem, moving);
    let rule = method("vi", settings).rule(&target.start(0).theta);
    let fit = fit::fit(rule, &mut target, &stream, 0, &Options::default());
    fit.unwrap_or_else(|e| panic!("{}", e.error))
}

/// The factorised Gaussian that is closest to that of Bayesian linear regression has its mean `C X'y / s^2` and the
/// variances `1 / diag(C^-1)`, with `C^-1 = X'X / s^2 + p` (Bishop 2006, section 10.1.2). The bias is a weight of 1.
#[test]
fn every_estimator_finds_the_closest_factorised_gaussian() {
    let (s, p) = (2.0, 1.0); // so wide that no gradient is clipped
    let data = LinearRegression::new(20, p);
    let all: Vec<[f64; 3]> = data.x.iter().map(|x| [x[0], x[1], 1.0]).collect();
    let entry = |i: usize, j: usize| {
        let product = all.iter().map(|row| row[i] * row[j]).sum::<f64>() / (s * s);
        if i == j { product + p } else { product }
    };
    let matrix: Vec<Vec<f64>> = (0..3).map(|i| (0..3).map(|j| entry(i, j)).collect()).collect();
    let right =
        |i: usize| all.iter().zip(&data.y).map(|(row, y)| row[i] * y).sum::<f64>() / (s * s);
    let mean = solved(matrix.clone(), (0..3).map(right).collect());
    let units = [Unit::Alone, Unit::Last];
    for (estimator, unit) in ESTIMATORS.iter().flat_map(|e| units.map(|unit| (e, unit))) {
        let settings = json!({"epochs": 20_000, "lr": 0.02, "log_std_lr": 0.02, "draws": 2,
            "samples": 20_000, "estimator": estimator});
        let posterior = of_unit(unit, (&data.x, &data.y), (s, p), settings);
        let estimator = format!("{estimator}, {unit:?}");
        for i in 0..3 {
            let variance = (2.0 * posterior.factors[0][0].0[i]).exp();
            let ratio = variance * matrix[i][i];
            assert!((0.93..1.07).contains(&ratio), "{estimator}: {ratio} times the variance");
            let values: Vec<f64> = posterior.points.iter().map(|p| p.theta.0[i]).collect();
            let (value, error) = mean_and_error(&values);
            let near = 5.0 * error + 0.05 * variance.sqrt();
            assert!((value - mean[i]).abs() < near, "{estimator}: {value}, not {}", mean[i]);
            let squares: Vec<f64> = values.iter().map(|v| (v - value).powi(2)).collect();
            let (spread, error) = mean_and_error(&squares);
            assert!((spread - variance).abs() < 5.0 * error, "{estimator}: {spread} {variance}");
        }
    }
}

/// T51. Beyond_Deep_Ensembles clamps `x^2` and `sigma^2` at 1e-4, so that inputs that are always 0 add noise, which pulls
/// the weights that read them. Here nothing does: such weights keep the prior, and the others their closed form.
#[test]
fn weights_of_inputs_that_are_always_0_keep_the_prior() {
    // So wide a prior that 1e-4 in the place of 0 would show.
    let (s, p) = (2.0, 0.01);
    let data = LinearRegression::new(20, p);
    let rows: Vec<[f64; 2]> = data.x.iter().map(|x| [x[0], 0.0]).collect();
    for estimator in ESTIMATORS {
        let settings = json!({"epochs": 4000, "lr": 0.02, "log_std_lr": 0.02, "samples": 1,
            "estimator": estimator});
        let posterior = of_unit(Unit::Alone, (&rows, &data.y), (s, p), settings);
        let stds: Vec<f64> = posterior.factors[0][0].0.iter().map(|r| r.exp()).collect();
        assert!((stds[1] * p.sqrt() - 1.0).abs() < 1e-3, "{estimator}: {}", stds[1]);
        let precision = data.x.iter().map(|x| x[0] * x[0]).sum::<f64>() / (s * s) + p;
        assert!((stds[0] * precision.sqrt() - 1.0).abs() < 0.1, "{estimator}: {}", stds[0]);
    }
}

/// T51. Beyond_Deep_Ensembles predicts by the same layers of noise, frozen over a batch. A sample here is weights of the
/// plain network, however it was trained: equal inputs get equal predictions, wherever they lie.
#[test]
fn samples_are_weights_of_the_plain_network() {
    for estimator in ESTIMATORS {
        let settings = json!({"epochs": 3, "batch": 40, "samples": 3, "estimator": estimator});
        let recipe = recipe("vi", settings);
        let engine = Double::default();
        let fit = recipe.fit(&engine, "mlp-5", &digits(80), &Stream::root(5), &Options::default());
        let fitted = fit.unwrap_or_else(|e| panic!("{estimator}: {}", e.error));
        let plain = digits(80);
        let twice = plain.subset(&(0..10).chain(0..10).collect::<Vec<_>>());
        let predicted = fitted.predict(&twice, &TestTime::default(), &Stream::root(6));
        let values = predicted.expect("predicted").values;
        for sample in values.chunks(values.len() / 3) {
            let (first, second) = sample.split_at(sample.len() / 2);
            assert_eq!(first, second, "{estimator}");
        }
        assert_eq!(fitted.posterior.points[0].theta.0.len(), 64 * 5 + 5 + 5 * 10 + 10);
    }
}

/// A mixture prior is evaluated at weights that are drawn, whatever the loss is evaluated at: on data that say nothing of
/// a weight, its posterior is as close to the mixture as with drawn weights.
#[test]
fn every_estimator_bears_a_mixture_prior() {
    let stds = ESTIMATORS.map(|estimator| {
        let settings = json!({"epochs": 6000, "lr": 0.02, "log_std_lr": 0.02, "draws": 4, "samples": 1,
            "prior": "scale-mixture", "narrow_std": 0.3, "estimator": estimator});
        let posterior = of_unit(Unit::Alone, (&[[0.0; 2]; 10], &[0.0; 10]), (1.0, 1.0), settings);
        posterior.factors[0][0].0[0].exp()
    });
    for std in stds {
        assert!((std / stds[0] - 1.0).abs() < 0.05, "{stds:?}");
    }
}

#[test]
fn without_a_network_another_estimator_is_asked_for() {
    for estimator in ["local", "flipout"] {
        let method = method("vi", json!({"estimator": estimator}));
        let mut target = LinearRegression::new(9, 1.0);
        let fit = fit(&method, &mut target, &Stream::root(1), 0, &Options::default());
        let error = fit.expect_err("no network").error.to_string();
        assert!(error.contains("estimator = \"weights\""), "{error}");
        assert!(target.visited.is_empty(), "nothing was done by then");
    }
}

/// Asks for a stop after so many steps or draws.
struct StopAfter(AtomicUsize);

impl Progress for StopAfter {
    fn should_stop(&self) -> bool {
        let one_less = |left: usize| left.checked_sub(1);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_err()
    }
}

#[test]
fn a_chain_that_was_stopped_goes_on_to_the_same_bytes() {
    let engine = dubio_nn::Single::default();
    for estimator in ["local", "flipout"] {
        for more in [
            json!({"network": "mlp-5"}),
            json!({"network": "mlp-5", "layers": "last"}),
            json!({"network": "mlp-5", "prior": "scale-mixture"}),
            json!({"network": "resnet20-cifar/8"}),
        ] {
            let mut settings =
                json!({"epochs": 3, "batch": 30, "samples": 2, "draws": 2, "estimator": estimator});
            let table = settings.as_object_mut().expect("a table");
            table.extend(more.as_object().expect("a table").clone());
            let network = table.remove("network").expect("a name");
            let (network, recipe) = (network.as_str().expect("a name"), recipe("vi", settings));
            let (data, stream) = (digits(70), Stream::root(5));
            let straight = recipe.fit(&engine, network, &data, &stream, &Options::default());
            let straight = straight.unwrap_or_else(|e| panic!("{}", e.error)).posterior;
            let folder = scratch();
            let go = |progress: &dyn Progress| {
                let (folder, identity) = (folder.path().to_path_buf(), "a test".to_string());
                let every = Duration::ZERO;
                let checkpoints = Some(Checkpoints { folder, every, identity });
                recipe.fit(&engine, network, &data, &stream, &Options { progress, checkpoints })
            };
            // In the middle of an epoch, between two, and among the draws.
            for steps in [2, 2, 6] {
                let stopped = go(&StopAfter(AtomicUsize::new(steps))).map_err(|e| e.error);
                assert!(matches!(stopped, Err(Error::Stopped)), "{estimator} {more}");
            }
            let resumed = go(&Silent).unwrap_or_else(|e| panic!("{}", e.error)).posterior;
            assert_eq!(contents(&resumed), contents(&straight), "{estimator} {more}");
        }
    }
}

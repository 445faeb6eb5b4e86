//! A network's last layer under a known noise, whose posterior is a Gaussian in closed form.

use dubio_data::dataset::{Answers, Dataset, Inputs};
use dubio_infer::fit::Options;
use dubio_infer::training::Training;
use dubio_nn::Double;
use dubio_nn::engine::{Engine, Vector};
use dubio_random::stream::Stream;
use faer::prelude::Solve;
use faer::{Mat, Side};
use serde_json::{Value, json};

use super::{mean_and_error, recipe};

/// Forty rows of two numbers, and targets around 300.
pub fn table() -> Dataset {
    let values: Vec<f64> = (0..80).map(|i| 2.0 * (f64::from(i * i) * 0.37).sin()).collect();
    let targets = values
        .chunks(2)
        .enumerate()
        .map(|(row, x)| 300.0 + 20.0 * x[0] - 7.0 * x[1] * x[1] + 5.0 * (row as f64 * 1.7).cos());
    Dataset {
        answers: Answers::Targets(targets.collect()),
        inputs: Inputs::Features { width: 2, values },
        groups: Default::default(),
    }
}

/// What the layers that stay make of the inputs, with a 1 for the bias, and the standardised targets.
pub fn features(first: &[f64]) -> (Mat<f64>, Mat<f64>, f64) {
    let data = table();
    let training = Training::new(&Double::default(), &data, &[]).expect("a table");
    let x: Vec<f64> = training.scaling().inputs(&data).expect("a table");
    let phi = Mat::from_fn(40, 4, |row, unit| {
        if unit == 3 {
            return 1.0;
        }
        let sum = first[2 * unit] * x[2 * row] + first[2 * unit + 1] * x[2 * row + 1];
        (sum + first[6 + unit]).max(0.0)
    });
    let Answers::Targets(targets) = &data.answers else { unreachable!("numbers") };
    let mean = targets.iter().sum::<f64>() / 40.0;
    let std = (targets.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / 40.0).sqrt();
    (phi, Mat::from_fn(40, 1, |row, _| (targets[row] - mean) / std), std)
}

/// `C = (Phi' Phi / s^2 + I / p^2)^-1`, `m = C Phi' y / s^2`: with a known noise `s` and the prior `Normal(0, p^2)` this is the
/// posterior of the last layer.
pub struct Exact {
    pub mean: Mat<f64>,
    /// `C^-1`.
    pub precision: Mat<f64>,
}

impl Exact {
    /// From the layer before it, and the standard deviations of the noise, in the unit of the targets, and of the prior.
    fn of(first: &[f64], noise: f64, prior_std: f64) -> Self {
        let (phi, y, unit) = features(first);
        let s = noise / unit;
        let mut precision = phi.transpose() * &phi * faer::Scale(1.0 / (s * s));
        (0..4).for_each(|i| precision[(i, i)] += prior_std.powi(-2));
        let factor = precision.llt(Side::Lower).expect("positive");
        let mean = factor.solve(&(phi.transpose() * &y)) * faer::Scale(1.0 / (s * s));
        Self { mean, precision }
    }

    /// A matrix with the eigenvectors of the precision, and `f` of its eigenvalues.
    pub fn by_eigenvalues(&self, f: impl Fn(f64) -> f64) -> Mat<f64> {
        let all = self.precision.self_adjoint_eigen(Side::Lower).expect("eigenvalues");
        let (u, values) = (all.U(), all.S().column_vector());
        let scaled = Mat::from_fn(4, 4, |i, j| u[(i, j)] * f(values[j]));
        scaled * u.transpose()
    }
}

/// The exact posterior, what a method makes of it in the last layer, and what else the method leaves.
pub fn fitted<E: Engine>(
    engine: &E,
    name: &str,
    settings: Value,
) -> (Exact, Vec<[f64; 4]>, Vec<Vec<f64>>) {
    let mut all = json!({"layers": "last", "noise": 9.0, "prior_std": 0.7, "batch": 40});
    all.as_object_mut().expect("a table").extend(settings.as_object().expect("a table").clone());
    let [noise, prior_std] =
        ["noise", "prior_std"].map(|name| all[name].as_f64().expect("a number"));
    let fit =
        recipe(name, all).fit(engine, "mlp-3", &table(), &Stream::root(4), &Options::default());
    let posterior = fit.unwrap_or_else(|e| panic!("{}", e.error)).posterior;
    let read = |vector: &E::Vector| vector.read(0..vector.len());
    let points: Vec<Vec<f64>> = posterior.points.iter().map(|point| read(&point.theta)).collect();
    assert_eq!(points[0].len(), 6 + 3 + 3 + 1);
    let last = |point: &Vec<f64>| point[9..].try_into().expect("four numbers");
    let factors = posterior.factors[0].iter().map(read).collect();
    (Exact::of(&points[0], noise, prior_std), points.iter().map(last).collect(), factors)
}

/// Samples have the exact posterior.
pub fn assert_posterior<E: Engine>(engine: &E, name: &str, settings: Value) {
    assert_law(engine, name, settings, |u| 1.0 / u);
}

/// Samples have the exact mean, and along an eigenvector of the posterior's precision with the eigenvalue `u` the variance
/// `variance(u)`.
pub fn assert_law<E: Engine>(
    engine: &E,
    name: &str,
    settings: Value,
    variance: impl Fn(f64) -> f64,
) {
    let (exact, points, _) = fitted(engine, name, settings);
    let covariance = exact.by_eigenvalues(variance);
    for i in 0..4 {
        for j in 0..=i {
            let away = |p: &[f64; 4], k: usize| p[k] - exact.mean[(k, 0)];
            let products: Vec<f64> = points.iter().map(|p| away(p, i) * away(p, j)).collect();
            let (value, error) = mean_and_error(&products);
            let expected = covariance[(i, j)];
            let what =
                format!("{name}, covariance {i}{j}: {value}, not {expected} (error {error})");
            assert!((value - expected).abs() < 5.0 * error, "{what}");
            let scale = (covariance[(i, i)] * covariance[(j, j)]).sqrt();
            assert!(error < 0.1 * scale, "{what}: the test can tell");
        }
        let values: Vec<f64> = points.iter().map(|p| p[i]).collect();
        let (value, error) = mean_and_error(&values);
        let mean = exact.mean[(i, 0)];
        assert!((value - mean).abs() < 5.0 * error, "{name}, mean {i}: {value} {error}");
    }
}

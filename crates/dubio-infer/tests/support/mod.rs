//! Targets whose posterior is known in closed form, and what it takes to compare with it.

#![allow(dead_code, unreachable_pub, unused_imports, unused_macros)] // each test uses a part

pub mod last_layer;

use std::sync::Arc;

use dubio_data::dataset::Dataset;
use dubio_data::sets::{self, Part};
use dubio_infer::Error;
use dubio_infer::curvature::{Curvature, LayerGradients};
use dubio_infer::fit::{self, Options, Outcome};
use dubio_infer::likelihood::Likelihood;
use dubio_infer::methods::{Method, Scene};
use dubio_infer::posterior::{Posterior, Sample};
use dubio_infer::prior::{Gaussian, Prior};
use dubio_infer::problem::{Problem, Start, Task};
use dubio_infer::recipe::Recipe;
use dubio_infer::rule::Rule;
use dubio_infer::target::{BatchName, Target};
use dubio_infer::training::Training;
use dubio_nn::Double;
use dubio_nn::cpu::Flat;
use dubio_nn::engine::{Engine, Model, Point, Vector, Visited};
use dubio_nn::examples::{Answers, Examples, Inputs};
use dubio_nn::layer::Layer;
use dubio_nn::matrix::{Matrix, Reads, Side};
use dubio_nn::network::Network;
use dubio_nn::parameter::Slice;
use dubio_nn::random_features;
use dubio_nn::real::Real;
use dubio_nn::shape::Shape;
use dubio_random::stream::Stream;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Linear regression with known noise: `loss = mean_i (y_i - x_i theta)^2 / 2`. The posterior under
/// the prior `Normal(0, 1 / precision)` is `Normal(m, C)`, `C = (X'X + precision I)^-1`, `m = C X'y`.
pub struct LinearRegression {
    pub x: Vec<[f64; 2]>,
    pub y: Vec<f64>,
    pub precision: f64,
    pub start: [f64; 2],
    pub batch: usize,
    /// Where gradients of mini-batches were asked for, in order.
    pub visited: Vec<[f64; 2]>,
    /// How often the loss of all the data was asked for.
    pub evaluations: usize,
}

impl LinearRegression {
    /// `n` examples of correlated inputs, all in one batch.
    pub fn new(n: usize, precision: f64) -> Self {
        let mut noise = Flat(vec![0.0; 3 * n]);
        noise.add_noise(1.0, &Stream::root(17).child("data"));
        let x: Vec<[f64; 2]> = noise.0.chunks(3).map(|z| [z[0], 0.8 * z[0] + 0.6 * z[1]]).collect();
        let y = x.iter().zip(noise.0.chunks(3)).map(|(x, z)| x[0] - 0.5 * x[1] + z[2]).collect();
        let (start, visited) = ([0.0, 0.0], Vec::new());
        Self { x, y, precision, start, batch: n, visited, evaluations: 0 }
    }

    /// `X'X + precision I`.
    pub fn hessian(&self) -> [[f64; 2]; 2] {
        let sum = |i: usize, j: usize| self.x.iter().map(|x| x[i] * x[j]).sum::<f64>();
        let p = self.precision;
        [[sum(0, 0) + p, sum(0, 1)], [sum(0, 1), sum(1, 1) + p]]
    }

    pub fn covariance(&self) -> [[f64; 2]; 2] {
        inverse(self.hessian())
    }

    pub fn mean(&self) -> [f64; 2] {
        let sum = |i: usize| self.x.iter().zip(&self.y).map(|(x, y)| x[i] * y).sum::<f64>();
        times(self.covariance(), [sum(0), sum(1)])
    }

    fn loss(&self, rows: std::ops::Range<usize>, theta: &[f64]) -> (f64, [f64; 2]) {
        let weight = 1.0 / rows.len() as f64;
        let (mut loss, mut gradient) = (0.0, [0.0; 2]);
        for row in rows {
            let x = self.x[row];
            let miss = x[0] * theta[0] + x[1] * theta[1] - self.y[row];
            loss += 0.5 * weight * miss * miss;
            gradient = [gradient[0] + weight * miss * x[0], gradient[1] + weight * miss * x[1]];
        }
        (loss, gradient)
    }
}

impl Analytic for LinearRegression {
    fn examples(&self) -> usize {
        self.x.len()
    }
    fn prior_precision(&self) -> f64 {
        self.precision
    }
    fn batches(&self) -> usize {
        self.x.len().div_ceil(self.batch)
    }
    fn start(&self) -> Flat<f64> {
        Flat(self.start.to_vec())
    }
    fn slices(&self) -> Vec<Slice> {
        vec![Slice { name: "theta.weight".to_string(), range: 0..2 }]
    }
    fn matrices(&self) -> Vec<Matrix> {
        let (inputs, reads) = (Side::Columns, Reads::Data);
        vec![Matrix { range: 0..2, rows: 1, columns: 2, inputs, bias: 0..0, reads }]
    }
    fn batch(&mut self, theta: &Flat<f64>, _: usize, batch: usize, out: &mut Flat<f64>) -> f64 {
        self.visited.push([theta.0[0], theta.0[1]]);
        let last = self.x.len().min((batch + 1) * self.batch);
        let (loss, gradient) = self.loss(batch * self.batch..last, &theta.0);
        out.write(0, &gradient);
        loss
    }
    fn whole(&mut self, theta: &Flat<f64>, out: &mut Flat<f64>) -> f64 {
        let (loss, gradient) = self.loss(0..self.x.len(), &theta.0);
        out.write(0, &gradient);
        loss
    }
    fn whole_loss(&mut self, theta: &Flat<f64>) -> f64 {
        self.evaluations += 1;
        self.loss(0..self.x.len(), &theta.0).0
    }
    fn reads(&self, theta: &Flat<f64>, curvature: Curvature) -> Option<(Vec<f64>, Vec<f64>)> {
        let miss = |(x, y): (&[f64; 2], &f64)| x[0] * theta.0[0] + x[1] * theta.0[1] - y;
        let gradients = match curvature {
            Curvature::EmpiricalFisher => self.x.iter().zip(&self.y).map(miss).collect(),
            _ => vec![1.0; self.x.len()],
        };
        Some((self.x.concat(), gradients))
    }
}

/// A target that is a formula.
pub trait Analytic {
    fn examples(&self) -> usize;
    fn prior_precision(&self) -> f64;
    fn prior(&self) -> Arc<dyn Prior<Flat<f64>>> {
        Arc::new(Gaussian { precision: self.prior_precision() })
    }
    /// Whether its gradients are clipped.
    fn is_steep(&self) -> bool {
        false
    }
    fn batches(&self) -> usize;
    fn start(&self) -> Flat<f64>;
    /// Where the point of an index starts, where there are several.
    fn start_of(&self, index: usize) -> Flat<f64> {
        let mut theta = self.start();
        if index > 0 {
            theta.add_noise(1.0, &Stream::root(31).nth(index));
        }
        theta
    }
    fn slices(&self) -> Vec<Slice>;
    /// The weights of a layer in it.
    fn matrices(&self) -> Vec<Matrix> {
        Vec::new()
    }
    /// Mean loss of a mini-batch; its gradient replaces `out`.
    fn batch(&mut self, theta: &Flat<f64>, epoch: usize, batch: usize, out: &mut Flat<f64>) -> f64;
    fn whole(&mut self, theta: &Flat<f64>, out: &mut Flat<f64>) -> f64;
    fn whole_loss(&mut self, theta: &Flat<f64>) -> f64;
    /// What a unit with these parameters reads of each example, and for each the gradient at its output or the root of
    /// the Fisher information there.
    fn reads(&self, _theta: &Flat<f64>, _curvature: Curvature) -> Option<(Vec<f64>, Vec<f64>)> {
        None
    }
    /// Called when the running statistics at some parameters are asked for.
    fn refresh(&mut self, _theta: &Flat<f64>) {}
    /// Called when losses are asked for.
    fn asked(&self) {}
}

/// A formula as inference sees it, and the losses that it keeps.
pub struct Seen<'a, T>(pub &'a mut T, pub Vec<f64>);

impl<T: Analytic> Target for Seen<'_, T> {
    type Vector = Flat<f64>;

    fn examples(&self) -> usize {
        self.0.examples()
    }
    fn prior(&self) -> Arc<dyn Prior<Flat<f64>>> {
        self.0.prior()
    }
    fn is_steep(&self) -> bool {
        self.0.is_steep()
    }
    fn batches(&self) -> usize {
        self.0.batches()
    }
    fn start(&self, index: usize) -> Point<Flat<f64>> {
        Point { theta: self.0.start_of(index), statistics: Flat(Vec::new()) }
    }
    fn slices(&self) -> Vec<Slice> {
        self.0.slices()
    }
    fn matrices(&self) -> Vec<Matrix> {
        self.0.matrices()
    }
    fn gradient(&mut self, point: &mut Point<Flat<f64>>, name: BatchName, out: &mut Flat<f64>) {
        let loss = self.0.batch(&point.theta, name.epoch, name.batch, out);
        self.1.push(loss);
    }
    fn losses(&mut self) -> Vec<f64> {
        self.0.asked();
        std::mem::take(&mut self.1)
    }
    fn whole(&mut self, theta: &Flat<f64>, out: &mut Flat<f64>) -> f64 {
        self.0.whole(theta, out)
    }
    fn whole_loss(&mut self, theta: &Flat<f64>) -> f64 {
        self.0.whole_loss(theta)
    }
    fn statistics(&mut self, theta: &Flat<f64>) -> Flat<f64> {
        self.0.refresh(theta);
        Flat(Vec::new())
    }
    fn curvature(
        &mut self,
        point: &Point<Flat<f64>>,
        _: std::ops::Range<usize>,
        curvature: Curvature,
        _: &Stream,
        each: &mut dyn FnMut(usize, Vec<LayerGradients>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Some((inputs, gradients)) = self.0.reads(&point.theta, curvature) else {
            return Ok(());
        };
        // A linear unit without a bias is a convolution of a single place.
        let mut network = Network::new(Shape::image(inputs.len() / gradients.len(), 1, 1));
        network.then("unit", Layer::conv2d(1, 1, 1));
        let (inputs, output_gradients) = (&Flat(inputs), &Flat(gradients));
        let visited = Visited { node: &network.nodes()[0], inputs, output_gradients };
        each(0, LayerGradients::of(&visited).into_iter().collect())
    }
}

/// Runs a method on a formula.
pub fn fit<T: Analytic>(
    method: &Method,
    target: &mut T,
    stream: &Stream,
    member: usize,
    options: &Options<'_>,
) -> Outcome<Posterior<Flat<f64>>, Posterior<Flat<f64>>> {
    let rule = method.rule(&target.start());
    fit::fit(rule, &mut Seen(target, Vec::new()), stream, member, options)
}

/// What there is to learn of training data under a Gaussian prior.
pub fn task<E: Engine>(training: &Training<E>, precision: f64) -> Task<E> {
    training.task(Arc::new(Gaussian { precision }))
}

/// What a target that stands around another, in the field that is named, has from it.
macro_rules! around {
    ($inner:tt) => {
        fn examples(&self) -> usize {
            self.$inner.examples()
        }
        fn prior_precision(&self) -> f64 {
            self.$inner.prior_precision()
        }
        fn batches(&self) -> usize {
            self.$inner.batches()
        }
        fn start(&self) -> Flat<f64> {
            self.$inner.start()
        }
        fn slices(&self) -> Vec<dubio_nn::parameter::Slice> {
            self.$inner.slices()
        }
        fn matrices(&self) -> Vec<dubio_nn::matrix::Matrix> {
            self.$inner.matrices()
        }
        fn reads(
            &self,
            theta: &Flat<f64>,
            curvature: dubio_infer::curvature::Curvature,
        ) -> Option<(Vec<f64>, Vec<f64>)> {
            self.$inner.reads(theta, curvature)
        }
    };
}
pub(crate) use around;

pub fn inverse([[a, b], [c, d]]: [[f64; 2]; 2]) -> [[f64; 2]; 2] {
    let det = a * d - b * c;
    [[d / det, -b / det], [-c / det, a / det]]
}

pub fn times(m: [[f64; 2]; 2], v: [f64; 2]) -> [f64; 2] {
    [m[0][0] * v[0] + m[0][1] * v[1], m[1][0] * v[0] + m[1][1] * v[1]]
}

/// A function of a symmetric matrix, applied to its eigenvalues.
pub fn of_eigenvalues(m: [[f64; 2]; 2], f: impl Fn(f64) -> f64) -> [[f64; 2]; 2] {
    let angle = 0.5 * (2.0 * m[0][1]).atan2(m[0][0] - m[1][1]);
    let (s, c) = angle.sin_cos();
    let along = |s: f64, c: f64| c * c * m[0][0] + 2.0 * s * c * m[0][1] + s * s * m[1][1];
    let (first, second) = (f(along(s, c)), f(along(c, -s)));
    [
        [c * c * first + s * s * second, s * c * (first - second)],
        [s * c * (first - second), s * s * first + c * c * second],
    ]
}

/// A method by name with some settings.
pub fn method(name: &str, settings: Value) -> Method {
    let Value::Object(settings) = settings else { panic!("a table of settings") };
    Method::parse(name, settings).unwrap_or_else(|e| panic!("{e}"))
}

/// Runs a method on a target.
pub fn run<T: Analytic>(method: &Method, target: &mut T, seed: u64) -> Posterior<Flat<f64>> {
    let options = Options::default();
    fit(method, target, &Stream::root(seed), 0, &options).unwrap_or_else(|e| panic!("{}", e.error))
}

/// The samples' coordinates.
pub fn places(posterior: &Posterior<Flat<f64>>) -> Vec<[f64; 2]> {
    posterior.points.iter().map(|p| [p.theta.0[0], p.theta.0[1]]).collect()
}

/// A mean over a chain and its standard error, from the spread of 50 batches.
pub fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let batches: Vec<f64> = values
        .chunks_exact(values.len() / 50)
        .map(|batch| batch.iter().sum::<f64>() / batch.len() as f64)
        .collect();
    let count = batches.len() as f64;
    let mean = batches.iter().sum::<f64>() / count;
    let spread = batches.iter().map(|b| (b - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (mean, (spread / count).sqrt())
}

/// Mean and covariance of samples are the known ones, within five standard errors.
pub fn assert_gaussian(
    samples: &[[f64; 2]],
    mean: [f64; 2],
    covariance: [[f64; 2]; 2],
    what: &str,
) {
    for i in 0..2 {
        let values: Vec<f64> = samples.iter().map(|s| s[i]).collect();
        let (value, error) = mean_and_error(&values);
        assert!(
            (value - mean[i]).abs() < 5.0 * error,
            "{what}: mean {i} is {value}, not {} (error {error})",
            mean[i]
        );
        for j in 0..=i {
            let products: Vec<f64> =
                samples.iter().map(|s| (s[i] - mean[i]) * (s[j] - mean[j])).collect();
            let (value, error) = mean_and_error(&products);
            let expected = covariance[i][j];
            assert!(
                (value - expected).abs() < 5.0 * error,
                "{what}: covariance {i}{j} is {value}, not {expected} (error {error})"
            );
            // The test can tell: the error itself must be small beside what is measured.
            assert!(error < 0.1 * covariance[i][i].max(covariance[j][j]), "{what}: error {error}");
        }
    }
}

/// The solution of `matrix x = right`, by elimination with pivots.
pub fn solved(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let n = right.len();
    for column in 0..n {
        let largest =
            |a: &usize, b: &usize| matrix[*a][column].abs().total_cmp(&matrix[*b][column].abs());
        let pivot = (column..n).max_by(largest).expect("rows");
        matrix.swap(column, pivot);
        right.swap(column, pivot);
        for row in column + 1..n {
            let factor = matrix[row][column] / matrix[column][column];
            for k in column..n {
                matrix[row][k] -= factor * matrix[column][k];
            }
            right[row] -= factor * right[column];
        }
    }
    for row in (0..n).rev() {
        let rest: f64 = (row + 1..n).map(|k| matrix[row][k] * right[k]).sum();
        right[row] = (right[row] - rest) / matrix[row][row];
    }
    right
}

/// A Gaussian process on the inputs themselves: a linear layer that reads random features of them.
pub struct Process {
    pub network: Network,
    pub likelihood: Arc<dyn Likelihood>,
    pub inputs: Vec<f64>,
    pub answers: Answers,
    pub prior_precision: f64,
}

impl Process {
    pub fn new(
        method: &Method,
        (width, outputs): (usize, usize),
        likelihood: Arc<dyn Likelihood>,
        inputs: Vec<f64>,
        answers: Answers,
    ) -> Self {
        let mut network = Network::new(Shape::vector(width));
        network.then("fc", Layer::Linear { outputs });
        let network = method.network(network);
        Self { network, likelihood, inputs, answers, prior_precision: 1.0 }
    }

    /// What its last layer reads of an input: `sqrt(2 / M) cos(W x + b)`, and 1 for the bias.
    pub fn features(&self, x: &[f64]) -> Vec<f64> {
        let Layer::RandomFeatures { features, length_scale, directions } =
            self.network.nodes()[0].layer
        else {
            panic!("random features come first")
        };
        let numbers = random_features::draw(x.len(), features, length_scale, directions);
        let rows = numbers.directions.chunks(x.len()).zip(&numbers.phases);
        let angle = |(w, b): (&[f64], &f64)| b + w.iter().zip(x).map(|(w, x)| w * x).sum::<f64>();
        let all = rows.map(|row| (2.0 / features as f64).sqrt() * angle(row).cos());
        all.chain([1.0]).collect()
    }

    pub fn rows(&self) -> Vec<Vec<f64>> {
        self.inputs.chunks(self.network.input.size()).map(|x| self.features(x)).collect()
    }

    pub fn posterior(&self, method: &Method) -> Posterior<Flat<f64>> {
        let engine = Double::default();
        let answers = self.answers.clone();
        let inputs = Inputs::Ready(Arc::new(self.inputs.clone()));
        let data = engine.data(&Examples { inputs, answers: answers.clone() });
        let prior = Arc::new(Gaussian { precision: self.prior_precision });
        let batch = answers.len();
        let task = Task { data, answers, likelihood: Arc::clone(&self.likelihood), prior };
        let stream = Stream::root(1);
        let problem =
            Problem::new(&engine, &self.network, &task, batch, None, Start::Fresh, &stream);
        let mut problem = problem.unwrap_or_else(|e| panic!("{e}"));
        let rule = method.rule(&problem.start(0).theta);
        let fit = fit::fit(rule, &mut problem, &stream, 0, &Options::default());
        fit.unwrap_or_else(|e| panic!("{}", e.error))
    }

    /// What every sample predicts for some inputs.
    pub fn outputs(
        &self,
        method: &Method,
        posterior: &Posterior<Flat<f64>>,
        inputs: &[f64],
    ) -> Vec<Vec<f64>> {
        let (network, moving) = (self.network.clone(), 0..self.network.parameters());
        let scene = Scene { network, moving, likelihood: &*self.likelihood };
        let predictive = method.predictive::<Double>(posterior, &scene);
        let capacity = inputs.len() / self.network.input.size();
        let mut model = Double::default().model(&self.network, capacity);
        let each = (0..predictive.parts()).map(|part| {
            let (sample, mut out) = (Sample { part, of_part: 0 }, Vec::new());
            predictive.outputs(sample, &mut model, inputs, &Stream::root(3), &mut out);
            out
        });
        each.collect()
    }
}

/// Every method with settings that are quick on a target like these, and the samples they promise.
pub fn quick_methods() -> Vec<(Method, usize)> {
    let path =
        json!({"epochs": 4, "collect_epochs": 6, "collect": 5, "lr": 0.05, "collect_lr": 0.05});
    let with = |extra: Value| {
        let mut all = path.clone();
        for (key, value) in extra.as_object().expect("a table") {
            all[key] = value.clone();
        }
        all
    };
    let each = [
        ("sgd", json!({"epochs": 7, "lr": 0.05}), 1),
        ("deep-ensemble", json!({"epochs": 7, "lr": 0.05, "optimiser": "adam"}), 1),
        ("snapshot", json!({"samples": 3, "cycle_epochs": 3, "lr": 0.05}), 3),
        (
            "fge",
            json!({"samples": 3, "epochs": 3, "cycle_epochs": 2, "lr": 0.05, "lr_high": 0.05}),
            3,
        ),
        ("swa", path.clone(), 1),
        ("swag", with(json!({"samples": 4, "rank": 4})), 4),
        ("mc-dropout", json!({"epochs": 5, "samples": 6, "lr": 0.05}), 6),
        ("gaussian-dropout", json!({"epochs": 5, "samples": 6, "lr": 0.05}), 6),
        ("batch-ensemble", json!({"samples": 3, "epochs": 5, "lr": 0.05, "spread": 0.1}), 3),
        ("masksembles", json!({"samples": 3, "epochs": 5, "lr": 0.05}), 3),
        ("packed-ensemble", json!({"samples": 3, "alpha": 2.0, "epochs": 5, "lr": 0.05}), 3),
        ("sgld", json!({"burn_in": 3, "samples": 4, "thin": 2}), 4),
        ("sghmc", json!({"burn_in": 3, "samples": 4, "thin": 2}), 4),
        (
            "csgld",
            json!({"samples": 5, "cycle_epochs": 4, "noise_epochs": 2, "cycle_samples": 2, "lr": 0.05}),
            5,
        ),
        (
            "csghmc",
            json!({"samples": 5, "cycle_epochs": 4, "noise_epochs": 2, "cycle_samples": 2, "lr": 0.02}),
            5,
        ),
        ("hmc", json!({"burn_in": 5, "samples": 6, "leapfrog": 4, "step": 0.02}), 6),
        ("nuts", json!({"burn_in": 20, "samples": 6}), 6),
        ("subspace", with(json!({"samples": 4, "burn_in": 2, "rank": 2})), 4),
        ("svgd", json!({"particles": 3, "epochs": 5, "lr": 0.05}), 3),
        ("vi", json!({"epochs": 5, "samples": 4, "lr": 0.05, "draws": 2, "kl_warm_up": 2}), 4),
        (
            "rank1-vi",
            json!({"epochs": 5, "components": 2, "samples": 4, "lr": 0.05, "draws": 2, "kl_warm_up": 2}),
            4,
        ),
        ("ivon", json!({"epochs": 5, "samples": 4, "draws": 2}), 4),
        ("laplace", json!({"epochs": 5, "lr": 0.05, "predict": "mc", "samples": 4}), 4),
        // As many features as the last layer of preresnet20/8 reads, whose weights one law starts from.
        (
            "sngp",
            json!({"epochs": 5, "lr": 0.05, "features": 8, "linear_bound": 0.4, "predict": "mc", "samples": 4}),
            4,
        ),
        ("distill", json!({"burn_in": 2, "epochs": 3}), 1),
        ("bayesian-ridge", json!({}), 1),
        ("conditional-gaussian", json!({"epochs": 5}), 1),
        ("conditional-flow", json!({"epochs": 5, "hidden": 4, "draws": 3}), 1),
        ("sqr", json!({"epochs": 5, "samples": 6}), 6),
    ];
    let names: Vec<&str> = each.iter().map(|(name, ..)| *name).collect();
    let cards: Vec<&str> = dubio_infer::methods::CARDS.iter().map(|card| card.name).collect();
    assert_eq!(names, cards, "a method is missing from the table of tests");
    each.into_iter().map(|(name, settings, samples)| (method(name, settings), samples)).collect()
}

/// Every method for classification with settings that are quick on a few digits, and those whose
/// settings need a network.
pub fn quick_recipes(common: &Value) -> Vec<Recipe> {
    let all = quick_methods().into_iter().map(|(method, _)| method);
    let all = all.filter(|method| !method.is_for_regression());
    let perturbed = ["local", "flipout"].map(|estimator| {
        method(
            "vi",
            json!({"epochs": 5, "samples": 4, "lr": 0.05, "draws": 2, "estimator": estimator}),
        )
    });
    let each = all.chain(perturbed).map(|method| {
        let name = method.card().name;
        let mut settings = match name {
            "hmc" => json!({"burn_in": 2, "samples": 2, "leapfrog": 3, "step": 0.01}),
            "nuts" => json!({"burn_in": 3, "samples": 2, "max_depth": 3}),
            _ => serde_json::to_value(&method).expect("a table"),
        };
        let table = settings.as_object_mut().expect("a table");
        table.remove("method");
        table.insert("batch".to_string(), json!(40));
        table.extend(common.as_object().expect("a table").clone());
        recipe(name, settings)
    });
    each.collect()
}

/// A recipe by the method's name with some settings.
pub fn recipe(name: &str, settings: Value) -> Recipe {
    let Value::Object(settings) = settings else { panic!("a table of settings") };
    Recipe::parse(name, settings).unwrap_or_else(|e| panic!("{e}"))
}

/// The first digits of the training part; all ten classes are among 40.
pub fn digits(count: u32) -> Dataset {
    let all = sets::digits::SET.load("".as_ref(), Part::Train).expect("embedded");
    all.subset(&(0..count).collect::<Vec<_>>())
}

/// A folder of its own, in memory where there is such a place: checkpoints wait for the disk.
pub fn scratch() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder")
}

/// Everything that a posterior holds but the time it took, so that any difference shows.
pub fn contents<V: Vector>(posterior: &Posterior<V>) -> Vec<Vec<u64>> {
    let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    let points = posterior
        .points
        .iter()
        .flat_map(|point| [&point.theta, &point.statistics].map(|v| bits(&v.read(0..v.len()))));
    let records = posterior.records.iter().flat_map(|record| {
        let report: Vec<f64> = record.report.iter().map(|(_, value)| *value).collect();
        [bits(&record.losses), bits(&report)]
    });
    points.chain(records).collect()
}

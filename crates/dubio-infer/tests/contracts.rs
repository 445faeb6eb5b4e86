//! Methods, priors and losses that a stranger might write, by the public contracts alone.

mod support;

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use dubio_infer::Error;
use dubio_infer::fit::{self, Checkpoints, Options, Outcome};
use dubio_infer::memory::Memory;
use dubio_infer::posterior::Posterior;
use dubio_infer::prior::Prior;
use dubio_infer::problem::{Problem, Start};
use dubio_infer::rule::{Draws, Keep, MiniBatch, Rule, Step, Steps};
use dubio_infer::target::{BatchName, Target};
use dubio_infer::training::Training;
use dubio_nn::Double;
use dubio_nn::cpu::Flat;
use dubio_nn::engine::{Engine, Model, Point, Seed, Vector};
use dubio_nn::loss::{Kernel, Loss, Truth};
use dubio_nn::network::Network;
use dubio_progress::{Progress, Silent};
use dubio_random::stream::Stream;
use serde_json::json;
use support::*;

/// Stein variational gradient descent (Liu and Wang 2016): particles that are drawn to the posterior
/// and push one another away, by the kernel `exp(-|x - y|^2 / 2)`.
struct Particles<V> {
    count: usize,
    epochs: usize,
    rate: f64,
    gradients: Vec<V>,
}

impl<V: Vector> Rule<V> for Particles<V> {
    fn steps(&mut self) -> Option<&mut dyn Steps<V>> {
        Some(self)
    }
    fn memory(&mut self) -> Memory<'_, V> {
        Memory::none()
    }
}

impl<V: Vector> Steps<V> for Particles<V> {
    fn epochs(&self) -> usize {
        self.epochs
    }
    fn points(&self) -> usize {
        self.count
    }
    fn rate(&self, _: &Step<'_>) -> f64 {
        self.rate
    }
    fn step(&mut self, points: &mut [Point<V>], batch: &mut MiniBatch<'_, V>, at: &Step<'_>) {
        self.gradients.resize(points.len(), points[0].theta.clone());
        batch.gradients(points, &mut self.gradients);
        let n = at.examples as f64;
        for (point, gradient) in points.iter().zip(&mut self.gradients) {
            batch.prior().add_gradient(1.0, n, &point.theta, gradient);
        }
        let before: Vec<V> = points.iter().map(|point| point.theta.clone()).collect();
        for point in points {
            let here = point.theta.clone();
            for (theta, gradient) in before.iter().zip(&self.gradients) {
                let mut gap = here.clone();
                gap.axpy(-1.0, theta);
                let kernel = (-0.5 * gap.dot(&gap)).exp() * self.rate / before.len() as f64;
                point.theta.axpy(-kernel * n, gradient);
                point.theta.axpy(kernel, &gap);
            }
        }
    }
    fn after_epoch(&mut self, epoch: usize, _: &[Point<V>]) -> Keep {
        Keep::when(epoch + 1 == self.epochs)
    }
}

/// Variational online Newton (Khan et al. 2018): a Gaussian with a mean and a precision for each
/// parameter, moved by gradients at points drawn from it.
struct MeanField<V> {
    epochs: usize,
    samples: usize,
    prior_precision: f64,
    precision: V,
}

impl<V: Vector> MeanField<V> {
    /// A draw `z / sqrt(precision)` around the mean, and its `z`.
    fn drawn(&self, mean: &V, sign: f64, stream: &Stream) -> (V, V) {
        let (mut theta, mut z) = (mean.clone(), mean.zeros(mean.len()));
        z.add_noise(1.0, stream);
        theta.add_over_root(sign, &z, &self.precision, 0.0);
        (theta, z)
    }
}

impl<V: Vector> Rule<V> for MeanField<V> {
    fn steps(&mut self) -> Option<&mut dyn Steps<V>> {
        Some(self)
    }
    fn draws(&mut self) -> Option<&mut dyn Draws<V>> {
        Some(self)
    }
    fn memory(&mut self) -> Memory<'_, V> {
        Memory::none().vector("precision", &mut self.precision)
    }
    fn factors(&mut self) -> Vec<V> {
        vec![self.precision.clone()]
    }
}

impl<V: Vector> Steps<V> for MeanField<V> {
    fn epochs(&self) -> usize {
        self.epochs
    }
    fn rate(&self, at: &Step<'_>) -> f64 {
        0.5 / (1.0 + 0.01 * at.number() as f64)
    }
    fn step(&mut self, points: &mut [Point<V>], batch: &mut MiniBatch<'_, V>, at: &Step<'_>) {
        let (n, rate) = (at.examples as f64, self.rate(at));
        let zeros = self.precision.zeros(self.precision.len());
        let (mut slope, mut curvature, mut product) = (zeros.clone(), zeros.clone(), zeros.clone());
        for sign in [1.0, -1.0] {
            let (theta, z) = self.drawn(&points[0].theta, sign, &at.noise());
            let mut there = Point { theta, ..points[0].clone() };
            let gradient = batch.at(&mut there);
            slope.axpy(0.5 * n, gradient.likelihood);
            product.add_product(0.5 * n * sign, gradient.likelihood, &z);
            points[0].statistics = there.statistics;
        }
        curvature.add_times_root(1.0, &product, &self.precision);
        slope.axpy(self.prior_precision, &points[0].theta);
        let mut prior = zeros.clone();
        prior.fill(self.prior_precision);
        curvature.axpy(1.0, &prior);
        self.precision.combine(1.0 - 0.1 * rate, 0.1 * rate, &curvature);
        let mut half = zeros;
        half.add_over_root(1.0, &slope, &self.precision, 0.0);
        points[0].theta.add_over_root(-rate, &half, &self.precision, 0.0);
    }
    fn after_epoch(&mut self, _: usize, _: &[Point<V>]) -> Keep {
        Keep::Nothing
    }
}

impl<V: Vector> Draws<V> for MeanField<V> {
    fn count(&self) -> usize {
        self.samples
    }
    fn draw(
        &mut self,
        points: &mut [Point<V>],
        _: &mut dyn Target<Vector = V>,
        _: usize,
        stream: &Stream,
    ) -> Result<Vec<V>, Error> {
        Ok(vec![self.drawn(&points[0].theta, 1.0, stream).0])
    }
}

fn particles(epochs: usize) -> Box<dyn Rule<Flat<f64>>> {
    Box::new(Particles { count: 30, epochs, rate: 0.05, gradients: Vec::new() })
}

fn mean_field(epochs: usize, samples: usize) -> Box<dyn Rule<Flat<f64>>> {
    let precision = Flat(vec![10.0; 2]);
    Box::new(MeanField { epochs, samples, prior_precision: 2.0, precision })
}

type Fit = Outcome<Posterior<Flat<f64>>, Posterior<Flat<f64>>>;

fn go(rule: Box<dyn Rule<Flat<f64>>>, target: &mut impl Analytic, options: &Options<'_>) -> Fit {
    fit::fit(rule, &mut Seen(target, Vec::new()), &Stream::root(1), 0, options)
}

/// Under a Gaussian posterior the particles' mean is the posterior's: the pushes sum to 0, and so do the
/// pulls where they come to rest.
#[test]
fn particles_come_to_rest_around_the_mean_of_the_posterior() {
    let mut target = LinearRegression::new(4, 2.0);
    let posterior = go(particles(3000), &mut target, &Options::default()).expect("a fit");
    assert_eq!(posterior.points.len(), 30);
    let (mean, all) = (target.mean(), places(&posterior));
    for i in 0..2 {
        let ours = all.iter().map(|place| place[i]).sum::<f64>() / 30.0;
        let spread = all.iter().map(|place| (place[i] - ours).powi(2)).sum::<f64>() / 30.0;
        let truth = target.covariance()[i][i];
        assert!((ours - mean[i]).abs() < 0.1 * truth.sqrt(), "{ours} {}", mean[i]);
        assert!((0.4..1.2).contains(&(spread / truth)), "{spread}, not {truth}");
    }
    let losses = &posterior.records[0].losses;
    assert!(losses.len() == 3000 && losses[0] > losses[2999], "the mean over the particles");
}

/// The best factorised Gaussian has the posterior's mean, and the diagonal of its precision (Bishop 2006,
/// section 10.1.2).
#[test]
fn mean_field_has_the_mean_of_the_posterior_and_the_diagonal_of_its_precision() {
    let mut target = LinearRegression::new(20, 2.0);
    let posterior = go(mean_field(20_000, 40_000), &mut target, &Options::default());
    let posterior = posterior.unwrap_or_else(|e| panic!("{}", e.error));
    let [[a, _], [_, b]] = target.hessian();
    let found = &posterior.factors[0][0].0;
    assert!((found[0] / a - 1.0).abs() < 0.05 && (found[1] / b - 1.0).abs() < 0.05, "{found:?}");
    let covariance = [[1.0 / found[0], 0.0], [0.0, 1.0 / found[1]]];
    let mean = target.mean();
    for place in places(&posterior).iter().take(1) {
        assert!((0..2).all(|i| (place[i] - mean[i]).abs() < 6.0 * covariance[i][i].sqrt()));
    }
    let all = places(&posterior);
    for i in 0..2 {
        let ours = all.iter().map(|place| place[i]).sum::<f64>() / all.len() as f64;
        assert!((ours - mean[i]).abs() < 0.1 * covariance[i][i].sqrt(), "{ours} {}", mean[i]);
    }
}

/// Asks for a stop after so many questions.
struct After(std::sync::atomic::AtomicUsize);

impl Progress for After {
    fn should_stop(&self) -> bool {
        use std::sync::atomic::Ordering::Relaxed;
        self.0.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_err()
    }
}

#[test]
fn both_go_on_after_a_stop_to_the_same_bytes() {
    let target = || {
        let mut target = LinearRegression::new(12, 2.0);
        target.batch = 5;
        target
    };
    let rules: [&dyn Fn() -> Box<dyn Rule<Flat<f64>>>; 2] =
        [&|| particles(4), &|| mean_field(4, 3)];
    for rule in rules {
        let straight = go(rule(), &mut target(), &Options::default()).expect("a fit");
        for steps in [1, 2, 5, 8, 11, 12, 13] {
            let folder = scratch();
            let checkpoints = |progress| Options {
                progress,
                checkpoints: Some(Checkpoints {
                    folder: folder.path().to_path_buf(),
                    every: Duration::ZERO,
                    identity: "test".to_string(),
                }),
            };
            let progress = After(steps.into());
            let stopped = go(rule(), &mut target(), &checkpoints(&progress));
            assert!(stopped.is_err() || steps >= 12);
            let after = go(rule(), &mut target(), &checkpoints(&Silent)).expect("a fit");
            assert_eq!(contents(&after), contents(&straight), "after {steps} steps");
        }
    }
}

/// A precision for each parameter.
#[derive(Clone)]
struct Diagonal(Vec<f64>);

impl<V: Vector> Prior<V> for Diagonal {
    fn value(&self, theta: &V) -> f64 {
        let each = theta.read(0..theta.len()).into_iter().zip(&self.0);
        each.map(|(x, precision)| 0.5 * precision * x * x).sum()
    }
    fn add_gradient(&self, a: f64, examples: f64, theta: &V, to: &mut V) {
        let mut precision = theta.clone();
        precision.write(0, &self.0);
        to.add_product(a / examples, &precision, theta);
    }
    fn part(&self, range: Range<usize>) -> Box<dyn Prior<V>> {
        Box::new(Self(self.0[range].to_vec()))
    }
}

struct UnderDiagonal(LinearRegression);

impl Analytic for UnderDiagonal {
    around!(0);

    fn prior(&self) -> Arc<dyn Prior<Flat<f64>>> {
        Arc::new(Diagonal(vec![1.0, 30.0]))
    }
    fn batch(&mut self, theta: &Flat<f64>, e: usize, b: usize, out: &mut Flat<f64>) -> f64 {
        self.0.batch(theta, e, b, out)
    }
    fn whole(&mut self, theta: &Flat<f64>, out: &mut Flat<f64>) -> f64 {
        self.0.whole(theta, out)
    }
    fn whole_loss(&mut self, theta: &Flat<f64>) -> f64 {
        self.0.whole_loss(theta)
    }
}

/// `C = (X'X + diag(1, 30))^-1`, `m = C X'y`, whichever way a sampler takes the prior in.
#[test]
fn samplers_take_a_prior_that_differs_from_parameter_to_parameter() {
    for (name, settings) in [
        ("hmc", json!({"burn_in": 200, "samples": 8000, "leapfrog": 6, "step": 0.15})),
        ("sgld", json!({"burn_in": 500, "samples": 60000, "lr": 0.01, "schedule": "constant"})),
        ("sghmc", json!({"burn_in": 500, "samples": 60000, "lr": 0.005, "schedule": "constant"})),
    ] {
        let mut target = UnderDiagonal(LinearRegression::new(20, 1.0));
        let samples = places(&run(&method(name, settings), &mut target, 3));
        let [[a, b], [_, d]] = target.0.hessian();
        let covariance = inverse([[a, b], [b, d + 29.0]]);
        let rows = || target.0.x.iter().zip(&target.0.y);
        let sum = |i: usize| rows().map(|(x, y)| x[i] * y).sum::<f64>();
        assert_gaussian(&samples, times(covariance, [sum(0), sum(1)]), covariance, name);
    }
}

fn problem(engine: &Double) -> (Problem<Double>, Network) {
    let training = Training::new(engine, &digits(60), &[]).expect("digits");
    let network = recipe("sgd", json!({})).network("mlp-6", &training).expect("a network");
    let (task, stream) = (task(&training, 1.0), Stream::root(2));
    let problem = Problem::new(engine, &network, &task, 20, None, Start::Fresh, &stream);
    (problem.expect("a problem"), network)
}

/// The sum over examples of output gradient times input is the gradient of a linear layer's weights.
#[test]
fn what_curvature_is_made_of_makes_the_gradient() {
    let (mut problem, network) = problem(&Double::default());
    let mut point = problem.start(0);
    let name = BatchName { epoch: 1, batch: 2 };
    let outputs = problem.outputs(&point, name);
    assert_eq!(outputs.len(), 20 * 10);
    let factors: Vec<f64> = outputs.iter().map(|v| v.sin()).collect();
    let mut gradient = point.theta.clone();
    problem.seeded_gradient(&mut point, name, Seed::Factors(&factors), &mut gradient);
    let mut layers = 0;
    problem.visit(&point, name, Seed::Factors(&factors), &mut |visited| {
        let node = &network.nodes()[visited.node];
        let (inputs, outputs) = (node.inputs[0].size(), node.output.size());
        for k in 0..outputs {
            for i in 0..inputs {
                let each = (0..20).map(|example| {
                    visited.output_gradients.0[example * outputs + k]
                        * visited.inputs.0[example * inputs + i]
                });
                let there = gradient.0[node.parameters.start + k * inputs + i];
                assert!((each.sum::<f64>() - there).abs() < 1e-9);
            }
        }
        layers += 1;
    });
    assert_eq!(layers, 2);
}

/// The same loss without the name of a kernel.
#[derive(Debug)]
struct OnTheHost(Arc<dyn Loss>);

impl Loss for OnTheHost {
    fn outputs(&self) -> usize {
        self.0.outputs()
    }
    fn mean(&self, outputs: &[f64], truth: Truth<'_>, rows: &[u32], gradient: &mut [f64]) -> f64 {
        assert_eq!(rows.len(), truth.len());
        self.0.mean(outputs, truth, rows, gradient)
    }
}

#[test]
fn a_loss_of_ones_own_is_worked_out_on_the_host() {
    use dubio_nn::engine::{Batch, Rows};
    let engine = Double::default();
    let training = Training::new(&engine, &digits(60), &[]).expect("digits");
    let network = recipe("sgd", json!({})).network("mlp-6", &training).expect("a network");
    let task = task(&training, 1.0);
    let own: Arc<dyn Loss> = task.likelihood;
    assert_eq!(own.kernel(), Some(Kernel::CrossEntropy));
    let gradient = |loss: &Arc<dyn Loss>| {
        let mut model = engine.model(&network, 60);
        model.learn(&task.data, loss, 0..network.parameters());
        let mut point = model.start(&Stream::root(4));
        let mut gradient = point.theta.clone();
        let batch = Batch { rows: Rows::Stored(0..60), augment: None, noise: None };
        model.gradient(&mut point, &batch, &mut gradient);
        (model.losses()[0], gradient.0)
    };
    let (here, there) = (gradient(&own), gradient(&(Arc::new(OnTheHost(own.clone())) as _)));
    assert!((here.0 - there.0).abs() < 1e-12);
    assert!(here.1.iter().zip(&there.1).all(|(a, b)| (a - b).abs() < 1e-12));
}

//! Priors and losses that a stranger might write, by the public contracts alone.

mod support;

use std::ops::Range;
use std::sync::Arc;

use dubio_infer::prior::Prior;
use dubio_infer::problem::{Problem, Start};
use dubio_infer::target::{BatchName, Target};
use dubio_infer::training::Training;
use dubio_nn::Double;
use dubio_nn::cpu::Flat;
use dubio_nn::engine::{Engine, Model, Seed, Vector};
use dubio_nn::loss::{Kernel, Loss, Truth};
use dubio_random::stream::Stream;
use serde_json::json;
use support::*;

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

fn problem(engine: &Double) -> Problem<Double> {
    let training = Training::new(engine, &digits(60), &[]).expect("digits");
    let network = recipe("sgd", json!({})).network("mlp-6", &training).expect("a network");
    let (task, stream) = (task(&training, 1.0), Stream::root(2));
    let problem = Problem::new(engine, &network, &task, 20, None, Start::Fresh, &stream);
    problem.expect("a problem")
}

/// The sum over examples of output gradient times input is the gradient of a linear layer's weights.
#[test]
fn what_curvature_is_made_of_makes_the_gradient() {
    let mut problem = problem(&Double::default());
    let mut point = problem.start(0);
    let name = BatchName { epoch: 1, batch: 2 };
    let outputs = problem.outputs(&point, name);
    assert_eq!(outputs.len(), 20 * 10);
    let factors: Vec<f64> = outputs.iter().map(|v| v.sin()).collect();
    let mut gradient = point.theta.clone();
    problem.seeded_gradient(&mut point, name, Seed::Factors(&factors), &mut gradient);
    let mut layers = 0;
    problem.visit(&point, name, Seed::Factors(&factors), &mut |visited| {
        let node = visited.node;
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

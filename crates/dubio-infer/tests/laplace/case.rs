//! Small networks and their examples, the same as in the Python snippet of `torch.rs`.

use std::sync::Arc;

use dubio_infer::fit::{Options, fit as run_rule};
use dubio_infer::likelihood::{Categorical, FixedNoise, Likelihood};
use dubio_infer::methods::{Method, Scene};
use dubio_infer::posterior::{Posterior, Sample};
use dubio_infer::prior::Gaussian;
use dubio_infer::problem::{Problem, Start, Task};
use dubio_infer::target::Target;
use dubio_nn::Double;
use dubio_nn::cpu::Flat;
use dubio_nn::engine::{Engine, Point};
use dubio_nn::examples::{Answers, Examples, Inputs};
use dubio_nn::layer::Layer::{GlobalAveragePool, Linear, Relu};
use dubio_nn::layer::{Bias, Layer};
use dubio_nn::network::Network;
use dubio_nn::shape::Shape;
use dubio_random::stream::Stream;

pub(crate) fn wave(count: usize, k: f64) -> Vec<f64> {
    (0..count).map(|i| (k * (i + 1) as f64).sin()).collect()
}

pub(crate) struct Case {
    pub(crate) network: Network,
    pub(crate) inputs: Vec<f64>,
    pub(crate) answers: Answers,
    pub(crate) likelihood: Arc<dyn Likelihood>,
    pub(crate) test: Vec<f64>,
}

pub(crate) fn mlp(outputs: usize) -> Network {
    let mut network = Network::new(Shape::vector(3));
    network.then("first", Linear { outputs: 4 });
    network.then("relu", Relu);
    network.then("second", Linear { outputs });
    network
}

pub(crate) fn case(name: &str) -> Case {
    let labels = |count: u32| Answers::Labels(Arc::new((0..count).map(|n| n % 3).collect()));
    let (inputs, test) = (wave(36, 1.3), wave(6, 0.4));
    let classes: Arc<dyn Likelihood> = Arc::new(Categorical { classes: 3 });
    match name {
        "mlp" => Case { network: mlp(3), inputs, answers: labels(12), likelihood: classes, test },
        "regression" => {
            let answers = Answers::Targets(Arc::new(wave(12, 2.1)));
            Case {
                network: mlp(1),
                inputs,
                answers,
                likelihood: Arc::new(FixedNoise { std: 0.4 }),
                test,
            }
        }
        _ => {
            let conv = |stride| Layer::Conv2d {
                channels: 3,
                kernel: 3,
                stride,
                padding: 1,
                bias: Bias::No,
            };
            let mut network = Network::new(Shape::image(2, 5, 5));
            network.then("first", conv(2));
            network.then("relu", Relu);
            network.then("second", conv(1));
            network.then("pool", GlobalAveragePool);
            let (inputs, test) = (wave(6 * 50, 1.3), wave(100, 0.4));
            Case { network, inputs, answers: labels(6), likelihood: classes, test }
        }
    }
}

impl Case {
    pub(crate) fn problem(&self) -> Problem<Double> {
        let theta = Flat(wave(self.network.parameters(), 0.7));
        self.problem_at(Start::Warm(Point { theta, statistics: Flat(Vec::new()) }))
    }

    pub(crate) fn problem_at(&self, start: Start<Flat<f64>>) -> Problem<Double> {
        let engine = Double::default();
        let (inputs, answers) =
            (Inputs::Ready(Arc::new(self.inputs.clone())), self.answers.clone());
        let data = engine.data(&Examples { inputs, answers: answers.clone() });
        let (likelihood, prior) = (self.likelihood.clone(), Arc::new(Gaussian { precision: 1.0 }));
        let task = Task { data, answers, likelihood, prior };
        let batch = self.answers.len();
        Problem::new(&engine, &self.network, &task, batch, None, start, &Stream::root(1)).unwrap()
    }

    pub(crate) fn posterior(&self, method: &Method) -> Posterior<Flat<f64>> {
        let mut problem = self.problem();
        let rule = method.rule(&problem.start(0).theta);
        run_rule(rule, &mut problem, &Stream::root(2), 0, &Options::default()).unwrap()
    }

    /// What the posterior predicts for the test inputs.
    pub(crate) fn outputs(&self, method: &Method, posterior: &Posterior<Flat<f64>>) -> Vec<f64> {
        let moving = 0..self.network.parameters();
        let scene = Scene { network: self.network.clone(), moving, likelihood: &*self.likelihood };
        let predictive = method.predictive::<Double>(posterior, &scene);
        let mut model = Double::default().model(&self.network, 2);
        let (sample, mut out) = (Sample { part: 0, of_part: 0 }, Vec::new());
        predictive.outputs(sample, &mut model, &self.test, &Stream::root(3), &mut out);
        out
    }
}

pub(crate) fn softmax(row: &[f64]) -> Vec<f64> {
    let sum: f64 = row.iter().map(|v| v.exp()).sum();
    row.iter().map(|v| v.exp() / sum).collect()
}

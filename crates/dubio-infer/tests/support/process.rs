//! A Gaussian process on random features.

use std::sync::Arc;

use dubio_infer::fit::{self, Options};
use dubio_infer::likelihood::Likelihood;
use dubio_infer::methods::{Method, Scene};
use dubio_infer::posterior::{Posterior, Sample};
use dubio_infer::prior::Gaussian;
use dubio_infer::problem::{Problem, Start, Task};
use dubio_infer::target::Target as _;
use dubio_nn::Double;
use dubio_nn::cpu::Flat;
use dubio_nn::engine::Engine;
use dubio_nn::examples::{Answers, Examples, Inputs};
use dubio_nn::layer::Layer;
use dubio_nn::network::Network;
use dubio_nn::random_features;
use dubio_nn::shape::Shape;
use dubio_random::stream::Stream;

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

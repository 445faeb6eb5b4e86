//! Times training steps on a GPU: `gpu_steps NAME REPEATS PRECISION MEMBERS`, NAME one of mlp, lenet, resnet, wide.
//!
//! Steps of SGD with momentum at batch 128 on data that lie on the device, of several members at once if asked for,
//! each on a thread and a stream of its own. Prints milliseconds per epoch of 60,000 examples (mlp, lenet) or per step
//! (resnet, wide) and member: best, median and worst of the repeats. `benches/gpu_steps.py` runs the same work in PyTorch.

use std::sync::{Arc, Barrier};
use std::time::Instant;

use dubio_nn::cuda::{Cuda, CudaData, CudaModel, CudaVector};
use dubio_nn::engine::{Batch, Descent, Engine, Model, Point, Rows, Vector};
use dubio_nn::examples::{Answers, Examples, Inputs};
use dubio_nn::loss::{Kernel, Loss, Truth, mean_loss};
use dubio_nn::network::Network;
use dubio_nn::shape::Shape;
use dubio_nn::{Precision, networks};
use dubio_random::stream::Stream;

#[derive(Debug)]
struct CrossEntropy;

impl Loss for CrossEntropy {
    fn outputs(&self) -> usize {
        10
    }
    fn mean(&self, outputs: &[f64], answers: Truth<'_>, _: &[u32], gradient: &mut [f64]) -> f64 {
        mean_loss(outputs, answers, gradient)
    }
    fn kernel(&self) -> Option<Kernel> {
        Some(Kernel::CrossEntropy)
    }
}

const BATCH: usize = 128;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let name = arguments.first().map_or("mlp", |a| &a[..]);
    let repeats = arguments.get(1).and_then(|a| a.parse().ok()).unwrap_or(5);
    let (network, input, examples, steps, unit) = match name {
        "mlp" => ("mlp", Shape::vector(784), 60_000, 469, 1e3),
        "lenet" => ("lenet5", Shape::image(1, 28, 28), 60_000, 469, 1e3),
        "resnet" => ("resnet20-cifar", Shape::image(3, 32, 32), 2_560, 20, 50.0),
        "wide" => ("wideresnet28x10", Shape::image(3, 32, 32), 512, 4, 250.0),
        _ => panic!("mlp, lenet, resnet or wide, not {name}"),
    };
    let precision = arguments.get(2).map_or(Ok(Precision::F32), |name| name.parse());
    let precision = precision.unwrap_or_else(|error| panic!("{error}"));
    let members: usize = arguments.get(3).and_then(|a| a.parse().ok()).unwrap_or(1);
    let engine = Cuda::open(0, precision).unwrap_or_else(|error| panic!("{error}"));
    let network = networks::build(network, input, 10).expect("a network");
    let stream = Stream::root(0);
    let mut inputs = engine.vector(&vec![0.0; examples * input.size()]);
    inputs.add_noise(1.0, &stream.child("inputs"));
    let inputs: Vec<f32> = inputs.read(0..inputs.len()).into_iter().map(|v| v as f32).collect();
    let labels: Vec<u32> = (0..examples).map(|i| (i % 10) as u32).collect();
    let data = engine.data(&Examples {
        inputs: Inputs::Ready(Arc::new(inputs)),
        answers: Answers::Labels(Arc::new(labels)),
    });
    let mut times = vec![0.0; repeats + 1];
    let together = Barrier::new(members);
    std::thread::scope(|scope| {
        let one = || {
            let mut member = Member::new(&engine.beside(), &network, &data, examples);
            let timed = |_| {
                together.wait();
                let start = Instant::now();
                member.run(steps);
                together.wait();
                start.elapsed().as_secs_f64() * unit / members as f64
            };
            (0..=repeats).map(timed).collect::<Vec<f64>>()
        };
        let threads: Vec<_> = (0..members).map(|_| scope.spawn(one)).collect();
        for thread in threads {
            times = thread.join().expect("a member ran");
        }
    });
    times.remove(0); // the first compiles, and records its steps
    times.sort_by(f64::total_cmp);
    println!("{:.4} {:.4} {:.4}", times[0], times[times.len() / 2], times[times.len() - 1]);
}

struct Member {
    model: CudaModel,
    examples: usize,
    point: Point<CudaVector>,
    gradient: CudaVector,
    velocity: CudaVector,
}

impl Member {
    fn new(engine: &Cuda, network: &Network, data: &CudaData, examples: usize) -> Self {
        let mut model = engine.model(network, BATCH);
        let loss: Arc<dyn Loss> = Arc::new(CrossEntropy);
        model.learn(data, &loss, 0..network.parameters());
        let order: Vec<u32> = (0..examples as u32).map(|i| i * 7919 % examples as u32).collect();
        model.order(&order);
        let point = model.start(&Stream::root(0).child("start"));
        let gradient = point.theta.clone();
        let velocity = gradient.zeros(gradient.len());
        Self { model, examples, point, gradient, velocity }
    }

    fn run(&mut self, steps: usize) {
        let Self { model, examples, point, gradient, velocity } = self;
        let batches = examples.div_ceil(BATCH);
        for step in 0..steps {
            let first = step % batches * BATCH;
            let rows = Rows::Ordered(first..(*examples).min(first + BATCH));
            let batch = Batch { rows, augment: None, noise: None };
            model.gradient(point, &batch, gradient);
            let by = Descent { decay: 0.0, momentum: 0.9, rate: 0.01 };
            point.theta.descend(velocity, gradient, by);
        }
        let losses = model.losses(); // waits
        assert!(losses.iter().all(|loss| loss.is_finite()));
    }
}

//! Times training steps: `steps NAME THREADS MEMBERS REPEATS`, NAME one of mlp, tiny, lenet, resnet.
//!
//! Members run side by side, one to a thread of their own pool of THREADS threads. Prints seconds
//! per epoch of 60,000 examples (mlp, lenet), microseconds per step (tiny) or milliseconds per step
//! (resnet), per member: best, median and worst of the repeats. `benches/steps.py` runs the same
//! work in PyTorch.

use std::time::Instant;

use dubio_nn::cpu::{self, Flat};
use dubio_nn::engine::{Model as _, Vector};
use dubio_nn::loss::Truth;
use dubio_nn::networks;
use dubio_nn::shape::Shape;
use dubio_random::stream::Stream;

/// What is timed: a network, its batches, and how the time is told.
struct Work {
    network: &'static str,
    input: Shape,
    outputs: usize,
    batch: usize,
    examples: usize,
    steps: usize,
    unit: f64,
}

fn work(name: &str) -> Work {
    match name {
        "mlp" => Work {
            network: "mlp",
            input: Shape::vector(784),
            outputs: 10,
            batch: 128,
            examples: 60_000,
            steps: 469,
            unit: 1.0,
        },
        "tiny" => Work {
            network: "mlp-50",
            input: Shape::vector(13),
            outputs: 2,
            batch: 32,
            examples: 32 * 16,
            steps: 4_000,
            unit: 1e6 / 4_000.0,
        },
        "lenet" => Work {
            network: "lenet5",
            input: Shape::image(1, 28, 28),
            outputs: 10,
            batch: 128,
            examples: 60_000,
            steps: 469,
            unit: 1.0,
        },
        "resnet" => Work {
            network: "resnet20-cifar",
            input: Shape::image(3, 32, 32),
            outputs: 10,
            batch: 128,
            examples: 512,
            steps: 4,
            unit: 1e3 / 4.0,
        },
        _ => panic!("mlp, tiny, lenet or resnet, not {name}"),
    }
}

/// Seconds that a member takes for its steps of SGD with momentum.
fn train(work: &Work, member: u64) -> f64 {
    let network = networks::build(work.network, work.input, work.outputs).expect("a network");
    let mut model = cpu::Model::new(&network, work.batch);
    let stream = Stream::root(member);
    let mut inputs = Flat(vec![0.0_f32; work.examples * work.input.size()]);
    inputs.add_noise(1.0, &stream.child("inputs"));
    let labels: Vec<u32> = (0..work.examples).map(|i| (i % 10) as u32).collect();
    let targets: Vec<f64> = labels.iter().map(|&y| f64::from(y) / 10.0).collect();
    let mut point = model.start(&stream.child("start"));
    let mut gradient = point.theta.clone();
    let mut velocity = gradient.zeros(gradient.len());
    let batches = work.examples.div_ceil(work.batch);
    let mut run = |steps: usize| {
        for step in 0..steps {
            let first = step % batches * work.batch;
            let last = work.examples.min(first + work.batch);
            let size = work.input.size();
            let truth = if work.outputs == 2 {
                Truth::Targets(&targets[first..last])
            } else {
                Truth::Labels(&labels[first..last])
            };
            let batch = (&inputs.0[first * size..last * size], truth);
            model.loss_and_gradient(&mut point, batch, None, &mut gradient);
            velocity.combine(0.9, 1.0, &gradient);
            point.theta.axpy(-0.01, &velocity);
        }
    };
    run(work.steps.div_ceil(10));
    let start = Instant::now();
    run(work.steps);
    start.elapsed().as_secs_f64()
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize| arguments.get(i).and_then(|a| a.parse().ok());
    let name = arguments.first().map_or("mlp", |a| &a[..]);
    let (threads, members, repeats) =
        (number(1).unwrap_or(1), number(2).unwrap_or(1), number(3).unwrap_or(5));
    let work = work(name);
    let mut times: Vec<f64> = (0..repeats)
        .map(|_| {
            let slowest = std::thread::scope(|scope| {
                let each = (0..members).map(|member| {
                    let work = &work;
                    scope.spawn(move || {
                        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
                        pool.expect("threads").install(|| train(work, member as u64))
                    })
                });
                let handles: Vec<_> = each.collect();
                handles.into_iter().map(|h| h.join().expect("trained")).fold(0.0, f64::max)
            });
            slowest * work.unit / members as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!("{:.4} {:.4} {:.4}", times[0], times[times.len() / 2], times[times.len() - 1]);
}

//! The engine for GPUs against the one for CPUs: vectors, every layer, every network, both losses.
//!
//! Without a GPU these tests are reported as ignored, unless `DUBIO_CUDA` is 1; without NVRTC so is the one that
//! only compiles, unless `DUBIO_NVRTC` is 1. `.ci/gpu` runs them where there is a GPU and no cargo.

use std::collections::BTreeMap;
use std::ops::Range;
use std::process::ExitCode;
use std::sync::Arc;

use dubio_nn::cuda::{Cuda, compile_kernels};
use dubio_nn::engine::{Batch, Descent, Engine, Model, Point, Rows, Seed, Vector};
use dubio_nn::examples::{Answers, Examples, Inputs};
use dubio_nn::layer::{Bias, Directions, Layer};
use dubio_nn::loss::{Kernel, Loss, Truth, mean_loss};
use dubio_nn::matrix::{Matrix, Reads, Side};
use dubio_nn::network::{Network, Perturbation, Source};
use dubio_nn::parameter::Initial;
use dubio_nn::real::Real;
use dubio_nn::shape::Shape;
use dubio_nn::{Double, Precision, cpu::Cpu, networks};
use dubio_random::stream::Stream;
use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    let (gpu, compiler) = (Cuda::open(0, Precision::F32), compile_kernels("compute_80"));
    for missing in [gpu.as_ref().err(), compiler.as_ref().err()].into_iter().flatten() {
        eprintln!("note: {missing}");
    }
    let asked = |name: &str| std::env::var_os(name).is_some_and(|value| value == "1");
    let must = asked("DUBIO_CUDA");
    let on_gpu = |name: &'static str, test: fn(&Cuda)| {
        let gpu = gpu.clone();
        let ignored = gpu.is_err() && !must;
        let run = move || {
            test(&gpu.map_err(|error| Failed::from(error.to_string()))?);
            Ok(())
        };
        Trial::test(name, run).with_ignored_flag(ignored)
    };
    let no_compiler = compiler.is_err() && !asked("DUBIO_NVRTC");
    let trials = vec![
        Trial::test("kernels_compile_for_two_generations_of_gpus", || {
            for architecture in ["compute_80", "compute_90"] {
                compile_kernels(architecture).map_err(|error| error.to_string())?;
            }
            Ok(())
        })
        .with_ignored_flag(no_compiler),
        on_gpu("vectors_move_as_on_a_cpu", vectors),
        on_gpu("noise_is_that_of_a_cpu_bit_by_bit", noise),
        on_gpu("every_layer_has_the_gradients_of_a_cpu", every_layer),
        on_gpu("perturbed_layers_have_the_gradients_of_a_cpu", perturbed),
        on_gpu("convolutions_of_every_tile_have_the_gradients_of_a_cpu", convolutions),
        on_gpu("lower_precisions_err_by_as_much_as_they_round", precisions),
        on_gpu("every_network_has_the_gradients_of_a_cpu", every_network),
        on_gpu("a_regression_has_the_gradients_of_a_cpu", regression),
        on_gpu("losses_without_a_kernel_run_on_the_host", host_loss),
        on_gpu("frozen_layers_keep_their_running_statistics", frozen),
        on_gpu("work_beside_other_work_gives_the_same_bytes", beside),
        on_gpu("the_same_step_gives_the_same_bytes", repeatable),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// A loss by its kernel, or by the host where `on_host` says so.
#[derive(Debug)]
struct Likelihood {
    outputs: usize,
    kernel: Option<Kernel>,
}

impl Loss for Likelihood {
    fn outputs(&self) -> usize {
        self.outputs
    }
    fn mean(&self, outputs: &[f64], answers: Truth<'_>, _: &[u32], gradient: &mut [f64]) -> f64 {
        mean_loss(outputs, answers, gradient)
    }
    fn kernel(&self) -> Option<Kernel> {
        self.kernel
    }
}

fn numbers<T: Real>(count: usize, name: &str) -> Vec<T> {
    let mut values = Double::default().vector(&vec![0.0; count]);
    values.add_noise(1.0, &Stream::root(3).child(name));
    values.read(0..count).into_iter().map(|v| T::of(f64::from(v as f32))).collect()
}

const EXAMPLES: usize = 40;
const BATCH: Range<usize> = 3..14;
/// Inputs of the host's whose gradients are asked for.
const GIVEN: usize = 5;

/// Everything that a model can be asked for, named, in f64.
fn all<E: Engine>(
    engine: &E,
    network: &Network,
    loss: Likelihood,
    moving: Range<usize>,
) -> Vec<(&'static str, Vec<f64>)> {
    let mut model = engine.model(network, BATCH.len());
    let size = network.input.size();
    let inputs = Arc::new(numbers::<E::Number>(EXAMPLES * size, "inputs"));
    let regression = loss.kernel == Some(Kernel::Gaussian);
    let outputs = network.output().size();
    let answers = if regression {
        Answers::Targets(Arc::new(numbers::<f64>(EXAMPLES, "targets")))
    } else {
        Answers::Labels(Arc::new((0..EXAMPLES as u32).map(|i| i * 7 % outputs as u32).collect()))
    };
    let examples = Examples { inputs: Inputs::Ready(Arc::clone(&inputs)), answers };
    let loss: Arc<dyn Loss> = Arc::new(loss);
    model.learn(&engine.data(&examples), &loss, moving);
    let order: Vec<u32> = (0..EXAMPLES as u32).map(|i| (i * 11 + 5) % EXAMPLES as u32).collect();
    model.order(&order);
    // Numbers that both engines can hold.
    let start = |len: usize, numbers: Vec<f64>| {
        let numbers: Vec<E::Number> =
            numbers.into_iter().map(|v| E::Number::of(f64::from(v as f32))).collect();
        assert_eq!(numbers.len(), len);
        engine.vector(&numbers)
    };
    let from = Double::default().model(network, 1).start(&Stream::root(1));
    let read = |vector: &E::Vector| vector.read(0..vector.len());
    let mut point = Point {
        theta: start(network.parameters(), from.theta.read(0..network.parameters())),
        statistics: start(network.statistics(), from.statistics.read(0..network.statistics())),
    };
    let mut gradient = point.theta.zeros(network.parameters());
    let noise = Stream::root(9);
    let mut found = Vec::new();
    for rows in [Rows::Ordered(BATCH), Rows::Stored(BATCH)] {
        let batch = Batch { rows, augment: None, noise: Some(&noise) };
        model.gradient(&mut point, &batch, &mut gradient);
        found.push(("gradient", read(&gradient)));
        found.push(("statistics", read(&point.statistics)));
    }
    // Three epochs: often enough to be recorded and replayed, on other examples every time. Most batches follow the
    // one before; the last of an epoch is smaller.
    let starts = (0..EXAMPLES).step_by(BATCH.len());
    for (step, start) in (0..3).flat_map(|_| starts.clone()).enumerate() {
        let rows = Rows::Ordered(start..EXAMPLES.min(start + BATCH.len()));
        let noise = noise.nth(step);
        let batch = Batch { rows, augment: None, noise: Some(&noise) };
        model.gradient(&mut point, &batch, &mut gradient);
        found.push(("gradient of steps", read(&gradient)));
    }
    found.push(("losses", model.losses()));
    let plain = Batch { rows: Rows::Ordered(BATCH), augment: None, noise: None };
    found.push(("loss", vec![model.loss(&point, &plain)]));
    let mut statistics = point.statistics.clone();
    model.observe(&point.theta, &mut statistics, &plain, 0.5);
    found.push(("observed", read(&statistics)));
    let (mut out, wide) = (Vec::new(), |v: &E::Number| v.wide());
    model.outputs(&point, &plain, &mut out);
    model.predict(&point, &inputs[..30 * size], Some(&noise), &mut out);
    found.push(("outputs", out.iter().map(wide).collect()));
    let some: Vec<E::Number> = inputs[..GIVEN * size].to_vec();
    let mut of_inputs = vec![E::Number::of(0.0); some.len()];
    let factors: Vec<f64> = numbers(GIVEN * outputs, "factors");
    let seed = Seed::Factors(&factors);
    model.input_gradient(&point, &some, Some(&noise), seed, &mut of_inputs);
    found.push(("gradient of inputs", of_inputs.iter().map(wide).collect()));
    if !regression {
        let (labels, weights) = ([0, 1, 0, 1, 1], [1.0, -0.5, 2.0, 0.25, 1.5]);
        let seed = Seed::CrossEntropy { labels: &labels, weights: &weights };
        model.input_gradient(&point, &some, None, seed, &mut of_inputs);
        found.push(("attacked", of_inputs.iter().map(wide).collect()));
    }
    let factors: Vec<f64> = numbers(BATCH.len() * outputs, "factors");
    model.seeded_gradient(&mut point, &plain, Seed::Factors(&factors), &mut gradient);
    found.push(("seeded", read(&gradient)));
    model.visit(&point, &plain, Seed::Factors(&factors), &mut |visited| {
        found.push(("visited inputs", read(visited.inputs)));
        found.push(("visited gradients", read(visited.output_gradients)));
    });
    let factors: Vec<f64> = numbers(GIVEN * outputs, "factors");
    model.visit_inputs(&point, &some, Seed::Factors(&factors), &mut |visited| {
        found.push(("gradients visited for given inputs", read(visited.output_gradients)));
    });
    found
}

/// How far two vectors are apart.
type Distance = fn(&[f64], &[f64]) -> f64;

/// The largest difference, as a fraction of the largest number.
fn by_largest(a: &[f64], b: &[f64]) -> f64 {
    let largest = a.iter().fold(1e-3, |largest: f64, v| largest.max(v.abs()));
    a.iter().zip(b).map(|(a, b)| (a - b).abs() / largest).fold(0.0, f64::max)
}

/// The length of the difference, as a fraction of the length. In a deep network rounding moves some number across the
/// corner of a ReLU, whose gradient is then another altogether; few do.
fn by_length(a: &[f64], b: &[f64]) -> f64 {
    let length =
        |numbers: &mut dyn Iterator<Item = f64>| numbers.map(|v| v * v).sum::<f64>().sqrt();
    let apart = length(&mut a.iter().zip(b).map(|(a, b)| a - b));
    apart / length(&mut a.iter().copied()).max(1e-3)
}

/// The same for each of the examples that numbers belong to, and of these the median: an input at which a number crosses a
/// corner is off by far more than rounding in a narrow network, and is one of several.
fn by_median_example(a: &[f64], b: &[f64], examples: usize) -> f64 {
    let size = a.len() / examples;
    let mut each: Vec<f64> =
        a.chunks(size).zip(b.chunks(size)).map(|(a, b)| by_length(a, b)).collect();
    each.sort_by(f64::total_cmp);
    each[each.len() / 2]
}

fn agree(gpu: &Cuda, network: &Network, kernel: Kernel, name: &str) {
    let whole = 0..network.parameters();
    agree_on(gpu, network, (Some(kernel), whole), name, by_largest, 1e-4);
}

fn agree_on(
    gpu: &Cuda,
    network: &Network,
    task: (Option<Kernel>, Range<usize>),
    name: &str,
    distance: Distance,
    tolerance: f64,
) {
    let (what, apart) = apart(gpu, network, task, name, distance);
    assert!(apart <= tolerance, "{name}: {what} differ by {apart:e}");
}

/// The largest distance between what the engines give, and what is so far apart.
fn apart(
    gpu: &Cuda,
    network: &Network,
    (kernel, moving): (Option<Kernel>, Range<usize>),
    name: &str,
    distance: Distance,
) -> (&'static str, f64) {
    let loss = || Likelihood { outputs: network.output().size(), kernel };
    // In single precision too, so that masks and noise are drawn in the same way.
    let expected = all(&Cpu::<f32>::default(), network, loss(), moving.clone());
    let found = all(gpu, network, loss(), moving);
    assert_eq!(expected.len(), found.len());
    let mut most = ("nothing", 0.0);
    for ((what, a), (_, b)) in expected.iter().zip(&found) {
        assert_eq!(a.len(), b.len(), "{name}: {what}");
        assert!(b.iter().all(|v| v.is_finite()), "{name}: {what}");
        let apart = distance(a, b);
        if apart > most.1 {
            most = (*what, apart);
        }
    }
    most
}

/// Layers whose noise comes from several generators for an example, and signs from several words.
fn perturbed(gpu: &Cuda) {
    let mut network = Network::new(Shape::image(3, 20, 20));
    let means = network.then("means", Layer::conv2d(40, 3, 1));
    network.feed(&[Source::Input], "roots", Layer::conv2d(40, 1, 1));
    let variances = network.then("variances", Layer::Square);
    network.feed(&[means, variances], "draw", Layer::DrawNormal);
    network.then("flatten", Layer::Flatten);
    network.then("after", Layer::Linear { outputs: 4 });
    agree(gpu, &network, Kernel::CrossEntropy, "draws");
    for name in ["mlp-100-7", "lenet5/4", "preresnet20/8"] {
        let plain = networks::build(name, Shape::image(3, 32, 32), 4).expect(name);
        let network = plain.perturbed(&(0..plain.parameters()), Perturbation::Flipout);
        let task = (Some(Kernel::CrossEntropy), 0..network.parameters());
        agree_on(gpu, &network, task, name, by_length, 2e-2);
    }
}

/// A convolution after another layer with parameters, so that the gradient of its inputs is seen too.
fn convolution(side: usize, channels: [usize; 2], window: [usize; 3]) -> Network {
    let [kernel, stride, padding] = window;
    let mut network = Network::new(Shape::image(3, side, side));
    network.then("before", Layer::conv2d(channels[0], 1, 1));
    let bias = Bias::Yes;
    let layer = Layer::Conv2d { channels: channels[1], kernel, stride, padding, bias };
    network.then("layer", layer);
    network.then("pool", Layer::GlobalAveragePool);
    network.then("after", Layer::Linear { outputs: 4 });
    network
}

/// Channels for every width of a tile, images and batches that end inside one.
fn convolutions(gpu: &Cuda) {
    for (side, channels, window) in [
        (32, [16, 16], [3, 1, 1]),
        (32, [16, 32], [3, 2, 1]),
        (32, [16, 32], [1, 2, 0]),
        (15, [32, 64], [3, 2, 1]),
        (8, [64, 64], [3, 1, 1]),
        (8, [160, 160], [3, 1, 1]),
        (7, [130, 200], [3, 1, 1]),
        (9, [20, 12], [5, 3, 2]),
        (16, [128, 136], [3, 1, 1]),
        (28, [6, 16], [5, 1, 2]),
    ] {
        let network = convolution(side, channels, window);
        let name = format!("{channels:?} channels, window {window:?}, {side} pixels");
        agree(gpu, &network, Kernel::CrossEntropy, &name);
    }
}

/// TF32 keeps 10 bits of mantissa, bfloat16 7: errors are some of the last of them, and not those of single precision.
fn precisions(_: &Cuda) {
    // Channels for every tile; in eights or not, of which convolutions in bfloat16 make a difference.
    let networks = [
        convolution(16, [32, 64], [3, 1, 1]),
        convolution(8, [160, 160], [3, 1, 1]),
        convolution(15, [24, 40], [3, 2, 1]),
        convolution(16, [128, 136], [1, 2, 0]),
        convolution(9, [8, 300], [5, 1, 2]),
        convolution(9, [20, 12], [5, 3, 2]),
    ];
    for (precision, least, most) in [(Precision::Tf32, 2e-5, 1e-2), (Precision::Bf16, 2e-4, 3e-2)] {
        let gpu = Cuda::open(0, precision).expect("a GPU");
        for network in &networks {
            let task = (Some(Kernel::CrossEntropy), 0..network.parameters());
            let (what, apart) = apart(&gpu, network, task, "a convolution", by_length);
            let layer = &network.nodes()[1].layer;
            assert!((least..most).contains(&apart), "{precision}, {layer:?}: {what}: {apart:e}");
        }
    }
}

fn every_layer(gpu: &Cuda) {
    let conv = |kernel, stride, padding, bias| Layer::Conv2d {
        channels: 3,
        kernel,
        stride,
        padding,
        bias,
    };
    let mut layers = vec![
        Layer::Relu,
        Layer::Elu,
        Layer::Swish,
        Layer::BatchNorm,
        Layer::FilterResponseNorm,
        Layer::Dropout { rate: 0.3 },
        Layer::GaussianDropout { rate: 0.3 },
        Layer::Square,
        Layer::RandomSigns,
        Layer::PaddedShortcut { channels: 8 },
        Layer::MaxPool { size: 2, stride: 2, padding: 0 },
        Layer::MaxPool { size: 3, stride: 2, padding: 1 },
        Layer::AveragePool { size: 2 },
        Layer::GlobalAveragePool,
        Layer::Append { numbers: 3, initial: Initial::Constant(0.0) },
        Layer::Take { first: 7, numbers: 40 },
        Layer::RandomFeatures { features: 30, length_scale: 4.0, directions: Directions::Gaussian },
    ];
    for (kernel, stride, padding) in
        [(3, 1, 1), (3, 2, 1), (1, 1, 0), (1, 2, 0), (5, 1, 0), (5, 2, 2)]
    {
        layers.push(conv(kernel, stride, padding, Bias::Yes));
        layers.push(conv(kernel, stride, padding, Bias::No));
    }
    for layer in layers {
        let name = format!("{layer:?}");
        let mut network = Network::new(Shape::image(4, 6, 5));
        network.then(
            "before",
            Layer::Conv2d { channels: 4, kernel: 1, stride: 1, padding: 0, bias: Bias::Yes },
        );
        network.then("layer", layer);
        network.then("flatten", Layer::Flatten);
        network.then("after", Layer::Linear { outputs: 4 });
        agree(gpu, &network, Kernel::CrossEntropy, &name);
    }
    let mut network = Network::new(Shape::image(2, 4, 3));
    let first = network.then("first", Layer::conv2d(3, 3, 1));
    let second = network.feed(&[Source::Input], "second", Layer::conv2d(3, 1, 1));
    let sum = network.add(first, second, "sum");
    network.feed(&[first, Source::Input, sum, first], "together", Layer::Concat);
    network.then("flatten", Layer::Flatten);
    network.then("after", Layer::Linear { outputs: 4 });
    agree(gpu, &network, Kernel::CrossEntropy, "branches");
}

fn every_network(gpu: &Cuda) {
    for (name, input) in [
        ("mlp-9-8", Shape::vector(12)),
        ("mlp-elu-9-8", Shape::vector(12)),
        ("mlp-200-200", Shape::image(1, 28, 28)),
        ("lenet5", Shape::image(1, 28, 28)),
        ("vgg16/16", Shape::image(3, 32, 32)),
        ("resnet20-cifar", Shape::image(3, 32, 32)),
        ("preresnet20", Shape::image(3, 16, 16)),
        ("preresnet56/8", Shape::image(3, 16, 16)),
        ("resnet20-frn", Shape::image(3, 32, 32)),
        ("resnet18/16", Shape::image(3, 32, 32)),
        ("resnet50/16", Shape::image(3, 32, 32)),
        ("wideresnet10x2/8", Shape::image(3, 16, 16)),
    ] {
        let network = networks::build(name, input, 5).expect(name);
        // Deep networks with batch normalisation carry rounding from layer to layer: of a ResNet-20, PyTorch's
        // gradients in single precision are 1.4e-3 from those in double precision, in length. So the truth is that of
        // double precision, and a GPU may be as far from it as a CPU in single precision, times a few: of `resnet50/16`
        // a CPU's are off by 1.2e-2.
        let loss = || Likelihood { outputs: 5, kernel: Some(Kernel::CrossEntropy) };
        let whole = 0..network.parameters();
        let truth = all(&Double::default(), &network, loss(), whole.clone());
        let (of_cpu, of_gpu) = (
            errors(&truth, &all(&Cpu::<f32>::default(), &network, loss(), whole.clone())),
            errors(&truth, &all(gpu, &network, loss(), whole)),
        );
        for (what, apart) in of_gpu {
            // What one engine's rounding moves across the corner of a ReLU, another's does not.
            let floor: f64 = match what {
                "gradient" | "gradient of steps" | "seeded" => 2e-2,
                _ if of_each_example(what).is_some() => 1e-3,
                _ => 1e-4,
            };
            let most = floor.max(4.0 * of_cpu[what]);
            assert!(
                apart <= most,
                "{name}: {what} differ by {apart:e}, {:e} on a CPU",
                of_cpu[what]
            );
        }
    }
}

/// How many examples gradients belong to that are one example's alone.
fn of_each_example(what: &str) -> Option<usize> {
    match what {
        "gradient of inputs" | "attacked" | "gradients visited for given inputs" => Some(GIVEN),
        "visited gradients" => Some(BATCH.len()),
        _ => None,
    }
}

/// How far numbers are from the true ones, by what they are: where something is asked for several times, the root of
/// the mean square.
fn errors(
    truth: &[(&'static str, Vec<f64>)],
    found: &[(&'static str, Vec<f64>)],
) -> BTreeMap<&'static str, f64> {
    let mut squares: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for ((what, a), (_, b)) in truth.iter().zip(found) {
        let apart = match of_each_example(what) {
            Some(examples) => by_median_example(a, b, examples),
            None => by_length(a, b),
        };
        squares.entry(what).or_default().push(apart * apart);
    }
    let root = |squares: Vec<f64>| (squares.iter().sum::<f64>() / squares.len() as f64).sqrt();
    squares.into_iter().map(|(what, squares)| (what, root(squares))).collect()
}

fn regression(gpu: &Cuda) {
    let network = networks::build("mlp-50", Shape::vector(6), 2).expect("a network");
    agree(gpu, &network, Kernel::Gaussian, "a regression");
}

fn host_loss(gpu: &Cuda) {
    let network = networks::build("mlp-20", Shape::vector(6), 3).expect("a network");
    let task = (None, 0..network.parameters());
    agree_on(gpu, &network, task, "a loss on the host", by_largest, 1e-4);
}

fn frozen(gpu: &Cuda) {
    let network =
        networks::build("resnet20-cifar/8", Shape::image(3, 16, 16), 5).expect("a network");
    let last = network.nodes().last().expect("layers").parameters.clone();
    let task = (Some(Kernel::CrossEntropy), last);
    agree_on(gpu, &network, task, "frozen", by_length, 2e-2);
}

/// Four members at once, each on a stream of its own, and one alone.
fn beside(gpu: &Cuda) {
    let network = networks::build("resnet20-cifar", Shape::image(3, 32, 32), 5).expect("a network");
    let whole = 0..network.parameters();
    let loss = || Likelihood { outputs: 5, kernel: Some(Kernel::CrossEntropy) };
    let alone = all(gpu, &network, loss(), whole.clone());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let own = gpu.beside();
                assert_eq!(alone, all(&own, &network, loss(), whole.clone()));
            });
        }
    });
}

/// In another process too, on the same kind of GPU; here twice in one.
fn repeatable(gpu: &Cuda) {
    let network = networks::build("resnet20-cifar", Shape::image(3, 32, 32), 5).expect("a network");
    let loss = || Likelihood { outputs: 5, kernel: Some(Kernel::CrossEntropy) };
    let whole = 0..network.parameters();
    let first = all(gpu, &network, loss(), whole.clone());
    assert_eq!(first, all(gpu, &network, loss(), whole));
}

/// Every operation on vectors, on both engines.
fn vectors(gpu: &Cuda) {
    fn moved<E: Engine<Number = f32>>(engine: &E) -> Vec<f64> {
        let vector = |name: &str| engine.vector(&numbers::<f32>(10_000, name));
        let (mut v, x) = (vector("v"), vector("x"));
        let mut square = x.zeros(x.len());
        square.add_product(1.0, &x, &x);
        v.scale(0.5);
        v.axpy(0.25, &x);
        v.combine(1.5, -2.0, &x);
        v.add_over_root(0.1, &x, &square, 1e-3);
        v.add_times_root(0.2, &x, &square);
        square.axpy(1.0, &engine.vector(&vec![0.1; 10_000]));
        v.add_quotient(0.3, &x, &square);
        v.add_times_exp(0.1, &x, &x);
        v.put(10, &x.part(20..40));
        for decay in [0.0, 0.3] {
            let (mut velocity, mut gradient) = (x.clone(), square.clone());
            v.descend(&mut velocity, &mut gradient, Descent { decay, momentum: 0.9, rate: 0.1 });
            v.axpy(0.01, &velocity);
        }
        // A convolution's kernels and a linear layer's weights, with factors on both sides.
        let matrix = |range: Range<usize>, rows, columns| {
            let (inputs, bias, reads) = (Side::Rows, 0..0, Reads::Hidden);
            Matrix { range, rows, columns, inputs, bias, reads }
        };
        let matrices = [matrix(100..100 + 9 * 30 * 20, 30, 20), matrix(6000..9500, 7, 500)];
        let factors = x.part(0..557);
        v.scale_sides(&matrices, &factors);
        let mut sums = factors.clone();
        sums.add_side_gradients(0.1, &matrices, &x, &v, &factors);
        v.put(9500, &sums.part(57..557));
        v.put(0, &sums.part(0..57));
        v.write(50, &[1.0, 2.0]);
        let mut found = v.read(0..v.len());
        found.extend([v.dot(&x), v.dot(&v)]);
        v.clip(1.0);
        found.extend(v.read(5..500));
        v.fill(3.0);
        let mut other = x.clone();
        other.copy_from(&v);
        found.extend(other.read(0..3));
        found
    }
    let (expected, found) = (moved(&Cpu::<f32>::default()), moved(gpu));
    for (i, (a, b)) in expected.iter().zip(&found).enumerate() {
        assert!((a - b).abs() <= 2e-6 * (1.0 + a.abs()), "{i}: {a} and {b}");
    }
}

fn noise(gpu: &Cuda) {
    fn drawn<E: Engine<Number = f32>>(engine: &E) -> Vec<f64> {
        let mut v = engine.vector(&vec![0.5; 10_001]);
        v.add_noise(0.7, &Stream::root(4));
        v.read(0..v.len())
    }
    assert_eq!(drawn(&Cpu::<f32>::default()), drawn(gpu));
}

//! Facts about whole networks: sizes, threads, weights, statistics.

use std::sync::Arc;

use dubio_nn::cpu::{self, Flat};
use dubio_nn::engine::{Batch, Model as _, Point, Rows, Vector};
use dubio_nn::examples::{Answers, Examples, Inputs};
use dubio_nn::layer::Layer;
use dubio_nn::loss::{Loss, Truth};
use dubio_nn::network::{Network, Node, Source};
use dubio_nn::shape::Shape;
use dubio_nn::{initial, networks, weights};
use dubio_random::stream::Stream;
use safetensors::SafeTensors;

const CIFAR: Shape = Shape { height: 32, width: 32, channels: 3 };

fn inputs(count: usize) -> Vec<f32> {
    let mut values = Flat(vec![0.0; count]);
    values.add_noise(1.0, &Stream::root(3).child("inputs"));
    values.0
}

/// Published numbers of parameters: He et al. 2016 give 0.27, 0.46, 0.66, 0.85 and 1.7 million;
/// the exact ones, and those of torchvision and of the wide network, are what PyTorch counts.
#[test]
fn networks_have_the_published_numbers_of_parameters() {
    let count = |name: &str, input: Shape, outputs: usize| {
        networks::build(name, input, outputs).expect(name).parameters()
    };
    assert_eq!(count("mlp", Shape::vector(784), 10), 784 * 200 + 200 + 200 * 200 + 200 + 2010);
    assert_eq!(count("lenet5", Shape::image(1, 28, 28), 10), 61_706);
    assert_eq!(count("resnet20-cifar", CIFAR, 10), 269_722);
    assert_eq!(count("resnet32-cifar", CIFAR, 10), 464_154);
    assert_eq!(count("resnet44-cifar", CIFAR, 10), 658_586);
    assert_eq!(count("resnet56-cifar", CIFAR, 10), 853_018);
    assert_eq!(count("resnet110-cifar", CIFAR, 10), 1_727_962);
    let imagenet = Shape::image(3, 224, 224);
    assert_eq!(count("resnet18", imagenet, 1000), 11_689_512);
    assert_eq!(count("resnet34", imagenet, 1000), 21_797_672);
    assert_eq!(count("resnet50", imagenet, 1000), 25_557_032);
    assert_eq!(count("wideresnet28x10", CIFAR, 10), 36_479_194);
}

/// By hand: 784 x 200 + 200 x 200 + 200 x 10; published: 41 million for ResNet-20.
#[test]
fn networks_have_the_published_numbers_of_multiplications() {
    let macs = |name: &str, input| networks::build(name, input, 10).expect(name).macs();
    assert_eq!(macs("mlp", Shape::vector(784)), 198_800);
    assert_eq!(macs("resnet20-cifar", CIFAR) / 1_000_000, 40);
}

#[test]
fn one_thread_and_several_give_the_same_bytes() {
    for name in [
        "mlp",
        "lenet5",
        "vgg16/16",
        "resnet20-cifar",
        "preresnet20",
        "resnet20-frn",
        "resnet18/8",
        "wideresnet10x1",
    ] {
        let run = |threads: usize| {
            let pool =
                rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| {
                let network = networks::build(name, CIFAR, 10).expect(name);
                let mut model = cpu::Model::new(&network, 20);
                let mut point = model.start(&Stream::root(1));
                let x = inputs(20 * CIFAR.size());
                let labels: Vec<u32> = (0..20).map(|i| i % 10).collect();
                let mut gradient = point.theta.clone();
                let noise = Stream::root(2);
                for step in 0..2 {
                    let batch = (&x[..], Truth::Labels(&labels));
                    let noise = noise.nth(step);
                    model.loss_and_gradient(&mut point, batch, Some(&noise), &mut gradient);
                    point.theta.axpy(-0.01, &gradient);
                    point.theta.add_noise(1e-3, &noise);
                }
                let mut out = Vec::new();
                model.predict(&point, &x, None, &mut out);
                (
                    point.theta.0.iter().map(|v| v.to_bits()).collect::<Vec<_>>(),
                    out.iter().map(|v| v.to_bits()).collect::<Vec<_>>(),
                )
            })
        };
        assert!(run(1) == run(3), "{name}");
    }
}

#[test]
fn weights_are_read_back_as_they_were_written() {
    for name in ["mlp-7", "lenet5/4", "preresnet20/8", "resnet20-frn/8"] {
        let network = networks::build(name, CIFAR, 10).expect(name);
        let theta: Vec<f32> = initial::start(&network, &Stream::root(4));
        let mut statistics = initial::rest(&network);
        statistics.iter_mut().enumerate().for_each(|(i, v)| *v += i as f32);
        let bytes = weights::write(&network, &theta, &statistics).expect(name);
        assert_eq!(weights::read(&network, &bytes), Ok((theta, statistics)), "{name}");
    }
}

/// A method may put noise into a network; PyTorch's layout of the weights is the same with it.
#[test]
fn layers_that_are_put_in_change_nothing_in_the_file_of_weights() {
    for name in ["mlp-7", "lenet5/4", "vgg16/16"] {
        let plain = networks::build(name, CIFAR, 10).expect(name);
        let dropout = Layer::Dropout { rate: 0.5 };
        let theta: Vec<f32> = initial::start(&plain, &Stream::root(4));
        let written = |network: &Network| {
            weights::write(network, &theta, &initial::rest(&plain)).expect(name)
        };
        for noisy in [
            plain.in_front_of_linear("dropout", &dropout),
            plain.in_front_of_first("dropout", &dropout),
            plain.behind_weights("dropout", &dropout),
        ] {
            assert_ne!(plain, noisy, "{name}");
            assert_eq!(plain.slices(), noisy.slices(), "{name}");
            assert!(written(&plain) == written(&noisy), "{name}");
        }
    }
}

/// He et al. 2016: a residual network for CIFAR-10 of depth 20 has 19 convolutions and one linear layer. Each is read
/// through the noise behind it, but the last.
#[test]
fn noise_behind_weights_is_what_the_next_layers_read() {
    let plain = networks::build("resnet20-frn", CIFAR, 10).expect("a network");
    let noisy = plain.behind_weights("dropout", &Layer::Dropout { rate: 0.5 });
    let has_noise = |node: &Node| matches!(node.layer, Layer::Dropout { .. });
    let noises = noisy.nodes().iter().filter(|node| has_noise(node)).count();
    let convolutions = |node: &&Node| matches!(node.layer, Layer::Conv2d { .. });
    assert_eq!(noises, plain.nodes().iter().filter(convolutions).count());
    assert!(noises >= 19, "{noises}");
    for node in noisy.nodes() {
        let reads_weights = node.sources.iter().any(|source| match *source {
            Source::Node(index) => convolutions(&&noisy.nodes()[index]),
            Source::Input => false,
        });
        assert_eq!(has_noise(node), reads_weights, "{}", node.name);
    }
}

/// PyTorch flattens channels, height, width, and its normalisation behind that counts so.
#[test]
fn what_is_behind_a_flattened_image_is_written_in_the_order_of_pytorch() {
    let image = Shape { height: 2, width: 3, channels: 4 };
    let mut network = Network::new(image);
    network.then("flatten", Layer::Flatten);
    network.then("norm", Layer::BatchNorm);
    network.then("relu", Layer::Relu);
    network.then("fc", Layer::Linear { outputs: 2 });
    let theta: Vec<f32> = (0..network.parameters()).map(|i| i as f32).collect();
    let statistics: Vec<f32> = (0..network.statistics()).map(|i| 0.5 + i as f32).collect();
    let bytes = weights::write(&network, &theta, &statistics).expect("weights");
    let file = SafeTensors::deserialize(&bytes).expect("safetensors");
    let slices = network.slices();
    let start =
        |name: &str| slices.iter().find(|slice| slice.name == name).expect(name).range.start;
    let size = image.size();
    let second_row = start("fc.weight") + size;
    for (name, row, here) in [
        ("norm.weight", 0, &theta[start("norm.weight")..]),
        ("norm.bias", 0, &theta[start("norm.bias")..]),
        ("norm.running_mean", 0, &statistics[..]),
        ("norm.running_var", 0, &statistics[size..]),
        ("fc.weight", 0, &theta[start("fc.weight")..]),
        ("fc.weight", 1, &theta[second_row..]),
    ] {
        let there = file.tensor(name).expect(name);
        let there = &there.data().as_chunks::<4>().0[row * size..];
        for channel in 0..4 {
            for place in 0..6 {
                let value = f32::from_le_bytes(there[channel * 6 + place]);
                assert_eq!(value, here[place * 4 + channel], "{name}");
            }
        }
    }
    assert_eq!(weights::read(&network, &bytes), Ok((theta, statistics)));
}

#[test]
fn networks_are_compared_as_the_data_they_are() {
    let build = |name: &str| networks::build(name, CIFAR, 10).expect(name);
    assert_eq!(build("preresnet20"), build("preresnet20"));
    assert_ne!(build("mlp-20"), build("mlp-elu-20"), "the same shapes, another activation");
    let rate = |rate| build("mlp-20").in_front_of_linear("dropout", &Layer::Dropout { rate });
    assert_eq!(rate(0.2), rate(0.2));
    assert_ne!(rate(0.2), rate(0.3));
}

#[test]
fn weights_of_another_network_are_refused_by_name() {
    let network = networks::build("mlp-7", CIFAR, 10).expect("a network");
    let theta: Vec<f32> = initial::start(&network, &Stream::root(4));
    let bytes = weights::write(&network, &theta, &initial::rest(&network)).expect("weights");
    let why = |name: &str| {
        let other = networks::build(name, CIFAR, 10).expect(name);
        weights::read::<f32>(&other, &bytes).expect_err(name).to_string()
    };
    assert!(why("mlp-8").contains("`fc1.weight` is F32 [7, 3072]"), "{}", why("mlp-8"));
    assert!(why("lenet5").contains("no tensor `conv1.weight`"), "{}", why("lenet5"));
    assert!(weights::read::<f32>(&network, &bytes[..20]).is_err());
}

/// Nothing is learnt by it.
#[derive(Debug)]
struct NoLoss;

impl Loss for NoLoss {
    fn outputs(&self) -> usize {
        10
    }
    fn mean(&self, _: &[f64], _: Truth<'_>, _: &[u32], _: &mut [f64]) -> f64 {
        0.0
    }
}

/// With a running fraction of 1/k for the k-th batch, running means are the means over all of them.
#[test]
fn statistics_of_normalisation_can_be_recomputed_on_given_data() {
    let network = networks::build("resnet20-cifar/8", CIFAR, 10).expect("a network");
    let mut model = cpu::Model::new(&network, 16);
    let x = inputs(16 * CIFAR.size()).iter().map(|&v| f64::from(v)).collect();
    let answers = Answers::Labels(Arc::new(vec![0; 16]));
    let examples = Examples { inputs: Inputs::Ready(Arc::new(x)), answers };
    let loss: Arc<dyn Loss> = Arc::new(NoLoss);
    model.learn(&examples, &loss, 0..network.parameters());
    let Point { theta, statistics } = model.start(&Stream::root(1));
    let mut observe = |statistics: &mut Flat<f64>, rows, momentum| {
        let batch = Batch { rows: Rows::Stored(rows), augment: None, noise: None };
        model.observe(&theta, statistics, &batch, momentum);
    };
    let (mut parts, mut all) = (statistics.clone(), statistics);
    observe(&mut parts, 0..8, 1.0);
    observe(&mut parts, 8..16, 0.5);
    // The first normalisation's means are those of the first convolution over all images.
    observe(&mut all, 0..16, 1.0);
    let channels = network.nodes()[1].inputs[0].channels;
    for c in 0..channels {
        assert!((parts.0[c] - all.0[c]).abs() < 1e-12);
    }
}

#[test]
fn an_unknown_name_is_told_which_networks_there_are() {
    let why = networks::build("resnet21-cifar", CIFAR, 10).expect_err("refused");
    assert!(why.contains("20, 32, 44, 56 or 110"), "{why}");
    let why = networks::build("transformer", CIFAR, 10).expect_err("refused");
    assert!(why.contains("mlp-N-N, lenet5"), "{why}");
    let small = Shape::image(1, 8, 8);
    assert!(networks::build("vgg16", small, 10).expect_err("refused").contains("32x32"));
}

/// Where a network can be cut, its two halves are the network: what the first gives, the second reads.
#[test]
fn the_halves_of_a_network_are_the_network() {
    for (name, input, seams) in [
        ("mlp", Shape::vector(784), 2),
        ("lenet5", Shape::image(1, 28, 28), 4),
        ("resnet20-frn", CIFAR, 11), // after the first convolution, then block by block
        ("preresnet20", CIFAR, 11),
    ] {
        let network = networks::build(name, input, 10).expect(name);
        let theta: Vec<f32> = initial::start(&network, &Stream::root(1));
        let examples = inputs(3 * input.size());
        let outputs = |network: &Network, theta: &[f32], inputs: &[f32]| {
            let mut out = Vec::new();
            let (theta, statistics) = (Flat(theta.to_vec()), Flat(initial::rest(network)));
            let point = Point { theta, statistics };
            cpu::Model::new(network, 2).predict(&point, inputs, None, &mut out);
            out
        };
        let whole = outputs(&network, &theta, &examples);
        let mut cuts: Vec<usize> =
            network.nodes().iter().filter_map(|n| network.seam(n.parameters.start)).collect();
        cuts.dedup();
        for &seam in &cuts {
            let (first, second) = network.split(seam);
            let names = |network: &Network| network.slices().into_iter().map(|s| s.name);
            let both: Vec<String> = names(&first).chain(names(&second)).collect();
            assert_eq!(both, names(&network).collect::<Vec<_>>(), "{name} {seam}");
            let (before, after) = theta.split_at(first.parameters());
            let features = outputs(&first, before, &examples);
            assert_eq!(outputs(&second, after, &features), whole, "{name} {seam}");
        }
        assert_eq!(cuts.len(), seams, "{name}: {cuts:?}");
    }
}

//! Logits and gradients against PyTorch's, on fixed weights and inputs (`fixtures/make.py`).

use std::path::Path;

use dubio_nn::cpu::{self, Flat};
use dubio_nn::engine::{Model as _, Point};
use dubio_nn::layer::Bias;
use dubio_nn::layer::Layer::{AveragePool, Conv2d, Elu, Flatten, Linear, MaxPool};
use dubio_nn::loss::Truth;
use dubio_nn::network::Network;
use dubio_nn::shape::Shape;
use dubio_nn::{networks, weights};
use safetensors::SafeTensors;
use safetensors::tensor::TensorView;

/// A fixture's tensors whose names begin with a prefix, as a file of their own.
fn part(file: &SafeTensors<'_>, prefix: &str) -> Vec<u8> {
    let tensors = file.iter().filter_map(|(name, view)| Some((name.strip_prefix(prefix)?, view)));
    safetensors::serialize(tensors.collect::<Vec<_>>(), None).expect("written")
}

fn floats(view: &TensorView<'_>) -> Vec<f64> {
    view.data().as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect()
}

fn close(name: &str, what: &str, ours: &[f64], theirs: &[f64]) {
    assert_eq!(ours.len(), theirs.len());
    for (a, b) in ours.iter().zip(theirs) {
        assert!((a - b).abs() < 1e-10 * (1.0 + b.abs()), "{name}, {what}: {a}, not {b}");
    }
}

fn compare(name: &str, network: &Network) {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/{name}.safetensors"));
    let bytes = std::fs::read(path).expect("the fixture is there");
    let file = SafeTensors::deserialize(&bytes).expect("the fixture can be read");
    let tensor = |name: &str| file.tensor(name).expect("the fixture is complete");
    let (theta, statistics) = weights::read(network, &part(&file, "state.")).expect(name);
    // PyTorch's images are channels first.
    let (shape, x) = (network.input, floats(&tensor("x")));
    let places = shape.places();
    let mut inputs = vec![0.0; x.len()];
    for (from, to) in x.chunks(shape.size()).zip(inputs.chunks_mut(shape.size())) {
        for (i, value) in from.iter().enumerate() {
            to[i % places * shape.channels + i / places] = *value;
        }
    }
    let labels: Vec<u32> =
        tensor("y").data().as_chunks().0.iter().map(|b| i64::from_le_bytes(*b) as u32).collect();
    let mut model = cpu::Model::new(network, labels.len());
    let mut point = Point { theta: Flat(theta), statistics: Flat(statistics) };
    let mut gradient = point.theta.clone();
    let batch = (&inputs[..], Truth::Labels(&labels));
    let loss = model.loss_and_gradient(&mut point, batch, None, &mut gradient);
    close(name, "loss", &[loss], &floats(&tensor("loss")));
    let logits = model.activations(network.nodes().len() - 1);
    close(name, "logits", logits, &floats(&tensor("logits")));
    // Gradients travel as weights do; statistics are given, since the file must be complete.
    let parts: Vec<(String, TensorView<'_>)> = file
        .iter()
        .filter_map(|(name, view)| {
            let running = name.strip_prefix("state.").filter(|n| n.contains("running_"));
            Some((running.or(name.strip_prefix("gradient."))?.to_string(), view))
        })
        .collect();
    let expected = safetensors::serialize(parts, None).expect("written");
    let (expected, _) = weights::read(network, &expected).expect(name);
    close(name, "gradient", &gradient.0, &expected);
    let mut evaluated = Vec::new();
    model.predict(&point, &inputs, None, &mut evaluated);
    close(name, "evaluated", &evaluated, &floats(&tensor("evaluated")));
}

#[test]
fn networks_agree_with_pytorch() {
    let colour = Shape::image(3, 8, 8);
    for (name, network, input) in [
        ("mlp", "mlp-6-5", colour),
        ("lenet5", "lenet5/4", Shape::image(1, 28, 28)),
        ("preresnet20", "preresnet20/8", colour),
        ("resnet20-frn", "resnet20-frn/8", colour),
    ] {
        compare(name, &networks::build(network, input, 4).expect(network));
    }
}

#[test]
fn layers_that_no_network_has_agree_with_pytorch() {
    let mut network = Network::new(Shape::image(3, 8, 8));
    network.then("conv", Conv2d { channels: 4, kernel: 3, stride: 2, padding: 1, bias: Bias::Yes });
    network.then("elu", Elu);
    network.then("max", MaxPool { size: 3, stride: 1, padding: 1 });
    network.then("average", AveragePool { size: 2 });
    network.then("flatten", Flatten);
    network.then("fc", Linear { outputs: 4 });
    compare("layers", &network);
}

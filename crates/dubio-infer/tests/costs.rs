//! What a method says that it costs, before anything is run.

mod support;

use dubio_nn::layer::Layer;
use dubio_nn::network::Network;
use dubio_nn::shape::Shape;
use serde_json::json;
use support::*;

/// The target counts gradients of mini-batches, two of which are all the data.
#[test]
fn epochs_take_as_many_passes_over_the_data_as_the_method_says() {
    // What draws and curvature take is known only roughly.
    let draws = ["hmc", "nuts", "subspace", "laplace", "sngp", "distill", "bayesian-ridge"];
    for (method, _) in quick_methods() {
        let name = method.card().name;
        if draws.contains(&name) {
            continue;
        }
        let mut target = LinearRegression::new(9, 1.0);
        target.batch = 5;
        run(&method, &mut target, 1);
        assert_eq!(method.passes(), target.visited.len() as f64 / 2.0, "{name}");
    }
}

/// For 3 inputs and a bias, and 2 outputs: 8 weights. Sums, their eigenvectors and room to find them, four of each matrix,
/// and 8 bytes a number: one of 8 x 8, one of 4 x 4 and one of 2 x 2, or one of 4 x 4 for each output. A diagonal is its own
/// eigenvalues, and there are two of it.
#[test]
fn curvature_needs_the_bytes_of_its_matrices() {
    let mut network = Network::new(Shape::vector(3));
    network.then("layer", Layer::Linear { outputs: 2 });
    let bytes = |structure: &str| {
        method("laplace", json!({"structure": structure})).bytes(&network, &(0..8))
    };
    assert_eq!(bytes("full"), 4.0 * 64.0 * 8.0);
    assert_eq!(bytes("kfac"), 4.0 * (16.0 + 4.0) * 8.0);
    assert_eq!(bytes("units"), 4.0 * 2.0 * 16.0 * 8.0);
    assert_eq!(bytes("diag"), 2.0 * 8.0 * 8.0);
}

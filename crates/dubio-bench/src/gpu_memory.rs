//! How much of a GPU's memory a run takes.

use dubio_data::sets;
pub use dubio_nn::cuda::{Error as GpuError, free_bytes};
use dubio_nn::layer::Layer;
use dubio_nn::network::Network;
use dubio_nn::{Device, networks};

use crate::memory::{Samples, TOGETHER, between, outputs, shape, width};
use crate::plan::PlannedRun;

/// The driver's context, the kernels, and cuBLAS with its workspace.
const CONTEXT: f64 = 600e6;
/// Vectors of all parameters that a chain moves on the device: the parameters, gradient, velocity, and three more.
const VECTORS: f64 = 6.0;
/// Most that the windows of a convolution take.
const WINDOWS: f64 = (1_u64 << 30) as f64;

/// Bytes of a GPU's memory that a run takes, roughly; 0 on a processor. The training set, the posterior samples and
/// what the network keeps of a batch stay on the device; predictions leave it batch by batch.
pub fn estimate(run: &PlannedRun) -> u64 {
    let settings = &run.settings;
    let Ok(halves) = sets::halves(&settings.data) else { return 0 };
    let set = halves.name.set;
    if settings.device == Device::Cpu {
        return 0;
    }
    let Ok(network) = networks::build(&settings.network, shape(set), outputs(set)) else {
        return 0;
    };
    let data = run.cost.examples as f64 * width(set).0;
    let Samples { points, vectors, .. } = Samples::of(&settings.recipe);
    let vectors = (points + VECTORS + 2.0 * vectors) * run.cost.parameters as f64;
    let batch = settings.recipe.setup.batch.max(TOGETHER.min(run.cost.examples)) as f64;
    // What layers put out, its gradient, and as much again that some keep for the way back.
    let activations = 3.0 * batch * between(&network);
    let windows = (4.0 * batch * windows(&network)).min(WINDOWS);
    (CONTEXT + 1.2 * (4.0 * (data + vectors + activations) + windows)) as u64
}

/// Numbers of the windows of an image in the largest convolution.
fn windows(network: &Network) -> f64 {
    let of = |layer: &Layer, channels: usize, places: usize| match layer {
        Layer::Conv2d { kernel, .. } => (kernel * kernel * channels * places) as f64,
        _ => 0.0,
    };
    let nodes = network.nodes().iter();
    nodes.map(|n| of(&n.layer, n.inputs[0].channels, n.output.places())).fold(0.0, f64::max)
}

/// That there is room for a run on a GPU with so many bytes free.
pub(crate) fn enough(run: &PlannedRun, free: Option<u64>) -> Result<(), String> {
    let needed = estimate(run);
    match free {
        Some(free) if needed > free => {
            let [needed, free] = [needed, free].map(|bytes| bytes.div_ceil(1_000_000));
            Err(format!(
                "the run needs about {needed} MB of GPU memory, and {free} MB are free; use a smaller batch or \
                 network, fewer --jobs, or --device cpu"
            ))
        }
        _ => Ok(()),
    }
}

//! How much of a GPU's memory a run takes.

use dubio_data::sets;
pub use dubio_nn::cuda::{Error as GpuError, free_bytes};
use dubio_nn::{Device, networks};

use crate::memory::{Samples, TOGETHER, between, outputs, shape, width};
use crate::plan::PlannedRun;

/// The driver's context, the kernels and cuBLAS.
const CONTEXT: f64 = 600e6;
/// What each member that runs beside others has of its own: cuBLAS's workspace, and parts of sums of convolutions.
const OF_A_MEMBER: f64 = 128e6;
/// Vectors of all parameters that a chain moves on the device: the parameters, gradient, velocity, and three more.
const VECTORS: f64 = 6.0;

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
    // Members train side by side; they predict one after the other.
    let members = settings.recipe.members();
    let batch = settings.recipe.setup.batch * members;
    let batch = batch.max(TOGETHER.min(run.cost.examples)) as f64;
    // What layers put out, its gradient, and as much again that some keep for the way back.
    let activations = 3.0 * batch * between(&network);
    (CONTEXT + OF_A_MEMBER * members as f64 + 4.8 * (data + vectors + activations)) as u64
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

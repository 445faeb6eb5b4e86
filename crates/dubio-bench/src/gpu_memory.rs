//! How much of a GPU's memory a run takes.

use dubio_data::dataset::Dataset;
use dubio_infer::recipe::Recipe;
use dubio_infer::room::{examples_together, gpu_bytes, networks_at_once};
use dubio_nn::Device;
use dubio_nn::cuda::can_count;
pub use dubio_nn::cuda::{Error as GpuError, free_bytes};
use dubio_nn::network::Network;

use crate::memory::{Samples, network_of};
use crate::plan::{PlannedRun, network_for};

/// The driver's context, the kernels and cuBLAS.
const CONTEXT: f64 = 600e6;
/// Vectors, as long as all parameters, that a chain has on the device: the parameters, gradient, velocity, and
/// three more.
const VECTORS: f64 = 6.0;

/// Bytes of a GPU's memory that a run takes, roughly; 0 on a processor.
pub fn estimate(run: &PlannedRun) -> u64 {
    let settings = &run.settings;
    if settings.device == Device::Cpu {
        return 0;
    }
    network_of(run)
        .map_or(0, |network| Need::of(&settings.recipe, &network, run.cost.examples).most as u64)
}

/// Checks that there is room for a recipe on a GPU with this many bytes free; on a processor, `None`, there
/// always is.
pub fn enough(
    recipe: &Recipe,
    network: &str,
    train: &Dataset,
    free: Option<u64>,
) -> Result<(), String> {
    let Some(free) = free else { return Ok(()) };
    let network = network_for(network, train, recipe)?;
    let needed = Need::of(recipe, &network, train.len()).least;
    if needed <= free as f64 {
        return can_count(&network, recipe.setup.batch).map_err(|error| error.to_string());
    }
    let [needed, free] = [needed, free as f64].map(|bytes| (bytes / 1e6).ceil());
    Err(format!(
        "the run needs about {needed} MB of GPU memory, and {free} MB are free; use a smaller batch or network, \
         fewer --jobs, or --device cpu"
    ))
}

/// Bytes of a GPU's memory that a recipe takes, roughly. The training set, the posterior samples and what the network
/// keeps of a batch stay on the device; predictions leave it batch by batch.
struct Need {
    /// With as many members, or posterior samples that predict, side by side as there may be.
    most: f64,
    /// With one after the other.
    least: f64,
}

impl Need {
    fn of(recipe: &Recipe, network: &Network, examples: usize) -> Self {
        let data = (examples * network.input.size()) as f64;
        let Samples { points, vectors, .. } = Samples::of(recipe);
        let vectors = (points + VECTORS + 2.0 * vectors) * network.parameters() as f64;
        let fixed = CONTEXT + 4.8 * (data + vectors);
        let batch = recipe.setup.batch;
        let together = examples_together(network).min(examples);
        let capacity = batch.max(together);
        // Some methods have a second network for a batch, whose layers are perturbed.
        let training = gpu_bytes(network, capacity) + gpu_bytes(network, batch);
        let predicting = gpu_bytes(network, together);
        let at_once = |capacity| networks_at_once(network, capacity, Some(u64::MAX)) as f64;
        let members = at_once(capacity).min(recipe.members() as f64);
        let samples = at_once(together).min(points);
        let most = fixed + (members * training).max(samples * predicting);
        Self { most, least: fixed + training }
    }
}

#[cfg(test)]
mod tests {
    use dubio_data::sets::{self, Part};
    use dubio_nn::networks;
    use dubio_nn::shape::Shape;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_run_that_does_not_fit_is_refused_in_words() {
        let digits = sets::digits::SET.load("".as_ref(), Part::Train).expect("embedded");
        let recipe = Recipe::named("sgd").expect("a recipe");
        let of = |free: Option<u64>| enough(&recipe, "mlp-20", &digits, free);
        let said = of(Some(1000)).expect_err("too little");
        assert!(said.contains("MB of GPU memory, and 1 MB are free"), "{said}");
        assert_eq!([of(Some(1 << 40)), of(None)], [Ok(()), Ok(())]);
    }

    #[test]
    fn members_side_by_side_count_up_to_a_limit() {
        let network = networks::build("preresnet56", Shape::image(3, 32, 32), 10);
        let network = network.expect("a network");
        let of = |members: usize| {
            let settings = json!({"members": members}).as_object().expect("settings").clone();
            let recipe = Recipe::parse("deep-ensemble", settings).expect("a recipe");
            Need::of(&recipe, &network, 4000)
        };
        let [one, two, twenty, forty] = [1, 2, 20, 40].map(of);
        assert!(one.least == one.most && two.most > 1.9 * one.most, "{}", two.most / one.most);
        // More members are more parameters to keep, and nothing else.
        assert!(forty.most - twenty.most < 1e9 && twenty.least < 0.6 * twenty.most);
    }
}

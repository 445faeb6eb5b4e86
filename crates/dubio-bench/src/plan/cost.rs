//! What a run is estimated to cost.

use dubio_data::dataset::{Dataset, Inputs};
use dubio_infer::recipe::Recipe;
use dubio_nn::network::Network;
use dubio_nn::shape::Shape;
use serde::{Deserialize, Serialize};

use super::Error;

/// What a run is estimated to cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Numbers in the flat vector.
    pub parameters: usize,
    /// Multiply-accumulates for one example.
    pub macs: u64,
    /// Training examples.
    pub examples: usize,
    /// Passes over the data for training, forward and backward counted as one; predicting not
    /// counted.
    pub epochs: f64,
    /// Seconds on one core at twenty thousand million multiply-accumulates a second, the rough rate of
    /// medium-sized networks.
    pub seconds: f64,
}

/// The network that a recipe trains on such data.
pub(crate) fn network_for(
    network: &str,
    train: &Dataset,
    recipe: &Recipe,
) -> Result<Network, String> {
    let shape = match &train.inputs {
        Inputs::Images(p) => Shape::image(p.channels, p.height, p.width),
        Inputs::Features { width, .. } => Shape::vector(*width),
    };
    let likelihood = recipe.likelihood(&train.answers);
    let network = likelihood.map_err(|e| e.to_string())?.network(network, shape)?;
    Ok(recipe.method.network(recipe.method.resized(network)))
}

pub(super) fn cost(network: &str, train: &Dataset, recipe: &Recipe) -> Result<Cost, Error> {
    let network = network_for(network, train, recipe).map_err(Error::Unfit)?;
    let unfit = |e: dubio_infer::Error| Error::Unfit(e.to_string());
    recipe.suits(&network).map_err(unfit)?;
    // Data that cannot be learnt from are refused now, not after hours.
    recipe.learns(train).map_err(unfit)?;
    let examples = train.len();
    let epochs = recipe.passes();
    let (parameters, macs) = (network.parameters(), network.macs());
    // Forward, and twice as much backward.
    let seconds = 3.0 * macs as f64 * examples as f64 * epochs / 20e9;
    Ok(Cost { parameters, macs, examples, epochs, seconds })
}

//! Weights as `.safetensors`, in the layout and with the names of PyTorch.

use std::collections::BTreeMap;

use safetensors::tensor::{Dtype, TensorView};
use safetensors::{SafeTensorError, SafeTensors};

use crate::initial;
use crate::network::{Network, Node};
use crate::parameter::{Layout, Parameter};
use crate::real::Real;

/// A problem with a file of weights.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The file is not a `.safetensors`.
    #[error("not a readable .safetensors file: {0}")]
    Unreadable(String),
    /// A tensor that the network needs is not there.
    #[error("there is no tensor `{name}`; the file holds {found}")]
    Missing {
        /// Its name.
        name: String,
        /// Some names that are there.
        found: String,
    },
    /// A tensor has another shape or dtype.
    #[error("tensor `{name}` is {found}, the network needs {needed}")]
    Unfit {
        /// Its name.
        name: String,
        /// What it is.
        found: String,
        /// What it must be.
        needed: String,
    },
    /// Tensors that no layer takes.
    #[error("no layer of the network takes {0}")]
    Left(String),
    /// The format cannot hold them.
    #[error("could not write the weights as .safetensors: {0}")]
    Unwritable(String),
}

/// Reads parameters and running statistics. Every tensor must be taken, except for counters of batches; a leading
/// `module.` of a name is passed over.
pub fn read<T: Real>(network: &Network, bytes: &[u8]) -> Result<(Vec<T>, Vec<T>), Error> {
    let file = SafeTensors::deserialize(bytes).map_err(|e| Error::Unreadable(e.to_string()))?;
    let mut tensors: BTreeMap<String, TensorView<'_>> = file
        .iter()
        .map(|(name, view)| (name.strip_prefix("module.").unwrap_or(name).to_string(), view))
        .filter(|(name, _)| !name.ends_with("num_batches_tracked"))
        .collect();
    let mut theta = vec![T::zero(); network.parameters()];
    let mut statistics = initial::rest(network);
    for node in network.nodes() {
        for (parameter, range) in node.parameters() {
            read_one(&mut tensors, network, node, &parameter, &mut theta[range])?;
        }
        for (parameter, range) in node.statistics() {
            read_one(&mut tensors, network, node, &parameter, &mut statistics[range])?;
        }
    }
    if tensors.is_empty() {
        return Ok((theta, statistics));
    }
    let left: Vec<String> = tensors.into_keys().take(5).collect();
    Err(Error::Left(left.join(", ")))
}

fn read_one<T: Real>(
    tensors: &mut BTreeMap<String, TensorView<'_>>,
    network: &Network,
    node: &Node,
    parameter: &Parameter,
    into: &mut [T],
) -> Result<(), Error> {
    let values: Vec<T> = take(tensors, node.path(parameter), &torch_dims(parameter))?;
    each_pair(network, node, parameter, |there, here| into[here] = values[there]);
    Ok(())
}

fn take<T: Real>(
    tensors: &mut BTreeMap<String, TensorView<'_>>,
    name: String,
    dims: &[usize],
) -> Result<Vec<T>, Error> {
    let Some(view) = tensors.remove(&name) else {
        let found: Vec<&str> = tensors.keys().take(5).map(|k| &k[..]).collect();
        return Err(Error::Missing { name, found: format!("{}, ...", found.join(", ")) });
    };
    let unfit = || Error::Unfit {
        name: name.clone(),
        found: format!("{:?} {:?}", view.dtype(), view.shape()),
        needed: format!("F32 or F64 {dims:?}"),
    };
    if view.shape() != dims {
        return Err(unfit());
    }
    match view.dtype() {
        Dtype::F32 => {
            let chunks = view.data().as_chunks().0;
            Ok(chunks.iter().map(|b| T::of(f64::from(f32::from_le_bytes(*b)))).collect())
        }
        Dtype::F64 => {
            Ok(view.data().as_chunks().0.iter().map(|b| T::of(f64::from_le_bytes(*b))).collect())
        }
        _ => Err(unfit()),
    }
}

/// Writes parameters and running statistics, as f32.
pub fn write<T: Real>(network: &Network, theta: &[T], statistics: &[T]) -> Result<Vec<u8>, Error> {
    let mut tensors: Vec<(String, Vec<usize>, Vec<u8>)> = Vec::new();
    for node in network.nodes() {
        let parameters = node.parameters().map(|(parameter, range)| (parameter, &theta[range]));
        let running = node.statistics().map(|(parameter, range)| (parameter, &statistics[range]));
        for (parameter, here) in parameters.chain(running) {
            let mut bytes = vec![0; 4 * here.len()];
            each_pair(network, node, &parameter, |to, from| {
                let value = here[from].wide() as f32;
                bytes[4 * to..4 * to + 4].copy_from_slice(&value.to_le_bytes());
            });
            tensors.push((node.path(&parameter), torch_dims(&parameter), bytes));
        }
    }
    let unwritable = |e: SafeTensorError| Error::Unwritable(e.to_string());
    let views = tensors.iter().map(|(name, dims, data)| {
        Ok((name, TensorView::new(Dtype::F32, dims.clone(), data).map_err(unwritable)?))
    });
    safetensors::serialize(views.collect::<Result<Vec<_>, _>>()?, None).map_err(unwritable)
}

/// Lengths of a parameter's axes in PyTorch.
fn torch_dims(parameter: &Parameter) -> Vec<usize> {
    match (parameter.torch, &parameter.dims[..]) {
        (Layout::Kernels, &[height, width, from, to]) => vec![to, from, height, width],
        (_, dims) => dims.to_vec(),
    }
}

/// Calls `f(index in PyTorch, index here)` for every number of a parameter.
fn each_pair(
    network: &Network,
    node: &Node,
    parameter: &Parameter,
    mut f: impl FnMut(usize, usize),
) {
    let image = network.image(node.sources[0]);
    match (parameter.torch, &parameter.dims[..], image) {
        (Layout::Kernels, &[height, width, from, to], _) => {
            let window = height * width;
            for place in 0..window {
                for i in 0..from {
                    for o in 0..to {
                        f((o * from + i) * window + place, (place * from + i) * to + o);
                    }
                }
            }
        }
        (Layout::Inputs, _, Some(image)) => {
            for row in (0..parameter.size()).step_by(image.size()) {
                for place in 0..image.places() {
                    for c in 0..image.channels {
                        let there = c * image.places() + place;
                        f(row + there, row + place * image.channels + c);
                    }
                }
            }
        }
        _ => (0..parameter.size()).for_each(|i| f(i, i)),
    }
}

//! Weights as `.safetensors`, in the layout and with the names of PyTorch.

use std::collections::BTreeMap;

use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView};

use crate::layers::Parameter;
use crate::real::Real;
use crate::shape::Shape;
use crate::tape::{From, Node, Tape};

/// A problem with a file of weights.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The file is no `.safetensors`.
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
}

/// The running statistics of a normalisation, by PyTorch's names.
const STATISTICS: [&str; 2] = ["running_mean", "running_var"];

/// Reads parameters and running statistics. Every tensor must be taken, but for counters of
/// batches; a leading `module.` of all names is passed over.
pub fn read<T: Real>(tape: &Tape<T>, bytes: &[u8]) -> Result<(Vec<T>, Vec<T>), Error> {
    let file = SafeTensors::deserialize(bytes).map_err(|e| Error::Unreadable(e.to_string()))?;
    let mut tensors: BTreeMap<String, TensorView<'_>> = file
        .iter()
        .map(|(name, view)| (name.strip_prefix("module.").unwrap_or(name).to_string(), view))
        .filter(|(name, _)| !name.ends_with("num_batches_tracked"))
        .collect();
    let (mut theta, mut statistics) = (vec![T::zero(); tape.parameters()], tape.rest());
    for (index, node) in tape.nodes.iter().enumerate() {
        for (parameter, range) in node.slices() {
            let layout = Layout::of(tape, index, &parameter);
            let values = take(&mut tensors, node, parameter.name, &layout.dims(&parameter))?;
            layout.read_torch(&parameter, &values, &mut theta[range]);
        }
        let channels = node.statistics.len() / 2;
        for (part, name) in STATISTICS.iter().enumerate().filter(|_| channels > 0) {
            let values: Vec<T> = take(&mut tensors, node, name, &[channels])?;
            let start = node.statistics.start + part * channels;
            statistics[start..start + channels].copy_from_slice(&values);
        }
    }
    if tensors.is_empty() {
        return Ok((theta, statistics));
    }
    let left: Vec<String> = tensors.into_keys().take(5).collect();
    Err(Error::Left(left.join(", ")))
}

fn take<T: Real>(
    tensors: &mut BTreeMap<String, TensorView<'_>>,
    node: &Node<T>,
    name: &str,
    dims: &[usize],
) -> Result<Vec<T>, Error> {
    let name = format!("{}.{name}", node.name);
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
pub fn write<T: Real>(tape: &Tape<T>, theta: &[T], statistics: &[T]) -> Vec<u8> {
    let mut tensors: Vec<(String, Vec<usize>, Vec<u8>)> = Vec::new();
    let bytes =
        |values: &[T]| values.iter().flat_map(|v| (v.wide() as f32).to_le_bytes()).collect();
    for (index, node) in tape.nodes.iter().enumerate() {
        for (parameter, range) in node.slices() {
            let layout = Layout::of(tape, index, &parameter);
            let values = layout.as_torch(&parameter, &theta[range]);
            let name = format!("{}.{}", node.name, parameter.name);
            tensors.push((name, layout.dims(&parameter), bytes(&values)));
        }
        let own = &statistics[node.statistics.clone()];
        for (name, values) in STATISTICS.iter().zip(own.chunks((own.len() / 2).max(1))) {
            tensors.push((format!("{}.{name}", node.name), vec![values.len()], bytes(values)));
        }
    }
    let views = tensors.iter().filter_map(|(name, dims, data)| {
        TensorView::new(Dtype::F32, dims.clone(), data).ok().map(|view| (name.clone(), view))
    });
    safetensors::serialize(views.collect::<Vec<_>>(), None).unwrap_or_default()
}

/// How a parameter's numbers lie in PyTorch and here.
enum Layout {
    /// The same way.
    Same,
    /// A convolution: `[out, in, k, k]` there, `[k, k, in, out]` here.
    Convolution,
    /// A linear layer behind a flattened picture: columns run channels, height, width there and
    /// height, width, channels here.
    Flattened(Shape),
}

impl Layout {
    fn of<T: Real>(tape: &Tape<T>, index: usize, parameter: &Parameter) -> Self {
        if parameter.dims.len() == 4 {
            return Self::Convolution;
        }
        let from = match tape.nodes[index].from {
            From::Layer(i) if tape.nodes[i].layer.kind() == "flatten" => tape.nodes[i].input,
            From::Layer(_) => return Self::Same,
            From::Input => tape.input,
        };
        let spatial = from.places() > 1 && from.channels > 1;
        if parameter.dims.len() == 2 && spatial { Self::Flattened(from) } else { Self::Same }
    }

    fn dims(&self, parameter: &Parameter) -> Vec<usize> {
        match (self, &parameter.dims[..]) {
            (Self::Convolution, &[height, width, from, to]) => vec![to, from, height, width],
            _ => parameter.dims.clone(),
        }
    }

    /// Calls `f(index there, index here)` for every number.
    fn pairs(&self, parameter: &Parameter, mut f: impl FnMut(usize, usize)) {
        match (self, &parameter.dims[..]) {
            (Self::Convolution, &[height, width, from, to]) => {
                let window = height * width;
                for place in 0..window {
                    for i in 0..from {
                        for o in 0..to {
                            f((o * from + i) * window + place, (place * from + i) * to + o);
                        }
                    }
                }
            }
            (Self::Flattened(shape), &[outputs, inputs]) => {
                for o in 0..outputs {
                    for place in 0..shape.places() {
                        for c in 0..shape.channels {
                            let there = c * shape.places() + place;
                            let here = place * shape.channels + c;
                            f(o * inputs + there, o * inputs + here);
                        }
                    }
                }
            }
            _ => (0..parameter.size()).for_each(|i| f(i, i)),
        }
    }

    fn read_torch<T: Real>(&self, parameter: &Parameter, there: &[T], here: &mut [T]) {
        self.pairs(parameter, |t, h| here[h] = there[t]);
    }

    fn as_torch<T: Real>(&self, parameter: &Parameter, here: &[T]) -> Vec<T> {
        let mut there = vec![T::zero(); here.len()];
        self.pairs(parameter, |t, h| there[t] = here[h]);
        there
    }
}

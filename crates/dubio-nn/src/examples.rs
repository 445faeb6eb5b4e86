//! Training examples as the host hands them to an engine.

use std::fmt;
use std::sync::Arc;

use dubio_random::stream::Stream;

use crate::real::Real;

/// Inputs, and what they should give. Clones share both.
#[derive(Clone, Debug)]
pub struct Examples<T> {
    /// What a network reads.
    pub inputs: Inputs<T>,
    /// One for each example.
    pub answers: Answers,
}

/// Inputs of all examples, `[examples, height, width, channels]`.
#[derive(Clone)]
pub enum Inputs<T> {
    /// As a network reads them.
    Ready(Arc<Vec<T>>),
    /// Made anew each time, since they are changed at random.
    Source(Arc<dyn Source<T>>),
}

/// Inputs that are made when they are asked for.
pub trait Source<T>: Send + Sync {
    /// Numbers of an example.
    fn size(&self) -> usize;
    /// Writes some examples one after the other; changed at random if there is a stream.
    fn write(&self, rows: &[u32], augment: Option<&Stream>, out: &mut [T]);
}

/// What the examples should give.
#[derive(Clone, Debug)]
pub enum Answers {
    /// Classes.
    Labels(Arc<Vec<u32>>),
    /// Numbers.
    Targets(Arc<Vec<f64>>),
}

impl Answers {
    /// Number of examples.
    pub fn len(&self) -> usize {
        match self {
            Self::Labels(labels) => labels.len(),
            Self::Targets(targets) => targets.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T: Real> Examples<T> {
    /// Number of examples.
    pub fn len(&self) -> usize {
        self.answers.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.answers.is_empty()
    }

    /// Numbers of an example.
    pub fn size(&self) -> usize {
        match &self.inputs {
            Inputs::Ready(all) => all.len() / self.len().max(1),
            Inputs::Source(source) => source.size(),
        }
    }
}

impl<T> fmt::Debug for Inputs<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready(all) => write!(f, "{} numbers", all.len()),
            Self::Source(source) => write!(f, "examples of {} numbers", source.size()),
        }
    }
}

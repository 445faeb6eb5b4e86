//! Training examples as the host hands them to an engine.

use std::fmt;
use std::sync::Arc;

use dubio_random::stream::Stream;

use crate::real::Real;
use crate::shape::Shape;

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
    /// All images as they are, if the changes only move and mirror them: an engine can then do that by itself.
    fn still(&self) -> Option<Still<T>> {
        None
    }
    /// How [`Self::write`] moves some examples. Only where there are [still](Self::still) images.
    fn moves(&self, rows: &[u32], _augment: Option<&Stream>) -> Vec<Move> {
        vec![Move::NONE; rows.len()]
    }
}

/// Images as they are.
#[derive(Clone, Debug)]
pub struct Still<T> {
    /// `[examples, height, width, channels]`.
    pub images: Vec<T>,
    /// The shape of each.
    pub shape: Shape,
    /// What comes in at the edges, a number for each channel.
    pub edge: Vec<T>,
}

/// How an image is moved: pixel `(y, x)` is the image's `(y + down, right + x)`, or `(y + down, right - x)` if it is
/// mirrored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Move {
    /// Added to rows.
    pub down: i32,
    /// Added to columns.
    pub right: i32,
    /// 1, or -1 where left and right are exchanged.
    pub step: i32,
}

impl Move {
    /// The image as it is.
    pub const NONE: Self = Self { down: 0, right: 0, step: 1 };
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

//! Likelihoods: what the outputs of a network stand for.

use std::borrow::Cow;

use dubio_nn::loss::{Kernel, Loss, Truth, log_std, mean_loss};

use crate::scaling::Scaling;

/// A loss that is the negative logarithm of a density, and the predictions that its outputs are.
pub trait Likelihood: Loss {
    /// Whether gradients can be of any size, so that steps have to be clipped: that of a
    /// Gaussian with a standard deviation of its own is one over its variance, that of a softmax bounded.
    fn is_steep(&self) -> bool {
        false
    }
    /// Brings the outputs of samples, `[samples, examples, outputs]`, to the unit of the targets.
    fn unscale(&self, _values: &mut [f32], _scaling: &Scaling) {}
    /// The arrays of a predictions file that hold such values.
    fn arrays<'a>(&self, values: &'a [f32], shape: [usize; 3]) -> Vec<Array<'a>>;
}

/// An array of a predictions file.
#[derive(Clone, Debug, PartialEq)]
pub struct Array<'a> {
    /// Its name there.
    pub name: &'static str,
    /// Its numbers, the last axis first to change.
    pub values: Cow<'a, [f32]>,
    /// Its axes.
    pub shape: Vec<usize>,
}

/// Classes with the probabilities `softmax(outputs)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Categorical {
    /// How many classes.
    pub classes: usize,
}

impl Loss for Categorical {
    fn outputs(&self) -> usize {
        self.classes
    }
    fn mean(&self, outputs: &[f64], truth: Truth<'_>, _: &[u32], gradient: &mut [f64]) -> f64 {
        mean_loss(outputs, truth, gradient)
    }
    fn kernel(&self) -> Option<Kernel> {
        Some(Kernel::CrossEntropy)
    }
}

impl Likelihood for Categorical {
    fn arrays<'a>(&self, values: &'a [f32], shape: [usize; 3]) -> Vec<Array<'a>> {
        vec![Array { name: "logits", values: Cow::Borrowed(values), shape: shape.to_vec() }]
    }
}

/// Targets `Normal(m, s^2)`, with outputs `m` and `log s`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gaussian;

impl Loss for Gaussian {
    fn outputs(&self) -> usize {
        2
    }
    fn mean(&self, outputs: &[f64], truth: Truth<'_>, _: &[u32], gradient: &mut [f64]) -> f64 {
        mean_loss(outputs, truth, gradient)
    }
    fn kernel(&self) -> Option<Kernel> {
        Some(Kernel::Gaussian)
    }
}

impl Likelihood for Gaussian {
    fn is_steep(&self) -> bool {
        true
    }
    fn unscale(&self, values: &mut [f32], scaling: &Scaling) {
        let scale = scaling.targets().expect("measured on targets");
        for pair in values.chunks_exact_mut(2) {
            pair[0] = scale.mean_back(f64::from(pair[0])) as f32;
            pair[1] = scale.std_back(log_std(f64::from(pair[1])).exp()) as f32;
        }
    }
    fn arrays<'a>(&self, values: &'a [f32], [samples, examples, _]: [usize; 3]) -> Vec<Array<'a>> {
        let column = |name, which: usize| Array {
            name,
            values: values.iter().skip(which).step_by(2).copied().collect(),
            shape: vec![samples, examples],
        };
        vec![column("mean", 0), column("std", 1)]
    }
}

//! What a pass through a network is for.

use dubio_random::stream::Stream;

/// Where batch normalisation takes its means and variances from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Statistics {
    /// From the batch, which also moves the running ones by this fraction of the way.
    Batch {
        /// Fraction of the new batch in the running statistics; PyTorch's `momentum`, 0.1 there.
        momentum: f64,
    },
    /// The running ones.
    Running,
}

/// What a pass is for.
#[derive(Clone, Debug)]
pub(crate) struct Mode {
    /// Statistics of batch normalisation.
    pub statistics: Statistics,
    /// Where dropout and other layers with noise take their random numbers from; `None` for no noise.
    pub noise: Option<Stream>,
    /// Whose masks they are.
    pub masks: Masks,
}

/// Whether each example has a mask of its own. In prediction, a pass is one sample of the network, and not one for
/// every example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Masks {
    /// Each example has its own, as in training.
    OfExamples,
    /// All examples share one.
    Shared,
}

impl Mode {
    /// Which mask of its stream an example gets.
    pub(crate) fn mask_of(&self, example: usize) -> usize {
        match self.masks {
            Masks::OfExamples => example,
            Masks::Shared => 0,
        }
    }

    /// To learn.
    pub(crate) fn training(noise: Option<&Stream>) -> Self {
        let statistics = Statistics::Batch { momentum: 0.1 };
        Self { statistics, noise: noise.cloned(), masks: Masks::OfExamples }
    }

    /// To predict: running statistics.
    pub(crate) fn predicting(noise: Option<&Stream>) -> Self {
        Self { statistics: Statistics::Running, noise: noise.cloned(), masks: Masks::Shared }
    }

    /// The same for a layer that stays as it is.
    pub(crate) fn frozen(&self) -> Self {
        Self { statistics: Statistics::Running, ..self.clone() }
    }
}

//! What inference samples from: a function of one flat vector.

use std::ops::Range;
use std::sync::Arc;

use dubio_nn::engine::{Point, Seed, Vector, Visited};
use dubio_nn::matrix::Matrix;
use dubio_nn::network::Perturbation;
use dubio_nn::parameter::Slice;
use dubio_random::stream::Stream;

use crate::curvature::{LayerGradients, Sought};
use crate::error::Error;
use crate::likelihood::Likelihood;
use crate::prior::Prior;

/// A mini-batch by name. The same name always gives the same examples, changes and noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchName {
    /// Epochs before this one.
    pub epoch: usize,
    /// Mini-batches before this one in its epoch.
    pub batch: usize,
}

/// Where a network with [perturbed](dubio_nn::network::Network::perturbed) layers is evaluated.
pub struct Perturbed<'a, V> {
    /// What the noise of weights is made of: their variances, or their shifts.
    pub spreads: &'a V,
    /// Means; for parameters that no layer perturbs, the values themselves.
    pub means: &'a V,
    /// Running statistics, which move.
    pub statistics: &'a mut V,
    /// Where layers take their noise from.
    pub noise: &'a Stream,
}

/// The posterior `exp(-U)`, with `U(theta) = N loss(theta) - log prior(theta)`: the mean loss over `N`
/// examples.
pub trait Target {
    /// The flat vector.
    type Vector: Vector;
    /// `N`.
    fn examples(&self) -> usize;
    /// The prior.
    fn prior(&self) -> Arc<dyn Prior<Self::Vector>>;
    /// Whether gradients can be of any size, so that steps have to be clipped.
    fn is_steep(&self) -> bool {
        false
    }
    /// Mini-batches in an epoch.
    fn batches(&self) -> usize;
    /// Where a chain begins; the `index`-th point where several move together.
    fn start(&self, index: usize) -> Point<Self::Vector>;
    /// The parameters' stretches of the vector, in their order.
    fn slices(&self) -> Vec<Slice>;
    /// The weights of layers as matrices in the vector, in their order; none where there is no network.
    fn matrices(&self) -> Vec<Matrix> {
        Vec::new()
    }
    /// What its outputs stand for; `None` where there is no network.
    fn likelihood(&self) -> Option<Arc<dyn Likelihood>> {
        None
    }
    /// The weights of its linear and convolutional layers but the last, as they lie in the vector; none where there is
    /// no network.
    fn hidden_layers(&self) -> Vec<Matrix> {
        Vec::new()
    }
    /// Gradient of the mean loss of a mini-batch at a point, whose running statistics move. The loss is
    /// kept until it is asked for.
    fn gradient(
        &mut self,
        point: &mut Point<Self::Vector>,
        batch: BatchName,
        gradient: &mut Self::Vector,
    );
    /// Gradients at several points on one mini-batch.
    fn gradients(
        &mut self,
        points: &mut [Point<Self::Vector>],
        batch: BatchName,
        gradients: &mut [Self::Vector],
    ) {
        for (point, gradient) in points.iter_mut().zip(gradients) {
            self.gradient(point, batch, gradient);
        }
    }
    /// Prepares for [`Self::perturbed_gradient`]; gives the stretches of the vector that layers perturb. `None` where
    /// there is no network.
    fn perturb(&mut self, _by: Perturbation) -> Option<Vec<Range<usize>>> {
        None
    }
    /// Gradients of the mean loss of a mini-batch with respect to spreads and to means, where layers are perturbed as
    /// [`Self::perturb`] prepared. The loss is kept until it is asked for.
    fn perturbed_gradient(
        &mut self,
        _at: Perturbed<'_, Self::Vector>,
        _batch: BatchName,
        _gradients: [&mut Self::Vector; 2],
    ) {
        unreachable!("nothing here was made ready for perturbed layers");
    }
    /// The losses of the gradients since this was last asked, in their order. Waits.
    fn losses(&mut self) -> Vec<f64>;
    /// Mean loss of all examples as they are, and its gradient. Waits.
    fn whole(&mut self, theta: &Self::Vector, gradient: &mut Self::Vector) -> f64;
    /// Mean loss of all examples as they are. Waits.
    fn whole_loss(&mut self, theta: &Self::Vector) -> f64;
    /// Whether the loss of an example depends on others, through statistics of layers that move.
    fn has_statistics(&self) -> bool {
        false
    }
    /// The running statistics of the network at `theta` on the training data.
    fn statistics(&mut self, theta: &Self::Vector) -> Self::Vector {
        theta.zeros(0)
    }
    /// Outputs at a point for a mini-batch as it predicts, `[examples, outputs]`; none where there is no
    /// network. Waits.
    fn outputs(&mut self, _point: &Point<Self::Vector>, _batch: BatchName) -> Vec<f64> {
        Vec::new()
    }
    /// Gradient of `sum_k seed_k outputs_k`, summed over a mini-batch; nothing where there is no network.
    fn seeded_gradient(
        &mut self,
        _point: &mut Point<Self::Vector>,
        _batch: BatchName,
        _seed: Seed<'_>,
        _gradient: &mut Self::Vector,
    ) {
    }
    /// Shows what curvature is made of, layer by layer, for a mini-batch; nothing where there is no
    /// network.
    fn visit(
        &mut self,
        _point: &Point<Self::Vector>,
        _batch: BatchName,
        _seed: Seed<'_>,
        _visitor: &mut dyn FnMut(Visited<'_, Self::Vector>),
    ) {
    }
    /// Hands to `each` what the curvature of the loss of the examples as they are is made of. It goes through the
    /// examples chunk by chunk and, for each chunk, through the roots `f_r` of the Fisher information at the outputs,
    /// `sum_r f_r f_r'`. For each root, `each` gets its index and the gradients from it in every layer that is sought.
    /// Does nothing where there is no network, or its likelihood has no curvature. Ends with the first error of `each`.
    fn curvature(
        &mut self,
        _point: &Point<Self::Vector>,
        _sought: &Sought,
        _stream: &Stream,
        _each: &mut dyn FnMut(usize, Vec<LayerGradients>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        Ok(())
    }
}

/// `N loss` and the prior's `-log p`, kept apart: their sums lose the small differences that accepting a move depends
/// on.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Potential {
    /// `N loss(theta)`.
    pub likelihood: f64,
    /// `-log p(theta)`, up to a constant.
    pub prior: f64,
}

impl Potential {
    /// At `theta`; the gradient of the sum replaces `gradient`.
    pub fn at<V: Vector>(target: &mut dyn Target<Vector = V>, theta: &V, gradient: &mut V) -> Self {
        let (n, prior) = (target.examples() as f64, target.prior());
        let loss = target.whole(theta, gradient);
        gradient.scale(n);
        prior.add_gradient(1.0, 1.0, theta, gradient);
        Self { likelihood: n * loss, prior: prior.value(theta) }
    }

    /// How much lower this is than `other`.
    pub fn below(self, other: Self) -> f64 {
        (other.likelihood - self.likelihood) + (other.prior - self.prior)
    }
}

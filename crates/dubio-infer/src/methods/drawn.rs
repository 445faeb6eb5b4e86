//! Gradients at networks drawn around a mean, by which variational methods step.

use dubio_nn::engine::{Point, Vector};
use dubio_random::stream::Stream;

use crate::error::Error;
use crate::rule::{Draw, Draws, MiniBatch, Step};
use crate::target::Target;

/// A method whose samples are drawn around a mean, the point that moved.
pub(super) trait Drawn {
    /// What a point is made of.
    type Vector: Vector;
    /// How many.
    fn samples(&self) -> usize;
    /// A network, and the noise that it was drawn with.
    fn drawn(&self, mean: &Self::Vector, stream: &Stream) -> (Self::Vector, Self::Vector);
}

impl<V: Vector, R: Drawn<Vector = V>> Draws<V> for R {
    fn count(&self) -> usize {
        self.samples()
    }
    fn draw(
        &mut self,
        points: &mut [Point<V>],
        _: &mut dyn Target<Vector = V>,
        at: &Draw<'_>,
    ) -> Result<Vec<V>, Error> {
        Ok(vec![self.drawn(&points[0].theta, at.stream).0])
    }
}

/// Averages over `draws` networks, each drawn around the mean by `draw`, which also gives the noise: adds the mean of
/// the gradients of the loss to `slope`, and the mean of their products with the noise to `products`. `more` may add to
/// the gradient at a network. The mean's running statistics move.
pub(super) fn gradients<V: Vector>(
    mean: &mut Point<V>,
    batch: &mut MiniBatch<'_, V>,
    (draws, at): (usize, &Step<'_>),
    draw: impl Fn(&V, &Stream) -> (V, V),
    mut more: impl FnMut(&V, &mut V),
    [slope, products]: [&mut V; 2],
) {
    for number in 0..draws {
        let (theta, by) = draw(&mean.theta, &at.noise().nth(number));
        let mut there = Point { theta, statistics: mean.statistics.clone() };
        let gradient = batch.at(&mut there).likelihood;
        more(&there.theta, gradient);
        slope.axpy(1.0 / draws as f64, gradient);
        // The mean of the products, which is not the product of the means.
        products.add_product(1.0 / draws as f64, gradient, &by);
        mean.statistics = there.statistics;
    }
}

//! Random numbers for one image.

use dubio_random::normal::ziggurat;
use dubio_random::stream::Generator;
use rand_distr::{Distribution, Poisson};

use super::canvas::Plane;

/// The generator of one image.
pub type Draws = Generator;

/// A number drawn uniformly from `[low, high)`.
pub fn uniform(draws: &mut Draws, low: f64, high: f64) -> f64 {
    low + (high - low) * dubio_random::uniform::uniform(draws)
}

/// A number from the Gaussian with mean 0 and variance 1.
pub fn normal(draws: &mut Draws) -> f64 {
    ziggurat(draws)
}

/// A count with this mean; 0 where the mean is 0.
pub fn poisson(draws: &mut Draws, mean: f64) -> f64 {
    Poisson::new(mean).map_or(0.0, |counts| counts.sample(draws))
}

/// A plane of independent Gaussian numbers, mean 0 and variance 1.
pub fn normals(height: usize, width: usize, draws: &mut Draws) -> Plane {
    Plane::from_fn(height, width, |_, _| normal(draws))
}

//! Transforms: from bytes and columns to the numbers a model is shown. One file per transform.
//!
//! Images go through a [`Pipeline`](pipeline::Pipeline) of [`Transform`]s; tables through
//! [`StandardiseFeatures`](standardise_features::StandardiseFeatures) and
//! [`StandardiseTargets`](standardise_targets::StandardiseTargets).

use dubio_random::stream::Generator;

pub mod horizontal_flip;
pub mod pipeline;
pub mod random_crop;
pub mod random_resized_crop;
pub mod standardise;
pub mod standardise_features;
pub mod standardise_targets;

/// The generator of one image.
pub type Draws = Generator;

/// The size of an image `[channels, height, width]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageShape {
    /// Colours.
    pub channels: usize,
    /// Rows.
    pub height: usize,
    /// Pixels in a row.
    pub width: usize,
}

impl ImageShape {
    /// Numbers in an image.
    pub fn size(self) -> usize {
        self.channels * self.height * self.width
    }
}

/// A change of one image whose numbers are `[channels, height, width]`, from 0 (black) to 1.
pub trait Transform: Send + Sync {
    /// Name in suites.
    fn name(&self) -> &'static str;

    /// The shape it gives for the shape it takes.
    fn shape(&self, input: ImageShape) -> ImageShape {
        input
    }

    /// Writes the changed image; `output` has the size of `self.shape(shape)`.
    fn apply(&self, input: &[f32], shape: ImageShape, draws: &mut Draws, output: &mut [f32]);
}

/// Mean and standard deviation (divided by the count) of some numbers; `(0, 0)` of none.
fn mean_and_std(numbers: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let count = numbers.clone().count().max(1) as f64;
    let mean = numbers.clone().sum::<f64>() / count;
    let square = numbers.map(|number| (number - mean).powi(2)).sum::<f64>() / count;
    (mean, square.sqrt())
}

/// The factor of a deviation from the mean: one over the standard deviation, or 0 where numbers differ by
/// rounding only, so that a constant becomes 0.
fn gain(mean: f64, std: f64) -> f64 {
    if std > 1e-12 * mean.abs() { 1.0 / std } else { 0.0 }
}

//! `standardise`: every colour to mean 0 and standard deviation 1.

use super::{Draws, ImageShape, Transform, gain};
use crate::dataset::Images;

/// `(x - mean) / std` of each colour, for `x` from 0 to 1. A constant colour becomes 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Standardise {
    mean: Vec<f64>,
    std: Vec<f64>,
}

impl Standardise {
    /// With the mean and the standard deviation of each colour, of values from 0 to 1.
    ///
    /// # Panics
    ///
    /// When there are not as many standard deviations as means.
    pub fn new(mean: &[f64], std: &[f64]) -> Self {
        let (means, stds) = (mean.len(), std.len());
        assert!(
            means == stds,
            "standardise needs a standard deviation per mean, got {stds} for {means}"
        );
        Self { mean: mean.to_vec(), std: std.to_vec() }
    }

    /// With the mean and the standard deviation of each colour over all pixels of these images: the
    /// training set, never the test set.
    pub fn measured(training: &Images) -> Self {
        let area = training.height * training.width;
        let colour = |channel: usize| {
            // Counts of bytes are exact and leave 256 numbers to add, in whatever order.
            let mut counts = [0_u64; 256];
            for image in training.pixels.chunks_exact(training.size()) {
                let plane = &image[channel * area..][..area];
                plane.iter().for_each(|&byte| counts[usize::from(byte)] += 1);
            }
            moments(&counts)
        };
        let (mean, std) = (0..training.channels).map(colour).unzip();
        Self { mean, std }
    }

    /// Mean of each colour.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// Standard deviation of each colour.
    pub fn std(&self) -> &[f64] {
        &self.std
    }
}

fn moments(counts: &[u64; 256]) -> (f64, f64) {
    let total = counts.iter().sum::<u64>().max(1) as f64;
    let sum = |of: &dyn Fn(f64) -> f64| -> f64 {
        counts.iter().enumerate().map(|(byte, &n)| n as f64 * of(byte as f64 / 255.0)).sum()
    };
    let mean = sum(&|value| value) / total;
    (mean, (sum(&|value| (value - mean).powi(2)) / total).sqrt())
}

impl Transform for Standardise {
    fn name(&self) -> &'static str {
        "standardise"
    }
    fn apply(&self, input: &[f32], shape: ImageShape, _: &mut Draws, output: &mut [f32]) {
        let (area, means) = (shape.height * shape.width, self.mean.len());
        assert_eq!(means, shape.channels, "standardise has {means} means for the image's colours");
        let planes = input.chunks_exact(area).zip(output.chunks_exact_mut(area));
        for ((from, to), (&mean, &std)) in planes.zip(self.mean.iter().zip(&self.std)) {
            let (mean, gain) = (mean as f32, gain(mean, std) as f32);
            to.iter_mut().zip(from).for_each(|(new, &old)| *new = (old - mean) * gain);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dubio_random::stream::Stream;

    #[test]
    fn the_images_measured_get_mean_0_and_std_1_in_every_colour() {
        let pixels: Vec<u8> = (0..2 * 2 * 12_u32).map(|i| (i * i % 251) as u8).collect();
        let images = Images { channels: 2, height: 3, width: 4, white: 255, pixels };
        let standardise = Standardise::measured(&images);
        let shape = ImageShape { channels: 2, height: 3, width: 4 };
        let mut colours = [vec![], vec![]];
        for image in images.pixels.chunks(24) {
            let input: Vec<f32> = image.iter().map(|&byte| f32::from(byte) / 255.0).collect();
            let mut output = vec![0.0; 24];
            standardise.apply(&input, shape, &mut Stream::root(0).generator(), &mut output);
            for (colour, plane) in colours.iter_mut().zip(output.chunks(12)) {
                colour.extend(plane.iter().map(|&value| f64::from(value)));
            }
        }
        for colour in colours {
            let (mean, std) = super::super::mean_and_std(colour.into_iter());
            assert!(mean.abs() < 1e-6 && (std - 1.0).abs() < 1e-6, "{mean} {std}");
        }
    }
}

//! `random_resized_crop`: a part of the image, stretched to a given size.

use dubio_random::uniform::uniform;
use rand::RngExt;

use super::{Draws, ImageShape, Transform};

/// A rectangle of random area and form (aspect ratio), at a random place, bilinear at the given size.
///
/// An area (a fraction of the image, uniform in `area`) and a form (width / height, uniform on a
/// logarithmic scale in `form`) are drawn up to ten times, until the rectangle fits; otherwise the
/// largest one in the middle whose form is allowed is taken (Szegedy et al. 2015; torchvision's
/// `RandomResizedCrop` without antialiasing).
#[derive(Clone, Debug, PartialEq)]
pub struct RandomResizedCrop {
    /// Rows of the result.
    pub height: usize,
    /// Pixels in a row of the result.
    pub width: usize,
    /// Smallest and largest fraction of the image's area.
    pub area: (f64, f64),
    /// Smallest and largest width / height.
    pub form: (f64, f64),
}

impl RandomResizedCrop {
    /// With the usual areas, 0.08 to 1, and forms, 3/4 to 4/3.
    pub fn to(height: usize, width: usize) -> Self {
        Self { height, width, area: (0.08, 1.0), form: (0.75, 4.0 / 3.0) }
    }

    /// The rectangle to stretch: top, left, height, width.
    fn rectangle(&self, shape: ImageShape, draws: &mut Draws) -> [usize; 4] {
        let (height, width) = (shape.height as f64, shape.width as f64);
        let between = |(low, high): (f64, f64), part: f64| low + (high - low) * part;
        for _ in 0..10 {
            let area = height * width * between(self.area, uniform(draws));
            let form = between((self.form.0.ln(), self.form.1.ln()), uniform(draws)).exp();
            let tall = (area / form).sqrt().round() as usize;
            let wide = (area * form).sqrt().round() as usize;
            if (1..=shape.height).contains(&tall) && (1..=shape.width).contains(&wide) {
                let top = draws.random_range(0..=shape.height - tall);
                return [top, draws.random_range(0..=shape.width - wide), tall, wide];
            }
        }
        let tall = (width / self.form.0).round().clamp(1.0, height) as usize;
        let wide = (height * self.form.1).round().clamp(1.0, width) as usize;
        [(shape.height - tall) / 2, (shape.width - wide) / 2, tall, wide]
    }
}

impl Transform for RandomResizedCrop {
    fn name(&self) -> &'static str {
        "random_resized_crop"
    }
    fn shape(&self, input: ImageShape) -> ImageShape {
        ImageShape { channels: input.channels, height: self.height, width: self.width }
    }
    fn apply(&self, input: &[f32], shape: ImageShape, draws: &mut Draws, output: &mut [f32]) {
        let [top, left, tall, wide] = self.rectangle(shape, draws);
        for (row, line) in output.chunks_exact_mut(self.width).enumerate() {
            let (channel, y) = (row / self.height, row % self.height);
            let (above, below, down) = between_pixels(y, self.height, tall);
            let plane = &input[channel * shape.height * shape.width..];
            for (x, value) in line.iter_mut().enumerate() {
                let (before, after, right) = between_pixels(x, self.width, wide);
                let pixel = |y: usize, x: usize| plane[(top + y) * shape.width + left + x];
                let upper = pixel(above, before) * (1.0 - right) + pixel(above, after) * right;
                let lower = pixel(below, before) * (1.0 - right) + pixel(below, after) * right;
                *value = upper * (1.0 - down) + lower * down;
            }
        }
    }
}

/// The two of `len` pixels between which the `place`-th of `new` pixels lies, and how far it is from the
/// first to the second. Both lines cover the same length; the first and the last pixel are repeated.
fn between_pixels(place: usize, new: usize, len: usize) -> (usize, usize, f32) {
    let at = (place as f64 + 0.5) * len as f64 / new as f64 - 0.5;
    let at = at.clamp(0.0, len as f64 - 1.0);
    let first = at as usize;
    (first, (first + 1).min(len - 1), (at - first as f64) as f32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dubio_random::stream::Stream;

    const SHAPE: ImageShape = ImageShape { channels: 2, height: 3, width: 4 };

    fn image() -> Vec<f32> {
        (1..=24).map(|i| i as f32).collect()
    }

    fn resized(crop: &RandomResizedCrop, input: &[f32], seed: u64) -> Vec<f32> {
        let mut output = vec![f32::NAN; crop.shape(SHAPE).size()];
        crop.apply(input, SHAPE, &mut Stream::root(seed).generator(), &mut output);
        output
    }

    #[test]
    fn the_whole_image_at_its_own_size_is_the_image() {
        let whole = RandomResizedCrop {
            area: (1.0, 1.0),
            form: (4.0 / 3.0, 4.0 / 3.0),
            ..RandomResizedCrop::to(3, 4)
        };
        assert_eq!(resized(&whole, &image(), 1), image());
    }

    #[test]
    fn a_slope_stays_a_slope_within_the_images_range() {
        let slope: Vec<f32> = (0..24).map(|k| (k % 4) as f32).collect();
        for seed in 0..200 {
            let output = resized(&RandomResizedCrop::to(5, 6), &slope, seed);
            assert!(output.iter().all(|value| (0.0..=3.000_001).contains(value)));
            for row in output.chunks(6) {
                assert!(row.windows(2).all(|pair| pair[0] <= pair[1] + 1e-6), "{row:?}");
                assert!(row.iter().zip(&output).all(|(a, b)| (a - b).abs() < 1e-6), "{row:?}");
            }
        }
    }

    /// `scipy.ndimage.zoom([0, 1, 4], 2, order=1, mode="nearest", grid_mode=True)`.
    #[test]
    fn twice_the_size_is_linear_between_squares() {
        let row = [0.0_f32, 1.0, 4.0];
        let at = |place| {
            let (first, second, part) = between_pixels(place, 6, 3);
            row[first] * (1.0 - part) + row[second] * part
        };
        assert_eq!([0, 1, 2, 3, 4, 5].map(at), [0.0, 0.25, 0.75, 1.75, 3.25, 4.0]);
    }
}

//! `random_crop`: a window of the image's own size, moved by a few pixels.

use rand::RngExt;

use super::{Draws, ImageShape, Transform};

/// The image padded with `padding` zeros on every side and cut back to its size at a uniformly
/// random place: He et al. 2016 with 4 for CIFAR. 0 changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomCrop {
    /// Zeros on every side, in pixels.
    pub padding: usize,
}

impl RandomCrop {
    /// How far the window is moved down and to the right.
    pub fn draw(&self, draws: &mut Draws) -> (isize, isize) {
        let mut far = || draws.random_range(0..=2 * self.padding) as isize - self.padding as isize;
        (far(), far())
    }
}

impl Transform for RandomCrop {
    fn name(&self) -> &'static str {
        "random_crop"
    }
    fn apply(&self, input: &[f32], shape: ImageShape, draws: &mut Draws, output: &mut [f32]) {
        let ImageShape { height, width, .. } = shape;
        // Row and column of the padded image at which the window begins.
        let (down, right) = self.draw(draws);
        let [top, left] = [down, right].map(|far| (self.padding as isize + far) as usize);
        let (from, skip) = (left.saturating_sub(self.padding), self.padding.saturating_sub(left));
        let seen = width.saturating_sub(from.max(skip));
        output.fill(0.0);
        for (row, line) in output.chunks_exact_mut(width).enumerate() {
            let (channel, y) = (row / height, row % height + top);
            if seen > 0 && (self.padding..self.padding + height).contains(&y) {
                let start = (channel * height + y - self.padding) * width + from;
                line[skip..skip + seen].copy_from_slice(&input[start..start + seen]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dubio_random::stream::Stream;

    const SHAPE: ImageShape = ImageShape { channels: 2, height: 3, width: 4 };

    fn image() -> Vec<f32> {
        (1..=24).map(|i| i as f32).collect()
    }

    fn crop(padding: usize, seed: u64) -> Vec<f32> {
        let mut output = vec![f32::NAN; 24];
        let mut draws = Stream::root(seed).generator();
        RandomCrop { padding }.apply(&image(), SHAPE, &mut draws, &mut output);
        output
    }

    #[test]
    fn no_padding_is_no_change() {
        assert_eq!(crop(0, 1), image());
    }

    #[test]
    fn every_crop_is_the_image_moved_with_zeros_coming_in() {
        // Larger than the image too: then nothing of it may be left.
        for padding in [1, 2, 6] {
            let reach = -(padding as isize)..=padding as isize;
            let moved = |down: isize, right: isize| -> Vec<f32> {
                let pixel = |k: usize| {
                    let y = (k / 4 % 3).checked_add_signed(down).filter(|&y| y < 3)?;
                    let x = (k % 4).checked_add_signed(right).filter(|&x| x < 4)?;
                    Some(image()[k / 12 * 12 + y * 4 + x])
                };
                (0..24).map(|k| pixel(k).unwrap_or(0.0)).collect()
            };
            let allowed: Vec<Vec<f32>> = reach
                .clone()
                .flat_map(|y| reach.clone().map(move |x| (y, x)))
                .map(|(y, x)| moved(y, x))
                .collect();
            let seen: Vec<Vec<f32>> = (0..500).map(|seed| crop(padding, seed)).collect();
            assert!(seen.iter().all(|crop| allowed.contains(crop)));
            assert!(padding > 2 || allowed.iter().all(|crop| seen.contains(crop)), "{padding}");
        }
    }
}

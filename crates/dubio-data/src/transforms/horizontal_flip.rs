//! `horizontal_flip`: left becomes right.

use dubio_random::uniform::uniform;

use super::{Draws, ImageShape, Transform};

/// Mirrors an image left to right with probability `chance`, one half by default.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HorizontalFlip {
    /// Probability, from 0 to 1.
    pub chance: f64,
}

impl Default for HorizontalFlip {
    fn default() -> Self {
        Self { chance: 0.5 }
    }
}

impl HorizontalFlip {
    /// Whether to mirror.
    pub fn draw(&self, draws: &mut Draws) -> bool {
        uniform(draws) < self.chance
    }
}

impl Transform for HorizontalFlip {
    fn name(&self) -> &'static str {
        "horizontal_flip"
    }
    fn apply(&self, input: &[f32], shape: ImageShape, draws: &mut Draws, output: &mut [f32]) {
        output.copy_from_slice(input);
        if self.draw(draws) {
            output.chunks_exact_mut(shape.width).for_each(<[f32]>::reverse);
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

    fn flip(chance: f64, input: &[f32]) -> Vec<f32> {
        let mut output = vec![0.0; 24];
        let mut draws = Stream::root(0).generator();
        HorizontalFlip { chance }.apply(input, SHAPE, &mut draws, &mut output);
        output
    }

    #[test]
    fn twice_is_the_image_and_no_chance_is_no_change() {
        let flipped = flip(1.0, &image());
        assert_eq!(flipped[..4], [4.0, 3.0, 2.0, 1.0]);
        assert_eq!(flip(1.0, &flipped), image());
        assert_eq!(flip(0.0, &image()), image());
    }
}

//! A list of transforms, from bytes to the numbers a network reads.

use dubio_random::stream::Stream;
use rayon::prelude::*;

use super::{Draws, ImageShape, Transform};
use crate::dataset::Images;

/// Transforms, one after the other. An empty pipeline gives the bytes divided by 255.
#[derive(Default)]
pub struct Pipeline {
    transforms: Vec<Box<dyn Transform>>,
}

/// Room for the images between two transforms; grows to what the largest needs, then stays.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    now: Vec<f32>,
    next: Vec<f32>,
}

impl Pipeline {
    /// The pipeline with one more transform at its end.
    pub fn then(mut self, transform: impl Transform + 'static) -> Self {
        self.transforms.push(Box::new(transform));
        self
    }

    /// The shape it gives for the shape it takes.
    pub fn shape(&self, input: ImageShape) -> ImageShape {
        self.transforms.iter().fold(input, |shape, transform| transform.shape(shape))
    }

    /// Writes one image of bytes, transformed. Nothing is allocated once `scratch` has grown.
    ///
    /// # Panics
    ///
    /// When `pixels` does not have the size of the shape, or `output` not that of the shape the pipeline gives.
    pub fn image(
        &self,
        pixels: &[u8],
        shape: ImageShape,
        draws: &mut Draws,
        scratch: &mut Scratch,
        output: &mut [f32],
    ) {
        assert_eq!(pixels.len(), shape.size(), "an image has as many bytes as its shape says");
        scratch.now.clear();
        scratch.now.extend(pixels.iter().map(|&byte| f32::from(byte) / 255.0));
        let mut shape = shape;
        for transform in &self.transforms {
            let new = transform.shape(shape);
            scratch.next.resize(new.size(), 0.0);
            transform.apply(&scratch.now, shape, draws, &mut scratch.next);
            std::mem::swap(&mut scratch.now, &mut scratch.next);
            shape = new;
        }
        output.copy_from_slice(&scratch.now);
    }

    /// Writes the images with these indices, one after the other. The image at place `i` of the
    /// batch draws from `stream / i`, so hand over a stream per batch: `epoch / batch`. Neither the
    /// number of threads nor the rest of the batch changes a byte.
    ///
    /// # Panics
    ///
    /// When `output` does not have the size of the batch.
    pub fn batch(&self, images: &Images, rows: &[u32], stream: &Stream, output: &mut [f32]) {
        let shape =
            ImageShape { channels: images.channels, height: images.height, width: images.width };
        let size = self.shape(shape).size();
        let (numbers, count) = (output.len(), rows.len());
        assert_eq!(numbers, count * size, "room for {count} images of {size} numbers");
        let work = output.par_chunks_exact_mut(size).zip(rows).enumerate();
        work.for_each_init(Scratch::default, |scratch, (i, (output, &row))| {
            let mut draws = stream.nth(i).generator();
            self.image(images.image(row as usize), shape, &mut draws, scratch, output);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transforms::horizontal_flip::HorizontalFlip;
    use crate::transforms::random_crop::RandomCrop;
    use crate::transforms::random_resized_crop::RandomResizedCrop;
    use crate::transforms::standardise::Standardise;

    fn images() -> Images {
        let pixels = (0..20 * 3 * 64_u32).map(|i| (i * 7 % 256) as u8).collect();
        Images { channels: 3, height: 8, width: 8, white: 255, pixels }
    }

    #[test]
    fn an_empty_pipeline_divides_by_255() {
        let images = images();
        let mut output = vec![0.0; 192];
        Pipeline::default().batch(&images, &[4], &Stream::root(1), &mut output);
        let expected = images.image(4).iter().map(|&byte| f32::from(byte) / 255.0);
        assert!(output.iter().copied().eq(expected));
    }

    #[test]
    fn one_thread_and_four_write_the_same_numbers() {
        let (images, rows) = (images(), (0..20).rev().collect::<Vec<u32>>());
        let pipeline = Pipeline::default()
            .then(RandomCrop { padding: 2 })
            .then(HorizontalFlip::default())
            .then(RandomResizedCrop::to(5, 7))
            .then(Standardise::measured(&images));
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut output = vec![0.0; 20 * 3 * 5 * 7];
            pool.install(|| pipeline.batch(&images, &rows, &Stream::root(1), &mut output));
            output
        };
        assert_eq!(run(1), run(4));
    }
}

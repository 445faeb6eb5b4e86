//! Images that are moved at random, as inference hands them over.

use dubio_nn::examples::{Move, Source, Still};
use dubio_nn::real::Real;
use dubio_nn::shape::Shape;
use dubio_random::stream::Stream;
use dubio_random::uniform::below_32;

/// Images that are moved and mirrored, with numbers at the edges that differ from channel to channel.
pub(crate) struct Moved<T> {
    still: Still<T>,
    /// Whether the engine is told how they are moved.
    by_engine: bool,
}

impl<T: Real> Moved<T> {
    pub(crate) fn new(images: &[T], shape: Shape, by_engine: bool) -> Self {
        let edge = (0..shape.channels).map(|c| T::of(1.5 - 2.0 * c as f64)).collect();
        Self { still: Still { images: images.to_vec(), shape, edge }, by_engine }
    }
}

impl<T: Real> Source<T> for Moved<T> {
    fn size(&self) -> usize {
        self.still.shape.size()
    }

    /// Pixel by pixel, as [`Move`] says.
    fn write(&self, rows: &[u32], augment: Option<&Stream>, out: &mut [T]) {
        let Still { images, shape: Shape { height, width, channels }, edge } = &self.still;
        let inside = |place: i32, side: usize| (0..side as i32).contains(&place);
        let mut out = out.iter_mut();
        for (row, by) in rows.iter().zip(self.moves(rows, augment)) {
            let image = &images[*row as usize * self.size()..][..self.size()];
            for (y, x) in (0..*height as i32).flat_map(|y| (0..*width as i32).map(move |x| (y, x)))
            {
                let (y, x) = (y + by.down, by.right + by.step * x);
                let pixel = match inside(y, *height) && inside(x, *width) {
                    true => &image[(y as usize * width + x as usize) * channels..][..*channels],
                    false => edge,
                };
                pixel.iter().zip(&mut out).for_each(|(number, out)| *out = *number);
            }
        }
    }

    fn still(&self) -> Option<Still<T>> {
        self.by_engine.then(|| self.still.clone())
    }

    /// Up to two pixels in all directions, half of them mirrored.
    fn moves(&self, rows: &[u32], augment: Option<&Stream>) -> Vec<Move> {
        let Some(stream) = augment else { return vec![Move::NONE; rows.len()] };
        let (mut generator, last) = (stream.generator(), self.still.shape.width as i32 - 1);
        let mut below = |n: u64| below_32(&mut generator, n) as i32;
        let mut one = || {
            let (down, right, mirrored) = (below(5) - 2, below(5) - 2, below(2) == 1);
            let (right, step) = if mirrored { (last + right, -1) } else { (right, 1) };
            Move { down, right, step }
        };
        rows.iter().map(|_| one()).collect()
    }
}

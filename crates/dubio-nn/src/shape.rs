//! The shape of one example's activations.

/// Height, width and channels; a plain vector has height and width 1. Stored channels last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Rows.
    pub height: usize,
    /// Columns.
    pub width: usize,
    /// Numbers at each place.
    pub channels: usize,
}

impl Shape {
    /// An image.
    pub fn image(channels: usize, height: usize, width: usize) -> Self {
        Self { height, width, channels }
    }

    /// A plain vector.
    pub fn vector(channels: usize) -> Self {
        Self { height: 1, width: 1, channels }
    }

    /// Places, without their channels.
    pub fn places(self) -> usize {
        self.height * self.width
    }

    /// Numbers in all.
    pub fn size(self) -> usize {
        self.places() * self.channels
    }

    /// The places of square windows that go over it in steps, with `padding` places more on every side.
    pub fn windows(self, size: usize, stride: usize, padding: usize) -> Self {
        let side = |length: usize| (length + 2 * padding - size) / stride + 1;
        Self { height: side(self.height), width: side(self.width), ..self }
    }
}

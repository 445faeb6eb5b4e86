//! An image being worked on: planes of numbers, 0 is black and 1 is full brightness.

use super::border::Border;

/// One colour of an image, row after row.
#[derive(Clone, Debug, PartialEq)]
pub struct Plane {
    /// Rows.
    pub height: usize,
    /// Numbers in a row.
    pub width: usize,
    /// `[height, width]`.
    pub values: Vec<f64>,
}

impl Plane {
    /// The plane with `value(row, column)` everywhere, evaluated row after row.
    pub fn from_fn(
        height: usize,
        width: usize,
        mut value: impl FnMut(usize, usize) -> f64,
    ) -> Self {
        let mut values = Vec::with_capacity(height * width);
        for row in 0..height {
            values.extend((0..width).map(|column| value(row, column)));
        }
        Self { height, width, values }
    }

    /// The number in a place.
    pub fn at(&self, row: usize, column: usize) -> f64 {
        self.values[row * self.width + column]
    }

    /// The plane with every number replaced.
    pub fn map(&self, new: impl FnMut(f64) -> f64) -> Self {
        Self { values: self.values.iter().copied().map(new).collect(), ..*self }
    }

    /// The plane made of this one and another of the same size, number by number.
    pub fn zip(&self, other: &Self, mut new: impl FnMut(f64, f64) -> f64) -> Self {
        let pairs = self.values.iter().zip(&other.values);
        Self { values: pairs.map(|(&a, &b)| new(a, b)).collect(), ..*self }
    }

    /// The largest number.
    pub fn max(&self) -> f64 {
        self.values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }

    /// Each pixel becomes the weighted sum of those at the offsets of `taps`, `(weight, rows, columns)`.
    #[inline]
    pub fn weighted(&self, taps: &[(f64, isize, isize)], border: Border) -> Self {
        Self::from_fn(self.height, self.width, |row, column| {
            let pixel = |dy: isize, dx: isize| {
                let y = border.index(row as isize + dy, self.height);
                self.at(y, border.index(column as isize + dx, self.width))
            };
            taps.iter().map(|&(weight, dy, dx)| weight * pixel(dy, dx)).sum()
        })
    }

    /// The plane rotated by 180 degrees.
    pub fn half_turn(&self) -> Self {
        Self { values: self.values.iter().rev().copied().collect(), ..*self }
    }
}

/// See [`Canvas::cut_off`].
pub fn cut_off(value: f64) -> f64 {
    ((value.clamp(0.0, 1.0) * 65535.0).round() / 257.0).floor() / 255.0
}

/// An image being worked on: 1 plane for grey, 3 for red, green, blue.
#[derive(Clone, Debug, PartialEq)]
pub struct Canvas {
    /// The colours.
    pub planes: Vec<Plane>,
}

impl Canvas {
    /// The image `[channels, height, width]` of pixels from 0 to `white`, divided by it.
    pub fn from_pixels(pixels: &[u8], height: usize, width: usize, white: u8) -> Self {
        let white = f64::from(white);
        let plane = |bytes: &[u8]| Plane {
            height,
            width,
            values: bytes.iter().map(|&b| f64::from(b) / white).collect(),
        };
        Self { planes: pixels.chunks_exact(height * width).map(plane).collect() }
    }

    /// Writes the image as pixels from 0 to `white`: clipped to `[0, 1]`, multiplied by `white`, and
    /// truncated as in the published code. That holds for a white of 255; with fewer levels the nearest is
    /// taken, since truncation would lose a thirtieth of the light at a white of 16. Pixels that were not
    /// changed come back exactly.
    pub fn write_pixels(&self, pixels: &mut [u8], white: u8) {
        let whole = if white == 255 { f64::floor } else { f64::round };
        for (plane, bytes) in
            self.planes.iter().zip(pixels.chunks_mut(self.height() * self.width()))
        {
            for (byte, value) in bytes.iter_mut().zip(&plane.values) {
                *byte = whole(value.clamp(0.0, 1.0) * f64::from(white)) as u8;
            }
        }
    }

    /// Rows.
    pub fn height(&self) -> usize {
        self.planes[0].height
    }

    /// Pixels in a row.
    pub fn width(&self) -> usize {
        self.planes[0].width
    }

    /// The factor by which lengths in pixels, published for 32 x 32, are multiplied: shorter side / 32.
    pub fn scale(&self) -> f64 {
        self.height().min(self.width()) as f64 / 32.0
    }

    /// The image with every plane replaced.
    pub fn each(&self, new: impl FnMut(&Plane) -> Plane) -> Self {
        Self { planes: self.planes.iter().map(new).collect() }
    }

    /// The image with every number replaced.
    pub fn map(&self, mut new: impl FnMut(f64) -> f64) -> Self {
        self.each(|plane| plane.map(&mut new))
    }

    /// The image with every number moved to the nearest multiple of 1/255.
    pub fn rounded(&self) -> Self {
        self.map(|value| (value.clamp(0.0, 1.0) * 255.0).round() / 255.0)
    }

    /// The image as a program with sixteen bits per value writes it in eight: rounded to a multiple
    /// of 1/65535, then truncated to one of 1/255.
    pub fn cut_off(&self) -> Self {
        self.map(cut_off)
    }

    /// Luminance 0.299 R + 0.587 G + 0.114 B; grey stays as it is.
    pub fn luma(&self) -> Plane {
        let [red, green, blue] = self.planes.as_slice() else { return self.planes[0].clone() };
        let part =
            |i: usize| 0.299 * red.values[i] + 0.587 * green.values[i] + 0.114 * blue.values[i];
        Plane { values: (0..red.values.len()).map(part).collect(), ..*red }
    }

    /// Works on the image as one of three colours. Grey enters as three equal colours and leaves
    /// as the luminance of the result.
    pub fn in_colour(&self, work: impl FnOnce([&Plane; 3]) -> [Plane; 3]) -> Self {
        match self.planes.as_slice() {
            [red, green, blue] => Self { planes: work([red, green, blue]).into() },
            [grey, ..] => {
                let coloured = Self { planes: work([grey, grey, grey]).into() };
                Self { planes: vec![coloured.luma()] }
            }
            [] => self.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_survives_the_way_there_and_back() {
        let bytes: Vec<u8> = (0..=255).collect();
        let canvas = Canvas::from_pixels(&bytes, 16, 16, 255);
        for same in [canvas.clone(), canvas.rounded(), canvas.cut_off()] {
            let mut back = vec![0; 256];
            same.write_pixels(&mut back, 255);
            assert_eq!(back, bytes);
        }
    }

    #[test]
    fn every_level_survives_whatever_white_is() {
        for white in 1..=254_u8 {
            let levels: Vec<u8> = (0..=white).collect();
            let mut back = vec![0; levels.len()];
            Canvas::from_pixels(&levels, 1, levels.len(), white).write_pixels(&mut back, white);
            assert_eq!(back, levels);
        }
    }

    #[test]
    fn eight_bits_out_of_sixteen_are_cut_off_and_a_rounding_error_takes_no_byte_away() {
        for (bytes, written) in
            [(99.51, 99.0), (99.99, 99.0), (100.0 - 1e-9, 100.0), (100.4, 100.0)]
        {
            assert_eq!(cut_off(bytes / 255.0), written / 255.0);
        }
    }
}

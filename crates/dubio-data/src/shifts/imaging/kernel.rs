//! Correlation with a small square of weights, as OpenCV's `filter2D` does it.

use super::border::Border;
use super::canvas::Plane;
use super::gaussian;

/// Weights on a square with an odd side, the middle on the pixel.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The weights.
    pub weights: Plane,
    /// Pixels from one weight to the next.
    pub step: usize,
}

impl Kernel {
    /// A disk of `radius` pixels of equal weights that sum to one, its edge softened by a Gaussian
    /// of standard deviation `soften`, cut off `reach` pixels from the middle. A radius below 1 leaves the
    /// Gaussian alone.
    pub fn disk(radius: f64, soften: f64, reach: usize) -> Self {
        // Twice the reach, so that what the softening sees beyond the square is empty.
        let half = radius as usize + 2 * reach;
        let side = 2 * half + 1;
        let disk = Plane::from_fn(side, side, |row, column| {
            let (y, x) = (row as f64 - half as f64, column as f64 - half as f64);
            f64::from(x * x + y * y <= radius * radius)
        });
        let sum: f64 = disk.values.iter().sum();
        let weights = gaussian::weights(soften, reach);
        let softened = gaussian::along_columns(&disk.map(|w| w / sum), &weights, Border::Mirror);
        Self { weights: gaussian::along_rows(&softened, &weights, Border::Mirror), step: 1 }
    }

    /// Equal weights that sum to one, up to `reach` pixels from the middle along each axis.
    pub fn mean(reach: usize) -> Self {
        let side = 2 * reach + 1;
        let weights = Plane::from_fn(side, side, |_, _| 1.0 / (side * side) as f64);
        Self { weights, step: 1 }
    }

    /// The plane correlated with the weights; edges are mirrored.
    pub fn correlate(&self, plane: &Plane) -> Plane {
        let Plane { height, width, values } = &self.weights;
        let place =
            |index: usize, side: usize| (index as isize - (side / 2) as isize) * self.step as isize;
        let taps: Vec<(f64, isize, isize)> = (0..values.len())
            .filter(|&k| values[k] != 0.0)
            .map(|k| (values[k], place(k / width, *height), place(k % width, *width)))
            .collect();
        plane.weighted(&taps, Border::Mirror)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_sum_to_one() {
        for (radius, soften, reach) in [(0.3, 0.4, 1), (1.5, 0.1, 1), (4.5, 0.3, 3)] {
            let sum: f64 = Kernel::disk(radius, soften, reach).weights.values.iter().sum();
            assert!((sum - 1.0).abs() < 1e-9, "{radius}: {sum}");
        }
        assert!((Kernel::mean(2).weights.values.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
}

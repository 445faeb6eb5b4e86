//! Blur with a Gaussian, one axis after the other.

use super::border::Border;
use super::canvas::Plane;

/// Weights `exp(-i^2 / (2 sigma^2))` for `i` in `-half..=half`, divided by their sum.
pub fn weights(sigma: f64, half: usize) -> Vec<f64> {
    let distance = |i: usize| (i as f64 - half as f64) / sigma;
    let mut weights: Vec<f64> = match sigma {
        0.0 => (0..=2 * half).map(|i| f64::from(i == half)).collect(),
        _ => (0..=2 * half).map(|i| (-0.5 * distance(i).powi(2)).exp()).collect(),
    };
    let sum: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= sum);
    weights
}

/// Blur with standard deviation `sigma` pixels, cut off `truncate` standard deviations from the middle, rounded to a
/// pixel: `scipy.ndimage.gaussian_filter`. 0 changes nothing.
pub fn blur(plane: &Plane, sigma: f64, truncate: f64, border: Border) -> Plane {
    let weights = weights(sigma, (truncate * sigma + 0.5) as usize);
    along_rows(&along_columns(plane, &weights, border), &weights, border)
}

/// The blur that scikit-image calls `gaussian`: four standard deviations, edges repeated.
pub fn soft(plane: &Plane, sigma: f64) -> Plane {
    blur(plane, sigma, 4.0, Border::Nearest)
}

/// The factor by which blurring at `scale` times the size makes white noise too weak: the standard deviation
/// of noise blurred with `sigma` over that of noise blurred with `scale * sigma`.
pub fn noise_gain(sigma: f64, scale: f64, truncate: f64) -> f64 {
    // The two axes are alike, so the standard deviation is the sum of squares of one axis's weights.
    let std = |sigma: f64| -> f64 {
        weights(sigma, (truncate * sigma + 0.5) as usize).iter().map(|w| w * w).sum()
    };
    std(sigma) / std(scale * sigma)
}

/// Correlates every row with `weights`.
pub fn along_rows(plane: &Plane, weights: &[f64], border: Border) -> Plane {
    let places = places(plane.width, weights.len(), border);
    Plane::from_fn(plane.height, plane.width, |row, column| {
        let line = &plane.values[row * plane.width..][..plane.width];
        let window = &places[column..column + weights.len()];
        window.iter().zip(weights).map(|(&place, weight)| line[place] * weight).sum()
    })
}

/// Correlates every column with `weights`.
pub fn along_columns(plane: &Plane, weights: &[f64], border: Border) -> Plane {
    let places = places(plane.height, weights.len(), border);
    Plane::from_fn(plane.height, plane.width, |row, column| {
        let window = &places[row..row + weights.len()];
        window.iter().zip(weights).map(|(&place, weight)| plane.at(place, column) * weight).sum()
    })
}

/// Where the taps of an odd number of weights fall, for a line of `len`.
fn places(len: usize, taps: usize, border: Border) -> Vec<usize> {
    let half = (taps / 2) as isize;
    (-half..len as isize + half).map(|i| border.index(i, len)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_sum_to_one_and_no_width_means_no_blur() {
        for sigma in [0.0, 0.05, 0.4, 1.0, 6.4] {
            let sum: f64 = weights(sigma, 7).iter().sum();
            assert!((sum - 1.0).abs() < 1e-12, "{sigma}: {sum}");
        }
        let plane = Plane::from_fn(3, 4, |row, column| (row * 4 + column) as f64);
        assert_eq!(soft(&plane, 0.0), plane);
    }

    /// `scipy.ndimage.gaussian_filter([[0, 0, 1, 0]], 1.0, mode="nearest", truncate=4)`, scipy
    /// 1.17.
    #[test]
    fn a_row_is_blurred_as_scipy_blurs_it() {
        let plane = Plane { height: 1, width: 4, values: vec![0.0, 0.0, 1.0, 0.0] };
        let scipy =
            [0.053_991_127_420_7, 0.241_971_445_656_6, 0.398_943_469_356_1, 0.241_971_445_656_6];
        for (ours, theirs) in soft(&plane, 1.0).values.iter().zip(scipy) {
            assert!((ours - theirs).abs() < 1e-12, "{ours} {theirs}");
        }
    }
}

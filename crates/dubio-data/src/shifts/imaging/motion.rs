//! Blur along a line, as ImageMagick's `MotionBlurImage` does it.

use super::border::Border;
use super::canvas::Plane;

/// The weights along the line and the pixel `(row, column)` each belongs to.
///
/// Half a Gaussian `exp(-i^2 / (2 sigma^2))` for `i` in `0..=2 ceil(radius)`, divided by its sum;
/// the `i`-th lies at `ceil(i (sin, cos) angle - 1/2)`.
pub fn taps(radius: f64, sigma: f64, angle_degrees: f64) -> Vec<(f64, isize, isize)> {
    let (sin, cos) = angle_degrees.to_radians().sin_cos();
    let place = |i: usize, part: f64| (i as f64 * part - 0.5).ceil() as isize;
    let weight = |i: usize| (-0.5 * (i as f64 / sigma).powi(2)).exp();
    let count = 2 * radius.ceil() as usize + 1;
    let sum: f64 = (0..count).map(weight).sum();
    (0..count).map(|i| (weight(i) / sum, place(i, sin), place(i, cos))).collect()
}

/// The plane blurred from each pixel along a line; edges are repeated.
pub fn blur(plane: &Plane, taps: &[(f64, isize, isize)]) -> Plane {
    plane.weighted(taps, Border::Nearest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_sum_to_one_and_follow_the_angle() {
        let along = taps(6.0, 2.0, 0.0);
        assert!((along.iter().map(|tap| tap.0).sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(along.iter().enumerate().all(|(i, tap)| (tap.1, tap.2) == (0, i as isize)));
        let up = taps(6.0, 2.0, -90.0);
        assert!(up.iter().enumerate().all(|(i, tap)| (tap.1, tap.2) == (-(i as isize), 0)));
    }
}

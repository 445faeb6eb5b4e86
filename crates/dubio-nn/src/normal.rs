//! Normal random numbers.

use rand::Rng;

use crate::real::Real;

/// Adds `std` times standard normal numbers, two at a time: Box and Muller 1958.
pub(crate) fn add_normals<T: Real>(values: &mut [T], std: f64, generator: &mut impl Rng) {
    let mut uniform = || (generator.next_u64() >> 11) as f64 * 2_f64.powi(-53);
    for pair in values.chunks_mut(2) {
        let radius = std * (-2.0 * (1.0 - uniform()).ln()).sqrt();
        let (sin, cos) = (std::f64::consts::TAU * uniform()).sin_cos();
        pair.iter_mut().zip([cos, sin]).for_each(|(v, z)| *v = *v + T::of(radius * z));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dubio_metrics::stream::Stream;

    #[test]
    fn moments_are_those_of_a_normal_distribution() {
        let mut values = vec![1.0_f64; 100_001];
        add_normals(&mut values, 2.0, &mut Stream::root(1).generator());
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let moment = |k: i32| values.iter().map(|v| ((v - mean) / 2.0).powi(k)).sum::<f64>() / n;
        // Five standard errors: 2/sqrt(n), sqrt(2/n), sqrt(15/n), sqrt(96/n).
        assert!((mean - 1.0).abs() < 0.032 && (moment(2) - 1.0).abs() < 0.023);
        assert!(moment(3).abs() < 0.062 && (moment(4) - 3.0).abs() < 0.155);
    }
}

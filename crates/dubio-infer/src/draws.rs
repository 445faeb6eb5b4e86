//! A few random numbers at a time, from a named stream.

use dubio_metrics::stream::Stream;
use dubio_nn::normal::Normal;
use rand::Rng;

/// Standard normal numbers.
pub(crate) fn normals(count: usize, stream: &Stream) -> Vec<f64> {
    let mut values = vec![0.0; count];
    f64::add_normals(&mut values, 1.0, &mut stream.generator());
    values
}

/// A uniform number in `[0, 1)`.
pub(crate) fn uniform(generator: &mut impl Rng) -> f64 {
    (generator.next_u64() >> 11) as f64 * 2_f64.powi(-53)
}

//! Normal random numbers.
//!
//! Langevin methods need one for every parameter and step, so for f32 they have to cost less than
//! the step itself: uniform bits from sixteen generators side by side, seeded from the named
//! stream, and the method of Box and Muller 1958 in arithmetic that vectorises. No fused
//! operations: the same bits on every machine.

use multiversion::multiversion;
use rand::{Rng, RngExt};
use rand_distr::StandardNormal;

use crate::generators::Generators;
use crate::stream::Stream;
use crate::uniform::uniform;

/// A type that normal numbers can be drawn in.
pub trait Normal: Sized {
    /// Adds `std` times independent standard normal numbers.
    fn add_normals(values: &mut [Self], std: f64, generator: &mut impl Rng);
}

impl Normal for f64 {
    fn add_normals(values: &mut [Self], std: f64, generator: &mut impl Rng) {
        for pair in values.chunks_mut(2) {
            let radius = std * (-2.0 * (1.0 - uniform(generator)).ln()).sqrt();
            let (sin, cos) = (std::f64::consts::TAU * uniform(generator)).sin_cos();
            pair.iter_mut().zip([cos, sin]).for_each(|(v, z)| *v += radius * z);
        }
    }
}

impl Normal for f32 {
    fn add_normals(values: &mut [Self], std: f64, generator: &mut impl Rng) {
        add_lanes(values, std as Self, &mut Generators::seeded(generator));
    }
}

/// Standard normal numbers of a stream.
pub fn normals(count: usize, stream: &Stream) -> Vec<f64> {
    let mut values = vec![0.0; count];
    f64::add_normals(&mut values, 1.0, &mut stream.generator());
    values
}

/// One standard normal number, the first of the two that Box and Muller give.
pub fn normal(generator: &mut impl Rng) -> f64 {
    let mut value = [0.0];
    f64::add_normals(&mut value, 1.0, generator);
    value[0]
}

/// One standard normal number by the ziggurat of Marsaglia and Tsang 2000: other numbers than [`normal`] gives,
/// those of which shifted and synthetic data sets are made.
pub fn ziggurat(generator: &mut impl Rng) -> f64 {
    generator.sample(StandardNormal)
}

const LANES: usize = 16;

#[multiversion(targets = "simd")]
fn add_lanes(values: &mut [f32], std: f32, lanes: &mut Generators<LANES>) {
    let (whole, rest) = values.as_chunks_mut::<{ 2 * LANES }>();
    for chunk in whole {
        add_to(chunk, std, lanes);
    }
    let mut last = [0.0; 2 * LANES];
    add_to(&mut last, std, lanes);
    rest.iter_mut().zip(last).for_each(|(v, z)| *v += z);
}

#[inline(always)]
fn add_to(values: &mut [f32; 2 * LANES], std: f32, lanes: &mut Generators<LANES>) {
    let (first, second) = (lanes.next_bits(), lanes.next_bits());
    for i in 0..LANES {
        let [x, y] = pair(first[i], second[i]);
        values[i] += std * x;
        values[LANES + i] += std * y;
    }
}

/// Two normal numbers from 64 random bits. The radius is from a uniform number of 31 bits, so none
/// is further out than 6.7; the angle is one within an eighth of a turn of an axis, and three bits
/// say which half axis.
#[inline(always)]
fn pair(first: u32, second: u32) -> [f32; 2] {
    let uniform = ((first >> 1) as i32 as f32 + 0.5) * (1.0 / 2_147_483_648.0);
    let radius = (-2.0 * ln(uniform)).sqrt();
    let angle = (second as i32 >> 3) as f32 * (std::f32::consts::FRAC_PI_4 / 268_435_456.0);
    let (sin, cos) = sin_cos(angle);
    let swap = second & 1 == 1;
    let (x, y) = if swap { (sin, cos) } else { (cos, sin) };
    let signed = |z: f32, sign: u32| f32::from_bits((radius * z).to_bits() ^ (sign << 31));
    [signed(x, second >> 1 & 1), signed(y, second >> 2 & 1)]
}

/// Natural logarithm of a positive normal number: `e ln 2 + ln m`, `m` around 1, with the
/// polynomial of the Cephes library.
#[inline(always)]
fn ln(x: f32) -> f32 {
    const ROOT_OF_HALF: u32 = 0x3f35_04f3;
    let bits = x.to_bits();
    let exponent = bits.wrapping_sub(ROOT_OF_HALF) as i32 >> 23;
    let m = f32::from_bits(bits.wrapping_sub((exponent << 23) as u32)) - 1.0;
    let coefficients = [
        7.037_683_6e-2,
        -1.151_461e-1,
        1.167_699_9e-1,
        -1.242_014_1e-1,
        1.424_932_3e-1,
        -1.666_805_8e-1,
        2.000_071_5e-1,
        -2.499_999_4e-1,
        3.333_333e-1,
    ];
    let series = coefficients.iter().fold(0.0, |sum, c| sum * m + c);
    let square = m * m;
    m + (square * m * series - 0.5 * square) + exponent as f32 * std::f32::consts::LN_2
}

/// Sine and cosine within an eighth of a turn of 0, by their series.
#[inline(always)]
fn sin_cos(x: f32) -> (f32, f32) {
    let s = x * x;
    let sin =
        x + x * s * (-1.666_666_6e-1 + s * (8.333_333e-3 + s * (-1.984_127e-4 + s * 2.755_732e-6)));
    let cos = 1.0 + s * (-0.5 + s * (4.166_666_8e-2 + s * (-1.388_889e-3 + s * 2.480_158_7e-5)));
    (sin, cos)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::Generator;

    fn drawn<T: Normal + Default + Clone + Into<f64>>(count: usize) -> Vec<f64> {
        let mut values = vec![T::default(); count];
        T::add_normals(&mut values, 1.0, &mut Stream::root(1).generator());
        values.into_iter().map(T::into).collect()
    }

    fn one_by_one(draw: impl Fn(&mut Generator) -> f64) -> Vec<f64> {
        let mut generator = Stream::root(1).generator();
        (0..1_000_001).map(|_| draw(&mut generator)).collect()
    }

    fn moments_are_normal(values: &[f64]) {
        let n = values.len() as f64;
        let moment = |k: i32| values.iter().map(|v| v.powi(k)).sum::<f64>() / n;
        // Five standard errors: the variance of the k-th power is (2k - 1)!! - ((k - 1)!!)^2.
        let bound = |variance: f64| 5.0 * (variance / n).sqrt();
        assert!(moment(1).abs() < bound(1.0) && (moment(2) - 1.0).abs() < bound(2.0));
        assert!(moment(3).abs() < bound(15.0) && (moment(4) - 3.0).abs() < bound(96.0));
        assert!((moment(6) - 15.0).abs() < bound(10_170.0));
        for lag in [1, LANES, 2 * LANES] {
            let product: f64 = values.iter().zip(&values[lag..]).map(|(a, b)| a * b).sum();
            assert!((product / n).abs() < bound(1.0), "numbers {lag} apart hang together");
        }
    }

    #[test]
    fn moments_are_those_of_a_normal_distribution() {
        moments_are_normal(&drawn::<f64>(1_000_001));
        moments_are_normal(&drawn::<f32>(1_000_001));
        moments_are_normal(&one_by_one(normal));
        moments_are_normal(&one_by_one(ziggurat));
    }

    #[test]
    fn the_distribution_is_normal_everywhere() {
        let mut values = drawn::<f32>(1_000_000);
        values.sort_by(f64::total_cmp);
        let n = values.len() as f64;
        // Kolmogorov's distance from the normal distribution: 1.95 / sqrt(n) has p = 0.001.
        let expected = |z: f64| 0.5 * libm::erfc(-z / 2_f64.sqrt());
        let gaps =
            values.iter().enumerate().map(|(i, &z)| (expected(z) - (i as f64 + 0.5) / n).abs());
        assert!(gaps.fold(0.0, f64::max) < 1.95 / n.sqrt());
    }

    #[test]
    fn the_arithmetic_agrees_with_the_exact_functions() {
        for i in 1..100_000_u32 {
            let x = (i as f32 - 0.5) / 100_000.0;
            assert!((f64::from(ln(x)) / f64::from(x).ln() - 1.0).abs() < 1e-6, "ln {x}");
            let angle = (2.0 * x - 1.0) * std::f32::consts::FRAC_PI_4;
            let (sin, cos) = sin_cos(angle);
            assert!((f64::from(sin) - f64::from(angle).sin()).abs() < 1e-7, "sin {angle}");
            assert!((f64::from(cos) - f64::from(angle).cos()).abs() < 1e-7, "cos {angle}");
        }
        assert!((f64::from(ln(2_f32.powi(-32))) + 32.0 * 2_f64.ln()).abs() < 1e-5);
    }
}

//! `exp` and `ln` for f64 that the compiler can put into vector registers.
//!
//! Both are plain arithmetic without branches, calls or fused multiply-adds: a loop over them is
//! vectorised, and every machine gives the same bits. Within two units in the last place.

/// Smallest probability whose logarithm is taken from the probability itself. Below it, sums of
/// probabilities lose digits to underflow and are redone in log space.
pub const TINY: f64 = 1e-290;

const ROUND: f64 = 6_755_399_441_055_744.0; // 1.5 * 2^52: adding it rounds to an integer
const LN2_HI: f64 = 6.931_471_803_691_238e-1; // low bits zero, so n * LN2_HI is exact
const LN2_LO: f64 = 1.908_214_929_270_587_7e-10;

/// `e^x` for `x <= 709`. Exactly 0 below -708; NaN for NaN and for +inf.
#[inline(always)]
pub fn exp(x: f64) -> f64 {
    let shifted = x * std::f64::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = (x - n * LN2_HI) - n * LN2_LO; // |r| <= ln(2)/2
    let r2 = r * r;
    // Taylor to r^13 (remainder below 5e-18), in pairs to shorten the chain of dependences.
    let high = (1.0 / 40_320.0 + r * (1.0 / 362_880.0))
        + r2 * ((1.0 / 3_628_800.0 + r * (1.0 / 39_916_800.0))
            + r2 * (1.0 / 479_001_600.0 + r * (1.0 / 6_227_020_800.0)));
    let middle =
        (1.0 / 24.0 + r * (1.0 / 120.0)) + r2 * ((1.0 / 720.0 + r * (1.0 / 5_040.0)) + r2 * high);
    let series = 1.0 + (r + r2 * ((0.5 + r * (1.0 / 6.0)) + r2 * middle));
    let power_of_two = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    select(x < -708.0, 0.0, series * power_of_two)
}

/// `if condition { yes } else { no }` by masks: a branch would keep the loops out of the vector
/// registers.
#[inline(always)]
pub(crate) fn select(condition: bool, yes: f64, no: f64) -> f64 {
    let mask = u64::from(condition).wrapping_neg();
    f64::from_bits((yes.to_bits() & mask) | (no.to_bits() & !mask))
}

/// `ln x` for 0 (which gives -inf) and for positive normal `x`.
#[inline(always)]
pub fn ln(x: f64) -> f64 {
    const SQRT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
    let offset = x.to_bits().wrapping_sub(SQRT_HALF);
    let exponent = (offset as i64) >> 52;
    let k = f64::from_bits((exponent as u64).wrapping_add(ROUND.to_bits())) - ROUND;
    let m = f64::from_bits(x.to_bits().wrapping_sub(offset & 0xfff0_0000_0000_0000));
    // ln(1 + f) = f - s (f - z P(z)), s = f / (2 + f), z = s^2: the series of 2 artanh(s),
    // arranged so that the leading term f is exact.
    let f = m - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    let high =
        2.0 / 13.0 + z * (2.0 / 15.0 + z * (2.0 / 17.0 + z * (2.0 / 19.0 + z * (2.0 / 21.0))));
    let series = 2.0 / 3.0
        + z * (2.0 / 5.0 + z * (2.0 / 7.0 + z * (2.0 / 9.0 + z * (2.0 / 11.0 + z * high))));
    let value = k * LN2_HI + (f - (s * (f - z * series) - k * LN2_LO));
    select(x == 0.0, f64::NEG_INFINITY, value)
}

/// Coefficients of `ln(erfc(x) / t) + x^2` as a polynomial in `2 t - 1`, `t = 2 / (2 + x)`, four at a time: its
/// Chebyshev series to degree 27, computed with 60 digits.
const ERFC: [[f64; 4]; 7] = [
    [
        -0.671_794_084_056_692_3,
        0.672_643_223_977_656_7,
        0.047_343_306_841_904_43,
        -0.046_895_610_231_175_3,
    ],
    [
        -0.009_872_689_366_389_959,
        0.008_824_938_557_060_623,
        0.001_758_933_557_799_016,
        -0.002_345_812_500_482_853,
    ],
    [
        -0.000_146_246_863_378_003_36,
        0.000_673_678_795_580_235,
        -9.373_503_117_098_17e-05,
        -0.000_174_302_947_203_076_2,
    ],
    [
        7.140_101_412_757_03e-05,
        3.174_517_974_943_74e-05,
        -3.018_788_455_139_424_3e-05,
        1.377_266_413_446_441_7e-07,
    ],
    [
        8.562_623_420_121_286e-06,
        -2.947_986_876_998_259e-06,
        -1.272_311_904_868_87e-06,
        1.250_027_661_256_975_4e-06,
    ],
    [
        -1.684_980_072_065_329_7e-07,
        -2.495_832_761_719_667e-07,
        1.533_434_592_090_817_7e-07,
        1.444_865_804_625_267_6e-09,
    ],
    [
        -3.917_182_051_027_185_5e-08,
        1.117_235_226_362_375_9e-08,
        4.060_882_146_969_72e-09,
        -1.890_230_600_894_453_7e-09,
    ],
];

/// `1 - erf(x)`, with a relative error within `5e-16 (1 + x^2)`: the rounding of the square is not made up for.
#[inline(always)]
pub fn erfc(x: f64) -> f64 {
    let positive = x.abs();
    let t = 2.0 / (2.0 + positive);
    let u = 2.0 * t - 1.0;
    let (u2, u4) = (u * u, (u * u) * (u * u));
    let mut series = 0.0;
    for [a, b, c, d] in ERFC.into_iter().rev() {
        series = ((a + u * b) + u2 * (c + u * d)) + u4 * series;
    }
    let upper = t * exp(series - positive * positive);
    select(x < 0.0, 2.0 - upper, upper)
}

/// `-p ln p`, with `0 ln 0 = 0`.
#[inline(always)]
pub fn entropy_term(p: f64, ln_p: f64) -> f64 {
    select(p == 0.0, 0.0, -p * ln_p)
}

/// `ln sum exp(x)`; -inf for an empty slice or when every term is -inf.
pub fn logsumexp(x: &[f64]) -> f64 {
    let max = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if max == f64::NEG_INFINITY {
        return max;
    }
    max + x.iter().map(|v| (v - max).exp()).sum::<f64>().ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relative(a: f64, b: f64) -> f64 {
        (a - b).abs() / b.abs().max(f64::MIN_POSITIVE)
    }

    #[test]
    fn exp_agrees_with_the_standard_library_to_two_units_in_the_last_place() {
        for i in 0..200_000 {
            let x = -708.0 + 717.0 * f64::from(i) / 200_000.0;
            assert!(relative(exp(x), x.exp()) < 4.5e-16, "exp({x})");
        }
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(f64::NEG_INFINITY), 0.0);
        assert!(exp(f64::NAN).is_nan() && exp(f64::INFINITY).is_nan());
    }

    #[test]
    fn ln_agrees_with_the_standard_library_to_two_units_in_the_last_place() {
        for i in 1..200_000 {
            for x in [f64::from(i) / 200_000.0, (-f64::from(i) / 300.0).exp(), f64::from(i)] {
                assert!((ln(x) - x.ln()).abs() <= 4.5e-16 * x.ln().abs(), "ln({x})");
            }
        }
        assert_eq!(ln(1.0), 0.0);
        assert_eq!(ln(0.0), f64::NEG_INFINITY);
    }

    #[test]
    fn erfc_agrees_with_the_mathematical_library() {
        for i in -60_000..260_000 {
            let x = f64::from(i) / 10_000.0;
            assert!(relative(erfc(x), libm::erfc(x)) < 7e-16 * (1.0 + x * x), "erfc({x})");
        }
        assert_eq!((erfc(-30.0), erfc(30.0)), (2.0, 0.0));
        assert_eq!((erfc(f64::NEG_INFINITY), erfc(f64::INFINITY)), (2.0, 0.0));
        assert!(erfc(f64::NAN).is_nan());
    }
}

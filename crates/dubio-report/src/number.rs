//! Numbers as text.

/// Five significant digits, the shortest way to write them.
pub(crate) fn significant(value: f64) -> String {
    let rounded: f64 = format!("{value:.4e}").parse().unwrap_or(value);
    format!("{rounded}")
}

/// How many digits after the point show `digits` significant ones of a value of this size.
pub(crate) fn places(size: f64, digits: usize) -> usize {
    if !size.is_finite() || size == 0.0 {
        return digits;
    }
    let whole = size.abs().log10().floor();
    (digits as f64 - 1.0 - whole).clamp(0.0, 9.0) as usize
}

/// A value with `places` digits after the point; `inf` is `∞`.
pub(crate) fn shown(value: f64, places: usize) -> String {
    match value {
        v if v == f64::INFINITY => "∞".to_string(),
        v if v == f64::NEG_INFINITY => "−∞".to_string(),
        v => {
            let text = format!("{v:.places$}");
            // A minus is as wide as a plus; and there is no minus zero.
            let zero = text.bytes().all(|b| matches!(b, b'-' | b'0' | b'.'));
            if zero { text.replace('-', "") } else { text.replace('-', "−") }
        }
    }
}

/// Values with as many digits after the point as show two significant ones of the first value, and
/// one or two more where another value would look like zero.
pub(crate) fn two_digits<const N: usize>(values: [f64; N]) -> [String; N] {
    let first = places(values[0], 2);
    let others = values.iter().filter(|value| **value != 0.0).map(|value| places(*value, 1));
    let needed = others.max().unwrap_or(first).clamp(first, first + 2);
    values.map(|value| shown(value, needed))
}

/// Digits after the point that an interval justifies: two significant ones of its width.
pub(crate) fn interval_places(lo: f64, hi: f64) -> usize {
    let width = (hi - lo).abs();
    if width > 0.0 { places(width, 2) } else { places(lo, 3) }
}

/// Values with the digits that an interval justifies.
pub(crate) fn by_interval<const N: usize>(values: [f64; N], lo: f64, hi: f64) -> [String; N] {
    let needed = interval_places(lo, hi);
    values.map(|value| shown(value, needed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_digits_are_kept_in_the_shortest_form() {
        assert_eq!(significant(0.123456), "0.12346");
        assert_eq!(significant(1234567.0), "1234600");
        assert_eq!(significant(0.5), "0.5");
        assert_eq!(significant(-0.0000123456), "-0.000012346");
    }

    #[test]
    fn columns_show_as_many_digits_as_asked_for() {
        assert_eq!([0.98, 12.3, 1234.0, 0.0012].map(|size| places(size, 4)), [4, 2, 0, 6]);
        assert_eq!([0.0, f64::INFINITY].map(|size| places(size, 4)), [4, 4]);
        assert_eq!(two_digits([0.0489, 0.03207, 0.06]), ["0.049", "0.032", "0.060"]);
        assert_eq!(two_digits([0.0012, 0.00003, 0.0026]), ["0.00120", "0.00003", "0.00260"]);
    }

    #[test]
    fn a_value_has_the_digits_of_its_interval() {
        let (lo, hi) = (0.0112345, 0.0143219);
        assert_eq!(by_interval([0.0123456, lo, hi], lo, hi), ["0.0123", "0.0112", "0.0143"]);
        assert_eq!(by_interval([1234.5], 1200.0, 1300.0), ["1234"]);
        assert_eq!(by_interval([0.5], 0.5, 0.5), ["0.500"]);
    }

    #[test]
    fn there_is_no_minus_zero_and_infinity_is_a_sign() {
        assert_eq!([shown(-0.00001, 3), shown(-1.5, 1)], ["0.000", "−1.5"]);
        assert_eq!(shown(f64::INFINITY, 2), "∞");
    }
}

//! Numbers as text.

/// Five significant digits, the shortest way to write them.
pub(crate) fn significant(value: f64) -> String {
    let rounded: f64 = format!("{value:.4e}").parse().unwrap_or(value);
    format!("{rounded}")
}

/// Digits after the point that show a value of this size to about four digits, 2 to 6 of them.
pub(crate) fn places(size: f64) -> usize {
    if !size.is_finite() || size == 0.0 {
        return 4;
    }
    let whole = size.abs().log10().floor();
    (3.0 - whole).clamp(0.0, 6.0) as usize
}

/// A value for a table, in a column whose values are about so large; `inf` is `∞`.
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
    fn columns_show_about_four_digits() {
        assert_eq!((places(0.98), places(12.3), places(1234.0), places(0.0012)), (4, 2, 0, 6));
        assert_eq!((shown(-0.00001, 3), shown(-1.5, 1)), ("0.000".to_string(), "−1.5".to_string()));
        assert_eq!(shown(f64::INFINITY, 2), "∞");
    }
}

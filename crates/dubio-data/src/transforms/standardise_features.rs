//! Columns of a table to mean 0 and standard deviation 1.

use super::{gain, mean_and_std};

/// `(x - mean) / std` of each column, measured on the rows to train on. A column that was
/// constant there becomes 0 everywhere.
#[derive(Clone, Debug, PartialEq)]
pub struct StandardiseFeatures {
    mean: Vec<f64>,
    gain: Vec<f64>,
}

impl StandardiseFeatures {
    /// Measured on rows of `width` numbers.
    ///
    /// # Panics
    ///
    /// When the numbers do not fill whole rows.
    pub fn measured(training: &[f64], width: usize) -> Self {
        let count = training.len();
        assert!(
            width > 0 && count.is_multiple_of(width),
            "rows of {width} numbers, got {count} numbers"
        );
        let column = |first: usize| {
            let (mean, std) = mean_and_std(training.iter().skip(first).step_by(width).copied());
            (mean, gain(mean, std))
        };
        let (mean, gain) = (0..width).map(column).unzip();
        Self { mean, gain }
    }

    /// Standardises rows in place.
    pub fn apply(&self, values: &mut [f64]) {
        for row in values.chunks_exact_mut(self.mean.len()) {
            for (value, (mean, gain)) in row.iter_mut().zip(self.mean.iter().zip(&self.gain)) {
                *value = (*value - mean) * gain;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_mean_0_and_std_1_and_constant_ones_are_0() {
        let mut values = vec![1.0, 0.1, 10.0, 2.0, 0.1, 30.0, 6.0, 0.1, 20.0];
        let standardise = StandardiseFeatures::measured(&values, 3);
        standardise.apply(&mut values);
        for column in [0, 2] {
            let (mean, std) = mean_and_std(values.iter().skip(column).step_by(3).copied());
            assert!(mean.abs() < 1e-12 && (std - 1.0).abs() < 1e-12, "{mean} {std}");
        }
        let mut unseen = vec![1.0, 7.0, 10.0];
        standardise.apply(&mut unseen);
        assert_eq!([values[1], values[4], unseen[1]], [0.0; 3]);
    }
}

//! Losses: means over a batch, with their gradients at the network's outputs.

use std::fmt::Debug;

use crate::real::Real;

/// A loss of a network's outputs: the mean over a batch of a negative log-likelihood.
pub trait Loss: Debug + Send + Sync {
    /// Outputs of an example.
    fn outputs(&self) -> usize;
    /// The mean loss of a batch; its gradient at the outputs replaces `gradient`. Both are
    /// `[examples, outputs]`; `rows` says which of the training examples the batch has.
    fn mean(&self, outputs: &[f64], answers: Truth<'_>, rows: &[u32], gradient: &mut [f64]) -> f64;
    /// The same loss by a kernel that engines have themselves. Without one an engine hands the outputs to
    /// the host and waits for their gradient.
    fn kernel(&self) -> Option<Kernel> {
        None
    }
}

/// Losses that every engine can work out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// Cross-entropy of the softmax, for labels.
    CrossEntropy,
    /// Negative log density of a Gaussian whose mean and log standard deviation are the two outputs, for
    /// targets.
    Gaussian,
}

/// What the examples of a batch should have given.
#[derive(Clone, Copy, Debug)]
pub enum Truth<'a> {
    /// Classes.
    Labels(&'a [u32]),
    /// Numbers.
    Targets(&'a [f64]),
}

impl Truth<'_> {
    /// Number of examples.
    pub fn len(&self) -> usize {
        match self {
            Self::Labels(labels) => labels.len(),
            Self::Targets(targets) => targets.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The mean loss of a batch and its gradient at the outputs: cross-entropy of the softmax for
/// labels; for targets the negative log density of a Gaussian whose mean and log standard
/// deviation are the two outputs.
pub fn mean_loss<T: Real>(outputs: &[T], answers: Truth<'_>, gradient: &mut [T]) -> f64 {
    let batch = answers.len();
    let width = outputs.len() / batch;
    let weight = 1.0 / batch as f64;
    let mut sum = 0.0;
    let rows = outputs.chunks_exact(width).zip(gradient.chunks_exact_mut(width));
    match answers {
        Truth::Labels(labels) => {
            for ((row, gradient), &label) in rows.zip(labels) {
                sum += cross_entropy(row, label as usize, weight, gradient);
            }
        }
        Truth::Targets(targets) => {
            assert_eq!(width, 2, "a regression has two outputs: mean and log standard deviation");
            for ((row, gradient), &target) in rows.zip(targets) {
                sum += gaussian(row, target, weight, gradient);
            }
        }
    }
    sum * weight
}

fn cross_entropy<T: Real>(row: &[T], label: usize, weight: f64, gradient: &mut [T]) -> f64 {
    let top = row.iter().copied().fold(T::neg_infinity(), T::max);
    let mut z = T::zero();
    for (e, x) in gradient.iter_mut().zip(row) {
        *e = (*x - top).exp();
        z = z + *e;
    }
    let scale = T::of(weight) / z;
    gradient.iter_mut().for_each(|g| *g = *g * scale);
    gradient[label] = gradient[label] - T::of(weight);
    z.wide().ln() + (top - row[label]).wide()
}

/// The log standard deviation that an output stands for: itself, up to the logarithm of ten thousand on
/// either side. So a predicted standard deviation is a number however far a network extrapolates, and
/// a likelihood cannot grow without end where a network fits its training targets exactly.
pub fn log_std(output: f64) -> f64 {
    output.clamp(-LARGEST_LOG_STD, LARGEST_LOG_STD)
}

/// `ln 10^4`.
pub(crate) const LARGEST_LOG_STD: f64 = 4.0 * std::f64::consts::LN_10;

fn gaussian<T: Real>(row: &[T], target: f64, weight: f64, gradient: &mut [T]) -> f64 {
    let (mean, output) = (row[0].wide(), row[1].wide());
    let log_std = log_std(output);
    let z = (target - mean) * (-log_std).exp();
    gradient[0] = T::of(-weight * z * (-log_std).exp());
    // Beyond the bounds the output changes nothing.
    gradient[1] = T::of(if log_std == output { weight * (1.0 - z * z) } else { 0.0 });
    0.5 * z * z + log_std + 0.5 * std::f64::consts::TAU.ln()
}

/// `log sum exp` of a row.
pub fn log_sum<T: Real>(row: &[T]) -> f64 {
    let largest = row.iter().map(|v| v.wide()).fold(f64::NEG_INFINITY, f64::max);
    largest + row.iter().map(|v| (v.wide() - largest).exp()).sum::<f64>().ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_logits_cost_the_logarithm_of_the_number_of_classes() {
        let mut gradient = [0.0_f64; 8];
        let loss = mean_loss(&[1.0; 8], Truth::Labels(&[0, 3]), &mut gradient);
        assert!((loss - 4_f64.ln()).abs() < 1e-15);
        assert!((gradient[0] + 0.375).abs() < 1e-15 && (gradient[1] - 0.125).abs() < 1e-15);
    }

    #[test]
    fn a_target_one_deviation_away_costs_half_a_nat_more() {
        let mut gradient = [0.0_f64; 2];
        let away = mean_loss(&[0.0, 0.7], Truth::Targets(&[0.7_f64.exp()]), &mut gradient);
        let there = mean_loss(&[0.0, 0.7], Truth::Targets(&[0.0]), &mut gradient);
        assert!((away - there - 0.5).abs() < 1e-12);
    }

    #[test]
    fn a_standard_deviation_is_bounded_on_both_sides() {
        let mut gradient = [0.0_f64; 2];
        for output in [1e6, -1e6, 9.3, -9.3] {
            let far = mean_loss(&[0.5, output], Truth::Targets(&[0.0]), &mut gradient);
            assert!(far.is_finite() && gradient[0].is_finite(), "{output}");
            assert_eq!(gradient[1], 0.0, "beyond the bounds the output changes nothing");
            let std = log_std(output).exp();
            assert!((1e-4 - 1e-9..1e4 + 1e-3).contains(&std), "{std}");
        }
        assert_eq!(log_std(9.2), 9.2);
    }
}

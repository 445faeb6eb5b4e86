//! Seeds of gradients, as factors of the outputs.

use crate::engine::Seed;
use crate::loss::log_sum;
use crate::real::Real;

/// The factors that a seed gives to these outputs.
pub(super) fn factors<T: Real>(seed: Seed<'_>, outputs: &[T], factors: &mut [T]) {
    match seed {
        Seed::Factors(given) => {
            factors.iter_mut().zip(given).for_each(|(factor, x)| *factor = T::of(*x));
        }
        Seed::CrossEntropy { labels, weights } => {
            let classes = outputs.len() / labels.len();
            let rows = outputs.chunks_exact(classes).zip(factors.chunks_exact_mut(classes));
            for ((row, factors), (&y, weight)) in rows.zip(labels.iter().zip(weights)) {
                let total = log_sum(row);
                for (class, (factor, logit)) in factors.iter_mut().zip(row).enumerate() {
                    let truth = if class == y as usize { 1.0 } else { 0.0 };
                    *factor = T::of(weight * ((logit.wide() - total).exp() - truth));
                }
            }
        }
    }
}

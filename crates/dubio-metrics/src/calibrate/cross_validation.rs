//! Test-time cross-validation: scores at a temperature that was fitted on other examples.
//!
//! The examples are split at random in two halves; the temperature fitted on one is used to score
//! the other; five times over; averaged. Ashukha et al. 2020, sec. 3.1.

use rand::Rng;

use super::temperature::Fit;
use crate::columns::Scale;
use crate::examples::Examples;
use crate::score::Undefined;
use crate::softmax::{self, brier_from_square};
use crate::stream::Stream;

/// Number of random splits.
pub const REPEATS: usize = 5;

/// One half of a split, at the temperature of the other.
pub struct Fold {
    /// The examples, at the temperature.
    pub examples: Examples,
}

/// The two halves of the `repeat`-th split, each at the temperature of the other.
pub fn split(
    examples: &Examples,
    whole: &Fit,
    stream: &Stream,
    repeat: usize,
) -> Result<[Fold; 2], Undefined> {
    if examples.len() < 2 {
        return Err(Undefined::because("cross-validation needs two examples"));
    }
    let halves = halves(examples.len(), &stream.nth(repeat));
    let beta = |half: usize| {
        whole
            .refit(examples, &halves[half])
            .map_err(|why| Undefined(format!("on a random half of the examples, {}", why.0)))
    };
    let other = [beta(1)?, beta(0)?];
    Ok([0, 1].map(|half| Fold { examples: tempered(&examples.subset(&halves[half]), other[half]) }))
}

/// A random half of `0..n`, and the other, each ascending so that rows are read in order.
fn halves(n: usize, stream: &Stream) -> [Vec<u32>; 2] {
    let mut generator = stream.generator();
    let mut rows: Vec<u32> = (0..n as u32).collect();
    for i in (1..n).rev() {
        rows.swap(i, below(&mut generator, i as u64 + 1) as usize);
    }
    let mut second = rows.split_off(n / 2);
    rows.sort_unstable();
    second.sort_unstable();
    [rows, second]
}

/// A whole number below `n`, by the high half of a product: biased by less than `n / 2^64`.
pub(crate) fn below(generator: &mut impl Rng, n: u64) -> u64 {
    ((u128::from(generator.next_u64()) * u128::from(n)) >> 64) as u64
}

/// The examples at `T = 1/beta`. The order of the classes does not change with the temperature,
/// so predictions and ranks are kept and cannot change by rounding. Nothing is known of members:
/// the temperature belongs to their mean.
pub fn tempered(examples: &Examples, beta: f64) -> Examples {
    let (columns, rows) = examples.columns.at(beta, |i, log_p, p| {
        let label = examples.labels[i] as usize;
        let top = log_p[examples.predicted[i] as usize];
        let row = softmax::temper(beta, log_p, top, p);
        softmax::scale(p, row.one_by_z);
        let log_label = beta * (log_p[label] - top) - row.log_z;
        let numbers = Row {
            log_likelihood: log_label,
            confidence: (-row.log_z).exp(),
            total: (row.log_z - beta * row.mean).max(0.0),
            brier: brier_from_square(row.square, log_label.exp()),
            cost: examples.costs.as_ref().map_or(0.0, |costs| costs.paid(p, label)),
        };
        (Scale { top, one_by_z: row.one_by_z }, numbers)
    });
    let each = |f: fn(&Row) -> f64| rows.iter().map(f).collect::<Vec<f64>>();
    Examples {
        confidence: each(|r| r.confidence),
        log_likelihood: each(|r| r.log_likelihood),
        brier: each(|r| r.brier),
        total: each(|r| r.total),
        members: None,
        cost: examples.cost.as_ref().map(|_| each(|r| r.cost)),
        reference: None,
        columns,
        ..examples.without_caches()
    }
}

#[derive(Clone, Default)]
struct Row {
    log_likelihood: f64,
    confidence: f64,
    total: f64,
    brier: f64,
    cost: f64,
}

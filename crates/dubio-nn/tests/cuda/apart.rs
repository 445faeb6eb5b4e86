//! How far what two engines give is apart.

use std::collections::BTreeMap;

use dubio_nn::cpu::Cpu;
use dubio_nn::engine::Engine;

use crate::asked::{BATCH, Case, GIVEN, all};

/// How far two vectors are apart.
pub(crate) type Distance = fn(&[f64], &[f64]) -> f64;

/// The largest difference, as a fraction of the largest number.
pub(crate) fn by_largest(a: &[f64], b: &[f64]) -> f64 {
    let largest = a.iter().fold(1e-3, |largest: f64, v| largest.max(v.abs()));
    a.iter().zip(b).map(|(a, b)| (a - b).abs() / largest).fold(0.0, f64::max)
}

/// The length of the difference, as a fraction of the length. In a deep network rounding moves some number across the
/// corner of a ReLU, whose gradient is then another altogether; few do.
pub(crate) fn by_length(a: &[f64], b: &[f64]) -> f64 {
    let length =
        |numbers: &mut dyn Iterator<Item = f64>| numbers.map(|v| v * v).sum::<f64>().sqrt();
    let apart = length(&mut a.iter().zip(b).map(|(a, b)| a - b));
    apart / length(&mut a.iter().copied()).max(1e-3)
}

/// The same for each of the examples that numbers belong to, and of these the median: an input at which a number crosses a
/// corner is off by far more than rounding in a narrow network, and is one of several.
pub(crate) fn by_median_example(a: &[f64], b: &[f64], examples: usize) -> f64 {
    let size = a.len() / examples;
    let mut each: Vec<f64> =
        a.chunks(size).zip(b.chunks(size)).map(|(a, b)| by_length(a, b)).collect();
    each.sort_by(f64::total_cmp);
    each[each.len() / 2]
}

pub(crate) fn agree<E: Engine>(gpu: &E, case: &Case<'_>, name: &str) {
    agree_by(by_largest, 1e-4, gpu, case, name);
}

pub(crate) fn agree_by<E: Engine>(
    distance: Distance,
    tolerance: f64,
    gpu: &E,
    case: &Case<'_>,
    name: &str,
) {
    let (what, apart) = apart(gpu, case, name, distance);
    assert!(apart <= tolerance, "{name}: {what} differ by {apart:e}");
}

/// The largest distance between what the engines give, and what is so far apart.
pub(crate) fn apart<E: Engine>(
    gpu: &E,
    case: &Case<'_>,
    name: &str,
    distance: Distance,
) -> (&'static str, f64) {
    // In single precision too, so that masks and noise are drawn in the same way.
    let (expected, found) = (all(&Cpu::<f32>::default(), case), all(gpu, case));
    assert_eq!(expected.len(), found.len());
    let mut most = ("nothing", 0.0);
    for ((what, a), (_, b)) in expected.iter().zip(&found) {
        assert_eq!(a.len(), b.len(), "{name}: {what}");
        assert!(b.iter().all(|v| v.is_finite()), "{name}: {what}");
        let apart = distance(a, b);
        if apart > most.1 {
            most = (*what, apart);
        }
    }
    most
}

/// How many examples gradients belong to that are one example's alone.
pub(crate) fn of_each_example(what: &str) -> Option<usize> {
    match what {
        "gradient of inputs" | "attacked" | "gradients visited for given inputs" => Some(GIVEN),
        "visited gradients" => Some(BATCH.len()),
        _ => None,
    }
}

/// How far numbers are from the true ones, by what they are: where something is asked for several times, the root of
/// the mean square.
pub(crate) fn errors(
    truth: &[(&'static str, Vec<f64>)],
    found: &[(&'static str, Vec<f64>)],
) -> BTreeMap<&'static str, f64> {
    let mut squares: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for ((what, a), (_, b)) in truth.iter().zip(found) {
        let apart = match of_each_example(what) {
            Some(examples) => by_median_example(a, b, examples),
            None => by_length(a, b),
        };
        squares.entry(what).or_default().push(apart * apart);
    }
    let root = |squares: Vec<f64>| (squares.iter().sum::<f64>() / squares.len() as f64).sqrt();
    squares.into_iter().map(|(what, squares)| (what, root(squares))).collect()
}

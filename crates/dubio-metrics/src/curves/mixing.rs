//! Mean uncertainty of a batch as out-of-distribution examples take the place of its own (UCE paper, sec. 5, Fig. 2).

use dubio_random::stream::Stream;
use rand::seq::index::sample;

use crate::bootstrap::interval;
use crate::card::{Card, Direction, Facts};

/// What is drawn at each fraction.
pub static CARD: Card = Card {
    name: "batch_uncertainty",
    summary: "Mean normalised entropy of a batch of which some examples are out-of-distribution.",
    formula: "mean over the batch of H(p_i) / log C; mean and 95 % range over batches",
    range: (0.0, 1.0),
    direction: Direction::Neither,
    citation: "the UCE paper 2021, sec. 5 and Fig. 2 (right)",
    facts: Facts::NUMBERS,
};

/// A point of the curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Fraction of the batch that is out-of-distribution, in [0, 1].
    pub fraction: f64,
    /// Mean over batches of the batch's mean uncertainty.
    pub mean: f64,
    /// 2.5 and 97.5 percentiles over batches.
    pub range: (f64, f64),
}

/// Examples in a batch, as in the paper.
pub const BATCH: usize = 100;
/// Batches behind each point.
const BATCHES: usize = 200;
/// Steps from none to all of the batch.
const STEPS: usize = 10;

/// The curve at fractions 0, 0.1 to 1. A batch of 100 (or of the smaller set's size) is drawn without
/// replacement, and step by step more of it is replaced by OOD examples, also drawn without
/// replacement: the points of one batch lie on one path, as in the paper. `None` when a set is empty.
pub fn mixing(own: &[f64], ood: &[f64], stream: &Stream) -> Option<Vec<Point>> {
    let size = BATCH.min(own.len()).min(ood.len());
    if size == 0 {
        return None;
    }
    let mut means = vec![Vec::new(); STEPS + 1];
    for batch in 0..BATCHES {
        let mut generator = stream.nth(batch).generator();
        let kept = sample(&mut generator, own.len(), size);
        let new = sample(&mut generator, ood.len(), size);
        for (step, means) in means.iter_mut().enumerate() {
            let replaced = (size * step).div_ceil(STEPS);
            let stays: f64 = kept.iter().skip(replaced).map(|i| own[i]).sum();
            let comes: f64 = new.iter().take(replaced).map(|i| ood[i]).sum();
            means.push((stays + comes) / size as f64);
        }
    }
    let point = |(step, means): (usize, &Vec<f64>)| {
        let mean = means.iter().sum::<f64>() / means.len() as f64;
        let range = interval(means).expect("there are batches");
        Point { fraction: step as f64 / STEPS as f64, mean, range }
    };
    Some(means.iter().enumerate().map(point).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_sets_mix_on_a_straight_line() {
        let curve = mixing(&[0.1; 300], &[0.9; 150], &Stream::root(0)).unwrap();
        assert_eq!(curve.len(), 11);
        for point in curve {
            let line = 0.1 + 0.8 * point.fraction;
            assert!((point.mean - line).abs() < 1e-12 && (point.range.0 - line).abs() < 1e-12);
        }
    }

    #[test]
    fn the_ends_are_unbiased_for_the_means_of_the_sets() {
        let own: Vec<f64> = (0..1000).map(|i| f64::from(i % 10) / 10.0).collect();
        let ood: Vec<f64> = (0..1000).map(|i| 0.5 + f64::from(i % 5) / 10.0).collect();
        let curve = mixing(&own, &ood, &Stream::root(1)).unwrap();
        // Standard deviation of a batch's mean 0.29 / 10, of the mean of 200 batches 0.0020; five of them.
        assert!((curve[0].mean - 0.45).abs() < 0.0103, "{}", curve[0].mean);
        assert!((curve[10].mean - 0.70).abs() < 0.0050, "{}", curve[10].mean);
        assert!(mixing(&[], &ood, &Stream::root(1)).is_none());
    }

    #[test]
    fn a_small_set_makes_smaller_batches() {
        let curve = mixing(&[0.0; 7], &[1.0; 500], &Stream::root(2)).unwrap();
        assert_eq!((curve[0].mean, curve[10].mean), (0.0, 1.0));
        assert!(curve.windows(2).all(|pair| pair[1].mean >= pair[0].mean));
    }
}

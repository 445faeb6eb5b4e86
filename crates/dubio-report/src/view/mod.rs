//! What the predictions of a split look like: curves and histograms, a few hundred numbers whatever
//! the number of examples.

mod classes;
mod numbers;

use dubio_metrics::curves::reliability::{ReliabilityBin, reliability};
use dubio_metrics::curves::risk_coverage::RiskCoverage;
use dubio_metrics::detection::ood::Uncertainties;
use dubio_metrics::examples::Examples;
use dubio_metrics::ranking::Ranking;
use dubio_metrics::regression::Outcomes;
use serde::{Deserialize, Serialize};

pub use classes::{ClassView, Mistake};
use classes::{by_class, confusion, mistakes};
pub use numbers::{PIT_BINS, Predicted, QuantileView};
use numbers::{pit, predicted, quantiles, widths};

/// Points of a curve over fractions from 0 to 1, both ends included.
pub const POINTS: usize = 51;
/// Bins of a histogram of uncertainties.
pub const BINS: usize = 30;
/// Bins of a reliability diagram; those of `ece`.
pub const RELIABILITY_BINS: usize = 15;

/// An overview of a split's predictions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct View {
    /// `test`, `shift.fog.3`, `ood.svhn`.
    pub split: String,
    /// Number of examples.
    pub examples: usize,
    /// Accuracy against confidence, bin by bin.
    pub reliability: Option<Vec<ReliabilityBin>>,
    /// Error among the most confident, at [`POINTS`] fractions kept; the first is that of the most
    /// confident alone.
    pub risk: Option<Vec<f64>>,
    /// Histogram of the entropy over `[0, log C]`, as fractions.
    pub entropy: Option<Vec<f64>>,
    /// Mean uncertainty in nats.
    pub uncertainty: Option<Parts>,
    /// Fraction of this set's examples above a threshold on the entropy, at [`POINTS`] fractions of the
    /// test set's examples above it (false alarms); only of OOD sets.
    pub roc: Option<Vec<f64>>,
    /// Fraction of targets inside the central interval of each level.
    pub coverage: Option<Vec<f64>>,
    /// Fraction of targets below the predicted quantile of each level.
    pub below: Option<Vec<f64>>,
    /// The levels of predicted quantiles, where those are the prediction, and how many targets lie below.
    pub quantiles: Option<Vec<QuantileView>>,
    /// Examples whose predicted quantiles cross.
    pub crossings: usize,
    /// Histogram of `F(y)`, as fractions of [`PIT_BINS`] bins.
    pub pit: Option<Vec<f64>>,
    /// Widths of the central intervals at [`POINTS`] fractions of the examples, ascending.
    pub widths: Option<Vec<f64>>,
    /// Some examples with their predictions.
    pub predicted: Option<Vec<Predicted>>,
    /// Every class by itself; only of the test set.
    pub classes: Option<Vec<ClassView>>,
    /// Examples by true and predicted class, where there are few classes; only of the test set.
    pub confusion: Option<Vec<Vec<usize>>>,
    /// The most confident mistakes; only of the test set.
    pub mistakes: Option<Vec<Mistake>>,
    /// Fraction of the wrong predictions below a threshold on the confidence, at [`POINTS`] fractions of the correct
    /// ones.
    pub errors_found: Option<Vec<f64>>,
}

/// The mean entropy of the prediction and its parts, in nats.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parts {
    /// Mean entropy of the predictive distribution.
    pub total: f64,
    /// Mean entropy of the members, and by how much the members disagree; `None` for one member.
    pub split: Option<(f64, f64)>,
}

/// A fraction between 0 and 1, the `index`-th of [`POINTS`].
pub fn fraction(index: usize) -> f64 {
    index as f64 / (POINTS - 1) as f64
}

impl View {
    /// The view of classified examples.
    pub fn classified(split: &str, examples: &Examples) -> Self {
        let knowledge = examples.members.as_ref().map(|m| (mean(&m.data), mean(&m.knowledge)));
        let of_classes = split == "test";
        Self {
            split: split.to_string(),
            examples: examples.len(),
            reliability: Some(reliability(examples, RELIABILITY_BINS)),
            risk: Some(risk(&RiskCoverage::of(examples).points())),
            entropy: Some(entropies(examples.total(), examples.classes)),
            uncertainty: Some(Parts { total: mean(examples.total()), split: knowledge }),
            classes: of_classes.then(|| by_class(examples)),
            confusion: of_classes.then(|| confusion(examples)).flatten(),
            mistakes: of_classes.then(|| mistakes(examples)),
            errors_found: of_classes.then(|| errors_found(examples)).flatten(),
            ..Self::default()
        }
    }

    /// The view of out-of-distribution examples, which have no labels, beside those of the test set.
    pub fn ood(
        split: &str,
        classes: usize,
        inside: &Uncertainties,
        outside: &Uncertainties,
    ) -> Self {
        let total = mean(&outside.total);
        let knowledge = outside.model.as_deref().map(mean);
        Self {
            split: split.to_string(),
            examples: outside.len(),
            entropy: Some(entropies(&outside.total, classes)),
            uncertainty: Some(Parts { total, split: knowledge.map(|k| (total - k, k)) }),
            roc: Some(roc(&inside.total, &outside.total)),
            ..Self::default()
        }
    }

    /// The view of a regression, from its predictive distributions.
    pub fn regressed(split: &str, outcomes: &Outcomes) -> Self {
        let fractions = |values: &[f64]| {
            let held = |level: f64| values.iter().filter(|&&v| v <= level + 1e-12).count();
            let n = values.len() as f64;
            (0..POINTS).map(|i| held(fraction(i)) as f64 / n).collect()
        };
        Self {
            split: split.to_string(),
            examples: outcomes.len(),
            coverage: outcomes.centrality.as_deref().ok().map(fractions),
            below: outcomes.cdf.as_deref().ok().map(fractions),
            quantiles: quantiles(outcomes),
            crossings: outcomes.crossings(),
            pit: pit(outcomes),
            widths: widths(outcomes),
            predicted: predicted(outcomes),
            ..Self::default()
        }
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The error at each fraction kept, from the ends of runs of equal confidence: between two of them,
/// the number of errors is linear.
fn risk(points: &[(f64, f64)]) -> Vec<f64> {
    let first = points.first().map_or(0.0, |p| p.1);
    let mut next = 0;
    let mut at = |kept: f64| {
        while next + 1 < points.len() && points[next].0 < kept {
            next += 1;
        }
        let (end, error) = points[next];
        let (start, before) = if next == 0 { (0.0, 0.0) } else { points[next - 1] };
        if kept <= 0.0 {
            return first;
        }
        let along = ((kept - start) / (end - start)).clamp(0.0, 1.0);
        let wrong = start * before + along * (end * error - start * before);
        wrong / (start + along * (end - start))
    };
    (0..POINTS).map(|i| at(fraction(i))).collect()
}

/// How many of the wrong predictions are found by their confidence, at each fraction of false alarms.
fn errors_found(examples: &Examples) -> Option<Vec<f64>> {
    let (mut right, mut wrong) = (Vec::new(), Vec::new());
    for (i, confidence) in examples.confidence.iter().enumerate() {
        let own = if examples.labels[i] == examples.predicted[i] { &mut right } else { &mut wrong };
        own.push(1.0 - confidence);
    }
    (!right.is_empty() && !wrong.is_empty()).then(|| roc(&right, &wrong))
}

fn entropies(values: &[f64], classes: usize) -> Vec<f64> {
    let mut fractions = vec![0.0; BINS];
    let widest = (classes as f64).ln();
    for value in values {
        let bin = (value / widest * BINS as f64) as usize;
        fractions[bin.min(BINS - 1)] += 1.0 / values.len() as f64;
    }
    fractions
}

/// The fraction of `outside` that is found, at each fraction of false alarms; ties count in equal parts.
fn roc(inside: &[f64], outside: &[f64]) -> Vec<f64> {
    let all: Vec<f64> = inside.iter().chain(outside).copied().collect();
    let (mut corner, mut corners) = ((0.0, 0.0), vec![(0.0, 0.0)]);
    for run in Ranking::within(&all, |entropy| 1e-13 * entropy).runs() {
        for &example in run {
            match (example as usize) < inside.len() {
                true => corner.0 += 1.0 / inside.len() as f64,
                false => corner.1 += 1.0 / outside.len() as f64,
            }
        }
        corners.push(corner);
    }
    (0..POINTS).map(|i| highest(&corners, fraction(i))).collect()
}

/// The highest point of a rising polyline at `x`.
fn highest(corners: &[(f64, f64)], x: f64) -> f64 {
    let after = corners.partition_point(|c| c.0 <= x + 1e-12);
    match (corners.get(after.wrapping_sub(1)), corners.get(after)) {
        (Some(a), Some(b)) => a.1 + (b.1 - a.1) * (x - a.0).max(0.0) / (b.0 - a.0),
        (Some(a), None) => a.1,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_risk_between_two_points_counts_errors() {
        // Four examples: right, wrong, and two tied of which one is wrong.
        let risk = risk(&[(0.25, 0.0), (0.5, 0.5), (1.0, 0.5)]);
        assert_eq!((risk[0], risk[POINTS - 1]), (0.0, 0.5));
        // Kept three of four: one error and half of the one among the tied two.
        let three_quarters = (POINTS - 1) * 3 / 4;
        let kept = fraction(three_quarters);
        assert!(
            (risk[three_quarters] - (1.0 + (4.0 * kept - 2.0) / 2.0) / (4.0 * kept)).abs() < 1e-12
        );
    }

    #[test]
    fn a_roc_curve_of_equal_sets_is_the_diagonal() {
        let values: Vec<f64> = (0..500).map(f64::from).collect();
        for (i, found) in roc(&values, &values).into_iter().enumerate() {
            assert!((found - fraction(i)).abs() < 1e-9, "{i}: {found}");
        }
    }

    #[test]
    fn sets_that_do_not_overlap_are_told_apart_without_false_alarms() {
        assert_eq!(roc(&[1.0, 2.0], &[3.0, 4.0]), vec![1.0; POINTS]);
        assert_eq!(roc(&[3.0, 4.0], &[1.0, 2.0])[..POINTS - 1], vec![0.0; POINTS - 1]);
    }
}

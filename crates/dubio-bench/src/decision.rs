//! The decision task: some classes must not be missed, and few examples show what they look like.

use dubio_metrics::costs::Costs;
use serde::{Deserialize, Serialize};

use crate::distinct;
use crate::mistakes::Collector;
use crate::reader::{Located, Section};

/// `[decision]` of a suite (Vadera et al. 2020, app. A): networks are trained with a fraction
/// `dropped` of the examples of the critical classes left out; on the test set they choose the class
/// of least expected cost, and pay the cost of that choice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// Classes that must not be missed.
    pub critical: Vec<u32>,
    /// Fraction of their training examples that is left out; at 0 nothing is trained anew.
    pub dropped: f64,
    /// Cost of taking a critical class for another.
    pub miss: f64,
    /// Cost of every other mistake.
    pub other: f64,
}

impl Decision {
    /// `K[decision, truth]`: 0 where they agree, `miss` where the truth is critical, else `other`.
    pub fn costs(&self, classes: usize) -> Costs {
        let cost = |decision: usize, truth: usize| match decision == truth {
            true => 0.0,
            false if self.critical.contains(&(truth as u32)) => self.miss,
            false => self.other,
        };
        let rows = (0..classes).map(|h| (0..classes).map(|y| cost(h, y)).collect()).collect();
        Costs::new(rows).expect("costs are checked when they are read")
    }

    pub(crate) fn read(section: &mut Section<'_>, mistakes: &mut Collector<'_>) -> Self {
        let before = mistakes.len();
        let classes = section.counts("critical", mistakes);
        if classes.is_empty() && mistakes.len() == before {
            mistakes.add(
                section.span(),
                "`critical` is missing; it lists the classes that must not be missed, as in [3, 7]",
            );
        }
        let classes = distinct::values("class", classes, mistakes);
        let critical: Vec<u32> = classes.iter().flat_map(|&class| u32::try_from(class)).collect();
        if critical.len() < classes.len() {
            mistakes.add(section.span(), "`critical` names a class that no set has");
        }
        let mut number = |key, default: f64, fits: &dyn Fn(f64) -> bool, wanted: &str| {
            let Some(Located { value, span }) = section.number(key, mistakes) else {
                return default;
            };
            if !fits(value) {
                mistakes.add(span, format!("`{key}` must be {wanted}, got {value}"));
            }
            value
        };
        let fraction = |x: f64| (0.0..1.0).contains(&x);
        let cost = |x: f64| x >= 0.0;
        let decision = Self {
            dropped: number("dropped", 0.99, &fraction, "at least 0 and below 1"),
            miss: number("miss", 1000.0, &cost, "at least 0"),
            other: number("other", 1.0, &cost, "at least 0"),
            critical,
        };
        section.refuse_rest("key of [decision]", mistakes);
        decision
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_critical_class_that_is_missed_costs_much() {
        let task = Decision { critical: vec![1], dropped: 0.99, miss: 1000.0, other: 1.0 };
        let costs = task.costs(3);
        // Decisions that are sure of class 0: right, a miss, another mistake.
        assert_eq!([0, 1, 2].map(|y| costs.paid(&[1.0, 0.0, 0.0], y)), [0.0, 1000.0, 1.0]);
        // Expected costs of deciding 0 and 1: 1000 p1 and p0. The rare class wins from p1 = 1/1001.
        assert_eq!(costs.paid(&[0.9989, 0.0011, 0.0], 0), 1.0);
        assert_eq!(costs.paid(&[0.9991, 0.0009, 0.0], 0), 0.0);
    }
}

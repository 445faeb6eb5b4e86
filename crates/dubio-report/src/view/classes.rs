//! Which classes are mistaken for which, and the worst mistakes.

use dubio_metrics::examples::Examples;
use serde::{Deserialize, Serialize};

/// Maximum number of classes for which a confusion matrix is kept: more cannot be read.
const MATRIX: usize = 30;
/// Mistakes that are kept.
const MISTAKES: usize = 10;

/// The examples of one true class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClassView {
    /// Examples with this label.
    pub labels: usize,
    /// Examples predicted so.
    pub predicted: usize,
    /// Examples with this label that are predicted so.
    pub correct: usize,
    /// Mean confidence of the examples with this label.
    pub confidence: f64,
}

/// A wrong prediction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mistake {
    /// Index of the example, from 0.
    pub index: usize,
    /// True class.
    pub label: u32,
    /// Predicted class.
    pub predicted: u32,
    /// Probability of the predicted class.
    pub confidence: f64,
    /// Probability of the true class.
    pub probability: f64,
}

/// Counts by true class.
pub(super) fn by_class(examples: &Examples) -> Vec<ClassView> {
    let mut classes = vec![ClassView::default(); examples.classes];
    for (i, (&label, &predicted)) in examples.labels.iter().zip(&examples.predicted).enumerate() {
        classes[predicted as usize].predicted += 1;
        let own = &mut classes[label as usize];
        own.labels += 1;
        own.correct += usize::from(label == predicted);
        own.confidence += examples.confidence[i];
    }
    for own in classes.iter_mut().filter(|own| own.labels > 0) {
        own.confidence /= own.labels as f64;
    }
    classes
}

/// `matrix[truth][predicted]`; `None` where there are too many classes to read it.
pub(super) fn confusion(examples: &Examples) -> Option<Vec<Vec<usize>>> {
    let classes = examples.classes;
    let mut matrix = vec![vec![0; classes]; classes.min(MATRIX)];
    for (&label, &predicted) in examples.labels.iter().zip(&examples.predicted) {
        matrix.get_mut(label as usize)?[predicted as usize] += 1;
    }
    (classes <= MATRIX).then_some(matrix)
}

/// The wrong predictions of the highest confidence; of equal ones those that come first.
pub(super) fn mistakes(examples: &Examples) -> Vec<Mistake> {
    let wrong = |i: &usize| examples.labels[*i] != examples.predicted[*i];
    let mut all: Vec<usize> = (0..examples.len()).filter(wrong).collect();
    let sure = |i: usize| examples.confidence[i];
    all.sort_by(|&a, &b| sure(b).total_cmp(&sure(a)).then(a.cmp(&b)));
    all.truncate(MISTAKES);
    let mistake = |&index: &usize| Mistake {
        index,
        label: examples.labels[index],
        predicted: examples.predicted[index],
        confidence: examples.confidence[index],
        probability: examples.log_likelihood()[index].exp(),
    };
    all.iter().map(mistake).collect()
}

#[cfg(test)]
mod tests {
    use dubio_metrics::members::{Form, InMemory};
    use dubio_metrics::pool::pool;

    use super::*;

    /// Three examples of three classes: right with 0.5, wrong with 0.6 and wrong with 0.9.
    fn three() -> Examples {
        let probs = vec![0.5, 0.3, 0.2, 0.6, 0.3, 0.1, 0.05, 0.9, 0.05];
        let source = InMemory::new(probs, [1, 3, 3]).expect("it fits");
        let pooled = pool(&source, Form::Probs, &|_| ()).expect("probabilities");
        Examples::new(pooled, vec![0, 1, 2])
    }

    #[test]
    fn the_worst_mistake_is_the_surest() {
        let found = mistakes(&three());
        assert_eq!(found.iter().map(|m| m.index).collect::<Vec<_>>(), [2, 1]);
        assert_eq!((found[0].label, found[0].predicted), (2, 1));
        assert!((found[0].probability - 0.05).abs() < 1e-12);
    }

    #[test]
    fn every_example_is_counted_once_in_the_matrix_and_in_its_class() {
        let matrix = confusion(&three()).expect("few classes");
        assert_eq!(matrix, [vec![1, 0, 0], vec![1, 0, 0], vec![0, 1, 0]]);
        let classes = by_class(&three());
        assert_eq!(classes.iter().map(|c| c.correct).collect::<Vec<_>>(), [1, 0, 0]);
        assert_eq!(classes.iter().map(|c| c.predicted).collect::<Vec<_>>(), [2, 1, 0]);
    }
}

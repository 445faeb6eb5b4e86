//! Classes.

use std::borrow::Cow;
use std::f64::consts::PI;

use dubio_nn::loss::{Kernel, Loss, Truth, log_sum, mean_loss};
use dubio_random::stream::Stream;
use dubio_random::uniform::uniform;

use super::{Array, Curved, Likelihood, Link, Taught};

/// Classes with the probabilities `softmax(outputs)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Categorical {
    /// How many classes.
    pub classes: usize,
}

impl Loss for Categorical {
    fn outputs(&self) -> usize {
        self.classes
    }
    fn mean(&self, outputs: &[f64], truth: Truth<'_>, _: &[u32], gradient: &mut [f64]) -> f64 {
        mean_loss(outputs, truth, gradient)
    }
    fn kernel(&self) -> Option<Kernel> {
        Some(Kernel::CrossEntropy)
    }
}

impl Likelihood for Categorical {
    fn guessing(&self) -> Option<f64> {
        Some((self.classes as f64).ln())
    }
    fn curved(&self) -> Option<&dyn Curved> {
        Some(self)
    }
    fn taught(&self) -> Option<&dyn Taught> {
        Some(self)
    }
    fn arrays<'a>(&self, values: &'a [f32], shape: [usize; 3]) -> Vec<Array<'a>> {
        vec![Array { name: "logits", values: Cow::Borrowed(values), shape: shape.to_vec() }]
    }
}

impl Curved for Categorical {
    /// `sqrt(p_c) (e_c - p)` for each class: their products sum to `diag(p) - p p'`.
    fn fisher(&self, outputs: &[f64]) -> Vec<Vec<f64>> {
        let root = |class: usize| {
            let example = |row: &[f64]| {
                let p = softmax(row);
                let scale = p[class].sqrt();
                let of = |(k, p): (usize, &f64)| scale * (f64::from(u8::from(k == class)) - p);
                p.iter().enumerate().map(of).collect::<Vec<_>>()
            };
            outputs.chunks(self.classes).flat_map(example).collect()
        };
        (0..self.classes).map(root).collect()
    }
    fn drawn(&self, outputs: &[f64], stream: &Stream) -> Vec<f64> {
        let mut generator = stream.generator();
        let example = |row: &[f64]| {
            let mut p = softmax(row);
            let (u, mut sum) = (uniform(&mut generator), 0.0);
            let reached = |p: &f64| {
                sum += p;
                u < sum
            };
            let class = p.iter().position(reached).unwrap_or(self.classes - 1);
            p[class] -= 1.0;
            p
        };
        outputs.chunks(self.classes).flat_map(example).collect()
    }
    fn averaged(&self, outputs: &[f64], covariance: &[f64], link: Link) -> Vec<f64> {
        let k = |variance: f64| 1.0 / (1.0 + PI / 8.0 * variance).sqrt();
        let at = |i: usize, j: usize| covariance[i * self.classes + j];
        if self.classes == 2 && link == Link::Probit {
            let variance = at(0, 0) + at(1, 1) - 2.0 * at(0, 1);
            return outputs.iter().map(|f| k(variance) * f).collect();
        }
        if link == Link::MeanField {
            let apart = |c: usize, j: usize| {
                -k(at(c, c) + at(j, j) - 2.0 * at(c, j)) * (outputs[c] - outputs[j])
            };
            let log_p = |c: usize| {
                // The class is 0 apart from itself, which gives the 1.
                let all: Vec<f64> = (0..self.classes).map(|j| apart(c, j)).collect();
                -log_sum(&all)
            };
            return (0..self.classes).map(log_p).collect();
        }
        outputs.iter().enumerate().map(|(c, f)| k(at(c, c)) * f).collect()
    }
}

impl Taught for Categorical {
    fn cross_entropy(&self, teacher: &[f64], student: &[f64], gradient: &mut [f64]) -> f64 {
        let n = (teacher.len() / self.classes) as f64;
        let rows = teacher.chunks(self.classes).zip(student.chunks(self.classes));
        let mut sum = 0.0;
        for ((teacher, student), gradient) in rows.zip(gradient.chunks_mut(self.classes)) {
            let (p, log_sum) = (softmax(teacher), log_sum(student));
            for ((p, f), g) in p.iter().zip(student).zip(gradient) {
                sum -= p * (f - log_sum);
                *g = ((f - log_sum).exp() - p) / n;
            }
        }
        sum / n
    }
    fn entropies(&self, outputs: &[f64]) -> Vec<f64> {
        let of = |row: &[f64]| {
            let log_sum = log_sum(row);
            row.iter().map(|f| (log_sum - f) * (f - log_sum).exp()).sum()
        };
        outputs.chunks(self.classes).map(of).collect()
    }
}

fn softmax(row: &[f64]) -> Vec<f64> {
    let log_sum = log_sum(row);
    row.iter().map(|f| (f - log_sum).exp()).collect()
}

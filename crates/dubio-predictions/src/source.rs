//! Predictions as they are read: rows of one array of a file.

use std::ops::Range;
use std::path::PathBuf;

use dubio_metrics::members::{Form, Members};

use crate::array::Array;
use crate::error::{Error, Fault};
use crate::guard::give_up;

/// An array of a file, read a block of rows at a time.
#[derive(Clone, Debug)]
pub struct Source {
    /// Name of the array.
    pub name: String,
    pub(crate) path: PathBuf,
    pub(crate) array: Array,
    pub(crate) values: Values,
}

/// How the numbers of an array become those that are scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Values {
    /// As they are.
    Stored,
    /// Standard deviations, the square roots of variances.
    SquareRoots,
    /// Two classes, from the number of class 1 alone.
    Binary(Form),
}

impl Source {
    /// Reads what has not been read yet, so that damage anywhere in the array is noticed: for callers that
    /// use only some members.
    pub fn read_rest(&self) -> Result<(), Error> {
        self.array.read_rest().map_err(|e| Fault::unread(&e).at(&self.path, &self.name))
    }

    /// Members and examples, whatever the array's own axes are.
    pub(crate) fn extent(&self) -> [usize; 2] {
        [self.members(), self.examples()]
    }
}

impl Members for Source {
    fn members(&self) -> usize {
        self.array.shape()[0]
    }
    fn examples(&self) -> usize {
        self.array.shape()[1]
    }
    fn width(&self) -> usize {
        match self.values {
            Values::Binary(_) => 2,
            Values::Stored | Values::SquareRoots => self.array.shape()[2],
        }
    }
    /// Gives up the work that [`crate::guarded`] began when the file fails.
    fn read(&self, member: usize, rows: Range<usize>, out: &mut [f64]) {
        let stored = rows.len() * self.array.shape()[2];
        if let Err(error) = self.array.read_rows(member, rows, &mut out[..stored]) {
            give_up(Fault::unread(&error).at(&self.path, &self.name));
        }
        match self.values {
            Values::Stored => {}
            Values::SquareRoots => out.iter_mut().for_each(|x| *x = x.sqrt()),
            // From the end, so that no number is overwritten before it is read.
            Values::Binary(form) => (0..stored).rev().for_each(|i| {
                let pair = both_classes(out[i], form);
                out[2 * i..2 * i + 2].copy_from_slice(&pair);
            }),
        }
    }
}

/// The numbers of class 0 and class 1 from that of class 1. One that is not a valid prediction is given
/// twice, so that a message shows what stands in the file.
fn both_classes(x: f64, form: Form) -> [f64; 2] {
    match form {
        Form::Logits => [0.0, x], // softmax of these is the logistic function of x
        Form::LogProbs if x <= 0.0 => [(-x.exp_m1()).ln(), x],
        Form::Probs if (0.0..=1.0).contains(&x) => [1.0 - x, x],
        Form::LogProbs | Form::Probs => [x, x],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_classes_of_a_binary_prediction_sum_to_one_in_every_form() {
        for p in [0.0, 1e-12, 0.25, 0.5, 1.0] {
            let [a, b] = both_classes(p, Form::Probs);
            assert_eq!((a + b, b), (1.0, p));
            let [a, b] = both_classes(p.ln(), Form::LogProbs);
            assert!((a.exp() + b.exp() - 1.0).abs() < 1e-15, "{p}");
        }
        // The logistic function of 2, by its definition.
        let [a, b] = both_classes(2.0, Form::Logits).map(f64::exp);
        assert!((b / (a + b) - 1.0 / (1.0 + (-2.0_f64).exp())).abs() < 1e-15);
        assert_eq!(both_classes(1.5, Form::Probs), [1.5, 1.5]);
    }
}

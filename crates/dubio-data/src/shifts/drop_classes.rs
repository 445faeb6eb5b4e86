//! Label imbalance: some classes become rare.

use dubio_random::stream::Stream;
use rand::seq::SliceRandom;

use crate::dataset::{Answers, Dataset};

/// Why classes cannot be dropped.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum DropError {
    /// The answers are numbers.
    #[error("drop_classes needs a data set of classes, got one of numbers")]
    NoClasses,
    /// A class that the data set does not have.
    #[error("drop_classes: class must be below {classes}, got {class}")]
    UnknownClass {
        /// The class asked for.
        class: u32,
        /// Number of classes.
        classes: usize,
    },
    /// The fraction is not between 0 and 1.
    #[error("drop_classes: fraction must be between 0 and 1, got {0}")]
    Fraction(f64),
}

/// The data set without `fraction` of the examples of each of some classes.
///
/// Of a class with `n` examples `round(fraction n)` are dropped, chosen by `stream / class`; the rest
/// keep their order, and the number of classes stays. A larger fraction also drops everything that a
/// smaller one drops.
pub fn drop_classes(
    data: &Dataset,
    dropped: &[u32],
    fraction: f64,
    stream: &Stream,
) -> Result<Dataset, DropError> {
    let Answers::Classes { classes, labels } = &data.answers else {
        return Err(DropError::NoClasses);
    };
    if !(0.0..=1.0).contains(&fraction) {
        return Err(DropError::Fraction(fraction));
    }
    let mut keep = vec![true; labels.len()];
    for &class in dropped {
        if class as usize >= *classes {
            return Err(DropError::UnknownClass { class, classes: *classes });
        }
        let mut rows: Vec<usize> = (0..labels.len()).filter(|&i| labels[i] == class).collect();
        rows.shuffle(&mut stream.nth(class as usize).generator());
        let count = (fraction * rows.len() as f64).round() as usize;
        rows[..count].iter().for_each(|&row| keep[row] = false);
    }
    let kept: Vec<u32> = (0..labels.len() as u32).filter(|&row| keep[row as usize]).collect();
    Ok(data.subset(&kept))
}

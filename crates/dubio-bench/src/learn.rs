//! What a run learns from, where it is not the whole training set.

use dubio_data::dataset::Dataset;
use dubio_data::shifts::drop_classes::drop_classes;
use dubio_random::stream::Stream;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

/// What is learnt from instead of the whole training set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Learn {
    /// Some classes are made rare; the seed chooses the examples, the same for every method.
    Rare {
        /// The classes.
        classes: Vec<u32>,
        /// Fraction of their examples that is left out.
        dropped: f64,
    },
    /// A fraction of the examples, chosen by the seed, is held back for validation.
    HoldBack {
        /// The fraction.
        validation: f64,
    },
}

impl Learn {
    /// The examples that are learnt from; `None` where the set lacks the classes or a fraction is out of range.
    pub fn choose(&self, train: &Dataset, seed: u64) -> Option<Dataset> {
        match self {
            Self::Rare { classes, dropped } => {
                let stream = Stream::root(seed).child("rare");
                drop_classes(train, classes, *dropped, &stream).ok()
            }
            Self::HoldBack { validation } => (0.0..1.0)
                .contains(validation)
                .then(|| train.subset(&split(train.len(), *validation, seed).0)),
        }
    }

    /// The examples that are held back; none where nothing is.
    pub fn held_back(&self, train: &Dataset, seed: u64) -> Dataset {
        match self {
            Self::Rare { .. } => train.subset(&[]),
            Self::HoldBack { validation } => train.subset(&split(train.len(), *validation, seed).1),
        }
    }
}

/// Indices of the examples that are learnt from and of the fraction that is held back, both in order.
fn split(examples: usize, fraction: f64, seed: u64) -> (Vec<u32>, Vec<u32>) {
    let mut rows: Vec<u32> = (0..examples as u32).collect();
    rows.shuffle(&mut Stream::root(seed).child("validation").generator());
    let mut held = rows.split_off(examples - (fraction * examples as f64).round() as usize);
    rows.sort_unstable();
    held.sort_unstable();
    (rows, held)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_back_is_not_learnt_from() {
        let (rows, held) = split(1000, 0.2, 3);
        assert_eq!((rows.len(), held.len()), (800, 200));
        let mut all = [rows.clone(), held].concat();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..1000));
        assert_ne!(rows, split(1000, 0.2, 4).0);
    }
}

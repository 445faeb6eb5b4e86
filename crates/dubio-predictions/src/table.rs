//! A table with named columns, as the arrays that its columns make.
//!
//! | columns | array |
//! | --- | --- |
//! | `label`, `target`, `mean`, `std`, `var`, `lower`, `upper`, `group`, `group.NAME` | `[examples]` |
//! | `probs.0`, `probs.1`, ... (or `logits`, `log_probs`) | `[examples, classes]` |
//! | `probs.0.0`, `probs.0.1`, ... | `[members, examples, classes]`: the member's number, then the class's |
//! | `probs` alone | `[examples]`: class 1 of two |
//! | `mean.0`, `mean.1`, ..., `samples.0`, ... | `[members, examples]` |
//! | `quantiles.0.05`, `quantiles.0.95`, ... | `quantiles` and `levels` |
//!
//! Numbers count from 0. Plurals, letter case and `_` for `.` make no difference.

use std::collections::BTreeMap;
use std::path::Path;

use crate::Arrays;
use crate::array::Array;
use crate::dtype::{Dtype, Endian, Float, Integer};
use crate::error::{Error, Fault};
use crate::names::canonical;

/// What a column is: an element of an array along all axes but that of the examples.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Place {
    array: String,
    at: At,
}

#[derive(Clone, Debug, PartialEq)]
enum At {
    /// The column of the member or class with this number, or of the member and the class.
    Numbers(Vec<usize>),
    /// The quantile of this level.
    Level(f64),
}

/// A column that is part of an array.
pub(crate) struct Column {
    pub(crate) place: Place,
    pub(crate) values: Vec<f64>,
}

impl Place {
    /// What a column of this name is; `None` for one that is not part of predictions.
    pub(crate) fn of(column: &str) -> Option<Self> {
        let column = column.trim();
        let (stem, rest) = stem(column)?;
        if stem == "groups" {
            let array = if rest.is_empty() { stem } else { format!("groups.{rest}") };
            return Some(Self { array, at: At::Numbers(Vec::new()) });
        }
        if stem == "quantiles" {
            let level = rest.replace('_', ".").parse().ok()?;
            return Some(Self { array: stem, at: At::Level(level) });
        }
        let numbers = rest.split(['.', '_']).filter(|part| !part.is_empty());
        let numbers: Vec<usize> = numbers.map(|n| n.parse().ok()).collect::<Option<_>>()?;
        (numbers.len() <= 2).then_some(Self { array: stem, at: At::Numbers(numbers) })
    }
}

/// The array that the beginning of a name stands for, and the rest behind a dot or an underscore.
fn stem(column: &str) -> Option<(String, &str)> {
    let separators = column.match_indices(['.', '_']).map(|(at, _)| at);
    let ends = std::iter::once(column.len()).chain(separators);
    ends.filter_map(|end| {
        let name = &column[..end];
        let array = canonical(name).or_else(|| canonical(&format!("{name}s")))?;
        let known = !array.starts_with("groups.") && array != "levels";
        known.then(|| (array, column[end..].trim_start_matches(['.', '_'])))
    })
    .next()
}

/// The arrays of a table; `others` are the columns that are not part of predictions.
pub(crate) fn arrays(
    path: &Path,
    columns: Vec<Column>,
    others: Vec<String>,
) -> Result<Arrays, Error> {
    if columns.is_empty() {
        let what = match &others[..] {
            [] => "it is empty".to_string(),
            _ => format!("no predictions among its columns: {}", others.join(", ")),
        };
        let advice = "name the columns `probs.0`, `probs.1`, ... and `label`, or `mean`, `std` and \
                      `target`";
        return Err(Error::file(path, what, advice));
    }
    let mut by_array: BTreeMap<String, Vec<Column>> = BTreeMap::new();
    for column in columns {
        by_array.entry(column.place.array.clone()).or_default().push(column);
    }
    let mut arrays = Arrays { read: BTreeMap::new(), unread: others };
    for (name, columns) in by_array {
        let made = match columns[0].place.at {
            At::Level(_) => quantiles(columns),
            At::Numbers(_) => numbered(&name, columns).map(|array| vec![(name.clone(), array)]),
        };
        arrays.read.extend(made.map_err(|fault| fault.at(path, &name))?);
    }
    Ok(arrays)
}

/// Quantiles in the order of their levels, and the levels.
fn quantiles(columns: Vec<Column>) -> Result<Vec<(String, Array)>, Fault> {
    let level = |column: &Column| match column.place.at {
        At::Level(level) => level,
        At::Numbers(_) => f64::NAN,
    };
    let mut columns = columns;
    columns.sort_by(|a, b| level(a).total_cmp(&level(b)));
    let levels: Vec<f64> = columns.iter().map(level).collect();
    let rows = columns[0].values.len();
    let values = columns.iter().flat_map(|column| &column.values).copied().collect();
    Ok(vec![
        ("quantiles".to_string(), floats(values, &[levels.len(), rows])?),
        ("levels".to_string(), floats(levels, &[columns.len()])?),
    ])
}

/// Columns with numbers behind their names: classes run fastest, then examples, then members.
fn numbered(name: &str, mut columns: Vec<Column>) -> Result<Array, Fault> {
    let numbers = |column: &Column| match &column.place.at {
        At::Numbers(numbers) => numbers.clone(),
        At::Level(_) => Vec::new(),
    };
    columns.sort_by_key(numbers);
    let (first, last) = (numbers(&columns[0]), numbers(&columns[columns.len() - 1]));
    let axes: Vec<usize> = last.iter().map(|n| n.saturating_add(1)).collect();
    complete(name, &columns.iter().map(numbers).collect::<Vec<_>>(), &axes)?;
    let rows = columns[0].values.len();
    if first.is_empty() {
        if columns.len() > 1 {
            return Err(Fault::new("two columns stand for it", "leave one of them"));
        }
        return one_per_example(name, columns.remove(0).values);
    }
    let by_class = ["logits", "log_probs", "probs", "labels"].contains(&name);
    match (axes[..].len(), by_class) {
        (1, false) => {
            let values = columns.iter().flat_map(|column| &column.values).copied().collect();
            floats(values, &[axes[0], rows])
        }
        (1, true) => floats(side_by_side(&columns, rows), &[rows, axes[0]]),
        _ => {
            let members = columns.chunks(axes[1]);
            let values = members.flat_map(|member| side_by_side(member, rows)).collect();
            floats(values, &[axes[0], rows, axes[1]])
        }
    }
}

/// The numbers of the first example in all columns, then those of the second, and so on.
fn side_by_side(columns: &[Column], rows: usize) -> Vec<f64> {
    (0..rows).flat_map(|row| columns.iter().map(move |column| column.values[row])).collect()
}

/// Checks that every column up to the last is there once.
fn complete(name: &str, found: &[Vec<usize>], axes: &[usize]) -> Result<(), Fault> {
    let shown = |numbers: &[usize]| {
        let numbers = numbers.iter().map(|n| format!(".{n}"));
        format!("`{name}{}`", numbers.collect::<String>())
    };
    let mut expected = vec![0; axes.len()];
    for numbers in found {
        if *numbers != expected {
            let missing = shown(&expected);
            return Err(Fault::new(
                format!("column {} where {missing} is expected", shown(numbers)),
                "number the columns from 0 and leave none out: probs.0, probs.1, ...",
            ));
        }
        for (place, axis) in expected.iter_mut().zip(axes).rev() {
            *place += 1;
            if *place < *axis {
                break;
            }
            *place = 0;
        }
    }
    Ok(())
}

fn one_per_example(name: &str, values: Vec<f64>) -> Result<Array, Fault> {
    if name != "labels" && !name.starts_with("groups") {
        let rows = values.len();
        return floats(values, &[rows]);
    }
    let whole = |x: f64| (x.fract() == 0.0 && x.abs() < 2_f64.powi(53)).then_some(x as i64);
    let integers: Result<Vec<i64>, usize> =
        values.iter().enumerate().map(|(row, &x)| whole(x).ok_or(row)).collect();
    let integers = integers.map_err(|row| {
        let what = format!("{} at example {row}, where integers are needed", values[row]);
        Fault::new(what, "give whole numbers")
    })?;
    let bytes = integers.iter().flat_map(|x| x.to_le_bytes()).collect();
    let dtype = Dtype::Integer(Integer::I64, Endian::Little);
    Array::in_memory(bytes, dtype, &[integers.len()])
}

fn floats(values: Vec<f64>, shape: &[usize]) -> Result<Array, Fault> {
    let bytes = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    Array::in_memory(bytes, Dtype::Float(Float::F64, Endian::Little), shape)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_found_in_singular_and_plural_with_dots_and_underscores() {
        let place = |array: &str, numbers: &[usize]| {
            Some(Place { array: array.to_string(), at: At::Numbers(numbers.to_vec()) })
        };
        assert_eq!(Place::of("Label"), place("labels", &[]));
        assert_eq!(Place::of("prob_3"), place("probs", &[3]));
        assert_eq!(Place::of("log_probs.1.2"), place("log_probs", &[1, 2]));
        assert_eq!(Place::of("log_prob_2"), place("log_probs", &[2]));
        assert_eq!(Place::of("group.Region"), place("groups.Region", &[]));
        assert_eq!(Place::of("mean"), place("mean", &[]));
        let level = Place { array: "quantiles".to_string(), at: At::Level(0.05) };
        assert_eq!(Place::of("quantile_0.05"), Some(level));
        for other in ["id", "prob_cat", "means_to_an_end", "probs.1.2.3", "levels", ""] {
            assert_eq!(Place::of(other), None, "{other}");
        }
    }
}

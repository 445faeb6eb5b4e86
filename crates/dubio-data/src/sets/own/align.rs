//! The features of one table in the order of another, so that a network trained on the one may predict the other.

use super::{Card, Own, card, is_own};
use crate::dataset::{Dataset, Inputs};
use crate::error::Error;

/// Checks that a network trained on one table of a user can predict another: the same columns, in any order, and
/// no category that is not in the training table, unless `unknown=ignore` says so. Returns whether the two were
/// compared: only tables have names of features.
pub fn same_features(train: &str, other: &str) -> Result<bool, Error> {
    places(train, other).map(|places| places.is_some())
}

/// The data of another table with the features of the training table. A category that the other table lacks
/// is a column of zeros; with `unknown=ignore`, one that the training table lacks is in none of the columns.
pub fn aligned(train: &str, other: &str, mut data: Dataset) -> Result<Dataset, Error> {
    let Some(places) = places(train, other)? else { return Ok(data) };
    if let Inputs::Features { width, values } = &mut data.inputs {
        let row = |row: &[f64]| -> Vec<f64> {
            places.iter().map(|place| place.map_or(0.0, |place| row[place])).collect()
        };
        *values = values.chunks_exact(*width).flat_map(row).collect();
        *width = places.len();
    }
    Ok(data)
}

/// The place of each feature of the training table in the other table, `None` for a category that it lacks.
/// Returns `None` if one of the two is not a table of a user: arrays have no names of features.
fn places(train: &str, other: &str) -> Result<Option<Vec<Option<usize>>>, Error> {
    if !is_own(train) || !is_own(other) {
        return Ok(None);
    }
    let (a, b) = (Own::parse(train)?, Own::parse(other)?);
    let ignored = [&a, &b].iter().any(|own| own.get("unknown") == Some("ignore"));
    let (a, b) = (card(&a)?, card(&b)?);
    if a.seen.features.is_empty() || b.seen.features.is_empty() {
        return Ok(None);
    }
    same_columns(train, other, &a, &b)?;
    if !ignored {
        known_categories(train, other, &a, &b)?;
    }
    let place = |name: &String| b.seen.features.iter().position(|found| found == name);
    Ok(Some(a.seen.features.iter().map(place).collect()))
}

/// Columns of a table, before categories are one-hot encoded, and whether each has categories.
fn columns(card: &Card) -> Vec<(&str, bool)> {
    let one_hot = |feature: &str| {
        let of = |column: &&String| {
            feature.strip_prefix(&column[..]).is_some_and(|rest| rest.starts_with('='))
        };
        // The longest match: one column may be called `a`, another `a=b`.
        card.seen.one_hot.keys().filter(of).max_by_key(|column| column.len())
    };
    let mut all: Vec<(&str, bool)> = Vec::new();
    for feature in &card.seen.features {
        let column = one_hot(feature).map_or((&feature[..], false), |column| (&column[..], true));
        if all.last() != Some(&column) {
            all.push(column);
        }
    }
    all
}

fn same_columns(train: &str, other: &str, a: &Card, b: &Card) -> Result<(), Error> {
    let (a, b) = (columns(a), columns(b));
    let lacks = |all: &[(&str, bool)], name: &str| !all.iter().any(|(found, _)| *found == name);
    let kind = |categories: bool| if categories { "categories" } else { "numbers" };
    let mut wrong = Vec::new();
    for &(name, categories) in &a {
        match b.iter().find(|(found, _)| *found == name) {
            None => wrong.push(format!("no feature `{name}`, which {train} has")),
            Some((_, found)) if *found != categories => {
                let (found, expected) = (kind(*found), kind(categories));
                wrong.push(format!("feature `{name}` has {found}, where {train} has {expected}"));
            }
            Some(_) => {}
        }
    }
    let more = b.iter().filter(|(name, _)| lacks(&a, name));
    wrong.extend(more.map(|(name, _)| format!("feature `{name}`, which {train} lacks")));
    let advice = "give both files the same columns, with the same options `ignore` and `categories`; give \
                  target=none where an OOD table has no target column";
    refused(other, wrong, advice)
}

fn known_categories(train: &str, other: &str, a: &Card, b: &Card) -> Result<(), Error> {
    let mut wrong = Vec::new();
    for (column, found) in &b.seen.one_hot {
        let known = a.seen.one_hot.get(column).map_or(&[][..], |all| all);
        let unknown: Vec<String> =
            found.iter().filter(|c| !known.contains(c)).map(|c| format!("`{c}`")).collect();
        if !unknown.is_empty() {
            let unknown = unknown.join(", ");
            wrong.push(format!("column `{column}` has {unknown}, which {train} never has there"));
        }
    }
    let advice =
        "give unknown=ignore to encode what is unknown as none of the known categories, all zeros";
    refused(other, wrong, advice)
}

fn refused(other: &str, wrong: Vec<String>, advice: &str) -> Result<(), Error> {
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(Error::new(other, wrong.join("\n  "), advice)),
    }
}

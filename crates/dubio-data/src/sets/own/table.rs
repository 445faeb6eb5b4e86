//! A table of examples: features, a target, perhaps groups and a split. Or a list of images.

use super::columns::{Columns, Content, is_missing, short};
use super::mistakes::Mistakes;
use super::options::Own;
use super::split::{Side, Split};
use super::whole::{Seen, Whole};
use super::{images, target};
use crate::dataset::{Dataset, Inputs};
use crate::error::Error;
use crate::formats::images::numbered;

/// What each column is for.
struct Roles {
    /// `None` for an OOD set without labels.
    target: Option<usize>,
    split: Option<usize>,
    groups: Vec<usize>,
    by: Option<usize>,
    features: Vec<usize>,
    /// Those that are not used because they have no name.
    nameless: Vec<usize>,
}

pub(super) fn read(own: &Own) -> Result<Whole, Error> {
    let mut table = Columns::read(own)?;
    let roles = roles(own, &table)?;
    let named = |&column: &usize| table.names[column].clone();
    let mut seen = Seen {
        kind: "table",
        ignored: roles.nameless.iter().map(|column| format!("{column} (it has no name)")).collect(),
        counting: roles.features.iter().filter(|&&c| table.counts_rows(c)).map(named).collect(),
        ..Seen::default()
    };
    let used: Vec<usize> = roles.features.iter().copied().chain(roles.target).collect();
    if own.get("missing") == Some("drop") {
        seen.dropped = table.drop_rows(|row| used.iter().any(|&c| is_missing(&row[c])));
        if table.rows.is_empty() {
            let advice = "leave out the columns that are mostly missing with `ignore`";
            return Err(Error::new(&own.path, "every row has a missing value", advice));
        }
    }
    let mut mistakes = Mistakes::default();
    refuse_missing(own, &table, &roles, &mut seen, &mut mistakes);
    let answers = match roles.target {
        None => seen.unlabelled(table.rows.len()),
        Some(target) => target::answers(own, &table, target, &mut seen, &mut mistakes),
    };
    let given = roles.split.map(|column| sides(&table, column, &mut mistakes));
    let files = file_column(&table, &roles.features);
    if files.is_none() {
        own.suits("table")?;
    }
    let inputs = match files {
        Some(_) => None,
        None => Some(features(own, &table, &roles.features, &mut seen, &mut mistakes)?),
    };
    mistakes.finish(&own.path)?;
    let inputs = match (inputs, files) {
        (Some(inputs), _) => inputs,
        (None, files) => {
            seen.kind = "images";
            let files: Vec<&str> = table.cells(files.unwrap_or(0)).collect();
            Inputs::Images(images::listed(own, &files)?)
        }
    };
    let numbers = |column: usize| numbered(&table.cells(column).collect::<Vec<_>>());
    let groups = roles.groups.iter().map(|&c| (table.names[c].clone(), numbers(c))).collect();
    let by = roles.by.map(numbers);
    Ok(Whole { data: Dataset { inputs, answers, groups }, given, by, seen })
}

fn roles(own: &Own, table: &Columns<'_>) -> Result<Roles, Error> {
    let find = |option| own.get(option).map(|name| table.find(name)).transpose();
    let is_split = |&column: &usize| {
        table.names[column] == "split" && table.cells(column).all(|cell| side(cell).is_some())
    };
    // A split that was asked for takes precedence over the one in the file.
    let asked = ["test", "folds", "by"].iter().any(|option| own.get(option).is_some());
    let own_split = (0..table.names.len()).find(is_split).filter(|_| !asked);
    let split = find("split")?.or(own_split);
    let (groups, by) = (table.find_all(own, "group")?, find("by")?);
    let ignored = table.find_all(own, "ignore")?;
    let is_free = |column: &usize| {
        ![split, by].contains(&Some(*column))
            && !groups.contains(column)
            && !ignored.contains(column)
            && table.names[*column] != "split"
            && !table.is_nameless(*column)
    };
    let usual = ["target", "label", "y", "class"];
    let usual = usual.iter().find_map(|name| table.names.iter().position(|found| found == name));
    // A column may be called `none`.
    let is_unlabelled = own.is_unlabelled() && !table.names.iter().any(|name| name == "none");
    let target = match is_unlabelled {
        true => None,
        false => find("target")?.or(usual).or((0..table.names.len()).rfind(is_free)),
    };
    let other = |column: &usize| is_free(column) && target != Some(*column);
    let features: Vec<usize> = (0..table.names.len()).filter(other).collect();
    if features.is_empty() {
        let what = "no column is left to predict from";
        return Err(Error::new(&own.path, what, "check target, group, split and ignore"));
    }
    let used = groups.iter().chain([&target, &split, &by].into_iter().flatten()).copied();
    let used: Vec<usize> = used.chain(ignored).collect();
    let nameless = (0..table.names.len()).filter(|&column| table.is_nameless(column));
    let nameless = nameless.filter(|column| !used.contains(column)).collect();
    Ok(Roles { target, split, groups, by, features, nameless })
}

/// A missing target is always a mistake; a missing feature is, unless it is to be filled in.
fn refuse_missing(
    own: &Own,
    table: &Columns<'_>,
    roles: &Roles,
    seen: &mut Seen,
    mistakes: &mut Mistakes,
) {
    let filled = matches!(own.get("missing"), Some("mean" | "median"));
    for &column in roles.features.iter().chain(&roles.target) {
        let missing = table.cells(column).zip(&table.lines).filter(|(cell, _)| is_missing(cell));
        let name = &table.names[column];
        let mut count = 0;
        for (cell, &line) in missing {
            count += 1;
            if Some(column) == roles.target {
                let what = format!("{:?}: the target `{name}` is missing", short(cell));
                mistakes.add(line, column + 1, what, "remove the row, or give missing=drop");
            } else if !filled {
                let what = format!("{:?}: no value in column `{name}`", short(cell));
                let advice = "fill it in, or give missing=mean, missing=median or missing=drop";
                mistakes.add(line, column + 1, what, advice);
            }
        }
        if count > 0 {
            seen.missing.insert(name.clone(), count);
        }
    }
}

/// Numbers as they are, categories one-hot.
fn features(
    own: &Own,
    table: &Columns<'_>,
    columns: &[usize],
    seen: &mut Seen,
    mistakes: &mut Mistakes,
) -> Result<Inputs, Error> {
    let forced = table.find_all(own, "categories")?;
    let mut encoded: Vec<Vec<f64>> = Vec::new();
    for &column in columns {
        let name = &table.names[column];
        match table.content(column, forced.contains(&column), mistakes) {
            Content::Numbers(values) => {
                seen.features.push(name.clone());
                encoded.push(values);
            }
            Content::Categories(categories, rows) => {
                for (place, category) in categories.iter().enumerate() {
                    seen.features.push(format!("{name}={category}"));
                    let one = |row: &Option<usize>| {
                        row.map_or(f64::NAN, |found| f64::from(u8::from(found == place)))
                    };
                    encoded.push(rows.iter().map(one).collect());
                }
                seen.one_hot.insert(name.clone(), categories);
            }
        }
    }
    let (width, rows) = (encoded.len(), table.rows.len());
    let values = (0..rows).flat_map(|row| encoded.iter().map(move |column| column[row])).collect();
    Ok(Inputs::Features { width, values })
}

/// The column of a list of images: the first feature whose first ten cells all name image files.
fn file_column(table: &Columns<'_>, features: &[usize]) -> Option<usize> {
    let names_images = |column: &&usize| table.cells(**column).take(10).all(images::is_image_name);
    features.iter().find(names_images).copied()
}

fn sides(table: &Columns<'_>, column: usize, mistakes: &mut Mistakes) -> Split {
    let each = table.cells(column).zip(&table.lines).map(|(cell, &line)| {
        side(cell).unwrap_or_else(|| {
            let what = format!("{:?} in column `{}`", short(cell), table.names[column]);
            mistakes.add(line, column + 1, what, "the column of a split says `train` or `test`");
            Side::Train
        })
    });
    let sides = each.collect();
    Split { sides, how: format!("by the column `{}`", table.names[column]) }
}

fn side(cell: &str) -> Option<Side> {
    match &cell.to_ascii_lowercase()[..] {
        "train" | "training" => Some(Side::Train),
        "test" | "testing" => Some(Side::Test),
        _ => None,
    }
}

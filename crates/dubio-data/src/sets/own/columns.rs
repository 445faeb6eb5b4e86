//! The columns of a table: what each is for, and what is in it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use dubio_predictions::{TextTable, read_text_table};
use dubio_words::{nearest, unknown};

use super::mistakes::Mistakes;
use super::options::Own;
use crate::error::Error;

/// Largest number of categories in one column.
const MOST_CATEGORIES: usize = 1000;

/// A table with named columns whose rows all have the same length.
pub(super) struct Columns<'a> {
    pub(super) path: &'a Path,
    pub(super) names: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
    pub(super) lines: Vec<u64>,
}

/// What is in a column.
pub(super) enum Content {
    /// Numbers; NaN where one is missing.
    Numbers(Vec<f64>),
    /// Categories in order, and which each row has; `None` where it is missing.
    Categories(Vec<String>, Vec<Option<usize>>),
}

impl<'a> Columns<'a> {
    pub(super) fn read(own: &'a Own) -> Result<Self, Error> {
        let path = &own.path;
        let TextTable { first, mut rows, mut lines } =
            read_text_table(path).map_err(Error::from)?;
        let has_header = match own.get("header") {
            Some(given) => given == "yes",
            None => !first.iter().any(|cell| cell.parse::<f64>().is_ok()),
        };
        let width = first.len();
        let names = match has_header {
            true => first,
            false => {
                rows.insert(0, first);
                lines.insert(0, 1);
                (0..width).map(|index| index.to_string()).collect()
            }
        };
        let mut mistakes = Mistakes::default();
        for (row, &line) in rows.iter().zip(&lines).filter(|(row, _)| row.len() != width) {
            let what = format!("{} cells, where {width} are expected", row.len());
            let advice = "give every line as many cells; put quotes around text with separators";
            mistakes.add(line, row.len().min(width) + 1, what, advice);
        }
        let mut seen = BTreeMap::new();
        for (index, name) in names.iter().enumerate() {
            if let Some(before) = seen.insert(name, index) {
                let what = format!("column `{name}` has the name of column {before}");
                mistakes.add(1, index + 1, what, "give every column its own name");
            }
        }
        mistakes.finish(path)?;
        if rows.is_empty() {
            return Err(Error::new(path, "there is no row in it", "add the examples"));
        }
        Ok(Self { path, names, rows, lines })
    }

    /// The column with this name or, where none has it, this number.
    pub(super) fn find(&self, text: &str) -> Result<usize, Error> {
        let named = self.names.iter().position(|name| name == text);
        let numbered = || text.parse().ok().filter(|&index: &usize| index < self.names.len());
        named.or_else(numbered).ok_or_else(|| {
            let names = self.names.iter().map(String::as_str);
            let what = match nearest(text, names.clone()) {
                None if self.names.len() > 20 => format!("no column is called `{text}`"),
                _ => unknown("column", text, names),
            };
            Error::new(self.path, what, "name a column, or give its number from 0")
        })
    }

    pub(super) fn find_all(&self, own: &Own, option: &str) -> Result<Vec<usize>, Error> {
        own.columns(option).into_iter().map(|name| self.find(name)).collect()
    }

    pub(super) fn cells(&self, column: usize) -> impl Iterator<Item = &str> + Clone {
        self.rows.iter().map(move |row| &row[column][..])
    }

    /// Whether a column has no name: what pandas writes of an index, calls `Unnamed: 0` when it has read it from a CSV
    /// file, and `__index_level_0__` in a Parquet file.
    pub(super) fn is_nameless(&self, column: usize) -> bool {
        let name = &self.names[column];
        name.is_empty() || name.starts_with("Unnamed: ") || name.starts_with("__index_level_")
    }

    /// Whether a column counts the rows: whole numbers, each one more than that of the row before.
    pub(super) fn counts_rows(&self, column: usize) -> bool {
        let numbers = self.cells(column).map(|cell| cell.parse::<i64>());
        let following = numbers.clone().skip(1);
        let mut pairs = numbers.zip(following);
        self.rows.len() > 2
            && pairs.all(|pair| matches!(pair, (Ok(a), Ok(b)) if b.checked_sub(a) == Some(1)))
    }

    /// Drops the rows for which `drop` is true; returns their number.
    pub(super) fn drop_rows(&mut self, drop: impl Fn(&[String]) -> bool) -> usize {
        let before = self.rows.len();
        let rows = std::mem::take(&mut self.rows).into_iter().zip(std::mem::take(&mut self.lines));
        (self.rows, self.lines) = rows.filter(|(row, _)| !drop(row)).unzip();
        before - self.rows.len()
    }

    /// What is in a column. A column of text is one of categories; a few cells of text among numbers
    /// (up to one in ten) are mistakes.
    pub(super) fn content(
        &self,
        column: usize,
        categories: bool,
        mistakes: &mut Mistakes,
    ) -> Content {
        let known = || self.cells(column).filter(|cell| !is_missing(cell));
        let count = known().count();
        let mostly = |number: fn(&str) -> bool| {
            known().filter(|cell| number(cell)).count() * 10 >= count * 9
        };
        if categories || !mostly(|cell| is_number(cell) || has_comma(cell)) {
            return self.categories(column, mistakes);
        }
        let name = &self.names[column];
        let cells = || self.cells(column).zip(&self.lines);
        let mut with_commas = cells().filter(|(cell, _)| has_comma(cell));
        if let Some((cell, &line)) = with_commas.next() {
            let more = match with_commas.count() {
                0 => String::new(),
                count => format!("; {count} more like it"),
            };
            let what = format!("{:?} in column `{name}` has a comma{more}", short(cell));
            let advice = "write a decimal point, and no thousands separators; or name the column in `categories`";
            mistakes.add(line, column + 1, what, advice);
        }
        let each = cells().map(|(cell, &line)| match cell.parse::<f64>() {
            _ if is_missing(cell) || has_comma(cell) => f64::NAN,
            Ok(value) if value.is_finite() => value,
            _ => {
                let what = format!("{:?} in column `{name}` is not a finite number", short(cell));
                let advice = "correct the cell, or name the column in `categories` or `ignore`";
                mistakes.add(line, column + 1, what, advice);
                f64::NAN
            }
        });
        Content::Numbers(each.collect())
    }

    fn categories(&self, column: usize, mistakes: &mut Mistakes) -> Content {
        let distinct: BTreeSet<&str> = self.cells(column).filter(|c| !is_missing(c)).collect();
        let count = distinct.len();
        if count > MOST_CATEGORIES || (count > 20 && 2 * count > self.rows.len()) {
            let name = &self.names[column];
            let example = distinct.first().map_or("", |text| *text);
            let what = format!(
                "column `{name}` has {count} different texts, such as {:?}",
                short(example)
            );
            mistakes.add(1, column + 1, what, "leave such columns out with `ignore`");
        }
        let place: BTreeMap<&str, usize> = distinct.iter().copied().zip(0..).collect();
        let rows = self.cells(column).map(|cell| place.get(cell).copied()).collect();
        Content::Categories(distinct.into_iter().map(String::from).collect(), rows)
    }
}

/// Whether a cell stands for a missing value.
pub(super) fn is_missing(cell: &str) -> bool {
    ["", "na", "n/a", "nan", "null", "none", "?"].contains(&&cell.to_ascii_lowercase()[..])
}

fn is_number(cell: &str) -> bool {
    cell.parse::<f64>().is_ok()
}

/// Whether a cell would be a number without its commas.
fn has_comma(cell: &str) -> bool {
    cell.contains(',') && is_number(&cell.replace(',', ""))
}

/// The beginning of a cell, for messages.
pub(super) fn short(cell: &str) -> String {
    cell.chars().take(24).collect()
}

/// Values of a column that are not missing, and how often each is there.
pub(super) fn tally<'a>(cells: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, usize> {
    let mut counts = BTreeMap::new();
    cells.filter(|cell| !is_missing(cell)).for_each(|cell| *counts.entry(cell).or_default() += 1);
    counts
}

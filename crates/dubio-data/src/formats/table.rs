//! Tables of numbers as text: one row a line, columns split by commas, semicolons or white space.
//!
//! A first line without any number or empty cell is taken as the names of the columns.
//! Empty lines are passed over. What is missing or not finite is refused, with line and column:
//! a gap is for the user to fill, not for a reader to guess.

use std::path::Path;

use crate::error::Error;

/// Rows of numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Names of the columns, if the file has them.
    pub names: Option<Vec<String>>,
    /// Numbers per row.
    pub width: usize,
    /// Row after row.
    pub values: Vec<f64>,
}

impl Table {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.values.len() / self.width
    }

    /// One row.
    pub fn row(&self, index: usize) -> &[f64] {
        &self.values[index * self.width..(index + 1) * self.width]
    }
}

/// Reads a table.
pub fn read(path: &Path, bytes: &[u8]) -> Result<Table, Error> {
    let mut table = Table { names: None, width: 0, values: Vec::new() };
    let separator = separator(bytes);
    for (number, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        let line = text(path, line, number)?.trim();
        if line.is_empty() {
            continue;
        }
        if table.width == 0 && table.names.is_none() && is_header(line, separator) {
            let names: Vec<String> =
                cells(line, separator).map(|name| unquoted(name).into()).collect();
            table.names = Some(names);
            continue;
        }
        let before = table.values.len();
        for (column, cell) in cells(line, separator).enumerate() {
            table.values.push(value(path, cell, number, column)?);
        }
        let width = table.values.len() - before;
        if table.width == 0 {
            table.width = width;
        }
        if width != table.width {
            let what = format!("line {} has {width} columns, not {}", number + 1, table.width);
            return Err(Error::new(path, what, "every row must have the same number of columns"));
        }
    }
    let named = table.names.as_ref().map(Vec::len);
    if table.values.is_empty() {
        return Err(Error::new(path, "no row of numbers in it", "is it the right file?"));
    }
    if named.is_some_and(|names| names != table.width) {
        let what = format!("{} names for {} columns", named.unwrap_or(0), table.width);
        return Err(Error::new(path, what, "name every column, or leave the names out"));
    }
    Ok(table)
}

/// Reads whole numbers below `limit`, one or several a line, as in lists of rows or columns;
/// `3.000e+00` counts as whole.
pub fn read_indices(path: &Path, bytes: &[u8], limit: usize) -> Result<Vec<u32>, Error> {
    let mut indices = Vec::new();
    for (number, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        for cell in text(path, line, number)?.split_ascii_whitespace() {
            let whole = value(path, cell, number, indices.len())?;
            if whole < 0.0 || whole >= limit as f64 || whole.fract() != 0.0 {
                let what =
                    format!("index {cell} in line {} is not one of 0 to {}", number + 1, limit - 1);
                return Err(Error::new(path, what, "does the list belong to this table?"));
            }
            indices.push(whole as u32);
        }
    }
    if indices.is_empty() {
        return Err(Error::new(path, "no index in it", "is it the right file?"));
    }
    Ok(indices)
}

/// What splits the columns: the first comma or semicolon of the file, else white space.
fn separator(bytes: &[u8]) -> Option<char> {
    bytes.iter().find(|byte| matches!(byte, b',' | b';')).map(|&byte| char::from(byte))
}

fn cells(line: &str, separator: Option<char>) -> impl Iterator<Item = &str> {
    let split: Box<dyn Iterator<Item = &str>> = match separator {
        Some(separator) => Box::new(line.split(separator).map(str::trim)),
        None => Box::new(line.split_ascii_whitespace()),
    };
    split
}

/// Whether every cell of a line is a word: neither a number nor empty.
fn is_header(line: &str, separator: Option<char>) -> bool {
    let word = |cell: &str| !cell.is_empty() && cell.parse::<f64>().is_err();
    cells(line, separator).all(word)
}

fn unquoted(name: &str) -> &str {
    name.strip_prefix('"').and_then(|name| name.strip_suffix('"')).unwrap_or(name)
}

fn text<'a>(path: &Path, line: &'a [u8], number: usize) -> Result<&'a str, Error> {
    std::str::from_utf8(line).map_err(|_| {
        Error::new(path, format!("line {} is no text", number + 1), "a table is plain text (UTF-8)")
    })
}

fn value(path: &Path, cell: &str, line: usize, column: usize) -> Result<f64, Error> {
    let parsed = cell.parse().ok().filter(|value: &f64| value.is_finite());
    parsed.ok_or_else(|| {
        let shown: String = cell.chars().take(24).collect();
        let (line, column) = (line + 1, column + 1);
        let what = format!("{shown:?} in line {line}, column {column} is not a finite number");
        Error::new(path, what, "fill the gap or drop the row; nothing is guessed")
    })
}

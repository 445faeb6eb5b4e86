//! A text table: a line of column names, then a line for each example.

use std::io::BufReader;
use std::path::Path;

use csv::{ReaderBuilder, Trim};

use crate::Arrays;
use crate::bytes::{Bytes, Reader};
use crate::error::Error;
use crate::lines::{Newlines, records};
use crate::table::{Column, Place, arrays};
use crate::text_table::TextTable;

/// Reads the columns that are predictions; the others may hold any text.
pub(crate) fn read(path: &Path, bytes: &Bytes, separator: u8) -> Result<Arrays, Error> {
    let unreadable = |e| unreadable(path, e);
    let mut reader = builder(separator).from_reader(text(bytes));
    let names: Vec<String> = reader.headers().map_err(unreadable)?.iter().map(plain).collect();
    let mut columns: Vec<(usize, Column)> = Vec::new();
    let mut others = Vec::new();
    for (index, name) in names.iter().enumerate() {
        match Place::of(name) {
            Some(place) => columns.push((index, Column { place, values: Vec::new() })),
            None => others.push(name.clone()),
        }
    }
    for record in records(&mut reader) {
        let (line, record) = record.map_err(unreadable)?;
        for (index, column) in &mut columns {
            let text = record.get(*index).unwrap_or_default();
            let value = text.parse().map_err(|_| {
                let what =
                    format!("line {line}, column `{}`: `{text}` is not a number", names[*index]);
                Error::file(path, what, "give a number in every line")
            })?;
            column.values.push(value);
        }
    }
    if columns.iter().any(|(_, column)| column.values.is_empty()) {
        return Err(Error::file(
            path,
            "there is no line below the column names",
            "add the examples",
        ));
    }
    arrays(path, columns.into_iter().map(|(_, column)| column).collect(), others)
}

/// Every cell as text. Rows may differ in length: the caller says which are wrong.
pub(crate) fn cells(path: &Path, bytes: &Bytes, separator: u8) -> Result<TextTable, Error> {
    let mut builder = builder(separator);
    let mut reader = builder.flexible(true).has_headers(false).from_reader(text(bytes));
    let mut table = TextTable::default();
    for record in records(&mut reader) {
        let (line, record) = record.map_err(|e| unreadable(path, e))?;
        let cells: Vec<String> = record.iter().map(plain).collect();
        if table.first.is_empty() {
            table.first = cells;
        } else {
            table.rows.push(cells);
            table.lines.push(line);
        }
    }
    match table.first.is_empty() {
        true => Err(Error::file(path, "it is empty", "give a line for each example")),
        false => Ok(table),
    }
}

fn text(bytes: &Bytes) -> Newlines<BufReader<Reader>> {
    Newlines::new(BufReader::new(bytes.reader()))
}

fn builder(separator: u8) -> ReaderBuilder {
    let mut builder = ReaderBuilder::new();
    builder.delimiter(separator).trim(Trim::All);
    builder
}

fn unreadable(path: &Path, error: csv::Error) -> Error {
    let advice = "a line of column names, then as many values in every line";
    Error::file(path, format!("not a readable table: {error}"), advice)
}

/// The name without the byte order mark that some programs put at the beginning of a file.
fn plain(name: &str) -> String {
    name.trim_start_matches('\u{feff}').to_string()
}

//! A text table: a line of column names, then a line for each example.

use std::io::{self, BufRead, BufReader};
use std::path::Path;

use crate::Arrays;
use crate::bytes::Bytes;
use crate::error::Error;
use crate::lines::{Newlines, records, table};
use crate::table::{Column, Place, arrays};
use crate::text_table::TextTable;

/// Reads the columns that are predictions; the others may hold any text.
pub(crate) fn read(path: &Path, bytes: &Bytes, usual: u8) -> Result<Arrays, Error> {
    let unreadable = |e| unreadable(path, bytes, &e);
    let (builder, text) = table(bytes.reader(), usual).map_err(|e| Error::io(path, &e))?;
    let mut reader = builder.from_reader(text);
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
                let name = &names[*index];
                let what = format!("line {line}, column `{name}`: `{text}` is not a number");
                Error::file(path, what, advice(name, text))
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
pub(crate) fn cells(path: &Path, bytes: &Bytes, usual: u8) -> Result<TextTable, Error> {
    let (mut builder, text) = table(bytes.reader(), usual).map_err(|e| Error::io(path, &e))?;
    let mut reader = builder.flexible(true).has_headers(false).from_reader(text);
    let mut found = TextTable::default();
    for record in records(&mut reader) {
        let (line, record) = record.map_err(|e| unreadable(path, bytes, &e))?;
        let cells: Vec<String> = record.iter().map(plain).collect();
        if found.first.is_empty() {
            found.first = cells;
        } else {
            found.rows.push(cells);
            found.lines.push(line);
        }
    }
    match found.first.is_empty() {
        true => Err(Error::file(path, "it is empty", "give a line for each example")),
        false => Ok(found),
    }
}

/// What to do about text where a number is expected.
fn advice(column: &str, text: &str) -> &'static str {
    match column {
        "label" | "labels" if !text.is_empty() => "number the classes from 0",
        _ if text.contains(',') => "write a decimal point, and no thousands separators",
        _ => "give a number in every line",
    }
}

fn unreadable(path: &Path, bytes: &Bytes, error: &csv::Error) -> Error {
    if matches!(error.kind(), csv::ErrorKind::Utf8 { .. })
        && let Ok(Some(line)) = not_utf8(bytes)
    {
        let advice = "save the table as UTF-8, for example with `iconv -f latin1 -t utf-8` or `iconv -f utf-16 -t utf-8`";
        return Error::file(path, format!("line {line} is not UTF-8 text"), advice);
    }
    let advice = "a line of column names, then as many values in every line";
    Error::file(path, format!("not a readable table: {error}"), advice)
}

/// The first line that is not UTF-8, counted from 1.
fn not_utf8(bytes: &Bytes) -> io::Result<Option<usize>> {
    for (line, found) in BufReader::new(Newlines::new(bytes.reader())).split(b'\n').enumerate() {
        if std::str::from_utf8(&found?).is_err() {
            return Ok(Some(line + 1));
        }
    }
    Ok(None)
}

/// The name without the byte order mark that some programs put at the beginning of a file.
fn plain(name: &str) -> String {
    name.trim_start_matches('\u{feff}').to_string()
}

//! A table as text, cell by cell, for readers that decide themselves what a column means.

use std::path::Path;

use crate::bytes::Bytes;
use crate::error::Error;
use crate::format::Format;
use crate::{csv, parquet};

/// Rows of text with the line that each stands in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TextTable {
    /// The cells of a file's first line, or the column names of a Parquet file.
    pub first: Vec<String>,
    /// The other rows; they may differ in length.
    pub rows: Vec<Vec<String>>,
    /// Line of each row, counted from 1; of a Parquet file, its number.
    pub lines: Vec<u64>,
}

/// Reads a `.csv`, `.tsv` or `.parquet` file. Cells are trimmed; an empty one is a missing value.
pub fn read_text_table(path: &Path) -> Result<TextTable, Error> {
    let bytes = Bytes::open(path).map_err(|e| Error::io(path, &e))?;
    match Format::by_name(path)? {
        Format::Text(separator) => csv::cells(path, &bytes, separator),
        Format::Parquet => parquet::cells(path, &bytes),
        _ => Err(Error::file(path, "this is not a table", "tables are .csv, .tsv or .parquet")),
    }
}

//! Reads a table as text, in the format that its name promises.

use std::path::Path;

use crate::bytes::Bytes;
use crate::error::Error;
use crate::format::Format;
use crate::text_table::TextTable;
use crate::{csv, parquet};

/// Refuses a file whose name promises no format that is read, and says how to convert it.
pub fn check_name(path: &Path) -> Result<(), Error> {
    Format::by_name(path).map(|_| ())
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

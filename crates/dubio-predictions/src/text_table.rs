//! A table as text, cell by cell, for readers that decide themselves what a column means.

/// Rows of text with the line that each stands in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TextTable {
    /// The cells of a file's first line, or the column names of a Parquet file.
    pub first: Vec<String>,
    /// The other rows; they may differ in length.
    pub rows: Vec<Vec<String>>,
    /// Line of each row, counted from 1; for a Parquet file, the number of the row.
    pub lines: Vec<u64>,
}

//! A Parquet file: named columns. Its reader is a cargo feature, since it is large.

use std::path::Path;

use crate::Arrays;
use crate::bytes::Bytes;
use crate::error::Error;
use crate::text_table::TextTable;

/// Says how to convert the file: this build cannot read it.
#[cfg(not(feature = "parquet"))]
pub(crate) fn read(path: &Path, _: &Bytes) -> Result<Arrays, Error> {
    Err(unsupported(path))
}

/// Says how to convert the file: this build cannot read it.
#[cfg(not(feature = "parquet"))]
pub(crate) fn cells(path: &Path, _: &Bytes) -> Result<TextTable, Error> {
    Err(unsupported(path))
}

#[cfg(not(feature = "parquet"))]
fn unsupported(path: &Path) -> Error {
    let advice = format!(
        "build with `--features parquet`, or convert it:\n    {}",
        crate::format::parquet_to_csv(path)
    );
    Error::file(path, "this build of dubio does not read Parquet", advice)
}

/// Reads the columns that are predictions; the others may hold anything.
#[cfg(feature = "parquet")]
pub(crate) fn read(path: &Path, bytes: &Bytes) -> Result<Arrays, Error> {
    quietly(|| reader::read(path, bytes)).unwrap_or_else(|_| Err(damaged(path)))
}

/// Every cell as text; a null is empty.
#[cfg(feature = "parquet")]
pub(crate) fn cells(path: &Path, bytes: &Bytes) -> Result<TextTable, Error> {
    quietly(|| reader::cells(path, bytes)).unwrap_or_else(|_| Err(damaged(path)))
}

#[cfg(feature = "parquet")]
fn damaged(path: &Path) -> Error {
    Error::file(path, "not a readable Parquet file: it is damaged", "write it again")
}

/// Does work that may panic, without a message: the format's own crate does on some damaged files.
#[cfg(feature = "parquet")]
fn quietly<T>(work: impl FnOnce() -> T) -> std::thread::Result<T> {
    use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
    static ONE_AT_A_TIME: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _hook = ONE_AT_A_TIME.lock();
    let hook = take_hook();
    set_hook(Box::new(|_| ()));
    // Nothing that the work was changing is looked at after a panic.
    let done = catch_unwind(AssertUnwindSafe(work));
    set_hook(hook);
    done
}

#[cfg(feature = "parquet")]
mod reader {
    use std::io::Read;

    use parquet::basic::Compression;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    use super::*;
    use crate::table::{Column, Place, arrays};

    fn unreadable(path: &Path, error: impl std::fmt::Display) -> Error {
        Error::file(path, format!("not a readable Parquet file: {error}"), "write it again")
    }

    fn open(path: &Path, bytes: &Bytes) -> Result<SerializedFileReader<bytes::Bytes>, Error> {
        let mut whole = Vec::new();
        bytes.reader().read_to_end(&mut whole).map_err(|e| Error::io(path, &e))?;
        let file = SerializedFileReader::new(bytes::Bytes::from(whole))
            .map_err(|e| unreadable(path, e))?;
        let columns = file.metadata().row_groups().iter().flat_map(|group| group.columns());
        let read = |codec: &Compression| {
            use Compression::{GZIP, SNAPPY, UNCOMPRESSED, ZSTD};
            matches!(codec, UNCOMPRESSED | SNAPPY | GZIP(_) | ZSTD(_))
        };
        match columns.map(|column| column.compression()).find(|codec| !read(codec)) {
            None => Ok(file),
            Some(codec) => Err(Error::file(
                path,
                format!("compressed with {codec}, which is not read"),
                "write it again with compression=\"snappy\", \"gzip\" or \"zstd\"",
            )),
        }
    }

    fn names(file: &SerializedFileReader<bytes::Bytes>) -> Vec<String> {
        let schema = file.metadata().file_metadata().schema();
        schema.get_fields().iter().map(|field| field.name().to_string()).collect()
    }

    pub(super) fn cells(path: &Path, bytes: &Bytes) -> Result<TextTable, Error> {
        let file = open(path, bytes)?;
        let mut table = TextTable { first: names(&file), ..TextTable::default() };
        for (row, number) in file.get_row_iter(None).map_err(|e| unreadable(path, e))?.zip(1..) {
            let row = row.map_err(|e| unreadable(path, e))?;
            let cell = |(_, field): (&String, &Field)| match (field, number_of(field)) {
                (Field::Null, _) => String::new(),
                (Field::Str(text), _) => text.trim().to_string(),
                (Field::Bool(value), _) => value.to_string(),
                (_, Some(value)) => value.to_string(),
                (other, None) => other.to_string(),
            };
            table.rows.push(row.get_column_iter().map(cell).collect());
            table.lines.push(number);
        }
        Ok(table)
    }

    pub(super) fn read(path: &Path, bytes: &Bytes) -> Result<Arrays, Error> {
        let file = open(path, bytes)?;
        let (mut columns, mut others) = (Vec::new(), Vec::new());
        for (index, name) in names(&file).into_iter().enumerate() {
            match Place::of(&name) {
                Some(place) => columns.push((index, name, Column { place, values: Vec::new() })),
                None => others.push(name),
            }
        }
        for row in file.get_row_iter(None).map_err(|e| unreadable(path, e))? {
            let row = row.map_err(|e| unreadable(path, e))?;
            let fields: Vec<&Field> = row.get_column_iter().map(|(_, field)| field).collect();
            for (index, name, column) in &mut columns {
                let value =
                    fields.get(*index).and_then(|field| number_of(field)).ok_or_else(|| {
                        let what =
                            format!("row {}, column `{name}`: no number", column.values.len());
                        Error::file(
                            path,
                            what,
                            "give a number in every row; lists need a column each",
                        )
                    })?;
                column.values.push(value);
            }
        }
        if columns.iter().any(|(_, _, column)| column.values.is_empty()) {
            return Err(Error::file(path, "there is no row in it", "add the examples"));
        }
        arrays(path, columns.into_iter().map(|(_, _, column)| column).collect(), others)
    }

    fn number_of(field: &Field) -> Option<f64> {
        Some(match field {
            Field::Bool(x) => f64::from(u8::from(*x)),
            Field::Byte(x) => f64::from(*x),
            Field::Short(x) => f64::from(*x),
            Field::Int(x) => f64::from(*x),
            Field::Long(x) => *x as f64,
            Field::UByte(x) => f64::from(*x),
            Field::UShort(x) => f64::from(*x),
            Field::UInt(x) => f64::from(*x),
            Field::ULong(x) => *x as f64,
            Field::Float16(x) => x.to_f64(),
            Field::Float(x) => f64::from(*x),
            Field::Double(x) => *x,
            _ => return None,
        })
    }
}

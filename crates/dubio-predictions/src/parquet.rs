//! A Parquet file: named columns. Its reader is a cargo feature, since it is large.

use std::path::Path;

use crate::Arrays;
use crate::bytes::Bytes;
use crate::error::Error;

/// Says how to convert the file: this build cannot read it.
#[cfg(not(feature = "parquet"))]
pub(crate) fn read(path: &Path, _: &Bytes) -> Result<Arrays, Error> {
    let advice = format!(
        "build with `--features parquet`, or convert it:\n    {}",
        crate::format::parquet_to_csv(path)
    );
    Err(Error::file(path, "this build of dubio does not read Parquet", advice))
}

/// Reads the columns that are predictions; the others may hold anything.
#[cfg(feature = "parquet")]
pub(crate) fn read(path: &Path, bytes: &Bytes) -> Result<Arrays, Error> {
    quietly(|| reader::read(path, bytes)).unwrap_or_else(|_| {
        Err(Error::file(path, "not a readable Parquet file: it is damaged", "write it again"))
    })
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

    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    use super::*;
    use crate::table::{Column, Place, arrays};

    pub(super) fn read(path: &Path, bytes: &Bytes) -> Result<Arrays, Error> {
        let unreadable = |e: String| {
            Error::file(path, format!("not a readable Parquet file: {e}"), "write it again")
        };
        let mut whole = Vec::new();
        bytes.reader().read_to_end(&mut whole).map_err(|e| Error::io(path, &e))?;
        let file = SerializedFileReader::new(bytes::Bytes::from(whole))
            .map_err(|e| unreadable(e.to_string()))?;
        let schema = file.metadata().file_metadata().schema();
        let names = schema.get_fields().iter().map(|field| field.name().to_string());
        let (mut columns, mut others) = (Vec::new(), Vec::new());
        for (index, name) in names.enumerate() {
            match Place::of(&name) {
                Some(place) => columns.push((index, name, Column { place, values: Vec::new() })),
                None => others.push(name),
            }
        }
        for row in file.get_row_iter(None).map_err(|e| unreadable(e.to_string()))? {
            let row = row.map_err(|e| unreadable(e.to_string()))?;
            let fields: Vec<&Field> = row.get_column_iter().map(|(_, field)| field).collect();
            for (index, name, column) in &mut columns {
                let value =
                    fields.get(*index).and_then(|field| number(field)).ok_or_else(|| {
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

    fn number(field: &Field) -> Option<f64> {
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

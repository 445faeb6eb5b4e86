//! A folder of `.npy` files, one array each.

use std::path::Path;

use crate::Arrays;
use crate::bytes::Bytes;
use crate::error::Error;
use crate::npy::Header;

/// Opens every `.npy` file of a folder; the stem of its name is the array's name.
pub(crate) fn read(path: &Path, wanted: &dyn Fn(&str) -> bool) -> Result<Arrays, Error> {
    let mut arrays = Arrays::default();
    for entry in std::fs::read_dir(path).map_err(|e| Error::io(path, &e))? {
        let file = entry.map_err(|e| Error::io(path, &e))?.path();
        let Some(name) =
            file.file_name().and_then(|n| n.to_str()).and_then(|n| n.strip_suffix(".npy"))
        else {
            continue;
        };
        arrays.note(name, wanted, || {
            let bytes = Bytes::open(&file).map_err(|e| Error::io(&file, &e))?;
            Header::of(&bytes)
                .and_then(|header| header.array(&bytes))
                .map_err(|fault| Error::file(&file, fault.what, fault.advice))
        })?;
    }
    if arrays.read.is_empty() && arrays.unread.is_empty() {
        return Err(Error::file(
            path,
            "no .npy file in this folder",
            "name a folder with logits.npy and labels.npy",
        ));
    }
    Ok(arrays)
}

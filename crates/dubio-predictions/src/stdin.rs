//! Predictions from standard input.

use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::bytes::Bytes;
use crate::error::Error;

/// What messages call standard input.
pub(crate) const NAME: &str = "standard input";

/// All of standard input, which is read once and then kept: some commands open a file twice. It goes to
/// a temporary file, since archives are not read from front to back.
pub(crate) fn read() -> Result<Bytes, Error> {
    static READ: Mutex<Option<Bytes>> = Mutex::new(None);
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    match &*read {
        Some(bytes) => Ok(bytes.clone()),
        None => Ok(read.insert(spooled()?).clone()),
    }
}

fn spooled() -> Result<Bytes, Error> {
    let path = Path::new(NAME);
    let mut stdin = io::stdin().lock();
    let advice = "give it a file: dubio evaluate - < preds.npz";
    if stdin.is_terminal() {
        return Err(Error::file(path, "it is a terminal", advice));
    }
    let spooled = tempfile::tempfile().and_then(|mut file| {
        io::copy(&mut stdin, &mut file)?;
        Bytes::file(file)
    });
    let bytes = spooled.map_err(|e| Error::io(path, &e))?;
    if bytes.len() == 0 {
        return Err(Error::file(path, "it is empty", advice));
    }
    Ok(bytes)
}

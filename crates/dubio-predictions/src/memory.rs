//! Arrays in memory that stand in for a predictions file.
//!
//! Whoever has predictions in memory holds them under a path that no file has, and names that path wherever a
//! predictions file is expected. They are released when the [`Held`] is dropped.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::{Array, Arrays};

type Files = BTreeMap<PathBuf, BTreeMap<String, Array>>;

static FILES: Mutex<Files> = Mutex::new(BTreeMap::new());
static NEXT: AtomicU64 = AtomicU64::new(0);

/// What messages call arrays in memory; a number follows.
pub const NAME: &str = "<arrays ";

/// Arrays under a path of their own.
#[derive(Debug)]
pub struct Held {
    path: PathBuf,
}

/// Holds arrays; their names are those of a predictions file.
pub fn hold(arrays: BTreeMap<String, Array>) -> Held {
    let path = PathBuf::from(format!("{NAME}{}>", NEXT.fetch_add(1, Ordering::Relaxed)));
    files().insert(path.clone(), arrays);
    Held { path }
}

impl Held {
    /// The path that stands for the arrays.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        files().remove(&self.path);
    }
}

fn files() -> std::sync::MutexGuard<'static, Files> {
    FILES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether arrays are held under a path.
pub fn is_held(path: &Path) -> bool {
    files().contains_key(path)
}

/// The wanted arrays that are held under a path.
pub(crate) fn read(path: &Path, wanted: &dyn Fn(&str) -> bool) -> Option<Arrays> {
    let held = files().get(path)?.clone();
    let (read, rest): (BTreeMap<_, _>, BTreeMap<_, _>) =
        held.into_iter().partition(|(name, _)| wanted(name));
    Some(Arrays { read, unread: rest.into_keys().collect() })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{Layout, Predictions, open};

    #[test]
    fn arrays_are_opened_as_a_file_is_until_they_are_let_go_of() {
        let numbers = [0.25_f64, 0.75, 0.5, 0.5];
        let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        let probs = Array::borrowed("probs", Arc::new(bytes), "<f8", &[2, 2], Layout::C).unwrap();
        let held = hold(BTreeMap::from([("probs".to_string(), probs)]));
        let path = held.path().to_path_buf();
        assert!(matches!(open(&path), Ok(Predictions::Classification(_))));
        drop(held);
        assert!(open(&path).is_err());
    }

    #[test]
    fn a_shape_that_does_not_fit_its_bytes_is_refused() {
        let bytes: Arc<Vec<u8>> = Arc::new(vec![0; 12]);
        let wrong = Array::borrowed("probs", bytes.clone(), "<f8", &[2, 2], Layout::C);
        assert!(wrong.unwrap_err().to_string().contains("probs"));
        assert!(Array::borrowed("probs", bytes, "<U3", &[1], Layout::C).is_err());
    }
}

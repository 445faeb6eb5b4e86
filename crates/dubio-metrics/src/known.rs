//! What several scores need of the same examples, worked out for the first of them.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a value that is known of examples depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    /// The predictions, whatever the labels.
    Predictions,
    /// The predictions and these labels.
    Labels,
    /// The predictions and these labels; calibrated scores ask for it again when the plain ones are done.
    Calibration,
}

/// One value of each type. Whoever wants something kept gives it a type of its own, so that nothing
/// here needs to know who that is.
#[derive(Default)]
pub(crate) struct Known(Mutex<Vec<Entry>>);

type Entry = (Of, Arc<dyn Any + Send + Sync>);

impl Known {
    /// The value of this type, worked out first if need be. As in [`remember`](crate::remember), no
    /// thread waits for another, and where two do the same work, the first result is kept.
    pub(crate) fn get<T: Any + Send + Sync>(&self, of: Of, work: impl FnOnce() -> T) -> Arc<T> {
        self.find().unwrap_or_else(|| {
            let made = Arc::new(work());
            let mut entries = self.entries();
            let first = found(&entries);
            first.unwrap_or_else(|| {
                entries.push((of, made.clone()));
                made
            })
        })
    }

    /// The value of this type, if it is known.
    pub(crate) fn find<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        found(&self.entries())
    }

    /// The values that depend on one of `kept`.
    pub(crate) fn only(&self, kept: &[Of]) -> Self {
        let entries = self.entries().iter().filter(|(of, _)| kept.contains(of)).cloned().collect();
        Self(Mutex::new(entries))
    }

    fn entries(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn found<T: Any + Send + Sync>(entries: &[Entry]) -> Option<Arc<T>> {
    entries.iter().find_map(|(_, value)| value.clone().downcast().ok())
}

/// Clones share what is known so far.
impl Clone for Known {
    fn clone(&self) -> Self {
        Self(Mutex::new(self.entries().clone()))
    }
}

impl fmt::Debug for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Known({} values)", self.entries().len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_worked_out_once_and_told_apart_by_its_type() {
        let known = Known::default();
        assert_eq!(*known.get(Of::Labels, || 1_u32), 1);
        assert_eq!(*known.get(Of::Labels, || 2_u32), 1);
        assert_eq!(*known.get(Of::Predictions, || "another type"), "another type");
        assert_eq!(known.find::<u8>(), None);
        // Work that asks for the same is not waited for: its result was first.
        assert_eq!(*known.get(Of::Labels, || *known.get(Of::Labels, || 3_u64) + 1), 3);
    }

    #[test]
    fn clones_share_what_is_known_and_other_labels_keep_what_hangs_on_none() {
        let known = Known::default();
        known.get(Of::Predictions, || 1_u32);
        known.get(Of::Labels, || 2_u64);
        let cloned = known.clone();
        known.get(Of::Calibration, || 3_u8);
        assert_eq!((cloned.find::<u64>().as_deref(), cloned.find::<u8>()), (Some(&2), None));
        let relabelled = known.only(&[Of::Predictions]);
        assert_eq!(relabelled.find::<u32>().as_deref(), Some(&1));
        assert_eq!((relabelled.find::<u64>(), relabelled.find::<u8>()), (None, None));
    }
}

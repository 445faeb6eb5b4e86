//! Chains that are stopped, and what they leave.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dubio_infer::fit::{Checkpoints, Options};
use dubio_progress::Progress;

/// Asks for a stop when it was asked so many times: after so many steps, draws or passes over the data in a draw.
pub struct StopAfter(AtomicUsize);

impl StopAfter {
    pub fn new(steps: usize) -> Self {
        Self(AtomicUsize::new(steps))
    }
}

impl Progress for StopAfter {
    fn should_stop(&self) -> bool {
        let one_less = |left: usize| left.checked_sub(1);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_err()
    }
}

/// Checkpoints of a test in a folder.
pub fn options<'a>(folder: &Path, every: Duration, progress: &'a dyn Progress) -> Options<'a> {
    let (folder, identity) = (folder.to_path_buf(), "a test".to_string());
    Options { progress, checkpoints: Some(Checkpoints { folder, every, identity }) }
}

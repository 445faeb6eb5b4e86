//! What a training shows while it goes on.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use dubio_infer::fit::{Now, Watch};
use dubio_metrics::scorecard::Progress;

use crate::progress::Bar;

/// Progress of all members together, and who may stop it.
pub(crate) struct TrainingBar {
    bar: Bar,
    /// Epochs and draws done by each member.
    done: Mutex<Vec<usize>>,
    stop: &'static AtomicBool,
}

impl TrainingBar {
    pub(crate) fn new(members: usize, stop: &'static AtomicBool) -> Self {
        Self { bar: Bar::new(), done: Mutex::new(vec![0; members]), stop }
    }
}

impl Watch for TrainingBar {
    fn seen(&self, now: &Now) {
        let Ok(mut done) = self.done.lock() else { return };
        if done.iter().all(|&d| d == 0) {
            self.bar.start("training", now.total * done.len());
        }
        let before = std::mem::replace(&mut done[now.member], now.done);
        self.bar.advance(now.done.saturating_sub(before));
    }
    fn stops(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

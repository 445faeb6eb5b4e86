//! Who is told how the work goes.

use dubio_metrics::scorecard::Progress;

/// Whoever wants to know how far the work has come, and what was found on the way.
pub trait Listener: Progress {
    /// Something that the user should know and that is no error.
    fn noted(&self, _text: &str) {}
}

/// Nobody.
pub struct Unheard;

impl Progress for Unheard {
    fn start(&self, _: &'static str, _: usize) {}
    fn advance(&self, _: usize) {}
}

impl Listener for Unheard {}

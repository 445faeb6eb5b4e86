//! Progress reports and cancellation. Every long computation is given a [`Progress`], which receives its progress and may
//! ask it to stop: a bar on a terminal, a worker's pipe, a Python callback.
//!
//! ```
//! use std::sync::atomic::{AtomicUsize, Ordering};
//!
//! use dubio_progress::Progress;
//!
//! #[derive(Default)]
//! struct Count(AtomicUsize);
//!
//! impl Progress for Count {
//!     fn advance(&self, pieces: usize) {
//!         self.0.fetch_add(pieces, Ordering::Relaxed);
//!     }
//! }
//!
//! let count = Count::default();
//! count.advance(3);
//! assert_eq!(count.0.into_inner(), 3);
//! ```

use std::sync::atomic::{AtomicUsize, Ordering};

/// A receiver of progress that may ask work to stop.
pub trait Progress: Sync {
    /// A stage of `total` pieces begins.
    fn start(&self, _stage: &'static str, _total: usize) {}
    /// This many more pieces are done.
    fn advance(&self, _pieces: usize) {}
    /// Something that the user should know and that is not an error.
    fn note(&self, _text: &str) {}
    /// Whether to stop. Work that can be resumed asks before every step.
    fn should_stop(&self) -> bool {
        false
    }
}

/// Ignores all progress and never stops work.
pub struct Silent;

impl Progress for Silent {}

/// Work whose pieces are not counted, but which stops when the whole does.
pub struct Uncounted<'a>(pub &'a dyn Progress);

impl Progress for Uncounted<'_> {
    fn note(&self, text: &str) {
        self.0.note(text);
    }
    fn should_stop(&self) -> bool {
        self.0.should_stop()
    }
}

/// Work that is part of other work: its own pieces, however many, are scaled to a fixed number of the whole's.
pub struct Part<'a> {
    whole: &'a dyn Progress,
    /// Pieces of the whole that this part makes up.
    pieces: usize,
    total: AtomicUsize,
    done: AtomicUsize,
}

impl<'a> Part<'a> {
    /// A part that makes up `pieces` pieces of the whole.
    pub fn new(whole: &'a dyn Progress, pieces: usize) -> Self {
        Self { whole, pieces, total: AtomicUsize::new(1), done: AtomicUsize::new(0) }
    }
}

impl Progress for Part<'_> {
    fn start(&self, _: &'static str, total: usize) {
        self.total.store(total.max(1), Ordering::Relaxed);
        self.done.store(0, Ordering::Relaxed);
    }
    fn advance(&self, pieces: usize) {
        let total = self.total.load(Ordering::Relaxed);
        let before = self.done.fetch_add(pieces, Ordering::Relaxed);
        let of_whole = |done: usize| self.pieces * done.min(total) / total;
        self.whole.advance(of_whole(before + pieces) - of_whole(before));
    }
    fn note(&self, text: &str) {
        self.whole.note(text);
    }
    fn should_stop(&self) -> bool {
        self.whole.should_stop()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Progress for Count {
        fn advance(&self, pieces: usize) {
            self.0.fetch_add(pieces, Ordering::Relaxed);
        }
        fn should_stop(&self) -> bool {
            self.0.load(Ordering::Relaxed) >= 500
        }
    }

    #[test]
    fn parts_add_up_to_the_whole_whatever_their_pieces() {
        for total in [1, 3, 7, 999, 5000] {
            let whole = Count::default();
            let (first, second) = (Part::new(&whole, 250), Part::new(&whole, 750));
            first.start("first", 2 * total);
            (0..total).for_each(|_| first.advance(2));
            assert_eq!(whole.0.load(Ordering::Relaxed), 250);
            assert!(!second.should_stop());
            second.start("second", total);
            (0..total).for_each(|_| second.advance(1));
            assert_eq!(whole.0.load(Ordering::Relaxed), 1000);
            assert!(second.should_stop());
        }
    }

    #[test]
    fn more_pieces_than_were_told_are_not_more_than_the_part() {
        let whole = Count::default();
        let part = Part::new(&whole, 10);
        part.start("part", 2);
        (0..5).for_each(|_| part.advance(1));
        assert_eq!(whole.0.load(Ordering::Relaxed), 10);
    }
}

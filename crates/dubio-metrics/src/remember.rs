//! Working something out once.

use std::sync::OnceLock;

/// What is kept in `place`, worked out first if need be.
///
/// Unlike `OnceLock::get_or_init`, no thread waits for another: work that is itself shared among
/// threads must not be done under a lock, because a thread that waits for its part may pick up a
/// job that waits for the lock. Two threads that come at once both do the work, and the first
/// result is kept; to avoid that, ask once before sharing.
pub(crate) fn remember<T>(place: &OnceLock<T>, work: impl FnOnce() -> T) -> &T {
    if place.get().is_none() {
        let _ = place.set(work());
    }
    place.get_or_init(|| unreachable!("it was set above"))
}

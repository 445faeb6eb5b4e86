//! Pieces of work side by side.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs pieces of work side by side, at most `at_once` at a time. Each has threads of its own from beginning to end
/// (one if there are as many pieces as threads), so that the work inside a member never waits for another's. If a piece
/// panics, no further piece begins, and the panic is passed on.
pub(crate) fn side_by_side<R: Send>(
    count: usize,
    at_once: usize,
    work: impl Fn(usize) -> R + Sync,
) -> Vec<R> {
    let all = rayon::current_num_threads();
    let threads = all.min(count).min(at_once);
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<R>>> = (0..count).map(|_| Mutex::new(None)).collect();
    let take = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(place) = results.get(index) else { return };
            *place.lock().expect("written once") = Some(work(index));
        }
    };
    let own = all / threads.max(1);
    let worker = || match rayon::ThreadPoolBuilder::new().num_threads(own).build() {
        Ok(pool) => pool.install(take),
        // Where the system gives no more threads, this one does what the others leave.
        Err(_) => take(),
    };
    // Results are not looked at after a panic.
    let watched = || {
        catch_unwind(AssertUnwindSafe(worker)).inspect_err(|_| next.store(count, Ordering::Relaxed))
    };
    let ended = std::thread::scope(|scope| {
        let spawn = |_| std::thread::Builder::new().spawn_scoped(scope, watched).ok();
        let handles: Vec<_> = (0..threads).map_while(spawn).collect();
        handles.into_iter().try_for_each(|handle| handle.join().and_then(|ended| ended))
    });
    if let Err(panic) = ended {
        resume_unwind(panic);
    }
    take();
    let taken = results.into_iter().map(|r| r.into_inner().expect("written once"));
    taken.map(|result| result.expect("every piece was done")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_goes_on_as_it_is_and_ends_the_rest() {
        let begun = AtomicUsize::new(0);
        let piece = |index: usize| {
            begun.fetch_add(1, Ordering::Relaxed);
            if index == 0 {
                resume_unwind(Box::new("lost"));
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        };
        let ended = catch_unwind(AssertUnwindSafe(|| side_by_side(1000, usize::MAX, piece)));
        assert_eq!(ended.expect_err("it panicked").downcast_ref(), Some(&"lost"));
        assert!(begun.load(Ordering::Relaxed) < 1000);
        assert_eq!(side_by_side(5, usize::MAX, |index| index * index), [0, 1, 4, 9, 16]);
    }

    #[test]
    fn no_more_are_at_work_at_once_than_asked_for() {
        let (at_work, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let piece = |_: usize| {
            most.fetch_max(1 + at_work.fetch_add(1, Ordering::SeqCst), Ordering::SeqCst);
            std::thread::sleep(std::time::Duration::from_millis(2));
            at_work.fetch_sub(1, Ordering::SeqCst);
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(6).build().expect("threads");
        pool.install(|| side_by_side(40, 3, piece));
        assert_eq!(most.into_inner(), 3);
    }
}

//! Pieces of work side by side.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs pieces of work side by side, each on threads of its own from beginning to end, one where there are as many pieces
/// as threads: what a member does inside never waits for another's.
pub(crate) fn side_by_side<R: Send>(count: usize, work: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let all = rayon::current_num_threads();
    let threads = all.min(count);
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
    std::thread::scope(|scope| {
        for _ in 0..threads {
            if std::thread::Builder::new().spawn_scoped(scope, worker).is_err() {
                break;
            }
        }
    });
    take();
    let taken = results.into_iter().map(|r| r.into_inner().expect("written once"));
    taken.map(|result| result.expect("every piece was done")).collect()
}

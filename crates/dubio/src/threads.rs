//! How many threads work.

use anyhow::{Result, anyhow, bail};
use dubio_bench::memory;

/// More than any machine has cores.
const MOST: usize = 1024;

/// Of address space that a thread takes: its stack, and the page before it.
const STACK: u64 = (2 << 20) + 4096;

/// Starts so many, for the rest of the program: as asked, else as `RAYON_NUM_THREADS` says, else one
/// for each core. Left to itself the library would start them when they are first needed, and panic
/// where the system refuses.
pub(crate) fn start(asked: Option<u16>) -> Result<()> {
    let from_environment = std::env::var("RAYON_NUM_THREADS").ok();
    let (threads, by) = match (asked, &from_environment) {
        (Some(threads), _) => (threads.into(), "--threads"),
        (None, Some(text)) => (text.trim().parse().unwrap_or(0), "RAYON_NUM_THREADS"),
        (None, None) => (0, ""),
    };
    if threads > MOST {
        bail!("{by} is {threads}; at most {MOST} threads can work");
    }
    let threads = match threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from).min(MOST),
        _ => threads,
    };
    let advice = "set RAYON_NUM_THREADS to fewer, or raise the limits";
    // A thread that has its stack and finds no memory for the little else it needs ends in a panic.
    let stacks = threads as u64 * STACK;
    if memory::left_by_limit().is_some_and(|left| stacks > left / 10 * 9) {
        bail!("cannot start {threads} threads: their stacks take {} MB; {advice}", stacks >> 20);
    }
    let started = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
    started.map_err(|error| anyhow!("cannot start {threads} threads: {error}; {advice}"))
}

//! How many threads work.

use anyhow::Result;

/// At most so many, for the rest of the program.
pub(crate) fn limit(threads: Option<u16>) -> Result<()> {
    if let Some(threads) = threads {
        rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build_global()?;
    }
    Ok(())
}

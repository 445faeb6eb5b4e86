//! Reads that fail in the middle of the work.
//!
//! Scores ask for rows from deep inside loops on many threads, and no score can go on without them. So
//! a read that fails unwinds, with the [`Error`] as its payload and without a panic's message, to
//! whoever began the work.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::error::Error;

/// Does work that reads predictions. The work is given up when a file fails: when it was cut short
/// meanwhile, cannot be read, or turns out to have another checksum.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, Error> {
    // Nothing that the work was changing is looked at after it was given up.
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| match payload.downcast::<Error>() {
        Ok(error) => *error,
        Err(panic) => resume_unwind(panic),
    })
}

/// Gives up the work that [`guarded`] began.
pub(crate) fn give_up(error: Error) -> ! {
    resume_unwind(Box::new(error))
}

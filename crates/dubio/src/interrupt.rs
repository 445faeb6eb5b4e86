//! Long work that is told to stop, and how to resume it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;

static STOP: AtomicBool = AtomicBool::new(false);
static AT_ONCE: AtomicBool = AtomicBool::new(false);
static FIRST: OnceLock<Instant> = OnceLock::new();

/// Signals so close together are one: `timeout` sends one to the program and one to its group.
const ONE_STOP: Duration = Duration::from_millis(500);

/// A flag that Ctrl-C raises. A second one ends the program at once.
pub(crate) fn stopper() -> Result<&'static AtomicBool> {
    ctrlc::set_handler(|| {
        let first = FIRST.get_or_init(Instant::now);
        let again = STOP.swap(true, Ordering::Relaxed) && first.elapsed() > ONE_STOP;
        if again || AT_ONCE.load(Ordering::Relaxed) {
            std::process::exit(130);
        }
    })?;
    Ok(&STOP)
}

/// From here on nobody looks at the flag: Ctrl-C ends the program at once.
pub(crate) fn no_more_stops() {
    AT_ONCE.store(true, Ordering::Relaxed);
}

/// Work that ended because Ctrl-C was pressed; the exit code is 130, as of a program that the signal ends.
#[derive(Debug)]
pub(crate) struct Stopped(pub(crate) String);

impl std::fmt::Display for Stopped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Stopped {}

/// The command that is running, to be typed again.
pub(crate) fn same_command() -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+@".contains(c);
    let words = std::env::args().skip(1).map(|word| match word.chars().all(plain) {
        true => word,
        false => format!("'{}'", word.replace('\'', r"'\''")),
    });
    words.fold("dubio".to_string(), |line, word| line + " " + &word)
}

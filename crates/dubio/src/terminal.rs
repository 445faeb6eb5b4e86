//! What is written to a terminal: names from files may hold commands to it, and reach it as text.

use std::io::{self, IsTerminal, StdoutLock, Write};
use std::sync::OnceLock;

pub(crate) use dubio_report::text::{one_line, visible};

/// Says something on standard error.
macro_rules! say {
    ($($part:tt)*) => {
        $crate::terminal::tell(&format!($($part)*))
    };
}
pub(crate) use say;

/// How much is said on standard error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Verbosity {
    /// Errors and warnings.
    Quiet,
    /// Notes and progress too.
    #[default]
    Usual,
    /// What is done, and how long it took.
    Verbose,
}

static VERBOSITY: OnceLock<Verbosity> = OnceLock::new();

/// Sets how much is said, for the rest of the program.
pub(crate) fn set_verbosity(verbosity: Verbosity) {
    let _ = VERBOSITY.set(verbosity); // only the first counts
}

pub(crate) fn verbosity() -> Verbosity {
    VERBOSITY.get().copied().unwrap_or_default()
}

/// A line on standard error, its first word in colour where that is a terminal. Nobody may be listening
/// any more: that is no reason to stop.
pub(crate) fn tell(text: &str) {
    let text = visible(text);
    let word = ["error:", "warning:", "note:"].into_iter().find(|word| text.starts_with(word));
    let colour = match word {
        Some("error:") => "1;31",
        Some("warning:") => "1;33",
        _ => "1;36",
    };
    let mut stderr = io::stderr().lock();
    let _ = match word.filter(|_| colours(&stderr)) {
        Some(word) => writeln!(stderr, "\u{1b}[{colour}m{word}\u{1b}[0m{}", &text[word.len()..]),
        None => writeln!(stderr, "{text}"),
    };
}

/// A note, which a quiet program keeps to itself; a warning is always told.
pub(crate) fn note(text: &str) {
    if verbosity() != Verbosity::Quiet || text.starts_with("warning:") {
        tell(text);
    }
}

/// Whether colours are shown there: on a terminal that knows them, and unless `NO_COLOR` says otherwise
/// (<https://no-color.org>).
fn colours(to: &impl IsTerminal) -> bool {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    to.is_terminal() && set("NO_COLOR").is_none() && set("TERM").is_none_or(|term| term != "dumb")
}

/// Standard output. What a terminal would act on is written out, `\u001b`, which inside JSON is the same
/// text; only newlines pass.
pub(crate) fn stdout() -> Visible<StdoutLock<'static>> {
    let out = io::stdout().lock();
    Visible { colours: colours(&out), out, begun: Vec::new() }
}

/// Writes visible text.
pub(crate) struct Visible<W: Write> {
    out: W,
    colours: bool,
    /// The first bytes of a character whose others have not come yet.
    begun: Vec<u8>,
}

impl<W: Write> Visible<W> {
    /// A line that heads a table, bold where that can be shown.
    pub(crate) fn heading(&mut self, line: &str) -> io::Result<()> {
        let line = visible(line.trim_end());
        match self.colours {
            true => writeln!(self.out, "\u{1b}[1m{line}\u{1b}[0m"),
            false => writeln!(self.out, "{line}"),
        }
    }
}

impl<W: Write> Write for Visible<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.begun.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.begun) {
            Err(wrong) if wrong.error_len().is_none() => wrong.valid_up_to(),
            _ => self.begun.len(),
        };
        let text = String::from_utf8_lossy(&self.begun[..whole]);
        self.out.write_all(visible(&text).as_bytes())?;
        self.begun.drain(..whole);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_may_come_in_pieces() {
        let text = "a\u{1b}[2J é\u{9b}模\n";
        for size in 1..=text.len() {
            let mut writer = Visible { out: Vec::new(), colours: false, begun: Vec::new() };
            for piece in text.as_bytes().chunks(size) {
                writer.write_all(piece).expect("memory");
            }
            assert_eq!(String::from_utf8(writer.out).expect("text"), "a\\u001b[2J é\\u009b模\n");
        }
    }
}

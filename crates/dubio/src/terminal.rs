//! What is written to a terminal: names from files may hold commands to it, and reach it as text.

use std::io::{self, StdoutLock, Write};

pub(crate) use dubio_report::text::{one_line, visible};

/// Says something on standard error.
macro_rules! say {
    ($($part:tt)*) => {
        eprintln!("{}", $crate::terminal::visible(&format!($($part)*)))
    };
}
pub(crate) use say;

/// Standard output. What a terminal would act on is written out, `\u001b`, which inside JSON is the same
/// text; only newlines pass.
pub(crate) fn stdout() -> Visible<StdoutLock<'static>> {
    Visible { out: io::stdout().lock(), begun: Vec::new() }
}

/// Writes visible text.
pub(crate) struct Visible<W: Write> {
    out: W,
    /// The first bytes of a character whose others have not come yet.
    begun: Vec<u8>,
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
            let mut writer = Visible { out: Vec::new(), begun: Vec::new() };
            for piece in text.as_bytes().chunks(size) {
                writer.write_all(piece).expect("memory");
            }
            assert_eq!(String::from_utf8(writer.out).expect("text"), "a\\u001b[2J é\\u009b模\n");
        }
    }
}

//! CSV files: what separates their cells, and lines counted as an editor counts them.
//!
//! The parser ends a record at the `\r` of `\r\n`, counts a line at the `\n` that follows, and says of a record where it
//! began to look for it: it would be one line early in files from Windows, and after empty lines.

use std::io::{self, BufRead, BufReader, Read};

use csv::{Reader, ReaderBuilder, Result, StringRecord, Trim};

/// A parser of a table, and the text for it. Cells are trimmed. They are separated by the usual byte where the first line
/// has one outside quotes, else by the first of comma, semicolon, tab and bar that it has.
pub fn table<R: Read>(file: R, usual: u8) -> io::Result<(ReaderBuilder, Newlines<BufReader<R>>)> {
    let mut file = BufReader::new(file);
    let separator = separator(file.fill_buf()?, usual);
    let mut builder = ReaderBuilder::new();
    builder.delimiter(separator).trim(Trim::All);
    Ok((builder, Newlines::new(file)))
}

fn separator(head: &[u8], usual: u8) -> u8 {
    let mut is_quoted = false;
    let outside = head.iter().take_while(|byte| !b"\n\r".contains(byte)).filter(|&&byte| {
        is_quoted ^= byte == b'"';
        !is_quoted
    });
    let outside: Vec<u8> = outside.copied().collect();
    let candidates = [usual, b',', b';', b'\t', b'|'];
    candidates.into_iter().find(|mark| outside.contains(mark)).unwrap_or(usual)
}

/// Passes text on with `\n` at the end of each line, the last one included, where it has `\r\n`, `\r` or nothing.
#[derive(Debug)]
pub struct Newlines<R> {
    inner: R,
    /// The last byte that was read.
    last: u8,
    has_ended: bool,
}

impl<R> Newlines<R> {
    /// Reads from `inner`.
    pub fn new(inner: R) -> Self {
        Self { inner, last: b'\n', has_ended: false }
    }
}

impl<R: Read> Read for Newlines<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while !out.is_empty() && !self.has_ended {
            let count = self.inner.read(out)?;
            let before = self.last;
            if count == 0 {
                self.has_ended = true;
                out[0] = b'\n';
                return Ok(usize::from(!matches!(before, b'\n' | b'\r')));
            }
            self.last = out[count - 1];
            if before != b'\r' && !out[..count].contains(&b'\r') {
                return Ok(count);
            }
            let (mut kept, mut before) = (0, before);
            for place in 0..count {
                let byte = out[place];
                if (before, byte) != (b'\r', b'\n') {
                    out[kept] = if byte == b'\r' { b'\n' } else { byte };
                    kept += 1;
                }
                before = byte;
            }
            if kept > 0 {
                return Ok(kept);
            }
        }
        Ok(0)
    }
}

/// The records of a table that is read through [`Newlines`], each with the line in which it begins, counted from 1.
pub fn records<R: Read>(
    reader: &mut Reader<Newlines<R>>,
) -> impl Iterator<Item = Result<(u64, StringRecord)>> {
    let mut records = reader.records();
    std::iter::from_fn(move || {
        let record = records.next()?;
        Some(record.map(|record| {
            let inside = record.iter().flat_map(str::bytes).filter(|&byte| byte == b'\n').count();
            let next = records.reader().position().line();
            (next.saturating_sub(1 + inside as u64), record)
        }))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands out so many bytes at a time.
    struct Pieces<'a>(&'a [u8], usize);

    impl Read for Pieces<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let most = self.1.min(out.len());
            self.0.read(&mut out[..most])
        }
    }

    #[test]
    fn every_line_ends_alike_wherever_a_piece_of_the_text_ends() {
        for (text, expected) in [
            ("", ""),
            ("a", "a\n"),
            ("a\n", "a\n"),
            ("a\r", "a\n"),
            ("a\r\n", "a\n"),
            ("a\r\nb\r\n\r\nc", "a\nb\n\nc\n"),
            ("\ra\r\rb\n\rc\r\r\n", "\na\n\nb\n\nc\n\n"),
        ] {
            for size in 1..=text.len() + 1 {
                let mut read = String::new();
                Newlines::new(Pieces(text.as_bytes(), size))
                    .read_to_string(&mut read)
                    .expect("text");
                assert_eq!(read, expected, "{text:?} in pieces of {size}");
            }
        }
    }

    #[test]
    fn the_first_line_shows_what_separates_cells() {
        for (text, usual, expected) in [
            ("a,b\n1;2;3", b',', b','),
            ("a;b\n1,5;2", b',', b';'),
            ("\"a, b\";c", b',', b';'),
            ("a\tb|c", b',', b'\t'),
            ("a|b\r1,2", b',', b'|'),
            ("a, b\tc", b'\t', b'\t'),
            ("a,b", b'\t', b','),
            ("alone\n1,2", b',', b','),
            ("", b'\t', b'\t'),
        ] {
            assert_eq!(separator(text.as_bytes(), usual), expected, "{text:?}");
        }
    }

    #[test]
    fn records_are_in_the_lines_in_which_they_begin() {
        let text = "a,b\n1,2\n\n3,\"4\n5\"\n6,7\n\n\n8,9";
        let expected = [(2, "1"), (4, "3"), (6, "6"), (9, "8")];
        for newline in ["\n", "\r\n", "\r"] {
            for end in ["", newline] {
                let text = text.replace('\n', newline) + end;
                let mut reader = Reader::from_reader(Newlines::new(text.as_bytes()));
                let found: Vec<(u64, String)> = records(&mut reader)
                    .map(|record| record.map(|(line, record)| (line, record[0].to_string())))
                    .collect::<Result<_>>()
                    .expect("a table");
                let found: Vec<(u64, &str)> = found.iter().map(|(l, t)| (*l, &t[..])).collect();
                assert_eq!(found, expected, "{newline:?} {end:?}");
            }
        }
    }
}

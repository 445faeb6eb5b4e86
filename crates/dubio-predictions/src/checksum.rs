//! The checksum of an entry, computed while it is read.
//!
//! Rows are read in blocks, in any order, some of them twice, by several threads. Each block gives its
//! own CRC-32 once, and the sums of neighbours are combined, so that the whole entry's is known when
//! its last byte has been seen: no separate pass over the file is needed.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crc32fast::Hasher;

/// Which bytes of an entry were seen, and the checksum that it must have.
#[derive(Debug)]
pub(crate) struct Checksum {
    entry: Range<usize>,
    expected: u32,
    /// By where they start; neighbours are joined.
    pieces: Mutex<BTreeMap<usize, Piece>>,
    /// Whether the whole entry was seen and its checksum is right.
    good: AtomicBool,
}

#[derive(Debug)]
struct Piece {
    end: usize,
    sum: Hasher,
}

impl Checksum {
    /// For the bytes of an entry that lie here in its file.
    pub(crate) fn new(entry: Range<usize>, expected: u32) -> Self {
        Self { entry, expected, pieces: Mutex::default(), good: AtomicBool::new(false) }
    }

    /// Takes note of bytes of the entry that were read from `at`. An error when they were the last ones
    /// to be seen and the sum is not the expected one, and from then on.
    pub(crate) fn note(&self, at: usize, bytes: &[u8]) -> io::Result<()> {
        if self.good.load(Ordering::Relaxed) {
            return Ok(());
        }
        // Sums are computed without the lock, so that other threads need not wait.
        let gaps = gaps(&self.pieces(), at..at + bytes.len());
        let summed = gaps.into_iter().map(|gap| {
            let mut sum = Hasher::new();
            sum.update(&bytes[gap.start - at..gap.end - at]);
            (gap, sum)
        });
        let summed: Vec<_> = summed.collect();
        let mut pieces = self.pieces();
        summed.into_iter().for_each(|(gap, sum)| add(&mut pieces, gap, sum));
        self.compare(&pieces)
    }

    /// The stretches of the entry that were not seen yet.
    pub(crate) fn unseen(&self) -> Vec<Range<usize>> {
        gaps(&self.pieces(), self.entry.clone())
    }

    fn pieces(&self) -> MutexGuard<'_, BTreeMap<usize, Piece>> {
        self.pieces.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn compare(&self, pieces: &BTreeMap<usize, Piece>) -> io::Result<()> {
        let Some(piece) = pieces.get(&self.entry.start).filter(|p| p.end == self.entry.end) else {
            return Ok(());
        };
        if piece.sum.clone().finalize() != self.expected {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "its checksum is wrong"));
        }
        self.good.store(true, Ordering::Relaxed);
        Ok(())
    }
}

/// The stretches of a range that no piece covers.
fn gaps(pieces: &BTreeMap<usize, Piece>, range: Range<usize>) -> Vec<Range<usize>> {
    let mut gaps = Vec::new();
    let mut at = range.start;
    let before = pieces.range(..=at).next_back();
    let within = pieces.range(range.start + 1..range.end.max(range.start + 1));
    for (&start, piece) in before.into_iter().chain(within) {
        if start > at {
            gaps.push(at..start);
        }
        at = at.max(piece.end);
    }
    if at < range.end {
        gaps.push(at..range.end);
    }
    gaps
}

/// Adds a piece and joins it with its neighbours, unless another thread has added it meanwhile.
fn add(pieces: &mut BTreeMap<usize, Piece>, range: Range<usize>, sum: Hasher) {
    if gaps(pieces, range.clone()) != [range.clone()] {
        return;
    }
    let mut piece = Piece { end: range.end, sum };
    if let Some(next) = pieces.remove(&range.end) {
        piece.sum.combine(&next.sum);
        piece.end = next.end;
    }
    match pieces.range_mut(..range.start).next_back() {
        Some((_, left)) if left.end == range.start => {
            left.sum.combine(&piece.sum);
            left.end = piece.end;
        }
        _ => {
            pieces.insert(range.start, piece);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: [u8; 40] = {
        let mut bytes = [0; 40];
        let mut i = 0;
        while i < 40 {
            bytes[i] = (37 * i % 251) as u8;
            i += 1;
        }
        bytes
    };
    /// From Python: `zlib.crc32(bytes(37 * i % 251 for i in range(40)))`.
    const CRC: u32 = 0x6670_01fc;

    /// Whether each of these reads, from place 100 of a file, succeeded.
    fn reads(expected: u32, ranges: &[Range<usize>]) -> Vec<bool> {
        let checksum = Checksum::new(100..140, expected);
        let read = |range: &Range<usize>| checksum.note(100 + range.start, &BYTES[range.clone()]);
        ranges.iter().map(|range| read(range).is_ok()).collect()
    }

    #[test]
    fn the_sum_is_compared_when_the_last_byte_was_seen_in_whatever_order_they_come() {
        let orders: [&[Range<usize>]; 5] = [
            &[0..39, 39..40],
            &[0..10, 10..20, 20..40],
            &[30..40, 0..5, 15..30, 5..15],
            &[10..20, 10..20, 5..25, 30..35, 0..40],
            &[0..1, 2..3, 4..5, 1..2, 0..5, 3..4, 39..40, 5..39],
        ];
        for ranges in orders {
            assert_eq!(reads(CRC, ranges), vec![true; ranges.len()], "{ranges:?}");
            let mut last_fails = vec![true; ranges.len()];
            last_fails[ranges.len() - 1] = false;
            assert_eq!(reads(CRC ^ 1, ranges), last_fails, "{ranges:?}");
        }
    }

    #[test]
    fn what_was_found_wrong_stays_wrong_and_what_was_not_all_seen_is_not_judged() {
        assert_eq!(reads(CRC ^ 1, &[0..40, 3..4]), [false, false]);
        assert_eq!(reads(CRC ^ 1, &[0..20, 21..40]), [true, true]);
    }
}

//! Rows of probabilities transposed to columns.

use std::mem::take;
use std::ops::Range;
use std::sync::Arc;

use multiversion::multiversion;
use rayon::prelude::*;

use crate::distributions::Distributions;

/// Examples that are transposed together.
const CHUNK: usize = 512;

/// Rows that are transposed at once: a cache line of each column.
const LINE: usize = 8;

/// Columns of a group of classes: for each chunk of examples, one class after the other.
#[derive(Debug)]
pub(crate) struct Transposed {
    /// Whose spare memory this is.
    all: Arc<Distributions>,
    values: Vec<f64>,
    classes: usize,
}

impl Drop for Transposed {
    fn drop(&mut self) {
        self.all.give_spare(take(&mut self.values));
    }
}

impl Transposed {
    /// Transposes the rows that `read(prepared, example, its number, row)` writes for each example,
    /// one for each of `numbers`. `prepare(chunk)` makes what reading a chunk of examples needs.
    pub(crate) fn new<T: Send, P>(
        all: &Arc<Distributions>,
        classes: usize,
        numbers: &mut [T],
        prepare: impl Fn(Range<usize>) -> P + Sync,
        read: impl Fn(&P, usize, &mut T, &mut [f64]) + Sync,
    ) -> Self {
        let examples = numbers.len();
        let mut values = all.take_spare(examples * classes);
        let chunks = values.par_chunks_mut(CHUNK * classes).zip(numbers.par_chunks_mut(CHUNK));
        chunks.enumerate().for_each(|(chunk, (out, numbers))| {
            let (start, count) = (chunk * CHUNK, numbers.len());
            let prepared = prepare(start..start + count);
            let mut lines = vec![0.0; LINE * classes];
            for (line, numbers) in numbers.chunks_mut(LINE).enumerate() {
                let first = line * LINE;
                for (place, (number, row)) in
                    numbers.iter_mut().zip(lines.chunks_exact_mut(classes)).enumerate()
                {
                    read(&prepared, start + first + place, number, row);
                }
                transpose(&lines, classes, out, count, first..first + numbers.len());
            }
        });
        Self { all: all.clone(), values, classes }
    }

    /// The column of a class of the group, a slice per chunk.
    pub(crate) fn column(&self, class: usize) -> impl Iterator<Item = &[f64]> {
        self.values.chunks(CHUNK * self.classes).map(move |chunk| {
            let rows = chunk.len() / self.classes;
            &chunk[class * rows..(class + 1) * rows]
        })
    }
}

/// Writes rows of `classes` numbers into their places in columns of `count` examples.
#[multiversion(targets = "simd")]
fn transpose(
    rows: &[f64],
    classes: usize,
    columns: &mut [f64],
    count: usize,
    places: Range<usize>,
) {
    let mut each = rows.chunks_exact(classes);
    let rows: [&[f64]; LINE] = std::array::from_fn(|_| each.next().unwrap_or_default());
    for (class, column) in columns.chunks_exact_mut(count).enumerate() {
        let column = &mut column[places.clone()];
        if let Some(line) = column.first_chunk_mut::<LINE>() {
            for place in 0..LINE {
                line[place] = rows[place][class];
            }
        } else {
            for (p, row) in column.iter_mut().zip(rows) {
                *p = row[class];
            }
        }
    }
}

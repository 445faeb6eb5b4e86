//! Examples of a mini-batch, one after the other.

use dubio_random::stream::Stream;
use rayon::prelude::*;

use crate::engine::Rows;
use crate::examples::{Answers, Examples, Inputs};
use crate::loss::Truth;
use crate::real::Real;

/// Room for the examples of a mini-batch.
#[derive(Default)]
pub(super) struct Gathered<T> {
    rows: Vec<u32>,
    inputs: Vec<T>,
    labels: Vec<u32>,
    targets: Vec<f64>,
}

/// A mini-batch in memory.
#[derive(Clone, Copy)]
pub(super) struct InMemory<'a, T> {
    pub inputs: &'a [T],
    pub truth: Truth<'a>,
    pub rows: &'a [u32],
}

impl<T: Real> Gathered<T> {
    /// Fetches rows; `order` is the epoch's.
    pub(super) fn rows<'a>(
        &'a mut self,
        examples: &'a Examples<T>,
        order: &'a [u32],
        rows: &Rows,
        augment: Option<&Stream>,
    ) -> InMemory<'a, T> {
        let stretch = match rows {
            Rows::Ordered(range) => &order[range.clone()],
            Rows::Stored(range) => {
                self.rows.clear();
                self.rows.extend(range.start as u32..range.end as u32);
                &self.rows
            }
        };
        let size = examples.size();
        let inputs = match (&examples.inputs, rows) {
            (Inputs::Ready(all), Rows::Stored(range)) => &all[range.start * size..range.end * size],
            (Inputs::Ready(all), Rows::Ordered(_)) => {
                self.inputs.resize(stretch.len() * size, T::zero());
                gather(all, stretch, size, &mut self.inputs);
                &self.inputs
            }
            (Inputs::Source(source), _) => {
                self.inputs.resize(stretch.len() * size, T::zero());
                source.write(stretch, augment, &mut self.inputs);
                &self.inputs
            }
        };
        let truth = match &examples.answers {
            Answers::Labels(all) => {
                self.labels.clear();
                self.labels.extend(stretch.iter().map(|&row| all[row as usize]));
                Truth::Labels(&self.labels)
            }
            Answers::Targets(all) => {
                self.targets.clear();
                self.targets.extend(stretch.iter().map(|&row| all[row as usize]));
                Truth::Targets(&self.targets)
            }
        };
        InMemory { inputs, truth, rows: stretch }
    }
}

/// Copies rows of `size` numbers together. They lie far apart, so most of the time is spent waiting for memory, and
/// several threads wait better than one.
fn gather<T: Real>(all: &[T], rows: &[u32], size: usize, out: &mut [T]) {
    let copy = |rows: &[u32], out: &mut [T]| {
        for (&row, out) in rows.iter().zip(out.chunks_exact_mut(size)) {
            out.copy_from_slice(&all[row as usize * size..][..size]);
        }
    };
    if out.len() < 1 << 15 {
        return copy(rows, out);
    }
    let pieces = rows.par_chunks(16).zip(out.par_chunks_mut(16 * size));
    pieces.for_each(|(rows, out)| copy(rows, out));
}

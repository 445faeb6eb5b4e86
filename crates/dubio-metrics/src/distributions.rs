//! The predictive distributions of all examples, in memory or in a spill file.
//!
//! Probabilities and their logarithms are the only numbers here that grow with examples times
//! classes. When they are too many for memory they are written, once, to where the caller says
//! ([`Spill`]), and read back a block at a time. There they lie in tiles, each a few classes of all
//! examples, because the class-wise scores read columns.

use std::borrow::Cow;
use std::fmt::Debug;
use std::io;
use std::ops::Range;
use std::sync::{Mutex, OnceLock};

use rayon::prelude::*;

use crate::remember::remember;
use crate::softmax;

/// A place for numbers that are not to stay in memory: a temporary file, made by a caller that may access files.
pub trait Spill: Debug + Send + Sync {
    /// Keeps numbers, the first of them at this place. Each place is written once.
    fn write(&self, at: usize, values: &[f64]) -> io::Result<()>;
    /// Reads back what was written. There is no result without it: a failure may panic.
    fn read(&self, at: usize, out: &mut [f64]);
}

/// Which of the two matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Probabilities.
    P,
    /// Their logarithms, exact also where the probability underflows.
    LogP,
}

/// Predictive probabilities `[examples, classes]` and their logarithms.
#[derive(Debug)]
pub struct Distributions {
    examples: usize,
    classes: usize,
    held: Held,
    /// Memory of the last columns, of two halves at most, for the next ones: new memory has to be
    /// cleared by the system, which costs as much as filling it.
    spare: Mutex<Vec<Vec<f64>>>,
}

#[derive(Debug)]
enum Held {
    /// The logarithms may be taken only when they are asked for.
    Memory {
        p: Vec<f64>,
        log_p: OnceLock<Vec<f64>>,
    },
    Spilled(Box<dyn Spill>),
}

impl Distributions {
    pub(crate) fn in_memory(p: Vec<f64>, log_p: Vec<f64>, classes: usize) -> Self {
        Self::held(p, log_p.into(), classes)
    }

    /// From probabilities alone: their logarithms are taken when they are asked for.
    pub(crate) fn of_probabilities(p: Vec<f64>, classes: usize) -> Self {
        Self::held(p, OnceLock::new(), classes)
    }

    fn held(p: Vec<f64>, log_p: OnceLock<Vec<f64>>, classes: usize) -> Self {
        let examples = p.len() / classes;
        Self { examples, classes, held: Held::Memory { p, log_p }, spare: Mutex::default() }
    }

    /// In a spill file, to be written row by row.
    pub(crate) fn spilled(spill: Box<dyn Spill>, examples: usize, classes: usize) -> Self {
        Self { examples, classes, held: Held::Spilled(spill), spare: Mutex::default() }
    }

    /// Number of examples.
    pub fn examples(&self) -> usize {
        self.examples
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// Classes whose columns are worked on together, and lie together when spilled: so many that
    /// a number for each of them and each example takes 16 MiB, in whole cache lines.
    pub(crate) fn tile(&self) -> usize {
        ((1 << 21) / self.examples.max(1)).clamp(8, 128) / 8 * 8
    }

    /// Memory for `len` numbers, with arbitrary contents.
    pub(crate) fn take_spare(&self, len: usize) -> Vec<f64> {
        let spare = self.spare.lock().ok().and_then(|mut spares| {
            let fits = spares.iter().position(|spare| spare.capacity() >= len)?;
            Some(spares.swap_remove(fits))
        });
        let mut spare = spare.unwrap_or_else(|| vec![0.0; len]);
        spare.resize(len, 0.0);
        spare
    }

    pub(crate) fn give_spare(&self, memory: Vec<f64>) {
        if let Ok(mut spares) = self.spare.lock() {
            spares.push(memory);
            spares.sort_by_key(Vec::capacity);
            let surplus = spares.len().saturating_sub(2);
            spares.drain(..surplus);
        }
    }

    /// All rows, when they are in memory.
    pub(crate) fn memory(&self, kind: Kind) -> Option<&[f64]> {
        match (&self.held, kind) {
            (Held::Memory { p, .. }, Kind::P) => Some(p),
            (Held::Memory { p, log_p }, Kind::LogP) => {
                Some(remember::<Vec<f64>>(log_p, || logarithms(p)))
            }
            (Held::Spilled(_), _) => None,
        }
    }

    /// All probabilities, where they are in memory and no logarithm of them has been taken.
    pub(crate) fn without_logarithms(&self) -> Option<&[f64]> {
        match &self.held {
            Held::Memory { p, log_p } => log_p.get().is_none().then_some(p),
            Held::Spilled(_) => None,
        }
    }

    /// Takes the logarithms, if they have not been taken: called before many threads ask for them.
    pub(crate) fn take_logarithms(&self) {
        self.memory(Kind::LogP);
    }

    /// Some rows, one after the other.
    pub fn rows(&self, kind: Kind, rows: Range<usize>) -> Cow<'_, [f64]> {
        match self.memory(kind) {
            Some(all) => (&all[rows.start * self.classes..rows.end * self.classes]).into(),
            None => {
                let mut out = Vec::new();
                self.read(kind, rows, 0..self.classes, &mut out);
                out.into()
            }
        }
    }

    /// Some classes of some rows, row after row.
    pub(crate) fn read(
        &self,
        kind: Kind,
        rows: Range<usize>,
        classes: Range<usize>,
        out: &mut Vec<f64>,
    ) {
        let width = classes.len();
        out.resize(rows.len() * width, 0.0);
        let spill = match &self.held {
            Held::Spilled(spill) => spill,
            Held::Memory { .. } => {
                let from = self.rows(kind, rows);
                for (to, from) in out.chunks_exact_mut(width).zip(from.chunks_exact(self.classes)) {
                    to.copy_from_slice(&from[classes.clone()]);
                }
                return;
            }
        };
        let mut part = Vec::new();
        for tile in self.tiles().filter(|t| t.start < classes.end && classes.start < t.end) {
            let at = self.place(kind, rows.start, &tile);
            if tile == classes {
                spill.read(at, out);
                return;
            }
            part.resize(rows.len() * tile.len(), 0.0);
            spill.read(at, &mut part);
            let shared = tile.start.max(classes.start)..tile.end.min(classes.end);
            let from = shared.start - tile.start..shared.end - tile.start;
            let to = shared.start - classes.start..shared.end - classes.start;
            for (out, part) in out.chunks_exact_mut(width).zip(part.chunks_exact(tile.len())) {
                out[to.clone()].copy_from_slice(&part[from.clone()]);
            }
        }
    }

    /// Writes whole rows to the spill file, the first of them at `row`.
    pub(crate) fn write(&self, kind: Kind, row: usize, rows: &[f64]) -> io::Result<()> {
        let Held::Spilled(spill) = &self.held else { return Ok(()) };
        let mut part = Vec::new();
        for tile in self.tiles() {
            part.clear();
            rows.chunks_exact(self.classes)
                .for_each(|row| part.extend_from_slice(&row[tile.clone()]));
            spill.write(self.place(kind, row, &tile), &part)?;
        }
        Ok(())
    }

    fn tiles(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let (classes, tile) = (self.classes, self.tile());
        (0..classes).step_by(tile).map(move |start| start..classes.min(start + tile))
    }

    fn place(&self, kind: Kind, row: usize, tile: &Range<usize>) -> usize {
        let before = match kind {
            Kind::P => 0,
            Kind::LogP => self.examples * self.classes,
        };
        before + self.examples * tile.start + row * tile.len()
    }
}

fn logarithms(p: &[f64]) -> Vec<f64> {
    const TOGETHER: usize = 1 << 12;
    let mut log_p = vec![0.0; p.len()];
    let pieces = log_p.par_chunks_mut(TOGETHER).zip(p.par_chunks(TOGETHER));
    pieces.for_each(|(log_p, p)| softmax::logarithms(p, log_p));
    log_p
}

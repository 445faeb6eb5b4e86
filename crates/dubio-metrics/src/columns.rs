//! Predictive probabilities class by class, at any temperature, for any subset of the examples.

use std::ops::Range;
use std::sync::Arc;

use multiversion::multiversion;
use rayon::prelude::*;

use crate::distributions::{Distributions, Kind};
use crate::numeric::transcendental::exp;

/// Examples that are turned from rows into columns together.
pub(crate) const CHUNK: usize = 512;

/// Rows that are turned at once: a cache line of each column.
const LINE: usize = 8;

/// The predictive distributions of some examples. Clones share the matrices.
#[derive(Clone, Debug)]
pub struct Columns {
    pub(crate) all: Arc<Distributions>,
    /// Which rows of the matrices are meant; `None` for all of them in order.
    rows: Option<Arc<Vec<u32>>>,
    /// Inverse temperature and each row's normaliser; `None` for the probabilities as given.
    tempered: Option<(f64, Arc<Vec<f64>>)>,
}

impl Columns {
    pub(crate) fn plain(all: Distributions) -> Self {
        Self { all: Arc::new(all), rows: None, tempered: None }
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.all.classes()
    }

    /// Number of examples.
    pub fn len(&self) -> usize {
        self.rows.as_ref().map_or(self.all.examples(), |rows| rows.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn row_index(&self, example: usize) -> usize {
        self.rows.as_ref().map_or(example, |rows| rows[example] as usize)
    }

    pub(crate) fn subset(&self, keep: &[u32]) -> Self {
        let rows = keep.iter().map(|&row| self.row_index(row as usize) as u32).collect();
        let tempered = self.tempered.as_ref().map(|(beta, log_z)| {
            (*beta, Arc::new(keep.iter().map(|&row| log_z[row as usize]).collect()))
        });
        Self { rows: Some(Arc::new(rows)), tempered, ..self.clone() }
    }

    /// The same examples at inverse temperature `beta`; `log_z[i] = ln sum_c p_ic^beta`.
    pub(crate) fn at(&self, beta: f64, log_z: Vec<f64>) -> Self {
        Self { tempered: Some((beta, Arc::new(log_z))), ..self.clone() }
    }

    /// Some classes of some examples, before any temperature.
    fn part(&self, kind: Kind, examples: Range<usize>, classes: Range<usize>) -> Rows<'_> {
        if let Some(all) = self.all.memory(kind) {
            return Rows::Held { columns: self, all, classes };
        }
        let width = classes.len();
        let first = examples.start;
        let mut values = Vec::new();
        let Some(rows) = &self.rows else {
            self.all.read(kind, examples, classes, &mut values);
            return Rows::Read { first, width, values };
        };
        // Rows that lie close together are read together, with those between them.
        const CLOSE: u32 = 8;
        let mut rest = &rows[examples];
        let mut stretch = Vec::new();
        while let [start, ..] = *rest {
            let close = |pair: &[u32]| pair[0] < pair[1] && pair[1] - pair[0] <= CLOSE;
            let count = 1 + rest.windows(2).take_while(|pair| close(pair)).count();
            let (near, others) = rest.split_at(count);
            let end = near[count - 1] + 1;
            self.all.read(kind, start as usize..end as usize, classes.clone(), &mut stretch);
            for row in near {
                let at = (row - start) as usize * width;
                values.extend_from_slice(&stretch[at..at + width]);
            }
            rest = others;
        }
        Rows::Read { first, width, values }
    }

    /// Whole rows of some examples, before any temperature.
    pub(crate) fn rows(&self, kind: Kind, examples: Range<usize>) -> Rows<'_> {
        self.part(kind, examples, 0..self.classes())
    }

    /// The log probability of one class of an example, before any temperature.
    pub(crate) fn log_p(&self, example: usize, class: usize) -> f64 {
        self.part(Kind::LogP, example..example + 1, class..class + 1).get(example)[0]
    }

    /// Stretches of examples whose rows fit the cache.
    pub(crate) fn stretches(&self) -> impl IndexedParallelIterator<Item = Range<usize>> + use<> {
        let (count, size) = (self.len(), ((1 << 16) / self.classes()).clamp(1, 256));
        (0..count.div_ceil(size)).into_par_iter().map(move |s| s * size..count.min((s + 1) * size))
    }

    /// Calls `f(example, row)` with the probabilities of every example, before any temperature.
    pub(crate) fn map_rows<T: Send>(&self, f: impl Fn(usize, &[f64]) -> T + Sync) -> Vec<T> {
        let each = self.stretches().flat_map_iter(|examples| {
            let rows = self.rows(Kind::P, examples.clone());
            let f = &f;
            examples.map(move |i| f(i, rows.get(i)))
        });
        each.collect()
    }

    /// Classes whose columns are worked on together.
    pub(crate) fn groups(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let (classes, tile) = (self.classes(), self.all.tile());
        (0..classes).step_by(tile).map(move |start| start..classes.min(start + tile))
    }

    /// Writes a chunk of examples column after column: `out[class * examples + example]`.
    pub(crate) fn turn(&self, examples: Range<usize>, classes: Range<usize>, out: &mut [f64]) {
        let (count, width) = (examples.len(), classes.len());
        let kind = if self.tempered.is_some() { Kind::LogP } else { Kind::P };
        let from = self.part(kind, examples.clone(), classes);
        let mut rows = vec![0.0; LINE * width];
        for first in (0..count).step_by(LINE) {
            let lines = LINE.min(count - first);
            for (line, row) in rows.chunks_exact_mut(width).enumerate().take(lines) {
                let example = examples.start + first + line;
                match &self.tempered {
                    None => row.copy_from_slice(from.get(example)),
                    Some((beta, log_z)) => raise(*beta, log_z[example], from.get(example), row),
                }
            }
            for (class, column) in out.chunks_exact_mut(count).enumerate() {
                for (line, p) in column[first..first + lines].iter_mut().enumerate() {
                    *p = rows[line * width + class];
                }
            }
        }
    }
}

/// Rows of a stretch of examples: where they are held, or as they were read.
pub(crate) enum Rows<'a> {
    Held { columns: &'a Columns, all: &'a [f64], classes: Range<usize> },
    Read { first: usize, width: usize, values: Vec<f64> },
}

impl Rows<'_> {
    /// The row of an example of the stretch.
    pub(crate) fn get(&self, example: usize) -> &[f64] {
        match self {
            Self::Held { columns, all, classes } => {
                let start = columns.row_index(example) * columns.classes();
                &all[start + classes.start..start + classes.end]
            }
            Self::Read { first, width, values } => {
                &values[(example - first) * width..(example - first + 1) * width]
            }
        }
    }
}

/// `exp(beta log_p - log_z)`.
#[multiversion(targets = "simd")]
fn raise(beta: f64, log_z: f64, log_p: &[f64], out: &mut [f64]) {
    for (p, log_p) in out.iter_mut().zip(log_p) {
        *p = exp(beta * log_p - log_z);
    }
}

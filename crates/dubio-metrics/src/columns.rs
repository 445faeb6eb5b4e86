//! Predictive probabilities class by class, at any temperature, for any subset of the examples.

use std::ops::Range;
use std::sync::Arc;

use multiversion::multiversion;

use crate::numeric::transcendental::exp;

/// Examples that are turned from rows into columns together.
pub(crate) const CHUNK: usize = 512;

/// Rows that are turned at once: a cache line of each column.
const LINE: usize = 8;

/// The predictive distributions of some examples. Clones share the matrices.
#[derive(Clone, Debug)]
pub struct Columns {
    /// Probabilities `[all examples, classes]`.
    p: Arc<Vec<f64>>,
    /// Their logarithms.
    log_p: Arc<Vec<f64>>,
    classes: usize,
    /// Which rows of the matrices are meant; `None` for all of them in order.
    rows: Option<Arc<Vec<u32>>>,
    /// Inverse temperature and each row's normaliser; `None` for the probabilities as given.
    tempered: Option<(f64, Arc<Vec<f64>>)>,
}

impl Columns {
    pub(crate) fn plain(p: Vec<f64>, log_p: Vec<f64>, classes: usize) -> Self {
        Self { p: Arc::new(p), log_p: Arc::new(log_p), classes, rows: None, tempered: None }
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// Number of examples.
    pub fn len(&self) -> usize {
        self.rows.as_ref().map_or(self.p.len() / self.classes, |rows| rows.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn row_index(&self, example: usize) -> usize {
        self.rows.as_ref().map_or(example, |rows| rows[example] as usize)
    }

    /// Log probabilities of an example, before any temperature.
    pub fn log_row(&self, example: usize) -> &[f64] {
        let start = self.row_index(example) * self.classes;
        &self.log_p[start..start + self.classes]
    }

    /// Probabilities of an example, before any temperature.
    pub fn row(&self, example: usize) -> &[f64] {
        let start = self.row_index(example) * self.classes;
        &self.p[start..start + self.classes]
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

    /// Copies an example's probabilities of some classes.
    pub(crate) fn read(&self, example: usize, classes: Range<usize>, out: &mut [f64]) {
        match &self.tempered {
            None => out.copy_from_slice(&self.row(example)[classes]),
            Some((beta, log_z)) => {
                raise(*beta, log_z[example], &self.log_row(example)[classes], out);
            }
        }
    }

    /// Writes a chunk of examples column after column: `out[class * examples + example]`.
    pub(crate) fn turn(&self, examples: Range<usize>, classes: Range<usize>, out: &mut [f64]) {
        let (count, width) = (examples.len(), classes.len());
        let mut rows = vec![0.0; LINE * width];
        for first in (0..count).step_by(LINE) {
            let lines = LINE.min(count - first);
            for (line, row) in rows.chunks_exact_mut(width).enumerate().take(lines) {
                self.read(examples.start + first + line, classes.clone(), row);
            }
            for (class, column) in out.chunks_exact_mut(count).enumerate() {
                for (line, p) in column[first..first + lines].iter_mut().enumerate() {
                    *p = rows[line * width + class];
                }
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

//! Predictive probabilities class by class, at any temperature, for any subset of the examples.

use std::ops::Range;
use std::sync::Arc;

use multiversion::multiversion;

use crate::numeric::transcendental::exp;

/// Classes that are read together: one cache line of each row.
pub const TILE: usize = 8;

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

    /// The tiles that the classes are read in.
    pub fn tiles(&self) -> impl Iterator<Item = Range<usize>> {
        let classes = self.classes;
        (0..classes).step_by(TILE).map(move |start| start..classes.min(start + TILE))
    }

    /// Copies the probabilities of an example for a tile of classes.
    #[inline]
    pub fn read(&self, example: usize, tile: Range<usize>, out: &mut [f64; TILE]) {
        let start = self.row_index(example) * self.classes;
        let range = start + tile.start..start + tile.end;
        match &self.tempered {
            None => out[..tile.len()].copy_from_slice(&self.p[range]),
            Some((beta, log_z)) => {
                out[..tile.len()].copy_from_slice(&self.log_p[range]);
                raise(*beta, log_z[example], out);
            }
        }
    }
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn raise(beta: f64, log_z: f64, row: &mut [f64; TILE]) {
    for x in row {
        *x = exp(beta * *x - log_z);
    }
}

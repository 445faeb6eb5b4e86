//! Predictive probabilities class by class, at any temperature, for any subset of the examples.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use crate::distributions::{Distributions, Kind};
use crate::numeric::transcendental::ln;
use crate::softmax::{logarithms, raise};
use crate::transposed::Transposed;

/// The predictive distributions of some examples. Clones share the matrices.
#[derive(Clone, Debug)]
pub struct Columns {
    all: Arc<Distributions>,
    /// Which rows of the matrices are meant; `None` for all of them in order.
    rows: Option<Arc<Vec<u32>>>,
    /// Inverse temperature and each row's scale; `None` for the probabilities as given.
    tempered: Option<(f64, Arc<Vec<Scale>>)>,
    /// All columns, where they were made in passing.
    transposed: Option<Arc<Transposed>>,
}

/// `p^beta` is normalised as `exp(beta (log p - top)) * one_by_z`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Scale {
    /// The largest `log p`.
    pub top: f64,
    /// `1 / sum_c exp(beta (log p_c - top))`.
    pub one_by_z: f64,
}

/// An example at a temperature: its scale, and some further numbers.
#[derive(Clone, Copy)]
struct Tempered<const K: usize> {
    scale: Scale,
    numbers: [f64; K],
}

impl<const K: usize> Default for Tempered<K> {
    fn default() -> Self {
        Self { scale: Scale::default(), numbers: [0.0; K] }
    }
}

/// Maximum number of probabilities whose columns are all worked on together: 32 MiB.
const TOGETHER: usize = 1 << 22;

impl Columns {
    pub(crate) fn plain(all: Distributions) -> Self {
        Self { all: Arc::new(all), rows: None, tempered: None, transposed: None }
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
        let tempered = self.tempered.as_ref().map(|(beta, scales)| {
            (*beta, Arc::new(keep.iter().map(|&row| scales[row as usize]).collect()))
        });
        Self { rows: Some(Arc::new(rows)), tempered, transposed: None, ..self.clone() }
    }

    /// The same in memory, for a few examples that are asked for often: rows that lie far apart in
    /// a file would each take a call to read.
    pub(crate) fn gathered(&self, keep: &[u32]) -> Self {
        let rows = |kind: Kind| -> Vec<f64> {
            let row = |&example: &u32| {
                let example = example as usize;
                self.rows(kind, example..example + 1).get(example).to_vec()
            };
            keep.par_iter().flat_map_iter(row).collect()
        };
        let all = Distributions::in_memory(rows(Kind::P), rows(Kind::LogP), self.classes());
        let tempered = self.tempered.as_ref().map(|(beta, scales)| {
            (*beta, Arc::new(keep.iter().map(|&row| scales[row as usize]).collect()))
        });
        Self { all: Arc::new(all), rows: None, tempered, transposed: None }
    }

    /// The same examples at inverse temperature `beta`. `row(example, log p, row)` writes an
    /// example's probabilities at that temperature into the row and returns their scale and some
    /// further numbers.
    pub(crate) fn at<const K: usize>(
        &self,
        beta: f64,
        row: impl Fn(usize, &[f64], &mut [f64]) -> (Scale, [f64; K]) + Sync,
    ) -> (Self, [Vec<f64>; K]) {
        let classes = self.classes();
        self.take_logarithms();
        let prepare = |examples| self.rows(Kind::LogP, examples);
        let read = |rows: &Rows<'_>, i: usize, out: &mut Tempered<K>, p: &mut [f64]| {
            (out.scale, out.numbers) = row(i, rows.get(i), p);
        };
        let mut scales = Vec::with_capacity(self.len());
        let mut numbers: [Vec<f64>; K] = std::array::from_fn(|_| Vec::with_capacity(self.len()));
        let mut keep = |rows: &[Tempered<K>]| {
            scales.extend(rows.iter().map(|row| row.scale));
            for (k, numbers) in numbers.iter_mut().enumerate() {
                numbers.extend(rows.iter().map(|row| row.numbers[k]));
            }
        };
        let transposed = if self.in_memory() && classes * self.len() <= TOGETHER {
            let mut rows = vec![Tempered::default(); self.len()];
            let transposed = Transposed::new(&self.all, classes, &mut rows, prepare, read);
            keep(&rows);
            Some(Arc::new(transposed))
        } else {
            let fill = |examples: Range<usize>, out: &mut [Tempered<K>]| {
                let rows = prepare(examples.clone());
                let mut p = vec![0.0; classes];
                examples.zip(out).for_each(|(i, out)| read(&rows, i, out, &mut p));
            };
            self.each_part(fill, keep);
            None
        };
        (Self { tempered: Some((beta, Arc::new(scales))), transposed, ..self.clone() }, numbers)
    }

    pub(crate) fn in_memory(&self) -> bool {
        self.all.memory(Kind::P).is_some()
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

    /// See [`Distributions::take_logarithms`].
    pub(crate) fn take_logarithms(&self) {
        self.all.take_logarithms();
    }

    /// Each example's log probability of one class, before any temperature. Where no logarithms have been taken
    /// yet, only these are taken.
    pub(crate) fn log_p_of(&self, classes: &[u32]) -> Vec<f64> {
        let one = |i: usize, class: &u32| match self.all.without_logarithms() {
            Some(p) => ln(p[self.row_index(i) * self.classes() + *class as usize]),
            None => self.log_p(i, *class as usize),
        };
        classes.par_iter().enumerate().map(|(i, class)| one(i, class)).collect()
    }

    /// The logarithms of an example's probabilities, before any temperature. Where no logarithms have been taken
    /// yet, only these are taken.
    pub(crate) fn log_p_row(&self, example: usize) -> Vec<f64> {
        let Some(p) = self.all.without_logarithms() else {
            return self.rows(Kind::LogP, example..example + 1).get(example).to_vec();
        };
        let (start, mut log_p) =
            (self.row_index(example) * self.classes(), vec![0.0; self.classes()]);
        logarithms(&p[start..start + log_p.len()], &mut log_p);
        log_p
    }

    /// The log probability of one class of an example, before any temperature.
    pub(crate) fn log_p(&self, example: usize, class: usize) -> f64 {
        self.part(Kind::LogP, example..example + 1, class..class + 1).get(example)[0]
    }

    /// Each example's probability of one class, to the bit as [`Columns::transposed`] has it.
    pub(crate) fn of_classes(&self, classes: &[u32]) -> Vec<f64> {
        let kind = if self.tempered.is_some() { Kind::LogP } else { Kind::P };
        self.map_stretches(|examples, out| {
            let rows = self.rows(kind, examples.clone());
            for (i, out) in examples.zip(out) {
                let value = rows.get(i)[classes[i] as usize];
                match &self.tempered {
                    None => *out = value,
                    Some((beta, scales)) => {
                        let Scale { top, one_by_z } = scales[i];
                        raise(*beta, top, one_by_z, &[value], std::slice::from_mut(out));
                    }
                }
            }
        })
    }

    /// A number or several for each example, made by `fill(examples, out)` for stretches of
    /// examples whose rows fit the cache.
    pub(crate) fn map_stretches<T: Clone + Default + Send>(
        &self,
        fill: impl Fn(Range<usize>, &mut [T]) + Sync,
    ) -> Vec<T> {
        let size = self.stretch();
        let mut all = vec![T::default(); self.len()];
        all.par_chunks_mut(size).enumerate().for_each(|(stretch, out)| {
            let start = stretch * size;
            fill(start..start + out.len(), out);
        });
        all
    }

    /// The same, handed over a part at a time, so that what is made of each example need not be held
    /// for all of them.
    pub(crate) fn each_part<T: Clone + Default + Send>(
        &self,
        fill: impl Fn(Range<usize>, &mut [T]) + Sync,
        mut take: impl FnMut(&[T]),
    ) {
        const PART: usize = 1 << 16;
        let size = self.stretch();
        let mut part = vec![T::default(); PART.min(self.len())];
        for first in (0..self.len()).step_by(PART) {
            let part = &mut part[..PART.min(self.len() - first)];
            part.par_chunks_mut(size).enumerate().for_each(|(stretch, out)| {
                let start = first + stretch * size;
                fill(start..start + out.len(), out);
            });
            take(part);
        }
    }

    /// Examples whose rows fit the cache.
    fn stretch(&self) -> usize {
        ((1 << 16) / self.classes()).clamp(1, 256)
    }

    /// Calls `f(example, row)` with the probabilities of every example.
    pub(crate) fn map_rows(&self, f: impl Fn(usize, &[f64]) -> f64 + Sync) -> Vec<f64> {
        let kind = if self.tempered.is_some() { Kind::LogP } else { Kind::P };
        self.map_stretches(|examples, out| {
            let rows = self.rows(kind, examples.clone());
            let mut p = vec![0.0; self.classes()];
            for (i, out) in examples.zip(out) {
                *out = match &self.tempered {
                    None => f(i, rows.get(i)),
                    Some((beta, scales)) => {
                        raise(*beta, scales[i].top, scales[i].one_by_z, rows.get(i), &mut p);
                        f(i, &p)
                    }
                };
            }
        })
    }

    /// Classes whose columns are worked on together: in memory, as many as fit 32 MiB.
    pub(crate) fn groups(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let classes = self.classes();
        let width = if self.in_memory() {
            let groups = (classes * self.len()).div_ceil(TOGETHER).max(classes.div_ceil(128));
            classes.div_ceil(groups.max(1)).next_multiple_of(8)
        } else {
            self.all.tile()
        };
        (0..classes).step_by(width).map(move |start| start..classes.min(start + width))
    }

    /// The columns of a group of classes.
    pub(crate) fn transposed(&self, classes: Range<usize>) -> Arc<Transposed> {
        if let Some(transposed) = &self.transposed
            && classes.len() == self.classes()
        {
            return transposed.clone();
        }
        let kind = if self.tempered.is_some() { Kind::LogP } else { Kind::P };
        let prepare = |examples| self.part(kind, examples, classes.clone());
        let read = |rows: &Rows<'_>, i: usize, _: &mut (), p: &mut [f64]| match &self.tempered {
            None => p.copy_from_slice(rows.get(i)),
            Some((beta, scales)) => {
                raise(*beta, scales[i].top, scales[i].one_by_z, rows.get(i), p);
            }
        };
        let mut nothing = vec![(); self.len()];
        Arc::new(Transposed::new(&self.all, classes.len(), &mut nothing, prepare, read))
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

//! The predictive distribution of an ensemble: the mean of its members' probabilities.
//!
//! `log p = logsumexp_m(log p_m) - log M`, in f64. Members are read a block of rows at a time, so
//! memory does not grow with the number of members; [`pool_spilled`] keeps it from growing with
//! examples times classes as well.

use std::io;
use std::ops::Range;
use std::sync::OnceLock;

use rayon::prelude::*;

use crate::distributions::{Distributions, Kind, Spill};
use crate::members::{Fault, Form, Members, first_fault};
use crate::numeric::transcendental::{TINY, logsumexp};
use crate::remember::remember;
use crate::softmax;

/// Predictive distributions of one file, a row per example, before any label is seen.
#[derive(Debug)]
pub struct Pooled {
    /// Number of classes.
    pub classes: usize,
    /// Number of members that were averaged.
    pub members: usize,
    /// Predictive probabilities and their logarithms, `[examples, classes]`.
    pub distributions: Distributions,
    /// Most probable class; the lowest index wins a tie.
    pub predicted: Vec<u32>,
    /// Probability of the predicted class.
    pub confidence: Vec<f64>,
    /// See [`Pooled::total`].
    pub(crate) total: OnceLock<Vec<f64>>,
    /// Mean entropy of the members; `None` for one member.
    pub data: Option<Vec<f64>>,
}

impl Pooled {
    /// Number of examples.
    pub fn examples(&self) -> usize {
        self.predicted.len()
    }

    /// Entropy of the predictive distribution, in nats.
    pub fn total(&self) -> &[f64] {
        let entropy = |i: usize| softmax::entropy(&self.distributions.rows(Kind::P, i..i + 1));
        remember::<Vec<f64>>(&self.total, || {
            (0..self.examples()).into_par_iter().map(entropy).collect()
        })
    }

    /// Mutual information between prediction and member, `total - data`: exactly 0 where it is
    /// less than rounding can tell from 0.
    pub fn knowledge(&self) -> Option<Vec<f64>> {
        const NOISE: f64 = 1e-12;
        let gap = |(total, data): (&f64, &f64)| {
            let gap = total - data;
            if gap < NOISE { 0.0 } else { gap }
        };
        self.data.as_ref().map(|data| self.total().iter().zip(data).map(gap).collect())
    }
}

/// Why members could not be averaged.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A number that no prediction may hold.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// The distributions could not be written to a spill file.
    #[error("the predictive distributions could not be written to a spill file: {0}")]
    Spill(#[from] io::Error),
}

/// Averages the members. `progress` is told the number of rows done, from any thread.
pub fn pool(
    source: &dyn Members,
    form: Form,
    progress: &(dyn Fn(usize) + Sync),
) -> Result<Pooled, Fault> {
    if source.members() == 1 && form == Form::Probs {
        return only_probabilities(source, progress);
    }
    let (examples, classes) = (source.examples(), source.width());
    let mut p = vec![0.0; examples * classes];
    let mut log_p = vec![0.0; examples * classes];
    let mut of_rows = OfRows::new(examples);
    let task = rows_per_task(source);
    let clean = p
        .par_chunks_mut(task * classes)
        .zip(log_p.par_chunks_mut(task * classes))
        .zip(of_rows.tasks(task))
        .map(|((p, log_p), (start, of_rows))| {
            let clean = pool_task(source, form, start, p, log_p, of_rows);
            progress(p.len() / classes);
            clean
        })
        .reduce(|| true, |a, b| a & b);
    faultless(clean, source, form)?;
    Ok(of_rows.pooled(source, Distributions::in_memory(p, log_p, classes)))
}

/// The probabilities of one member, as they are: logarithms and entropies are worked out if they are asked for.
fn only_probabilities(
    source: &dyn Members,
    progress: &(dyn Fn(usize) + Sync),
) -> Result<Pooled, Fault> {
    let (examples, classes) = (source.examples(), source.width());
    let mut p = vec![0.0; examples * classes];
    let (mut predicted, mut confidence) = (vec![0; examples], vec![0.0; examples]);
    let task = rows_per_task(source);
    let clean = p
        .par_chunks_mut(task * classes)
        .zip(predicted.par_chunks_mut(task).zip(confidence.par_chunks_mut(task)))
        .enumerate()
        .map(|(index, (p, (predicted, confidence)))| {
            let mut clean = true;
            let (piece, mut start) = (rows_per_piece(classes), index * task);
            let tops_of = predicted.chunks_mut(piece).zip(confidence.chunks_mut(piece));
            for (p, (predicted, confidence)) in p.chunks_mut(piece * classes).zip(tops_of) {
                let rows = start..start + predicted.len();
                start = rows.end;
                source.read(0, rows, p);
                clean &= softmax::are_probabilities(p, classes);
                tops(p, classes, predicted, confidence);
            }
            progress(p.len() / classes);
            clean
        })
        .reduce(|| true, |a, b| a & b);
    faultless(clean, source, Form::Probs)?;
    let distributions = Distributions::of_probabilities(p, classes);
    let (members, total, data) = (1, OnceLock::new(), None);
    Ok(Pooled { classes, members, distributions, predicted, confidence, total, data })
}

/// The same with the distributions in a spill file, which holds `2 * examples * classes` numbers.
pub fn pool_spilled(
    source: &dyn Members,
    form: Form,
    spill: Box<dyn Spill>,
    progress: &(dyn Fn(usize) + Sync),
) -> Result<Pooled, Failure> {
    let (examples, classes) = (source.examples(), source.width());
    let distributions = Distributions::spilled(spill, examples, classes);
    let mut of_rows = OfRows::new(examples);
    let clean = of_rows
        .tasks(rows_per_task(source))
        .map_init(
            || (Vec::new(), Vec::new()),
            |(p, log_p), (start, of_rows)| {
                let rows = of_rows.total.len();
                p.clear();
                p.resize(rows * classes, 0.0);
                log_p.resize(rows * classes, 0.0);
                let clean = pool_task(source, form, start, p, log_p, of_rows);
                distributions.write(Kind::P, start, p)?;
                distributions.write(Kind::LogP, start, log_p)?;
                progress(rows);
                Ok(clean)
            },
        )
        .try_reduce(|| true, |a, b| Ok::<bool, io::Error>(a & b))?;
    faultless(clean, source, form)?;
    Ok(of_rows.pooled(source, distributions))
}

/// Finds the fault if the fast pass, which cannot say where it is, was not clean.
fn faultless(clean: bool, source: &dyn Members, form: Form) -> Result<(), Fault> {
    match if clean { None } else { first_fault(source, form) } {
        None => Ok(()),
        Some(fault) => Err(fault),
    }
}

/// The numbers that each row gives, see [`Pooled`].
struct OfRows<F, U> {
    total: F,
    data: F,
    confidence: F,
    predicted: U,
}

impl OfRows<Vec<f64>, Vec<u32>> {
    fn new(examples: usize) -> Self {
        let zeros = || vec![0.0; examples];
        Self { total: zeros(), data: zeros(), confidence: zeros(), predicted: vec![0; examples] }
    }

    /// Cuts the rows into tasks of `task` rows, each with the index of its first.
    fn tasks(
        &mut self,
        task: usize,
    ) -> impl IndexedParallelIterator<Item = (usize, OfRows<&mut [f64], &mut [u32]>)> {
        let Self { total, data, confidence, predicted } = self;
        total
            .par_chunks_mut(task)
            .zip(data.par_chunks_mut(task))
            .zip(confidence.par_chunks_mut(task).zip(predicted.par_chunks_mut(task)))
            .enumerate()
            .map(move |(index, ((total, data), (confidence, predicted)))| {
                (index * task, OfRows { total, data, confidence, predicted })
            })
    }

    fn pooled(self, source: &dyn Members, distributions: Distributions) -> Pooled {
        let (members, classes) = (source.members(), source.width());
        let Self { total, data, confidence, predicted } = self;
        let data = (members > 1).then_some(data);
        let total = total.into();
        Pooled { classes, members, distributions, predicted, confidence, total, data }
    }
}

/// Pools a task's rows into `p`, which holds zeros, and `log_p`. False when a number is at fault.
fn pool_task(
    source: &dyn Members,
    form: Form,
    start: usize,
    p: &mut [f64],
    log_p: &mut [f64],
    of_rows: OfRows<&mut [f64], &mut [u32]>,
) -> bool {
    let OfRows { total, data, confidence, predicted } = of_rows;
    let rows = start..start + total.len();
    let clean = pool_rows(source, form, rows, p, log_p, total, data);
    tops(p, source.width(), predicted, confidence);
    clean
}

/// Most probable classes and their probabilities.
fn tops(p: &[f64], classes: usize, predicted: &mut [u32], confidence: &mut [f64]) {
    for (row, (class, top)) in p.chunks_exact(classes).zip(predicted.iter_mut().zip(confidence)) {
        let best = softmax::argmax(row);
        (*class, *top) = (best as u32, row[best]);
    }
}

/// Rows handed to a thread at once: two megabytes of the result, and enough tasks for every thread.
/// Rows do not depend on one another, so the split changes no result.
fn rows_per_task(source: &dyn Members) -> usize {
    let by_memory = (1 << 18) / source.width();
    let by_threads = source.examples().div_ceil(4 * rayon::current_num_threads());
    by_memory.min(by_threads).max(1)
}

/// Rows that stay in the cache.
fn rows_per_piece(classes: usize) -> usize {
    (4096 / classes).clamp(1, 256)
}

/// Pools a task's rows, in pieces that stay in the cache. False when a number is at fault.
fn pool_rows(
    source: &dyn Members,
    form: Form,
    rows: Range<usize>,
    p: &mut [f64],
    log_p: &mut [f64],
    total: &mut [f64],
    data: &mut [f64],
) -> bool {
    let (members, classes) = (source.members(), source.width());
    let piece = rows_per_piece(classes);
    let mut clean = true;
    let pieces = p
        .chunks_mut(piece * classes)
        .zip(log_p.chunks_mut(piece * classes))
        .zip(total.chunks_mut(piece).zip(data.chunks_mut(piece)));
    for (index, ((p, log_p), (total, data))) in pieces.enumerate() {
        let start = rows.start + index * piece;
        let rows = start..start + total.len();
        // log_p holds the member at hand until the sum is complete.
        for member in 0..members {
            source.read(member, rows.clone(), log_p);
            clean &= softmax::add_member(form, log_p, classes, p, data);
        }
        if members == 1 {
            // The one member's logarithms are known directly; taking ln(p) would lose digits.
            source.read(0, rows.clone(), log_p);
            softmax::log_of_single(form, log_p, classes, p, total);
        } else {
            let weight = 1.0 / members as f64;
            data.iter_mut().for_each(|entropy| *entropy *= weight);
            if softmax::finish_mean(weight, classes, p, log_p, total) {
                redo_underflowed(source, form, rows, p, log_p);
            }
        }
    }
    clean
}

/// Takes the logarithms of underflowed probabilities again, from the members' own logarithms.
fn redo_underflowed(
    source: &dyn Members,
    form: Form,
    rows: Range<usize>,
    p: &[f64],
    log_p: &mut [f64],
) {
    let (members, classes) = (source.members(), source.width());
    let log_members = (members as f64).ln();
    let mut row = vec![0.0; members * classes];
    let mut terms = vec![0.0; members];
    for (index, (p, log_p)) in p.chunks(classes).zip(log_p.chunks_mut(classes)).enumerate() {
        if p.iter().all(|&p| p >= TINY) {
            continue;
        }
        let example = rows.start + index;
        for (member, row) in row.chunks_mut(classes).enumerate() {
            source.read(member, example..example + 1, row);
            match form {
                Form::Logits => {
                    let z = logsumexp(row);
                    row.iter_mut().for_each(|x| *x -= z);
                }
                Form::LogProbs => {}
                Form::Probs => row.iter_mut().for_each(|x| *x = x.ln()),
            }
        }
        for (class, log_p) in log_p.iter_mut().enumerate().filter(|(c, _)| p[*c] < TINY) {
            for (member, term) in terms.iter_mut().enumerate() {
                *term = row[member * classes + class];
            }
            *log_p = logsumexp(&terms) - log_members;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::members::InMemory;

    /// Rows of `classes` probabilities: sharp, flat, with zeros and a negative zero.
    fn rows(examples: usize, classes: usize) -> Vec<f64> {
        let row = |i: usize| {
            let weight = |c: usize| match (i + c) % 7 {
                0 if c > 0 => -0.0,
                k => (((i * classes + c) as f64 * 0.618_034).fract() * k as f64).exp(),
            };
            let weights: Vec<f64> = (0..classes).map(weight).collect();
            let sum: f64 = weights.iter().sum();
            weights.into_iter().map(move |weight| weight / sum)
        };
        (0..examples).flat_map(row).collect()
    }

    /// What pooling gave when it took every logarithm at once, which is still the way of every other form.
    fn at_once(source: &dyn Members) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let (n, classes) = (source.examples(), source.width());
        let (mut p, mut log_p) = (vec![0.0; n * classes], vec![0.0; n * classes]);
        let (mut total, mut data) = (vec![0.0; n], vec![0.0; n]);
        assert!(pool_rows(source, Form::Probs, 0..n, &mut p, &mut log_p, &mut total, &mut data));
        (p, log_p, total)
    }

    #[test]
    fn what_is_worked_out_when_asked_for_has_the_bits_of_what_is_worked_out_at_once() {
        for classes in [2, 3, 8, 11, 100] {
            let source = InMemory::new(rows(300, classes), [1, 300, classes]).expect("rows");
            let pooled = pool(&source, Form::Probs, &|_| {}).expect("probabilities");
            let (p, log_p, total) = at_once(&source);
            let bits = |values: &[f64]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(pooled.total()), bits(&total), "{classes}");
            let of = |kind| bits(&pooled.distributions.rows(kind, 0..300));
            assert_eq!((of(Kind::P), of(Kind::LogP)), (bits(&p), bits(&log_p)), "{classes}");
        }
    }

    #[test]
    fn rows_are_refused_and_taken_on_either_side_of_the_tolerance_as_before() {
        for classes in [2, 9, 100] {
            for step in -40_i32..40 {
                for edge in
                    [1.0 - crate::members::SUM_TOLERANCE, 1.0 + crate::members::SUM_TOLERANCE]
                {
                    let sum = edge + 1e-16 * f64::from(step);
                    let values = vec![sum / classes as f64; classes];
                    let source = InMemory::new(values, [1, 1, classes]).expect("a row");
                    let (mut p, mut log_p) = (vec![0.0; classes], vec![0.0; classes]);
                    let (mut total, mut data) = ([0.0], [0.0]);
                    let before = pool_rows(
                        &source,
                        Form::Probs,
                        0..1,
                        &mut p,
                        &mut log_p,
                        &mut total,
                        &mut data,
                    );
                    source.read(0, 0..1, &mut p);
                    assert_eq!(
                        softmax::are_probabilities(&mut p, classes),
                        before,
                        "{classes} {sum}"
                    );
                }
            }
        }
        for bad in [f64::NAN, -1e-300, 1.0 + 1e-9, f64::INFINITY] {
            assert!(!softmax::are_probabilities(&mut [0.5, 0.5, bad], 3), "{bad}");
        }
    }
}

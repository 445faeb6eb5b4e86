//! The predictive distribution of an ensemble: the mean of its members' probabilities.
//!
//! `log p = logsumexp_m(log p_m) - log M`, in f64. Members are read a block of rows at a time, so
//! memory grows with examples times classes and not with the number of members.

use std::ops::Range;

use rayon::prelude::*;

use crate::members::{Fault, Form, Members, first_fault};
use crate::numeric::transcendental::{TINY, logsumexp};
use crate::softmax;

/// Predictive distributions of one file, a row per example, before any label is seen.
#[derive(Clone, Debug)]
pub struct Pooled {
    /// Number of classes.
    pub classes: usize,
    /// Number of members that were averaged.
    pub members: usize,
    /// Predictive probabilities, `[examples, classes]`.
    pub p: Vec<f64>,
    /// Their logarithms, exact also where the probability underflows.
    pub log_p: Vec<f64>,
    /// Most probable class; the lowest index wins a tie.
    pub predicted: Vec<u32>,
    /// Probability of the predicted class.
    pub confidence: Vec<f64>,
    /// Entropy of the predictive distribution, in nats.
    pub total: Vec<f64>,
    /// Mean entropy of the members; `None` for one member.
    pub data: Option<Vec<f64>>,
}

impl Pooled {
    /// Number of examples.
    pub fn examples(&self) -> usize {
        self.predicted.len()
    }

    /// Mutual information between prediction and member, `total - data`: exactly 0 where it is
    /// less than rounding can tell from 0.
    pub fn knowledge(&self) -> Option<Vec<f64>> {
        const NOISE: f64 = 1e-12;
        let gap = |(total, data): (&f64, &f64)| {
            let gap = total - data;
            if gap < NOISE { 0.0 } else { gap }
        };
        self.data.as_ref().map(|data| self.total.iter().zip(data).map(gap).collect())
    }
}

/// Averages the members. `progress` is told the number of rows done, from any thread.
pub fn pool(
    source: &dyn Members,
    form: Form,
    progress: &(dyn Fn(usize) + Sync),
) -> Result<Pooled, Fault> {
    let (members, examples, classes) = (source.members(), source.examples(), source.width());
    let mut p = vec![0.0; examples * classes];
    let mut log_p = vec![0.0; examples * classes];
    let mut total = vec![0.0; examples];
    let mut data = vec![0.0; examples];
    let mut predicted = vec![0; examples];
    let mut confidence = vec![0.0; examples];

    let task = rows_per_task(examples, classes);
    let clean = (
        p.par_chunks_mut(task * classes),
        log_p.par_chunks_mut(task * classes),
        total.par_chunks_mut(task),
        data.par_chunks_mut(task),
        predicted.par_chunks_mut(task),
        confidence.par_chunks_mut(task),
    )
        .into_par_iter()
        .enumerate()
        .map(|(index, (p, log_p, total, data, predicted, confidence))| {
            let start = index * task;
            let rows = start..start + total.len();
            let clean = pool_rows(source, form, rows.clone(), p, log_p, total, data);
            for (row, (class, top)) in
                p.chunks_exact(classes).zip(predicted.iter_mut().zip(confidence))
            {
                let best = softmax::argmax(row);
                (*class, *top) = (best as u32, row[best]);
            }
            source.release(rows.clone());
            progress(rows.len());
            clean
        })
        .reduce(|| true, |a, b| a & b);

    if !clean && let Some(fault) = first_fault(source, form) {
        return Err(fault);
    }
    let data = (members > 1).then_some(data);
    Ok(Pooled { classes, members, p, log_p, predicted, confidence, total, data })
}

/// Rows handed to a thread at once: about a megabyte of each member's f32 values, and enough
/// tasks for every thread. Rows do not depend on one another, so the split changes no result.
fn rows_per_task(examples: usize, classes: usize) -> usize {
    let by_memory = (1 << 18) / classes;
    let by_threads = examples.div_ceil(4 * rayon::current_num_threads());
    by_memory.min(by_threads).max(1)
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
    let piece = (4096 / classes).clamp(1, 256);
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
            let share = 1.0 / members as f64;
            data.iter_mut().for_each(|entropy| *entropy *= share);
            if softmax::finish_mean(share, classes, p, log_p, total) {
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

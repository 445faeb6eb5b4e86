//! Where member predictions come from: a file, an array in memory, a network.

use std::ops::Range;

/// What the numbers of a classification file are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Unnormalised log probabilities; -inf is probability 0.
    Logits,
    /// Log probabilities; each row's probabilities sum to 1 within [`SUM_TOLERANCE`].
    LogProbs,
    /// Probabilities; each row sums to 1 within [`SUM_TOLERANCE`].
    Probs,
}

/// How far a row's sum may be from 1. Rows are used as they are, never renormalised.
pub const SUM_TOLERANCE: f64 = 1e-3;

/// Numbers `[members, examples, width]` that are read a block of rows at a time: classes across
/// for classification, a width of one for regression.
pub trait Members: Sync {
    /// Number of members (draws, for samples).
    fn members(&self) -> usize;
    /// Number of examples.
    fn examples(&self) -> usize;
    /// Numbers per example.
    fn width(&self) -> usize;
    /// Copies a member's rows into `out`, row after row.
    fn read(&self, member: usize, rows: Range<usize>, out: &mut [f64]);
}

/// Member predictions in memory, `values[(member * examples + example) * width + class]`.
pub struct InMemory<T> {
    values: Vec<T>,
    shape: [usize; 3],
}

impl<T: Copy + Into<f64>> InMemory<T> {
    /// `None` when the number of values is not the product of the shape, or the shape is empty.
    pub fn new(values: Vec<T>, shape: [usize; 3]) -> Option<Self> {
        let fits = shape.iter().product::<usize>() == values.len() && !values.is_empty();
        fits.then_some(Self { values, shape })
    }
}

impl<T: Copy + Into<f64> + Sync> Members for InMemory<T> {
    fn members(&self) -> usize {
        self.shape[0]
    }
    fn examples(&self) -> usize {
        self.shape[1]
    }
    fn width(&self) -> usize {
        self.shape[2]
    }
    fn read(&self, member: usize, rows: Range<usize>, out: &mut [f64]) {
        let start = (member * self.shape[1] + rows.start) * self.shape[2];
        for (to, from) in out.iter_mut().zip(&self.values[start..]) {
            *to = (*from).into();
        }
    }
}

/// Calls `f(example, row)` for every row of a member, read a few at a time into memory of its own.
pub(crate) fn each_row(source: &dyn Members, member: usize, mut f: impl FnMut(usize, &mut [f64])) {
    let (n, width) = (source.examples(), source.width());
    let size = (4096 / width).clamp(1, 256);
    let mut block = vec![0.0; size * width];
    for start in (0..n).step_by(size) {
        let rows = start..n.min(start + size);
        let block = &mut block[..rows.len() * width];
        source.read(member, rows.clone(), block);
        rows.zip(block.chunks_exact_mut(width)).for_each(|(example, row)| f(example, row));
    }
}

/// A number that no prediction may hold, and where it stands.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{what} at member {member}, example {example}{}", class.map(|c| format!(", class {c}")).unwrap_or_default())]
pub struct Fault {
    /// What is wrong.
    pub what: String,
    /// Whether one number is wrong, or the sum of a row's probabilities.
    pub kind: FaultKind,
    /// Member, from 0.
    pub member: usize,
    /// Example, from 0.
    pub example: usize,
    /// Class, from 0; `None` when the whole row is at fault.
    pub class: Option<usize>,
}

/// Kind of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// Numbers that cannot be what they are taken for.
    Number,
    /// Probabilities whose sum is not 1.
    Sum,
}

/// The first fault in the order member, example, class: the fast pass only finds that there is one.
pub fn first_fault(source: &dyn Members, form: Form) -> Option<Fault> {
    let width = source.width();
    let mut row = vec![0.0; width];
    for member in 0..source.members() {
        for example in 0..source.examples() {
            source.read(member, example..example + 1, &mut row);
            if let Some((what, kind, class)) = row_fault(&row, form) {
                return Some(Fault { what, kind, member, example, class });
            }
        }
    }
    None
}

fn row_fault(row: &[f64], form: Form) -> Option<(String, FaultKind, Option<usize>)> {
    let bad = |x: f64| match form {
        Form::Logits => x.is_nan() || x == f64::INFINITY,
        Form::LogProbs => x.is_nan() || x > SUM_TOLERANCE,
        Form::Probs => !(0.0..=1.0).contains(&x),
    };
    if let Some(class) = row.iter().position(|&x| bad(x)) {
        let what = match (form, row[class]) {
            (_, x) if x.is_nan() => "NaN".to_string(),
            (Form::Probs, x) => format!("probability {x} outside [0, 1]"),
            (Form::LogProbs, x) => format!("log probability {x} above 0"),
            (Form::Logits, x) => format!("logit {x}"),
        };
        return Some((what, FaultKind::Number, Some(class)));
    }
    match form {
        Form::Logits => row
            .iter()
            .all(|&x| x == f64::NEG_INFINITY)
            .then(|| ("every logit is -inf".to_string(), FaultKind::Number, None)),
        Form::LogProbs | Form::Probs => {
            let sum = if form == Form::Probs {
                row.iter().sum::<f64>()
            } else {
                row.iter().map(|x| x.exp()).sum()
            };
            let off = (sum - 1.0).abs() > SUM_TOLERANCE;
            let what = || format!("probabilities that sum to {sum:.6}, not 1");
            off.then(|| (what(), FaultKind::Sum, None))
        }
    }
}

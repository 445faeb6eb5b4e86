//! The temperature that maximises the likelihood of `softmax(log p / T)`.
//!
//! The mean log-likelihood is concave in `beta = 1/T`. Its slope is `mean_i (log p_i[y] - E_i)`
//! and its curvature `-mean_i V_i`, with `E_i` and `V_i` the mean and the variance of `log p_i`
//! under `softmax(beta log p_i)`: Newton steps, kept inside a bracket.

use std::ops::Range;
use std::sync::Arc;

use crate::distributions::Kind;
use crate::examples::Examples;
use crate::known::Of;
use crate::score::{Statistic, Undefined};
use crate::softmax;
use crate::weights::Weights;

/// The best inverse temperature, and what each example contributes to it.
#[derive(Clone, Debug)]
pub struct Fit {
    /// `1/T`.
    pub beta: f64,
    /// Where the last step started; slopes and curvatures are taken there.
    anchor: f64,
    /// Each example's slope of the log-likelihood.
    slope: Vec<f64>,
    /// Each example's curvature, with its sign changed.
    curvature: Vec<f64>,
}

/// Ten or so are enough when there is an optimum; halving a bracket down to rounding takes fifty.
const MOST_STEPS: usize = 200;

/// Inverse temperatures that are tried.
const REACH: std::ops::Range<f64> = 1e-6..1e9;

/// Fits the temperature to ten digits or so; the examples remember it.
pub fn fit(examples: &Examples) -> Result<Arc<Fit>, Undefined> {
    /// A type of its own, so that no other attempt is mistaken for it.
    struct Fitted(Result<Arc<Fit>, Undefined>);
    let fitted = || Fitted(refine(examples, 1.0, 1e-6).map(Arc::new));
    examples.known.get(Of::Calibration, fitted).0.clone()
}

/// Fits the temperature, starting at `T = 1/start`. A Newton step that is relatively smaller than
/// `last_step` is the last; the error after it is of the order of its square.
pub fn refine(examples: &Examples, start: f64, last_step: f64) -> Result<Fit, Undefined> {
    let impossible = examples.impossible();
    if impossible > 0 {
        return Err(Undefined::because(format!(
            "{impossible} of {} examples give their label probability 0, at every temperature",
            examples.len()
        )));
    }
    let (mut lo, mut hi) = (0.0_f64, f64::INFINITY);
    let mut beta = start;
    for _ in 0..MOST_STEPS {
        if !REACH.contains(&beta) {
            break;
        }
        let fit = at(examples, beta);
        let slope: f64 = fit.slope.iter().sum();
        let curvature: f64 = fit.curvature.iter().sum();
        if slope == 0.0 {
            return Ok(fit); // also where every temperature is as good as any other
        }
        if every_label_is_on_top(examples) {
            return Err(Undefined::because(
                "there are no errors, so no best temperature exists: the likelihood grows as T falls to 0",
            ));
        }
        if slope > 0.0 {
            lo = beta;
        } else {
            hi = beta;
        }
        let newton = beta + slope / curvature;
        // Where every curvature has underflowed there is no step; the bracket closes by halves.
        if (newton - beta).abs() <= last_step * beta || hi - lo <= 1e-12 * beta {
            return Ok(Fit { beta: if newton.is_finite() { newton } else { beta }, ..fit });
        }
        beta = if newton > lo && newton < hi && newton < 4.0 * beta {
            newton
        } else if hi.is_infinite() {
            2.0 * beta
        } else {
            0.5 * (lo + hi)
        };
    }
    Err(Undefined::because(if beta < REACH.start {
        "the labels are no likelier than under uniform guessing, so no best temperature exists: the \
         likelihood grows with T"
    } else {
        "no best temperature exists: the likelihood grows as T falls to 0"
    }))
}

/// Whether no class of any example is likelier than its label; ties are allowed.
fn every_label_is_on_top(examples: &Examples) -> bool {
    (0..examples.len()).all(|i| {
        let log_p = |class: u32| examples.columns.log_p(i, class as usize);
        examples.predicted[i] == examples.labels[i]
            || log_p(examples.labels[i]) >= log_p(examples.predicted[i])
    })
}

/// Slopes and curvatures at `beta`.
fn at(examples: &Examples, beta: f64) -> Fit {
    let columns = &examples.columns;
    columns.take_logarithms();
    let mut slope = Vec::with_capacity(examples.len());
    let mut curvature = Vec::with_capacity(examples.len());
    let fill = |stretch: Range<usize>, out: &mut [(f64, f64)]| {
        let rows = columns.rows(Kind::LogP, stretch.clone());
        let mut powers = vec![0.0; examples.classes];
        for (i, out) in stretch.zip(out) {
            let log_p = rows.get(i);
            let top = log_p[examples.predicted[i] as usize];
            let row = softmax::temper(beta, log_p, top, &mut powers);
            *out = (log_p[examples.labels[i] as usize] - top - row.mean, row.variance);
        }
    };
    columns.each_part(fill, |rows| {
        slope.extend(rows.iter().map(|row| row.0));
        curvature.extend(rows.iter().map(|row| row.1));
    });
    Fit { beta, anchor: beta, slope, curvature }
}

impl Fit {
    /// The temperature, `1/beta`.
    pub fn temperature(&self) -> f64 {
        1.0 / self.beta
    }

    /// The inverse temperature of some of the examples. For many of them, one Newton step from here
    /// is exact to the square of its length; a longer step only gives the fit its starting point.
    pub fn refit(&self, examples: &Examples, rows: &[u32]) -> Result<f64, Undefined> {
        const SHORT: f64 = 5e-3;
        let sum = |values: &[f64]| rows.iter().map(|&i| values[i as usize]).sum::<f64>();
        let beta = self.anchor + sum(&self.slope) / sum(&self.curvature);
        let step = (beta / self.anchor - 1.0).abs();
        if step < SHORT {
            return Ok(beta);
        }
        let start = if step < 0.5 { beta } else { self.beta };
        refine(&examples.subset(rows), start, 3e-4).map(|fit| fit.beta)
    }
}

/// A resample's temperature is one Newton step away: the error of that step is of order `1/n`.
impl Statistic for Arc<Fit> {
    fn weighted<const L: usize>(&self, weights: &Weights<'_, L>) -> [f64; L] {
        let (slope, curvature) = (weights.sum(&self.slope), weights.sum(&self.curvature));
        std::array::from_fn(|l| {
            let step = if curvature[l] > 0.0 { slope[l] / curvature[l] } else { 0.0 };
            1.0 / (self.anchor + step).max(f64::MIN_POSITIVE)
        })
    }
    fn terms(&self) -> Vec<&[f64]> {
        vec![&self.slope, &self.curvature]
    }
}

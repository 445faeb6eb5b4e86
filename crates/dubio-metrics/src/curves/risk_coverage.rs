//! Error among the most confident examples, as a function of how many are kept.

use crate::examples::Examples;
use crate::score::{Statistic, total};

/// The risk-coverage curve; as a statistic, the area under it.
pub struct RiskCoverage<'a> {
    examples: &'a Examples,
    /// `harmonic[k] = 1 + 1/2 + ... + 1/k`.
    harmonic: Vec<f64>,
}

impl<'a> RiskCoverage<'a> {
    /// The curve of these examples.
    pub fn new(examples: &'a Examples) -> Self {
        let mut harmonic = Vec::with_capacity(examples.len() + 1);
        harmonic.push(0.0);
        for k in 1..=examples.len() {
            harmonic.push(harmonic[k - 1] + 1.0 / k as f64);
        }
        Self { examples, harmonic }
    }

    /// `(share kept, error among them)` at the end of every run of equal confidence, most
    /// confident first. Between two points the error is a hyperbola, not a line.
    pub fn points(&self) -> Vec<(f64, f64)> {
        let n = self.examples.len() as f64;
        let (mut kept, mut wrong) = (0.0, 0.0);
        let runs = self.examples.by_confidence().runs();
        runs.map(|run| {
            kept += run.len() as f64;
            wrong += run.iter().map(|&i| 1.0 - self.examples.correct(i as usize)).sum::<f64>();
            (kept / n, wrong / kept)
        })
        .collect()
    }

    /// `sum_{j=1..m} (wrong + j e)/(kept + j)`, a run of `m` equals with error `e` after `kept`.
    fn run_area(&self, kept: f64, wrong: f64, run: f64, run_wrong: f64) -> f64 {
        if run == 0.0 {
            return 0.0;
        }
        let slope = run_wrong / run;
        let tail = self.harmonic[(kept + run) as usize] - self.harmonic[kept as usize];
        run_wrong + (wrong - kept * slope) * tail
    }

    /// The area when all errors come last.
    pub(crate) fn best<const L: usize>(&self, weights: &[[f64; L]]) -> [f64; L] {
        let whole = total(weights);
        let mut wrong = [0.0; L];
        for (i, weight) in weights.iter().enumerate() {
            for l in 0..L {
                wrong[l] += weight[l] * (1.0 - self.examples.correct(i));
            }
        }
        std::array::from_fn(|l| {
            self.run_area(whole[l] - wrong[l], 0.0, wrong[l], wrong[l]) / whole[l]
        })
    }
}

impl Statistic for RiskCoverage<'_> {
    /// The weights must not sum to more than the number of examples.
    fn weighted<const L: usize>(&self, weights: &[[f64; L]]) -> [f64; L] {
        let mut kept = [0.0; L];
        let mut wrong = [0.0; L];
        let mut area = [0.0; L];
        for run in self.examples.by_confidence().runs() {
            let mut size = [0.0; L];
            let mut errors = [0.0; L];
            for &i in run {
                let error = 1.0 - self.examples.correct(i as usize);
                for l in 0..L {
                    size[l] += weights[i as usize][l];
                    errors[l] += weights[i as usize][l] * error;
                }
            }
            for l in 0..L {
                area[l] += self.run_area(kept[l], wrong[l], size[l], errors[l]);
                kept[l] += size[l];
                wrong[l] += errors[l];
            }
        }
        std::array::from_fn(|l| area[l] / kept[l])
    }
}

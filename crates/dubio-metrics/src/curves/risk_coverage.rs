//! Error among the most confident examples, as a function of how many are kept.

use multiversion::multiversion;

use crate::examples::{Examples, Ranking};
use crate::score::{Count, Statistic, total, wide};

/// The risk-coverage curve; as a statistic, the area under it.
pub struct RiskCoverage<'a> {
    ranking: &'a Ranking,
    /// 1 for a wrong prediction, 0 for a right one, most confident first.
    error: Vec<f64>,
    harmonic: Harmonic,
}

/// The harmonic numbers `1 + 1/2 + ... + 1/k`.
struct Harmonic(Vec<f64>);

impl Harmonic {
    /// Tabulated up to `count` and at least to where the series below is exact.
    fn new(count: usize) -> Self {
        let mut table = vec![0.0];
        for k in 1..=count.max(256) {
            table.push(table[k - 1] + 1.0 / k as f64);
        }
        Self(table)
    }

    #[inline(always)]
    fn at(&self, k: f64) -> f64 {
        match self.0.get(k as usize) {
            Some(value) => *value,
            None => Self::beyond(k),
        }
    }

    /// Euler's series, for more than the table holds.
    #[cold]
    #[inline(never)]
    fn beyond(k: f64) -> f64 {
        const EULER_MASCHERONI: f64 = 0.577_215_664_901_532_9;
        let inverse = 1.0 / (k * k);
        k.ln() + EULER_MASCHERONI + 0.5 / k - inverse * (1.0 / 12.0 - inverse / 120.0)
    }
}

impl<'a> RiskCoverage<'a> {
    /// The curve of these examples.
    pub fn new(examples: &'a Examples) -> Self {
        let ranking = examples.by_confidence();
        let error = |&i: &u32| 1.0 - examples.correct(i as usize);
        Self {
            ranking,
            error: ranking.order.iter().map(error).collect(),
            harmonic: Harmonic::new(examples.len()),
        }
    }

    /// `(share kept, error among them)` at the end of every run of equal confidence, most
    /// confident first. Between two points the error is a hyperbola, not a line.
    pub fn points(&self) -> Vec<(f64, f64)> {
        let n = self.error.len() as f64;
        let (mut start, mut wrong) = (0, 0.0);
        let points = self.ranking.ends.iter().map(|&end| {
            wrong += self.error[start..end as usize].iter().sum::<f64>();
            start = end as usize;
            (start as f64 / n, wrong / start as f64)
        });
        points.collect()
    }

    /// `sum_{j=1..m} (wrong + j e)/(kept + j)`, a run of `m` equals with error `e` after `kept`.
    #[inline(always)]
    fn run_area(&self, kept: f64, wrong: f64, run: f64, run_wrong: f64) -> f64 {
        if run == 0.0 {
            return 0.0;
        }
        let slope = run_wrong / run;
        let tail = self.harmonic.at(kept + run) - self.harmonic.at(kept);
        run_wrong + (wrong - kept * slope) * tail
    }

    /// The area when all errors come last; weights in the order of the ranking.
    pub(crate) fn best<const L: usize>(&self, weights: &[[Count; L]]) -> [f64; L] {
        let whole = total(weights);
        let mut wrong = [0.0; L];
        for (error, weight) in self.error.iter().zip(weights) {
            let weight = wide(weight);
            for l in 0..L {
                wrong[l] += weight[l] * error;
            }
        }
        std::array::from_fn(|l| {
            self.run_area(whole[l] - wrong[l], 0.0, wrong[l], wrong[l]) / whole[l]
        })
    }
}

impl Statistic for RiskCoverage<'_> {
    fn weighted<const L: usize>(&self, weights: &[[Count; L]]) -> [f64; L] {
        area(self, weights)
    }
    fn order(&self) -> Option<&[u32]> {
        Some(&self.ranking.order)
    }
}

#[multiversion(targets = "simd")]
fn area<const L: usize>(curve: &RiskCoverage<'_>, weights: &[[Count; L]]) -> [f64; L] {
    let mut kept = [0.0; L];
    let mut wrong = [0.0; L];
    let mut area = [0.0; L];
    let mut harmonic = [0.0; L];
    let mut start = 0;
    for &end in &curve.ranking.ends {
        let run = start..end as usize;
        start = run.end;
        if run.len() == 1 {
            // Nearly every run is one example, all right or all wrong: no need to divide.
            let error = curve.error[run.start];
            let weight = wide(&weights[run.start]);
            for l in 0..L {
                let next = curve.harmonic.at(kept[l] + weight[l]);
                area[l] += error * weight[l] + (wrong[l] - error * kept[l]) * (next - harmonic[l]);
                harmonic[l] = next;
                kept[l] += weight[l];
                wrong[l] += error * weight[l];
            }
            continue;
        }
        let mut size = [0.0; L];
        let mut errors = [0.0; L];
        for place in run {
            let weight = wide(&weights[place]);
            for l in 0..L {
                size[l] += weight[l];
                errors[l] += weight[l] * curve.error[place];
            }
        }
        for l in 0..L {
            area[l] += curve.run_area(kept[l], wrong[l], size[l], errors[l]);
            kept[l] += size[l];
            wrong[l] += errors[l];
            harmonic[l] = curve.harmonic.at(kept[l]);
        }
    }
    std::array::from_fn(|l| area[l] / kept[l])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harmonic_numbers_beyond_the_table_agree_with_the_sum() {
        let (short, long) = (Harmonic::new(0), Harmonic::new(2_000));
        for k in [257.0, 500.0, 2_000.0] {
            assert!((short.at(k) - long.at(k)).abs() < 1e-14, "{k}");
        }
    }
}

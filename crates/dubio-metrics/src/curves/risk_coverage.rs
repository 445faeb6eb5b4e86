//! Error among the most confident examples, as a function of how many are kept.

use std::ops::Range;
use std::sync::Arc;

use crate::confidence::Gaps;
use crate::detection::{Detection, Step, Visitor, Walk};
use crate::examples::Examples;
use crate::known::Of;
use crate::passes::Pass;
use crate::weights::{Count, Weights};

/// The risk-coverage curve.
#[derive(Debug)]
pub struct RiskCoverage {
    /// The wrong predictions, least confident first.
    wrong: Arc<Detection>,
    harmonic: Harmonic,
}

/// Areas under the curve, in each lane.
pub(crate) struct Areas<const L: usize> {
    /// In the order of confidence.
    pub ranked: [f64; L],
    /// In the best possible order, all errors last.
    pub best: [f64; L],
}

impl RiskCoverage {
    /// The curve of these examples, which remember it.
    pub fn of(examples: &Examples) -> Arc<Self> {
        examples.known.get(Of::Labels, || {
            let wrong = Gaps::of(examples).wrong.clone();
            Self { wrong, harmonic: Harmonic::new(examples.len()) }
        })
    }

    /// `(fraction kept, error among them)` at the end of every run of equal confidence, most
    /// confident first. Between two points the error is a hyperbola, not a line.
    pub fn points(&self) -> Vec<(f64, f64)> {
        let n = self.wrong.positive.len();
        let runs: Vec<Range<usize>> = self.wrong.ranking.run_places().collect();
        let mut wrong = 0;
        let points = runs.into_iter().rev().map(|run| {
            let kept = (n - run.start) as f64;
            wrong += self.wrong.positive[run].iter().filter(|&&wrong| wrong).count();
            (kept / n as f64, wrong as f64 / kept)
        });
        points.collect()
    }

    /// `1/n sum_k wrong_k/k`, `wrong_k` the errors among the `k` most confident.
    pub(crate) fn areas<const L: usize>(self: &Arc<Self>, weights: &Weights<'_, L>) -> Areas<L> {
        let (sums, whole) = (weights.along(self), weights.total());
        let all = whole.map(|whole| whole as u32);
        let best = self.harmonic.run_area(&sums.all, &all, &sums.wrong, &sums.wrong);
        Areas {
            ranked: std::array::from_fn(|l| sums.area[l] / whole[l]),
            best: std::array::from_fn(|l| best[l] / whole[l]),
        }
    }
}

/// The state of a pass that begins with the least confident example.
pub(crate) struct Sums<const L: usize> {
    walk: Walk<L>,
    /// The harmonic number of all examples.
    all: [f64; L],
    kept: [u32; L],
    wrong: [u32; L],
    area: [f64; L],
}

impl Pass for RiskCoverage {
    type Sums<const L: usize> = Sums<L>;
    fn order(&self) -> &Arc<Vec<u32>> {
        &self.wrong.ranking.order
    }
    fn start<const L: usize>(&self, weights: &Weights<'_, L>) -> Sums<L> {
        let kept = weights.total().map(|whole| whole as u32);
        let (walk, all) = (Walk::default(), self.harmonic.at(&kept));
        Sums { walk, all, kept, wrong: [0; L], area: [0.0; L] }
    }
    fn add<const L: usize>(&self, places: Range<usize>, counts: &[[Count; L]], sums: &mut Sums<L>) {
        let mut walk = std::mem::take(&mut sums.walk);
        let mut area = Area { harmonic: &self.harmonic, sums };
        walk.go_on(&self.wrong, places, counts, &mut area);
        sums.walk = walk;
    }
}

struct Area<'a, const L: usize> {
    harmonic: &'a Harmonic,
    sums: &'a mut Sums<L>,
}

impl<const L: usize> Visitor<L> for Area<'_, L> {
    #[inline(always)]
    fn visit(&mut self, step: &Step<L>) {
        let Self { harmonic, sums } = self;
        let mut run = [0; L];
        for l in 0..L {
            sums.kept[l] -= step.before[l];
            sums.wrong[l] += step.positive[l];
            run[l] = step.positive[l] + step.negative[l];
        }
        let area = harmonic.run_area(&sums.all, &sums.kept, &run, &step.positive);
        for l in 0..L {
            sums.area[l] += area[l];
            sums.kept[l] -= run[l];
        }
    }
}

/// The harmonic numbers `1 + 1/2 + ... + 1/k`.
#[derive(Debug)]
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

    /// What the errors of a run of equals add to `sum_k wrong_k/k`, where `kept` examples are as
    /// confident as the run or more. An error in place `k` counts in all sums from there on, and so
    /// `1/k + ... + 1/n` times; those of a run are spread evenly over its places.
    #[inline(always)]
    fn run_area<const L: usize>(
        &self,
        all: &[f64; L],
        kept: &[u32; L],
        run: &[u32; L],
        wrong: &[u32; L],
    ) -> [f64; L] {
        let mut above = [0; L];
        for l in 0..L {
            above[l] = kept[l] - run[l];
        }
        let (inside, outside) = (self.at(kept), self.at(&above));
        let mut area = [0.0; L];
        for l in 0..L {
            let (wrong, run) = (f64::from(wrong[l]), f64::from(run[l]));
            let slope = wrong / run.max(1.0);
            let within = slope * f64::from(above[l]) * (inside[l] - outside[l]);
            area[l] = wrong * (all[l] - inside[l]) + wrong - within;
        }
        area
    }

    #[inline(always)]
    fn at<const L: usize>(&self, k: &[u32; L]) -> [f64; L] {
        let mut values = [0.0; L];
        for l in 0..L {
            values[l] = match self.0.get(k[l] as usize) {
                Some(value) => *value,
                None => Self::beyond(k[l].into()),
            };
        }
        values
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harmonic_numbers_beyond_the_table_agree_with_the_sum() {
        let (short, long) = (Harmonic::new(0), Harmonic::new(2_000));
        let (short, long) = (short.at(&[257, 500, 2_000]), long.at(&[257, 500, 2_000]));
        for (short, long) in short.iter().zip(long) {
            assert!((short - long).abs() < 1e-14, "{short} is not {long}");
        }
    }
}

//! Scores against the number of samples, from subsets of a method's members.

use rand::Rng;

use super::Point;
use crate::calibrate::cross_validation::below;
use crate::score::Undefined;
use crate::stream::Stream;

/// How subsets of members are drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Subsets {
    /// How often, for each run and number of samples.
    pub draws: usize,
    /// Where the draws come from.
    pub stream: Stream,
}

/// Mean and deviation of a score with each of `sizes` samples. `runs` are the numbers of members of
/// independent runs of the method; `score(run, members)` is asked for the score of some members of a
/// run. Sizes that no run has are left out; a run with exactly so many has one subset and counts once.
///
/// The subsets of one draw are nested: the first `k` of one random order.
pub fn curve(
    runs: &[usize],
    sizes: &[usize],
    subsets: &Subsets,
    score: impl Fn(usize, &[usize]) -> Result<f64, Undefined>,
) -> Result<Vec<Point>, Undefined> {
    let mut points = Vec::new();
    for &size in sizes {
        let mut values = Vec::new();
        for (run, &members) in runs.iter().enumerate().filter(|(_, members)| **members >= size) {
            let draws = if members == size { 1 } else { subsets.draws };
            for draw in 0..draws {
                let mut generator = subsets.stream.nth(run).nth(draw).generator();
                values.push(score(run, &shuffled(members, &mut generator)[..size])?);
            }
        }
        if !values.is_empty() {
            points.push(Point::of(size, &values));
        }
    }
    Ok(points)
}

impl Point {
    /// Mean and standard deviation (over `n - 1`) of some values, of which there is at least one.
    pub fn of(n_samples: usize, values: &[f64]) -> Self {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let std = (values.len() > 1).then(|| (squares / (count - 1.0)).sqrt());
        Self { n_samples, mean, std }
    }
}

fn shuffled(count: usize, generator: &mut impl Rng) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for i in (1..count).rev() {
        order.swap(i, below(generator, i as u64 + 1) as usize);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_and_deviations_are_over_runs_and_draws() {
        let subsets = Subsets { draws: 400, stream: Stream::root(1) };
        // The score is the mean of the members' numbers, so its mean over subsets is that of all.
        let score = |run: usize, members: &[usize]| {
            let numbers = members.iter().map(|&m| (10 * run + m) as f64);
            Ok(numbers.sum::<f64>() / members.len() as f64)
        };
        let points = curve(&[4, 4], &[1, 2, 4, 5], &subsets, score).expect("defined");
        assert_eq!(points.iter().map(|p| p.n_samples).collect::<Vec<_>>(), [1, 2, 4]);
        for point in &points {
            assert!((point.mean - 6.5).abs() < 0.2, "{point:?}");
        }
        // One subset of each run: 1.5 and 11.5.
        let std = points[2].std.expect("two runs");
        assert!((std - 50_f64.sqrt()).abs() < 1e-12);
        let alone = curve(&[4], &[4], &subsets, score).expect("defined");
        assert_eq!(alone[0].std, None, "one value has no deviation");
    }
}

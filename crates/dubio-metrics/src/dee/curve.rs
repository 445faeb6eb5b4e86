//! Scores against the number of samples, from subsets of a method's members.

use dubio_random::stream::Stream;
use dubio_random::uniform::{below, shuffle};

use super::Point;
use crate::score::Undefined;

/// How subsets of members are drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Subsets {
    /// Minimum number of draws for each run and number of samples. Where it takes more draws to use
    /// all members once, that many are made, up to ten.
    pub draws: usize,
    /// Where the draws come from.
    pub stream: Stream,
}

/// Maximum number of disjoint subsets that are scored for a run and a size, unless more are asked for.
const MOST: usize = 10;

/// Mean and standard deviation of a score with each of `sizes` samples. `runs` are the numbers of members of
/// independent runs of the method; `score(run, members)` gives the score of some members of a run. Sizes
/// that no run has are left out; a run with exactly that many members has one subset and counts once.
///
/// A random order of the members is cut into disjoint subsets, and then another one: with few draws, this
/// leaves less to chance which members are used. The first subsets of all sizes are nested.
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
            let apart = members / size;
            let draws = if members == size { 1 } else { subsets.draws.max(apart.min(MOST)) };
            for draw in 0..draws {
                let mut generator = subsets.stream.nth(run).nth(draw / apart).generator();
                let mut order: Vec<usize> = (0..members).collect();
                shuffle(&mut order, |n| below(&mut generator, n));
                values.push(score(run, &order[draw % apart * size..][..size])?);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subsets_use_every_member_once_before_any_twice() {
        let subsets = Subsets { draws: 3, stream: Stream::root(1) };
        let used = std::cell::RefCell::new(Vec::new());
        let score = |_: usize, members: &[usize]| {
            used.borrow_mut().push(members.to_vec());
            Ok(0.0)
        };
        curve(&[7], &[1, 3], &subsets, score).expect("defined");
        let used = used.into_inner();
        let mut alone: Vec<usize> = used[..7].concat();
        alone.sort_unstable();
        assert_eq!(alone, [0, 1, 2, 3, 4, 5, 6], "each by itself");
        let [first, second, third] = &used[7..] else { panic!("{used:?}") };
        assert!(first.iter().all(|member| !second.contains(member)), "{used:?}");
        assert_eq!(third.len(), 3);
        assert!(first.starts_with(&used[0]), "nested");
    }

    #[test]
    fn means_and_stds_are_over_runs_and_draws() {
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
        assert_eq!(alone[0].std, None, "one value has no standard deviation");
    }
}

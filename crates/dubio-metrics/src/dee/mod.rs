//! Deep ensemble equivalents: how many independently trained networks a method is worth.
//!
//! Ashukha et al. 2020, eq. 4 and 5. `DEE(k)` is the least real `l >= 1` at which the deep ensemble's
//! score is as good as the method's with `k` samples, linear between the numbers of networks that were
//! scored. It is 1 below the first of them, and never extrapolated above the last.

mod curve;

pub use curve::{Subsets, curve};

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

use crate::card::Direction;

/// The score of a method with some number of samples, over its runs and draws.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Number of samples, or of networks of a deep ensemble.
    pub n_samples: usize,
    /// Mean score.
    pub mean: f64,
    /// Its standard deviation; `None` where one value is all there is.
    pub std: Option<f64>,
}

/// A number of networks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Equivalent {
    /// As good as this many; 1 also where it is worse than the smallest ensemble that was scored.
    Networks(f64),
    /// Better than the largest ensemble that was scored, which has this many. Never extrapolated.
    MoreThan(usize),
}

impl Equivalent {
    /// The number, where it is known.
    pub fn networks(self) -> Option<f64> {
        match self {
            Self::Networks(networks) => Some(networks),
            Self::MoreThan(_) => None,
        }
    }
}

/// One digit after the point, or `> 100`.
impl fmt::Display for Equivalent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Networks(networks) => write!(f, "{networks:.1}"),
            Self::MoreThan(largest) => write!(f, "> {largest}"),
        }
    }
}

/// A number, or the text `> 100`.
impl Serialize for Equivalent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Networks(networks) => serializer.serialize_f64(*networks),
            Self::MoreThan(_) => serializer.collect_str(self),
        }
    }
}

/// What a method is worth with `n_samples` samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Worth {
    /// Number of the method's samples.
    pub n_samples: usize,
    /// Number of networks.
    pub dee: Equivalent,
    /// Against a baseline better by its standard deviation; `None` where the deviation of a number of
    /// networks that it depends on is not known.
    pub lower: Option<Equivalent>,
    /// Against a baseline worse by its standard deviation.
    pub upper: Option<Equivalent>,
}

/// Whether a method's equivalent may fall when more samples make it worse.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Falling {
    /// It may: eq. 4 for every number of samples by itself.
    #[default]
    Allowed,
    /// It never falls below a whole number that fewer samples have passed. The published tables are
    /// made this way: their search continues where it stopped for one sample fewer.
    AsPublished,
}

/// Deep ensemble equivalents of a method, a row for each of its points. `baseline` ascends in its
/// numbers of networks. `None` when the score has no direction, since nothing is then "as good".
pub fn equivalents(
    baseline: &[Point],
    method: &[Point],
    direction: Direction,
    falling: Falling,
) -> Option<Vec<Worth>> {
    direction.badness(0.0)?;
    let good = |value: f64| -direction.badness(value).unwrap_or(f64::NAN);
    let mean = |point: &Point| Some(good(point.mean));
    let shifted = |sign: f64| move |point: &Point| Some(good(point.mean) + sign * point.std?);
    let mut searches = [
        Search::new(baseline, mean, falling),
        Search::new(baseline, shifted(1.0), falling),
        Search::new(baseline, shifted(-1.0), falling),
    ];
    let row = |point: &Point| {
        let [dee, lower, upper] = searches.each_mut().map(|search| search.next(good(point.mean)));
        // A baseline without any score has no equivalent; callers do not ask with one.
        let dee = dee.unwrap_or(Equivalent::MoreThan(0));
        Worth { n_samples: point.n_samples, dee, lower, upper }
    };
    Some(method.iter().map(row).collect())
}

/// A baseline's points as `(networks, goodness)`, where that is known, and how far it was searched.
struct Search {
    points: Vec<(f64, Option<f64>)>,
    falling: Falling,
    first: usize,
}

impl Search {
    fn new(baseline: &[Point], good: impl Fn(&Point) -> Option<f64>, falling: Falling) -> Self {
        let pair = |point: &Point| (point.n_samples as f64, good(point));
        Self { points: baseline.iter().map(pair).collect(), falling, first: 0 }
    }

    /// The first place where the baseline is as good as `goal`; `None` where a point on the way there
    /// is not known. To skip that point would move the place beyond what the other points say.
    fn next(&mut self, goal: f64) -> Option<Equivalent> {
        let last = self.points.last()?.0;
        let mut before: Option<(f64, f64)> = None;
        for (at, &(networks, good)) in self.points.iter().enumerate().skip(self.first) {
            let good = good?;
            if good < goal {
                before = Some((networks, good));
                continue;
            }
            let Some((l, low)) = before else {
                let below = at == 0 && good > goal;
                return Some(Equivalent::Networks(if below { 1.0 } else { networks }));
            };
            if self.falling == Falling::AsPublished {
                self.first = at - 1;
            }
            // From an infinite score, the line jumps at its right end.
            let part = Some((goal - low) / (good - low)).filter(|part| !part.is_nan());
            return Some(Equivalent::Networks(l + (networks - l) * part.unwrap_or(1.0)));
        }
        Some(Equivalent::MoreThan(last as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(values: &[f64], std: Option<f64>) -> Vec<Point> {
        let point = |(i, &mean): (usize, &f64)| Point { n_samples: i + 1, mean, std };
        values.iter().enumerate().map(point).collect()
    }

    fn of(baseline: &[Point], values: &[f64], direction: Direction) -> Vec<Worth> {
        let rows = equivalents(baseline, &points(values, None), direction, Falling::Allowed);
        rows.expect("a direction")
    }

    #[test]
    fn the_equivalent_is_linear_between_numbers_of_networks() {
        let baseline = points(&[-1.0, -0.8, -0.7], Some(0.1));
        let rows = of(&baseline, &[-2.0, -1.0, -0.9, -0.75, -0.7, -0.65], Direction::Higher);
        let networks: Vec<Option<f64>> = rows.iter().map(|row| row.dee.networks()).collect();
        let expected = [Some(1.0), Some(1.0), Some(1.5), Some(2.5), Some(3.0), None];
        for (networks, expected) in networks.iter().zip(expected) {
            match (networks, expected) {
                (Some(a), Some(b)) => assert!((a - b).abs() < 1e-12, "{rows:?}"),
                (a, b) => assert_eq!(*a, b),
            }
        }
        assert_eq!(rows[5].dee, Equivalent::MoreThan(3));
        // At -0.75: the better baseline (-0.9, -0.7, -0.6) passes at 1.75, the worse one never.
        let lower = rows[3].lower.and_then(Equivalent::networks).expect("known");
        assert!((lower - 1.75).abs() < 1e-12);
        assert_eq!(rows[3].upper, Some(Equivalent::MoreThan(3)));
    }

    /// The contract's words: "Below the first point it is 1".
    #[test]
    fn below_the_first_point_it_is_one_whatever_the_smallest_ensemble_is() {
        let mut baseline = points(&[0.0, -0.8, -0.7], None);
        baseline.remove(0);
        let rows = of(&baseline, &[-0.9, -0.8, -0.75], Direction::Higher);
        let dee: Vec<Equivalent> = rows.iter().map(|row| row.dee).collect();
        assert_eq!(dee[..2], [Equivalent::Networks(1.0), Equivalent::Networks(2.0)]);
    }

    /// All four networks together are one ensemble, which has no standard deviation.
    #[test]
    fn bounds_that_lie_beyond_the_known_stds_are_not_known() {
        let mut baseline = points(&[1.0, 2.0, 3.0, 4.0], Some(0.2));
        baseline[3].std = None;
        let rows = of(&baseline, &[2.5, 3.1, 4.0, 4.1], Direction::Higher);
        let bounds = |row: &Worth| (row.lower, row.upper);
        let near = |bound: Option<Equivalent>, expected: f64| {
            let networks = bound.and_then(Equivalent::networks).expect("known");
            assert!((networks - expected).abs() < 1e-12, "{networks} for {expected}");
        };
        // 2.5 and 3.1 lie in the baseline 1.2, 2.2, 3.2 at 2.3 and 2.9; 2.5 in 0.8, 1.8, 2.8 at 2.7.
        near(rows[0].lower, 2.3);
        near(rows[0].upper, 2.7);
        near(rows[1].lower, 2.9);
        assert_eq!(rows[1].upper, None);
        assert_eq!((rows[2].dee, bounds(&rows[2])), (Equivalent::Networks(4.0), (None, None)));
        assert_eq!((rows[3].dee, bounds(&rows[3])), (Equivalent::MoreThan(4), (None, None)));
    }

    /// Whatever standard deviations are known, a bound never lies on the wrong side.
    #[test]
    fn bounds_hold_the_equivalent_between_them() {
        let at_most = |a: Equivalent, b: Equivalent| {
            let size = |e: Equivalent| e.networks().unwrap_or(f64::INFINITY);
            size(a) <= size(b) + 1e-12
        };
        let mut seen = 0;
        for known in 0..16_u32 {
            let mut baseline = points(&[0.0, 10.0, 10.5, 11.0], None);
            for (i, point) in baseline.iter_mut().enumerate() {
                point.std = (known >> i & 1 == 1).then_some(0.3 + i as f64 / 4.0);
            }
            let values: Vec<f64> = (-4..48).map(|i| f64::from(i) / 4.0).collect();
            for row in of(&baseline, &values, Direction::Higher) {
                assert!(row.lower.is_none_or(|lower| at_most(lower, row.dee)), "{known}: {row:?}");
                assert!(row.upper.is_none_or(|upper| at_most(row.dee, upper)), "{known}: {row:?}");
                seen += usize::from(row.lower.is_some() || row.upper.is_some());
            }
        }
        assert!(seen > 200, "{seen} rows have a bound");
    }

    #[test]
    fn a_score_that_should_be_low_is_turned_round() {
        let (up, down) =
            (points(&[-1.0, -0.8, -0.7], Some(0.1)), points(&[1.0, 0.8, 0.7], Some(0.1)));
        let values = [-0.95, -0.71, -0.5];
        let turned: Vec<f64> = values.iter().map(|v| -v).collect();
        assert_eq!(of(&up, &values, Direction::Higher), of(&down, &turned, Direction::Lower));
        assert_eq!(of(&down, &turned, Direction::Lower), of(&down, &turned, Direction::Zero));
        assert_eq!(equivalents(&up, &up, Direction::Neither, Falling::Allowed), None);
    }

    #[test]
    fn a_method_that_gets_worse_falls_unless_it_is_done_as_published() {
        let baseline = points(&[1.0, 2.0, 3.0, 4.0], None);
        let method = points(&[2.5, 3.5, 1.5], None);
        let networks = |falling| -> Vec<Option<f64>> {
            let rows = equivalents(&baseline, &method, Direction::Higher, falling);
            rows.expect("a direction").iter().map(|row| row.dee.networks()).collect()
        };
        assert_eq!(networks(Falling::Allowed), [Some(2.5), Some(3.5), Some(1.5)]);
        assert_eq!(networks(Falling::AsPublished), [Some(2.5), Some(3.5), Some(3.0)]);
    }

    #[test]
    fn an_infinite_score_of_the_baseline_is_no_obstacle() {
        let baseline = points(&[f64::INFINITY, 2.0, 1.0], None);
        let rows = of(&baseline, &[3.0, 2.0, 1.5, f64::INFINITY], Direction::Lower);
        let networks: Vec<Option<f64>> = rows.iter().map(|row| row.dee.networks()).collect();
        assert_eq!(networks, [Some(2.0), Some(2.0), Some(2.5), Some(1.0)]);
    }

    #[test]
    fn a_baseline_that_dips_is_reached_where_it_first_is_as_good() {
        let baseline = points(&[1.0, 3.0, 2.0, 4.0], None);
        let rows = of(&baseline, &[2.5], Direction::Higher);
        assert_eq!(rows[0].dee, Equivalent::Networks(1.75));
        assert_eq!((rows[0].lower, rows[0].upper), (None, None), "no standard deviation is known");
    }
}

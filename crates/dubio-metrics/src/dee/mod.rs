//! Deep ensemble equivalents: how many independently trained networks a method is worth.
//!
//! Ashukha et al. 2020, eq. 4 and 5. `DEE(k)` is the least real `l >= 1` at which the deep ensemble's
//! score is as good as the method's with `k` samples, linear between the numbers of networks that were
//! scored.

mod curve;

pub use curve::{Subsets, curve};

use std::fmt;

use serde::{Serialize, Serializer};

use crate::card::Direction;

/// The score of a method with some number of samples, over its runs and draws.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
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
    /// As good as so many; 1 also where it is worse than one.
    Networks(f64),
    /// No better than the smallest ensemble that was scored, which has so many, and more than one.
    AtMost(usize),
    /// Better than the largest ensemble that was scored, which has so many. Never extrapolated.
    MoreThan(usize),
}

impl Equivalent {
    /// The number, where it is known.
    pub fn networks(self) -> Option<f64> {
        match self {
            Self::Networks(networks) => Some(networks),
            Self::AtMost(_) | Self::MoreThan(_) => None,
        }
    }
}

/// One digit, `> 100` or `<= 5`.
impl fmt::Display for Equivalent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Networks(networks) => write!(f, "{networks:.1}"),
            Self::AtMost(smallest) => write!(f, "<= {smallest}"),
            Self::MoreThan(largest) => write!(f, "> {largest}"),
        }
    }
}

/// A number, or the text `> 100`.
impl Serialize for Equivalent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Networks(networks) => serializer.serialize_f64(*networks),
            Self::AtMost(_) | Self::MoreThan(_) => serializer.collect_str(self),
        }
    }
}

/// What a method with so many samples is worth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Worth {
    /// Number of the method's samples.
    pub n_samples: usize,
    /// Number of networks.
    pub dee: Equivalent,
    /// Against a baseline better by its standard deviation; `None` where none is known.
    pub lower: Option<Equivalent>,
    /// Against a baseline worse by its standard deviation.
    pub upper: Option<Equivalent>,
}

/// Whether a method's equivalent may fall when more samples make it worse.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Falling {
    /// It may: eq. 4 for every number of samples by itself.
    #[default]
    Allowed,
    /// It never falls below a whole number that fewer samples have passed. So are the published
    /// tables made, whose search goes on where it stopped for one sample less.
    AsPublished,
}

/// Deep ensemble equivalents of a method, a row for each of its points. `baseline` ascends in its
/// numbers of networks. `None` when the score has no direction: what is as good cannot be said.
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

/// A baseline's points as `(networks, goodness)`, those that have one, and how far it was searched.
struct Search {
    points: Vec<(f64, f64)>,
    falling: Falling,
    first: usize,
}

impl Search {
    fn new(baseline: &[Point], good: impl Fn(&Point) -> Option<f64>, falling: Falling) -> Self {
        let known = |point: &Point| Some((point.n_samples as f64, good(point)?));
        Self { points: baseline.iter().filter_map(known).collect(), falling, first: 0 }
    }

    /// The first place where the baseline is as good as that.
    fn next(&mut self, goal: f64) -> Option<Equivalent> {
        let last = self.points.last()?;
        let reached = |(_, good): &(f64, f64)| *good >= goal;
        let Some(at) = self.points[self.first..].iter().position(reached) else {
            return Some(Equivalent::MoreThan(last.0 as usize));
        };
        let at = self.first + at;
        if at == self.first {
            let (networks, good) = self.points[at];
            let unknown = at == 0 && networks > 1.0 && good > goal;
            return Some(match unknown {
                true => Equivalent::AtMost(networks as usize),
                false => Equivalent::Networks(networks),
            });
        }
        if self.falling == Falling::AsPublished {
            self.first = at - 1;
        }
        let ((l, low), (r, high)) = (self.points[at - 1], self.points[at]);
        Some(Equivalent::Networks(l + (r - l) * (goal - low) / (high - low)))
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

    #[test]
    fn nothing_is_said_below_the_smallest_ensemble_unless_it_is_one_network() {
        let mut baseline = points(&[0.0, -0.8, -0.7], None);
        baseline.remove(0);
        let rows = of(&baseline, &[-0.9, -0.8, -0.75], Direction::Higher);
        let dee: Vec<Equivalent> = rows.iter().map(|row| row.dee).collect();
        assert_eq!(dee[..2], [Equivalent::AtMost(2), Equivalent::Networks(2.0)]);
        assert_eq!(dee[0].to_string(), "<= 2");
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
    fn a_baseline_that_dips_is_reached_where_it_first_is_as_good() {
        let baseline = points(&[1.0, 3.0, 2.0, 4.0], None);
        let rows = of(&baseline, &[2.5], Direction::Higher);
        assert_eq!(rows[0].dee, Equivalent::Networks(1.75));
        assert_eq!((rows[0].lower, rows[0].upper), (None, None), "no deviation is known");
    }
}

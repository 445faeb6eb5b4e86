//! Learning rates over time.

use std::f64::consts::PI;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::rule::Step;

/// How a learning rate falls from its start to the end of training. Written as a name and, after a colon, where it ends
/// as a fraction of where it starts: `cosine:0.5`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Schedule {
    /// `constant`.
    Constant,
    /// `cosine`: half a wave from 1 to `end` (0), step by step.
    Cosine {
        /// Fraction at the end.
        end: f64,
    },
    /// `flat-then-linear`: 1 for half of the epochs, a straight line to `end` (0.01) until nine
    /// tenths, then flat again. Ashukha et al. 2020, eq. 10, after Garipov et al. 2018.
    FlatThenLinear {
        /// Fraction at the end.
        end: f64,
    },
    /// `step:30:0.1`: times a factor every so many epochs.
    Step {
        /// Epochs between two drops.
        every: usize,
        /// Factor of a drop.
        factor: f64,
    },
}

impl Schedule {
    /// Fraction of the first learning rate at a step of a training of this many epochs.
    pub fn fraction(self, at: &Step<'_>, epochs: usize) -> f64 {
        let total = epochs as f64;
        match self {
            Self::Constant => 1.0,
            Self::Cosine { end } => {
                let done = at.number() as f64 / (total * at.batches as f64);
                end + (1.0 - end) * 0.5 * (1.0 + (PI * done.min(1.0)).cos())
            }
            Self::FlatThenLinear { end } => match at.epoch as f64 / total {
                done if done <= 0.5 => 1.0,
                done if done <= 0.9 => 1.0 - (1.0 - end) * (done - 0.5) / 0.4,
                _ => end,
            },
            Self::Step { every, factor } => {
                factor.powi(i32::try_from(at.epoch / every).unwrap_or(i32::MAX))
            }
        }
    }
}

impl FromStr for Schedule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, rest) = text.split_once(':').map_or((text, None), |(n, r)| (n, Some(r)));
        let fraction = |default: f64| match rest {
            None => Ok(default),
            Some(rest) => match rest.parse() {
                Ok(end) if (0.0..=1.0).contains(&end) => Ok(end),
                _ => Err(format!("`{rest}` in `{text}` must be a fraction from 0 to 1")),
            },
        };
        match name {
            "constant" if rest.is_none() => Ok(Self::Constant),
            "cosine" => Ok(Self::Cosine { end: fraction(0.0)? }),
            "flat-then-linear" => Ok(Self::FlatThenLinear { end: fraction(0.01)? }),
            "step" => {
                let parts = rest.and_then(|rest| rest.split_once(':'));
                let parsed = parts.and_then(|(e, f)| Some((e.parse().ok()?, f.parse().ok()?)));
                match parsed {
                    Some((every, factor)) if every > 0 && factor > 0.0 && factor <= 1.0 => {
                        Ok(Self::Step { every, factor })
                    }
                    _ => Err(format!("`{text}` must be like step:30:0.1, epochs and a factor")),
                }
            }
            _ => Err(format!(
                "no schedule is called `{text}`; there are constant, cosine, flat-then-linear and \
                 step:EPOCHS:FACTOR"
            )),
        }
    }
}

impl TryFrom<String> for Schedule {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Schedule> for String {
    fn from(schedule: Schedule) -> Self {
        match schedule {
            Schedule::Constant => "constant".to_string(),
            Schedule::Cosine { end } => format!("cosine:{end}"),
            Schedule::FlatThenLinear { end } => format!("flat-then-linear:{end}"),
            Schedule::Step { every, factor } => format!("step:{every}:{factor}"),
        }
    }
}

/// Fraction of the learning rate at step `t`, counted from 0, of cycles of `length` steps: half a wave
/// from 1 to near 0, over and over. Ashukha et al. 2020, eq. 16 (which counts from 1), after
/// Huang et al. 2017.
pub fn cosine_cycle(t: usize, length: usize) -> f64 {
    0.5 * (1.0 + (PI * (t % length) as f64 / length as f64).cos())
}

/// Learning rate at step `i`, counted from 0, of cycles of `length` steps: straight from `high` to
/// `low` and back. Ashukha et al. 2020, eq. 17, after Garipov et al. 2018, where
/// `t(i) = (mod(i - 1, c) + 1) / c` for `i` from 1.
pub fn triangle_cycle(i: usize, length: usize, high: f64, low: f64) -> f64 {
    let t = (i % length + 1) as f64 / length as f64;
    if t <= 0.5 {
        (1.0 - 2.0 * t) * high + 2.0 * t * low
    } else {
        (2.0 - 2.0 * t) * low + (2.0 * t - 1.0) * high
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dubio_random::stream::Stream;

    fn fraction(schedule: &str, epoch: usize, batch: usize) -> f64 {
        let stream = Stream::root(0);
        let at = Step { epoch, batch, batches: 10, examples: 1, stream: &stream };
        schedule.parse::<Schedule>().unwrap().fraction(&at, 100)
    }

    #[test]
    fn equation_10_is_flat_then_a_line_then_flat() {
        for (epoch, expected) in [(0, 1.0), (50, 1.0), (70, 0.505), (90, 0.01), (99, 0.01)] {
            assert!((fraction("flat-then-linear", epoch, 3) - expected).abs() < 1e-12, "{epoch}");
        }
    }

    #[test]
    fn a_cosine_is_half_way_at_half_time() {
        assert!((fraction("cosine", 50, 0) - 0.5).abs() < 1e-12);
        assert!((fraction("cosine:0.5", 50, 0) - 0.75).abs() < 1e-12);
        assert!((fraction("cosine", 0, 0) - 1.0).abs() < 1e-12 && fraction("cosine", 99, 9) < 1e-5);
    }

    #[test]
    fn steps_drop_at_whole_multiples_of_their_epochs() {
        assert_eq!([29, 30, 60].map(|e| fraction("step:30:0.5", e, 9)), [1.0, 0.5, 0.25]);
    }

    #[test]
    fn equation_16_starts_every_cycle_at_the_top() {
        let cycle: Vec<f64> = (0..8).map(|t| cosine_cycle(t, 4)).collect();
        let quarter = 0.5 * (1.0 + (PI / 4.0).cos());
        let expected = [1.0, quarter, 0.5, 1.0 - quarter];
        assert!(cycle.iter().zip(expected.iter().cycle()).all(|(a, b)| (a - b).abs() < 1e-12));
    }

    #[test]
    fn equation_17_is_lowest_in_the_middle_of_a_cycle() {
        let cycle: Vec<f64> = (0..8).map(|i| triangle_cycle(i, 8, 1.0, 0.2)).collect();
        let expected = [0.8, 0.6, 0.4, 0.2, 0.4, 0.6, 0.8, 1.0];
        assert!(cycle.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{cycle:?}");
    }

    #[test]
    fn a_schedule_reads_back_what_it_writes_and_refuses_nonsense() {
        for text in ["constant", "cosine:0.5", "flat-then-linear:0.05", "step:30:0.1"] {
            assert_eq!(String::from(text.parse::<Schedule>().unwrap()), text);
        }
        for text in ["cosin", "cosine:2", "step", "step:0:0.1", "constant:1"] {
            assert!(text.parse::<Schedule>().is_err(), "{text}");
        }
    }
}

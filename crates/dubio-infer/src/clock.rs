//! Wall-clock and processor time, in seconds.

use std::fs;
use std::ops::AddAssign;
use std::time::Instant;

/// The time that something took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Seconds {
    /// Wall-clock time.
    pub wall: f64,
    /// Processor time of all threads of this process; NaN where the system does not report it.
    pub cpu: f64,
}

impl Seconds {
    /// Processor seconds, where they are known.
    pub fn cpu(self) -> Option<f64> {
        self.cpu.is_finite().then_some(self.cpu)
    }
}

impl AddAssign for Seconds {
    fn add_assign(&mut self, other: Self) {
        self.wall += other.wall;
        self.cpu += other.cpu;
    }
}

/// Two clocks that run from now on.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    wall: Instant,
    cpu: f64,
}

impl Clock {
    /// Starts both.
    pub fn start() -> Self {
        Self { wall: Instant::now(), cpu: cpu_secs().unwrap_or(f64::NAN) }
    }

    /// The time on both, which then start anew.
    pub fn lap(&mut self) -> Seconds {
        let now = Self::start();
        let seconds =
            Seconds { wall: (now.wall - self.wall).as_secs_f64(), cpu: now.cpu - self.cpu };
        *self = now;
        seconds
    }
}

/// Processor seconds of this process so far.
fn cpu_secs() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The name, in parentheses, may contain anything; user and system time are the 12th and 13th fields after it.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: f64 = fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?;
    Some(ticks / 100.0) // Linux reports in hundredths on every machine
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_busy_loop_takes_both_kinds_of_seconds() {
        let mut clock = Clock::start();
        let (mut total, mut sum) = (Seconds::default(), 0.0_f64);
        while total.cpu < 0.03 && total.wall < 60.0 {
            sum += (0..100_000).map(|i| f64::from(i).sqrt()).sum::<f64>();
            total += clock.lap();
        }
        assert!(sum > 0.0 && total.cpu >= 0.03, "{total:?}");
        assert!(total.wall > 0.0);
    }
}

//! `csgld`: Langevin dynamics in cycles, each of which first looks for a new mode.

use dubio_nn::engine::Vector;
use serde::{Deserialize, Serialize};

use super::sgld::{Langevin, Pace, at_least_cold};
use super::{Card, Settings, at_least_one, positive};
use crate::rule::{Keep, Rule, Step};
use crate::schedule::cosine_cycle;
use crate::wrong::Wrong;

/// Settings of `csgld`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Csgld {
    /// Its cycles.
    #[serde(flatten)]
    pub cycle: Cycle,
    /// Learning rate at the start of a cycle.
    pub lr: f64,
    /// 1 for the posterior; below 1 for a cold posterior, `p^(1/T)`.
    pub temperature: f64,
}

impl Default for Csgld {
    fn default() -> Self {
        Self { cycle: Cycle::default(), lr: 0.5, temperature: 1.0 }
    }
}

impl Settings for Csgld {
    const CARD: Card = Card {
        name: "csgld",
        summary: "Cyclical SGLD: each learning-rate cycle explores without noise, then samples with it.",
        rule: "sgld at lr/2 (cos(pi mod(t - 1, c) / c) + 1), noise only in the last epochs of a cycle",
        citation: "Zhang et al. 2020; Ashukha et al. 2020, eq. 16",
    };
    const PRIOR_STD: Option<f64> = Some(1.0);
    const IS_CHAIN: bool = true;

    fn check(&self) -> Result<(), Wrong> {
        positive(&[("lr", self.lr)])?;
        at_least_cold(self.temperature)?;
        self.cycle.check()
    }

    fn rule<V: Vector>(&self, _: &V) -> Box<dyn Rule<V>> {
        Box::new(Langevin(self.clone()))
    }

    fn passes(&self) -> f64 {
        self.cycle.epochs() as f64
    }

    fn samples(&self) -> usize {
        self.cycle.samples
    }
}

/// The stages of a cycle, counted in whole epochs so that cycles and epochs never drift apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cycle {
    /// Samples in all.
    pub samples: usize,
    /// Epochs of a cycle.
    pub cycle_epochs: usize,
    /// Epochs with noise, at the end of a cycle; the others explore without it.
    pub noise_epochs: usize,
    /// Samples of a cycle, one after each of its last epochs.
    pub cycle_samples: usize,
}

impl Default for Cycle {
    fn default() -> Self {
        Self { samples: 12, cycle_epochs: 50, noise_epochs: 3, cycle_samples: 3 }
    }
}

impl Cycle {
    pub(super) fn check(self) -> Result<(), Wrong> {
        at_least_one(&[
            ("samples", self.samples),
            ("cycle_epochs", self.cycle_epochs),
            ("cycle_samples", self.cycle_samples),
        ])?;
        let Self { cycle_epochs, noise_epochs, cycle_samples, .. } = self;
        if noise_epochs > cycle_epochs || cycle_samples > noise_epochs {
            let what = format!(
                "`cycle_samples` must be at most `noise_epochs`, and those at most `cycle_epochs`; got \
                 {cycle_samples}, {noise_epochs} and {cycle_epochs}"
            );
            let settings = ["cycle_samples", "noise_epochs", "cycle_epochs"];
            return Err(Wrong::value(&settings, what));
        }
        Ok(())
    }

    /// Whole cycles, but no further than the last sample.
    pub(super) fn epochs(self) -> usize {
        let (full, rest) = (self.samples / self.cycle_samples, self.samples % self.cycle_samples);
        let last = if rest == 0 { 0 } else { self.cycle_epochs - self.cycle_samples + rest };
        full * self.cycle_epochs + last
    }

    pub(super) fn fraction(self, at: &Step<'_>) -> f64 {
        cosine_cycle(at.number(), self.cycle_epochs * at.batches)
    }

    /// The temperature of an epoch.
    pub(super) fn temperature(self, epoch: usize, temperature: f64) -> f64 {
        let samples = epoch % self.cycle_epochs + self.noise_epochs >= self.cycle_epochs;
        if samples { temperature } else { 0.0 }
    }

    pub(super) fn keep(self, epoch: usize) -> Keep {
        Keep::when(epoch % self.cycle_epochs + self.cycle_samples >= self.cycle_epochs)
    }
}

impl Pace for Csgld {
    fn epochs(&self) -> usize {
        self.cycle.epochs()
    }
    fn rate(&self, at: &Step<'_>) -> f64 {
        self.lr * self.cycle.fraction(at)
    }
    fn temperature(&self, epoch: usize) -> f64 {
        self.cycle.temperature(epoch, self.temperature)
    }
    fn keep(&self, epoch: usize) -> Keep {
        self.cycle.keep(epoch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_explores_then_warms_then_samples() {
        let cycle = Cycle { samples: 10, cycle_epochs: 22, noise_epochs: 5, cycle_samples: 4 };
        // Two whole cycles give 8; the last 2 come after epochs 19 and 20 of the third.
        assert_eq!(cycle.epochs(), 44 + 20);
        let kept: Vec<usize> =
            (0..cycle.epochs()).filter(|&e| cycle.keep(e) == Keep::All).collect();
        assert_eq!(kept, [18, 19, 20, 21, 40, 41, 42, 43, 62, 63]);
        let noisy: Vec<usize> = (0..44).filter(|&e| cycle.temperature(e, 1.0) > 0.0).collect();
        assert_eq!(noisy, [17, 18, 19, 20, 21, 39, 40, 41, 42, 43]);
    }
}

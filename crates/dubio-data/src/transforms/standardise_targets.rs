//! Targets of a regression to mean 0 and standard deviation 1, and predictions back to the target's unit.

use super::{gain, mean_and_std};

/// `(y - mean) / std`, measured on the targets to train on. Targets that were all equal are
/// only shifted to 0, so that there is a way back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StandardiseTargets {
    /// Mean of the targets to train on.
    pub mean: f64,
    /// Their standard deviation; 1 where they were all equal.
    pub std: f64,
}

impl StandardiseTargets {
    /// Measured on the targets to train on.
    pub fn measured(training: &[f64]) -> Self {
        let (mean, std) = mean_and_std(training.iter().copied());
        let std = if gain(mean, std) == 0.0 { 1.0 } else { std };
        Self { mean, std }
    }

    /// A target, standardised.
    pub fn apply(&self, target: f64) -> f64 {
        (target - self.mean) / self.std
    }

    /// A standardised target or predicted mean in the target's own unit.
    pub fn mean_back(&self, mean: f64) -> f64 {
        mean * self.std + self.mean
    }

    /// A predicted standard deviation in the target's own unit.
    pub fn std_back(&self, std: f64) -> f64 {
        std * self.std
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back_is_the_target() {
        for targets in [vec![3.0, 5.0, 10.0], vec![4.0, 4.0]] {
            let standardise = StandardiseTargets::measured(&targets);
            for target in targets {
                let back = standardise.mean_back(standardise.apply(target));
                assert!((back - target).abs() < 1e-12, "{back} {target}");
            }
        }
    }

    #[test]
    fn a_standard_deviation_is_stretched_and_not_moved() {
        let standardise = StandardiseTargets { mean: 2.0, std: 3.0 };
        let (below, above) = (standardise.mean_back(0.1 - 0.5), standardise.mean_back(0.1 + 0.5));
        assert!((standardise.std_back(0.5) - 0.5 * (above - below)).abs() < 1e-12);
    }
}

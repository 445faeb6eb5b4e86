//! A step size that is adapted to a target acceptance rate.

use crate::memory::Memory;

/// Nesterov's dual averaging of the logarithm of the step size: Hoffman and Gelman 2014, section 3.2.
pub(super) struct DualAverages {
    first: f64,
    target: f64,
    log_step: f64,
    /// The average of the log step.
    average: f64,
    /// The average shortfall of the acceptance rate.
    shortfall: f64,
    count: u64,
}

impl DualAverages {
    pub(super) fn new(first: f64, target: f64) -> Self {
        let log = first.ln();
        Self { first, target, log_step: log, average: log, shortfall: 0.0, count: 0 }
    }

    /// The step size to go on with: a bold one while learning, the average afterwards.
    pub(super) fn step(&self, learning: bool) -> f64 {
        if learning { self.log_step.exp() } else { self.average.exp() }
    }

    pub(super) fn learn(&mut self, probability: f64) {
        if self.target == 0.0 {
            return;
        }
        self.count += 1;
        let count = self.count as f64;
        let (shrink, offset, decay) = (0.05, 10.0, 0.75);
        let weight = 1.0 / (count + offset);
        self.shortfall = (1.0 - weight) * self.shortfall + weight * (self.target - probability);
        self.log_step = (10.0 * self.first).ln() - count.sqrt() / shrink * self.shortfall;
        let weight = count.powf(-decay);
        self.average = weight * self.log_step + (1.0 - weight) * self.average;
    }

    pub(super) fn memory<V>(&mut self) -> Memory<'_, V> {
        Memory::none()
            .number("log_step", &mut self.log_step)
            .number("average", &mut self.average)
            .number("shortfall", &mut self.shortfall)
            .count("learnt", &mut self.count)
    }
}

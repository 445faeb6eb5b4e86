//! `nuts`: the no-U-turn sampler, by the nuts-rs library.

use std::collections::HashMap;

use dubio_metrics::stream::Stream;
use dubio_nn::engine::Vector;
use nuts_rs::{
    Chain as _, CpuLogpFunc, CpuMath, CpuMathError, DiagNutsSettings, HasDims, LogpError,
    Settings as _,
};
use serde::{Deserialize, Serialize};

use super::hmc::first_potential;
use super::{Card, Settings, at_least_one, positive, share};
use crate::error::Error;
use crate::rule::{Keep, Memory, Rule, Step};
use crate::target::{Potential, Target};

/// Settings of `nuts`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Nuts {
    /// Draws that tune step size and scales.
    pub burn_in: usize,
    /// Samples.
    pub samples: usize,
    /// A trajectory has at most `2^max_depth` leapfrog steps.
    pub max_depth: usize,
    /// Acceptance rate that the step size is brought to.
    pub target_acceptance: f64,
    /// 1 for the posterior; below 1 for one that is colder, `p^(1/T)`.
    pub temperature: f64,
}

impl Default for Nuts {
    fn default() -> Self {
        Self { burn_in: 200, samples: 100, max_depth: 8, target_acceptance: 0.8, temperature: 1.0 }
    }
}

impl Settings for Nuts {
    const CARD: Card = Card {
        name: "nuts",
        summary: "Hamiltonian Monte Carlo whose trajectories end before they turn back; tuned by itself.",
        rule: "trajectories doubled until they turn; a point of them drawn by its weight exp(-U - |p|^2/2)",
        citation: "Hoffman and Gelman 2014; nuts-rs, Seyboldt et al.",
    };

    fn check(&self) -> Result<(), String> {
        at_least_one(&[("samples", self.samples), ("max_depth", self.max_depth)])?;
        positive(&[
            ("temperature", self.temperature),
            ("target_acceptance", self.target_acceptance),
        ])?;
        share("target_acceptance", self.target_acceptance)
    }

    fn rule<V: Vector>(&self, _: &V) -> Box<dyn Rule<V>> {
        Box::new(Turns { settings: self.clone(), report: Vec::new() })
    }

    /// At half the greatest depth.
    fn passes(&self) -> f64 {
        (self.burn_in + self.samples) as f64 * 2_f64.powf(0.5 * self.max_depth as f64)
    }
}

/// The library keeps the chain's state to itself, so the whole chain is one draw: a run that is
/// killed in the middle of it begins it again.
struct Turns {
    settings: Nuts,
    /// Divergent draws, mean leapfrog steps, step size.
    report: Vec<f64>,
}

impl<V: Vector> Rule<V> for Turns {
    fn epochs(&self) -> usize {
        0
    }
    fn draws(&self) -> usize {
        1
    }
    fn rate(&self, _: &Step<'_>) -> f64 {
        0.0
    }
    fn step(&mut self, _: &mut V, _: &V, _: &Step<'_>) {
        unreachable!("nuts has no epochs")
    }
    fn after_epoch(&mut self, _: usize, _: &V) -> Keep {
        Keep::Nothing
    }
    fn draw(
        &mut self,
        theta: &mut V,
        target: &mut dyn Target<Vector = V>,
        _: usize,
        stream: &Stream,
    ) -> Result<Vec<V>, Error> {
        first_potential("nuts", theta, target)?;
        let Nuts { burn_in, samples, max_depth, target_acceptance, temperature } = self.settings;
        let mut settings = DiagNutsSettings {
            num_tune: burn_in as u64,
            num_draws: samples as u64,
            maxdepth: max_depth as u64,
            ..DiagNutsSettings::default()
        };
        settings.adapt_options.step_size_settings.target_accept = target_acceptance;
        let begin = theta.read(0..theta.len());
        let (position, gradient) = (theta.clone(), theta.clone());
        let density = Density { target, position, gradient, temperature };
        let failed = |e: &dyn std::fmt::Display| Error::Chain(format!("nuts: {e}"));
        let mut chain = settings
            .new_chain(0, CpuMath::new(density), &mut stream.generator())
            .map_err(|e| failed(&e))?;
        chain.set_position(&begin).map_err(|e| failed(&e))?;
        let mut drawn = Vec::with_capacity(samples);
        let (mut divergent, mut leaps, mut step) = (0.0, 0.0, 0.0);
        for index in 0..burn_in + samples {
            let (place, progress) = chain.draw().map_err(|e| failed(&e))?;
            if index >= burn_in {
                theta.write(0, &place);
                drawn.push(theta.clone());
                divergent += f64::from(u8::from(progress.diverging));
                leaps += progress.num_steps as f64 / samples as f64;
                step = progress.step_size;
            }
        }
        self.report = vec![divergent, leaps, step];
        Ok(drawn)
    }
    fn memory(&mut self) -> Memory<'_, V> {
        Memory::none().numbers("report", &mut self.report)
    }
    fn report(&self) -> Vec<(&'static str, f64)> {
        ["divergent_draws", "leapfrog_steps", "step"]
            .into_iter()
            .zip(self.report.iter().copied())
            .collect()
    }
}

/// `-U / T` and its gradient, as the library asks for them.
struct Density<'a, V: Vector> {
    target: &'a mut dyn Target<Vector = V>,
    position: V,
    gradient: V,
    temperature: f64,
}

#[derive(Debug, thiserror::Error)]
#[error("the potential is no number here")]
struct NoNumber;

impl LogpError for NoNumber {
    fn is_recoverable(&self) -> bool {
        true
    }
}

impl<V: Vector> HasDims for Density<'_, V> {
    fn dim_sizes(&self) -> HashMap<String, u64> {
        HashMap::from([("unconstrained_parameter".to_string(), self.position.len() as u64)])
    }
}

impl<V: Vector> CpuLogpFunc for Density<'_, V> {
    type LogpError = NoNumber;
    type FlowParameters = ();
    type ExpandedVector = Vec<f64>;

    fn dim(&self) -> usize {
        self.position.len()
    }

    fn logp(&mut self, position: &[f64], gradient: &mut [f64]) -> Result<f64, NoNumber> {
        self.position.write(0, position);
        let potential = Potential::at(self.target, &self.position, &mut self.gradient);
        let sum = potential.likelihood + potential.prior;
        if !sum.is_finite() {
            return Err(NoNumber);
        }
        let values = self.gradient.read(0..gradient.len());
        gradient.iter_mut().zip(values).for_each(|(g, v)| *g = -v / self.temperature);
        Ok(-sum / self.temperature)
    }

    fn expand_vector<R: rand::Rng + ?Sized>(
        &mut self,
        _: &mut R,
        array: &[f64],
    ) -> Result<Vec<f64>, CpuMathError> {
        Ok(array.to_vec())
    }
}

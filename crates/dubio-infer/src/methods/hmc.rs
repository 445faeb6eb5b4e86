//! `hmc`: Hamiltonian Monte Carlo on all the data.

use dubio_nn::engine::Vector;
use dubio_random::stream::Stream;
use dubio_random::uniform::uniform;
use serde::{Deserialize, Serialize};

use super::sghmc::at_rest;
use super::{Card, Settings, at_least_one, positive};
use crate::error::Error;
use crate::rule::{Keep, Memory, Rule, Step};
use crate::target::{Potential, Target};
use crate::wrong::Wrong;

/// Settings of `hmc`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Hmc {
    /// Trajectories before the first sample.
    pub burn_in: usize,
    /// Samples, each the end of a trajectory.
    pub samples: usize,
    /// Leapfrog steps of a trajectory.
    pub leapfrog: usize,
    /// Size of a leapfrog step; the first one where it is adapted.
    pub step: f64,
    /// Acceptance rate that the step size is brought to during burn-in; 0 to leave it as it is.
    pub target_acceptance: f64,
    /// 1 for the posterior; below 1 for one that is colder, `p^(1/T)`.
    pub temperature: f64,
}

impl Default for Hmc {
    fn default() -> Self {
        Self {
            burn_in: 100,
            samples: 100,
            leapfrog: 50,
            step: 1e-3,
            target_acceptance: 0.8,
            temperature: 1.0,
        }
    }
}

impl Settings for Hmc {
    const CARD: Card = Card {
        name: "hmc",
        summary: "Hamiltonian Monte Carlo on all the data, with every move accepted or refused: exact in the limit.",
        rule: "p ~ Normal(0, I); leapfrog on U; accept with probability min(1, exp(-change of U + |p|^2/2))",
        citation: "Duane et al. 1987; step size by dual averaging, Hoffman and Gelman 2014",
    };

    fn check(&self) -> Result<(), Wrong> {
        at_least_one(&[("samples", self.samples), ("leapfrog", self.leapfrog)])?;
        positive(&[("step", self.step), ("temperature", self.temperature)])?;
        super::share("target_acceptance", self.target_acceptance)
    }

    fn rule<V: Vector>(&self, like: &V) -> Box<dyn Rule<V>> {
        let averages = DualAverages::new(self.step, self.target_acceptance);
        Box::new(Chain {
            settings: self.clone(),
            now: Vec::new(),
            potential: Vec::new(),
            room: [at_rest(like), at_rest(like), at_rest(like)],
            averages,
            counts: vec![0.0, 0.0],
        })
    }

    fn passes(&self) -> f64 {
        ((self.burn_in + self.samples) * self.leapfrog) as f64
    }
}

/// A network whose loss depends on other examples than the one it is of.
pub(crate) fn no_potential(method: &str) -> Error {
    Error::Unsuited(format!(
        "{method} needs a potential that is a function of the parameters alone, which with batch \
         normalisation it is not; take a network without it, such as resnet20-frn"
    ))
}

/// The potential and its gradient where a chain on all the data begins, if it can begin there.
pub(super) fn first_potential<V: Vector>(
    method: &str,
    theta: &V,
    target: &mut dyn Target<Vector = V>,
) -> Result<(Potential, V), Error> {
    if !target.statistics().is_empty() {
        return Err(no_potential(method));
    }
    let mut gradient = theta.clone();
    let potential = Potential::at(target, theta, &mut gradient);
    if !potential.below(potential).is_finite() {
        return Err(Error::Chain(format!(
            "{method}: the potential is no number where the chain begins; start from other weights, \
             or look at the data"
        )));
    }
    Ok((potential, gradient))
}

struct Chain<V> {
    settings: Hmc,
    /// The gradient of `U` where the chain is; none before it has been asked for.
    now: Vec<V>,
    /// The two parts of `U` there.
    potential: Vec<f64>,
    /// A trajectory's position, momentum and gradient.
    room: [V; 3],
    averages: DualAverages,
    /// Accepted and proposed since burn-in.
    counts: Vec<f64>,
}

impl<V: Vector> Chain<V> {
    fn begin(&mut self, theta: &V, target: &mut dyn Target<Vector = V>) -> Result<(), Error> {
        if !self.now.is_empty() {
            return Ok(());
        }
        let (potential, gradient) = first_potential("hmc", theta, target)?;
        self.now.push(gradient);
        self.potential = vec![potential.likelihood, potential.prior];
        Ok(())
    }

    /// A trajectory from `theta`; whether its end was accepted, and with what probability.
    fn propose(
        &mut self,
        theta: &mut V,
        target: &mut dyn Target<Vector = V>,
        step: f64,
        stream: &Stream,
    ) -> (bool, f64) {
        let [position, momentum, gradient] = &mut self.room;
        position.copy_from(theta);
        gradient.copy_from(&self.now[0]);
        momentum.fill(0.0);
        momentum.add_noise(1.0, &stream.child("momentum"));
        let kinetic = 0.5 * momentum.dot(momentum);
        let before = Potential { likelihood: self.potential[0], prior: self.potential[1] };
        // The Hamiltonian at temperature T is U / T + |p|^2 / 2.
        let force = step / self.settings.temperature;
        let mut after = before;
        momentum.axpy(-0.5 * force, gradient);
        for leap in 0..self.settings.leapfrog {
            position.axpy(step, momentum);
            after = Potential::at(target, position, gradient);
            let last = leap + 1 == self.settings.leapfrog;
            momentum.axpy(if last { -0.5 * force } else { -force }, gradient);
        }
        let lower = after.below(before) / self.settings.temperature;
        let change = lower + (kinetic - 0.5 * momentum.dot(momentum));
        // An energy that is no number has probability 0.
        let probability = if change.is_nan() { 0.0 } else { change.exp().min(1.0) };
        let accepted = uniform(&mut stream.child("accept").generator()) < probability;
        if accepted {
            theta.copy_from(position);
            self.now[0].copy_from(gradient);
            self.potential = vec![after.likelihood, after.prior];
        }
        (accepted, probability)
    }
}

impl<V: Vector> Rule<V> for Chain<V> {
    fn epochs(&self) -> usize {
        0
    }
    fn draws(&self) -> usize {
        self.settings.burn_in + self.settings.samples
    }
    fn rate(&self, _: &Step<'_>) -> f64 {
        self.settings.step
    }
    fn step(&mut self, _: &mut V, _: &V, _: &Step<'_>) {
        unreachable!("hmc has no epochs")
    }
    fn after_epoch(&mut self, _: usize, _: &V) -> Keep {
        Keep::Nothing
    }
    fn draw(
        &mut self,
        theta: &mut V,
        target: &mut dyn Target<Vector = V>,
        index: usize,
        stream: &Stream,
    ) -> Result<Vec<V>, Error> {
        self.begin(theta, target)?;
        let burning_in = index < self.settings.burn_in;
        let step = self.averages.step(burning_in);
        let (accepted, probability) = self.propose(theta, target, step, stream);
        if burning_in {
            self.averages.learn(probability);
            return Ok(Vec::new());
        }
        self.counts[0] += f64::from(u8::from(accepted));
        self.counts[1] += 1.0;
        // A refused move counts the place where the chain stays once more.
        Ok(vec![theta.clone()])
    }
    fn memory(&mut self) -> Memory<'_, V> {
        Memory::none()
            .vectors("gradient", &mut self.now)
            .numbers("potential", &mut self.potential)
            .numbers("averages", &mut self.averages.state)
            .numbers("counts", &mut self.counts)
    }
    fn report(&self) -> Vec<(&'static str, f64)> {
        let [accepted, proposed] = self.counts[..] else { unreachable!("two counts") };
        // Before the first sample there is no rate.
        let rate = (proposed > 0.0).then(|| ("acceptance_rate", accepted / proposed));
        rate.into_iter().chain([("step", self.averages.step(false))]).collect()
    }
}

/// Nesterov's dual averaging of the logarithm of the step size: Hoffman and Gelman 2014, section 3.2.
struct DualAverages {
    first: f64,
    target: f64,
    /// Log step, its average, the average shortfall of the acceptance rate, and their number.
    state: Vec<f64>,
}

impl DualAverages {
    fn new(first: f64, target: f64) -> Self {
        Self { first, target, state: vec![first.ln(), first.ln(), 0.0, 0.0] }
    }

    /// The step size to go on with: a bold one while learning, the average afterwards.
    fn step(&self, learning: bool) -> f64 {
        if learning { self.state[0].exp() } else { self.state[1].exp() }
    }

    fn learn(&mut self, probability: f64) {
        if self.target == 0.0 {
            return;
        }
        let [log_step, average, shortfall, count] = &mut self.state[..] else {
            unreachable!("four numbers")
        };
        *count += 1.0;
        let (shrink, offset, decay) = (0.05, 10.0, 0.75);
        let weight = 1.0 / (*count + offset);
        *shortfall = (1.0 - weight) * *shortfall + weight * (self.target - probability);
        *log_step = (10.0 * self.first).ln() - count.sqrt() / shrink * *shortfall;
        let weight = count.powf(-decay);
        *average = weight * *log_step + (1.0 - weight) * *average;
    }
}

//! `hmc`: Hamiltonian Monte Carlo on all the data.

use dubio_nn::engine::{Point, Vector};
use dubio_random::stream::Stream;
use dubio_random::uniform::uniform;
use serde::{Deserialize, Serialize};

use super::dual_averages::DualAverages;
use super::energies::{DIVERGENT, Energies};
use super::{Card, Settings, at_least_one, no_potential, positive};
use crate::error::Error;
use crate::memory::Memory;
use crate::rule::{Draw, Draws, Rule};
use crate::target::{Potential, Target};
use crate::wrong::Wrong;

/// Fraction of accepted moves below which a chain hardly moves.
const LOW_ACCEPTANCE: f64 = 0.2;

/// Settings of `hmc`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Hmc {
    /// Trajectories before the first sample.
    pub burn_in: usize,
    /// Samples, each the end of a trajectory.
    pub samples: usize,
    /// Leapfrog steps of a trajectory, on average.
    pub leapfrog: usize,
    /// How far from its average the number of leapfrog steps may be drawn, as a fraction of it: with 0.5 a trajectory
    /// has from half to one and a half times as many. Without jitter, a trajectory that ends where it began, as that of
    /// a Gaussian does after a whole period, leaves the chain where it is.
    pub jitter: f64,
    /// Size of a leapfrog step; its initial size if it is adapted.
    pub step: f64,
    /// Acceptance rate that the step size is adapted to during burn-in; 0 to leave the step size as it is.
    pub target_acceptance: f64,
    /// 1 for the posterior; below 1 for a cold posterior, `p^(1/T)`.
    pub temperature: f64,
}

impl Default for Hmc {
    fn default() -> Self {
        Self {
            burn_in: 100,
            samples: 100,
            leapfrog: 50,
            jitter: 0.5,
            step: 1e-3,
            target_acceptance: 0.8,
            temperature: 1.0,
        }
    }
}

impl Settings for Hmc {
    const CARD: Card = Card {
        name: "hmc",
        summary: "Full-batch Hamiltonian Monte Carlo with Metropolis correction: asymptotically exact.",
        rule: "p ~ Normal(0, I); leapfrog on U; accept with probability min(1, exp(-change of U + |p|^2/2))",
        citation: "Duane et al. 1987; trajectories of random length, Mackenzie 1989; step size by dual averaging, Hoffman and Gelman 2014",
    };
    const PRIOR_STD: Option<f64> = Some(1.0);
    const IS_CHAIN: bool = true;

    fn check(&self) -> Result<(), Wrong> {
        at_least_one(&[("samples", self.samples), ("leapfrog", self.leapfrog)])?;
        positive(&[("step", self.step), ("temperature", self.temperature)])?;
        super::fraction("jitter", self.jitter)?;
        super::fraction("target_acceptance", self.target_acceptance)
    }

    fn rule<V: Vector>(&self, like: &V) -> Box<dyn Rule<V>> {
        let averages = DualAverages::new(self.step, self.target_acceptance);
        Box::new(Chain {
            settings: self.clone(),
            gradient: None,
            potential: Potential::default(),
            room: [(); 3].map(|()| like.zeros(like.len())),
            averages,
            accepted: 0,
            energies: Energies::default(),
        })
    }

    fn passes(&self) -> f64 {
        ((self.burn_in + self.samples) * self.leapfrog) as f64
    }

    fn samples(&self) -> usize {
        self.samples
    }

    fn vectors(&self) -> usize {
        4
    }

    fn bears_batch_norm(&self) -> bool {
        false
    }
}

/// The potential and its gradient where a chain on all the data begins, if it can begin there.
pub(super) fn first_potential<V: Vector>(
    method: &str,
    theta: &V,
    target: &mut dyn Target<Vector = V>,
) -> Result<(Potential, V), Error> {
    if target.has_statistics() {
        return Err(no_potential(method));
    }
    let mut gradient = theta.clone();
    let potential = Potential::at(target, theta, &mut gradient);
    if !potential.below(potential).is_finite() {
        return Err(Error::Chain(format!(
            "{method}: the potential is not finite where the chain starts; start from other weights, or check the data"
        )));
    }
    Ok((potential, gradient))
}

struct Chain<V> {
    settings: Hmc,
    /// The gradient of `U` where the chain is; none before it has been asked for.
    gradient: Option<V>,
    /// `U` there.
    potential: Potential,
    /// A trajectory's position, momentum and gradient.
    room: [V; 3],
    averages: DualAverages,
    /// Moves accepted since burn-in.
    accepted: u64,
    energies: Energies,
}

/// The end of a trajectory.
struct Proposal {
    accepted: bool,
    /// The probability of being accepted.
    probability: f64,
    /// The energy where the trajectory began.
    energy: f64,
    divergent: bool,
}

impl Hmc {
    /// Leapfrog steps of a trajectory, drawn independently of where it begins.
    fn steps(&self, stream: &Stream) -> usize {
        let spread = 2.0 * uniform(&mut stream.child("length").generator()) - 1.0;
        ((self.leapfrog as f64 * (1.0 + self.jitter * spread)).round() as usize).max(1)
    }
}

impl<V: Vector> Chain<V> {
    /// Fraction of moves accepted since burn-in; `None` before the first sample.
    fn acceptance_rate(&self) -> Option<f64> {
        let moves = self.energies.draws();
        (moves > 0).then(|| self.accepted as f64 / moves as f64)
    }

    /// A trajectory from `theta`, whose end may be accepted.
    fn propose(
        &mut self,
        theta: &mut V,
        target: &mut dyn Target<Vector = V>,
        step: f64,
        at: &Draw<'_>,
    ) -> Result<Proposal, Error> {
        let stream = at.stream;
        let here = match self.gradient.take() {
            Some(gradient) => self.gradient.insert(gradient),
            None => {
                let (potential, gradient) = first_potential("hmc", theta, target)?;
                self.potential = potential;
                self.gradient.insert(gradient)
            }
        };
        let [position, momentum, gradient] = &mut self.room;
        position.copy_from(theta);
        gradient.copy_from(here);
        momentum.fill(0.0);
        momentum.add_noise(1.0, &stream.child("momentum"));
        let kinetic = 0.5 * momentum.dot(momentum);
        let before = self.potential;
        // The Hamiltonian at temperature T is U / T + |p|^2 / 2.
        let force = step / self.settings.temperature;
        let mut after = before;
        momentum.axpy(-0.5 * force, gradient);
        let steps = self.settings.steps(stream);
        for leap in 1..=steps {
            at.may_go_on()?;
            position.axpy(step, momentum);
            after = Potential::at(target, position, gradient);
            let last = leap == steps;
            momentum.axpy(if last { -0.5 * force } else { -force }, gradient);
        }
        let lower = after.below(before) / self.settings.temperature;
        let change = lower + (kinetic - 0.5 * momentum.dot(momentum));
        // An energy of NaN has probability 0.
        let probability = if change.is_nan() { 0.0 } else { change.exp().min(1.0) };
        let accepted = uniform(&mut stream.child("accept").generator()) < probability;
        if accepted {
            theta.copy_from(position);
            here.copy_from(gradient);
            self.potential = after;
        }
        let energy = (before.likelihood + before.prior) / self.settings.temperature + kinetic;
        let divergent = change.is_nan() || change < -DIVERGENT;
        Ok(Proposal { accepted, probability, energy, divergent })
    }
}

impl<V: Vector> Rule<V> for Chain<V> {
    fn draws(&mut self) -> Option<&mut dyn Draws<V>> {
        Some(self)
    }
    fn memory(&mut self) -> Memory<'_, V> {
        Memory::none()
            .optional("gradient", &mut self.gradient)
            .number("potential.likelihood", &mut self.potential.likelihood)
            .number("potential.prior", &mut self.potential.prior)
            .and(self.averages.memory())
            .count("accepted", &mut self.accepted)
            .and(self.energies.memory())
    }
    fn report(&self) -> Vec<(&'static str, f64)> {
        let step = ("step", self.averages.step(false));
        match self.acceptance_rate() {
            None => vec![step],
            Some(rate) => {
                let mut all = vec![("acceptance_rate", rate), step];
                all.extend(self.energies.report());
                all
            }
        }
    }
    fn warnings(&self) -> Vec<String> {
        let mut all = self.energies.warnings();
        if let Some(rate) = self.acceptance_rate().filter(|rate| *rate < LOW_ACCEPTANCE) {
            all.push(format!(
                "{:.1} % of the proposals were accepted, so many samples are the same point; use a smaller \
                 `step`, or a longer `burn_in`, which adapts it",
                100.0 * rate
            ));
        }
        all
    }
}

impl<V: Vector> Draws<V> for Chain<V> {
    fn count(&self) -> usize {
        self.settings.burn_in + self.settings.samples
    }
    fn draw(
        &mut self,
        points: &mut [Point<V>],
        target: &mut dyn Target<Vector = V>,
        at: &Draw<'_>,
    ) -> Result<Vec<V>, Error> {
        let theta = &mut points[0].theta;
        let burning_in = at.index < self.settings.burn_in;
        let step = self.averages.step(burning_in);
        let proposal = self.propose(theta, target, step, at)?;
        if burning_in {
            self.averages.learn(proposal.probability);
            return Ok(Vec::new());
        }
        self.accepted += u64::from(proposal.accepted);
        self.energies.add(proposal.energy, proposal.divergent);
        // After a rejected move, the point where the chain stays counts once more.
        Ok(vec![theta.clone()])
    }
}

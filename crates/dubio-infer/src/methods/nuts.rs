//! `nuts`: the no-U-turn sampler, by the nuts-rs library.

use dubio_nn::engine::{Point, Vector};
use dubio_random::stream::Stream;
use rand::Rng as _;
use serde::{Deserialize, Serialize};

use super::energies::Energies;
use super::hmc::first_potential;
use super::no_u_turn::{Answer, Library, Tuning};
use super::{Card, Settings, at_least_one, fraction, positive};
use crate::error::Error;
use crate::memory::Memory;
use crate::rule::{Draw, Draws, Rule};
use crate::target::{Potential, Target};
use crate::wrong::Wrong;

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
    /// Acceptance rate that the step size is adapted to.
    pub target_acceptance: f64,
    /// 1 for the posterior; below 1 for a cold posterior, `p^(1/T)`.
    pub temperature: f64,
}

impl Default for Nuts {
    fn default() -> Self {
        Self { burn_in: 200, samples: 100, max_depth: 8, target_acceptance: 0.8, temperature: 1.0 }
    }
}

/// Fraction of trajectories that may be cut short without a warning.
const OFTEN: f64 = 0.1;
/// The largest `max_depth`: a thousand million steps in a trajectory.
const DEEPEST: usize = 30;

impl Settings for Nuts {
    const CARD: Card = Card {
        name: "nuts",
        summary: "No-U-Turn sampler: Hamiltonian Monte Carlo that tunes its own trajectories and step size.",
        rule: "trajectories doubled until they turn back; one of their points drawn with weight exp(-U - |p|^2/2)",
        citation: "Hoffman and Gelman 2014; nuts-rs, Seyboldt et al.",
    };
    const PRIOR_STD: Option<f64> = Some(1.0);
    const IS_CHAIN: bool = true;

    fn check(&self) -> Result<(), Wrong> {
        at_least_one(&[("samples", self.samples), ("max_depth", self.max_depth)])?;
        if self.max_depth > DEEPEST {
            let what = format!("`max_depth` must be at most {DEEPEST}, got {}", self.max_depth);
            return Err(Wrong::value(&["max_depth"], what));
        }
        positive(&[
            ("temperature", self.temperature),
            ("target_acceptance", self.target_acceptance),
        ])?;
        fraction("target_acceptance", self.target_acceptance)
    }

    fn rule<V: Vector>(&self, like: &V) -> Box<dyn Rule<V>> {
        Box::new(Turns {
            settings: self.clone(),
            begin: None,
            seed: 0,
            tally: Tally::default(),
            library: None,
            position: like.clone(),
            gradient: like.clone(),
        })
    }

    /// With trajectories of half the greatest depth.
    fn passes(&self) -> f64 {
        (self.burn_in + self.samples) as f64 * 2_f64.powf(0.5 * self.max_depth as f64)
    }

    fn samples(&self) -> usize {
        self.samples
    }

    /// The library's own vectors have numbers of twice the width.
    fn vectors(&self) -> usize {
        2 * (4 * self.max_depth + 6)
    }

    fn bears_batch_norm(&self) -> bool {
        false
    }
}

/// Totals over the samples so far.
#[derive(Default)]
struct Tally {
    energies: Energies,
    leaps: u64,
    /// Trajectories that were cut short at the greatest depth.
    cut_short: u64,
    /// Sum of the acceptance rates.
    acceptance: f64,
    /// The last step size.
    step: f64,
}

/// The library does not give out the chain's state. A chain that continues after a kill is therefore run again from
/// where it began, with the same random numbers, up to where it was.
struct Turns<V> {
    settings: Nuts,
    /// Where the chain began; none before it has.
    begin: Option<V>,
    /// The seed of its random numbers.
    seed: u64,
    tally: Tally,
    /// The library at work, and the draws that it has made.
    library: Option<(Library, usize)>,
    position: V,
    gradient: V,
}

impl<V: Vector> Turns<V> {
    fn start(
        &mut self,
        theta: &V,
        target: &mut dyn Target<Vector = V>,
        stream: &Stream,
    ) -> Result<Library, Error> {
        if self.begin.is_none() {
            first_potential("nuts", theta, target)?;
            let mut generator = stream.generator();
            let halves = [(); 2].map(|()| u64::from(generator.next_u32()));
            self.seed = halves[0] << 32 | halves[1];
        }
        self.tally = Tally::default();
        let begin = self.begin.get_or_insert_with(|| theta.clone()).read(0..theta.len());
        let Nuts { burn_in, samples, max_depth, target_acceptance, .. } = self.settings;
        let tuning = Tuning { burn_in, samples, max_depth, target_acceptance };
        Library::start(tuning, begin, Stream::root(self.seed))
    }

    /// `-U / T` at a position, as the library wants it.
    fn answer(&mut self, target: &mut dyn Target<Vector = V>, position: &[f64]) -> Answer {
        self.position.write(0, position);
        let potential = Potential::at(target, &self.position, &mut self.gradient);
        let sum = potential.likelihood + potential.prior;
        let temperature = self.settings.temperature;
        sum.is_finite().then(|| {
            let mut slope = self.gradient.read(0..position.len());
            slope.iter_mut().for_each(|g| *g = -*g / temperature);
            (-sum / temperature, slope)
        })
    }
}

impl<V: Vector> Rule<V> for Turns<V> {
    fn draws(&mut self) -> Option<&mut dyn Draws<V>> {
        Some(self)
    }
    fn memory(&mut self) -> Memory<'_, V> {
        let Tally { energies, leaps, cut_short, acceptance, step } = &mut self.tally;
        Memory::none()
            .optional("begin", &mut self.begin)
            .count("seed", &mut self.seed)
            .and(energies.memory())
            .count("leaps", leaps)
            .count("cut_short", cut_short)
            .number("acceptance", acceptance)
            .number("step", step)
    }
    fn report(&self) -> Vec<(&'static str, f64)> {
        let Tally { energies, leaps, cut_short, acceptance, step } = &self.tally;
        if energies.draws() == 0 {
            return Vec::new(); // there is nothing to tell
        }
        let each = 1.0 / energies.draws() as f64;
        let mut all = vec![
            ("acceptance_rate", acceptance * each),
            ("leapfrog_steps", *leaps as f64 * each),
            ("draws_at_max_depth", *cut_short as f64),
            ("step", *step),
        ];
        all.extend(energies.report());
        all
    }
    fn warnings(&self) -> Vec<String> {
        let mut all = self.tally.energies.warnings();
        let (draws, cut_short) = (self.tally.energies.draws(), self.tally.cut_short);
        if cut_short as f64 > OFTEN * draws as f64 {
            all.push(format!(
                "{cut_short} of {draws} trajectories stopped at `max_depth` = {}, so the chain mixes more slowly \
                 than it could; raise `max_depth`, or run the chain longer (`samples`)",
                self.settings.max_depth
            ));
        }
        all
    }
}

impl<V: Vector> Draws<V> for Turns<V> {
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
        let (library, made) = match self.library.take() {
            Some(at_work) => at_work,
            None => (self.start(theta, target, at.stream)?, 0),
        };
        for draw in made..=at.index {
            let turn = library.next(|position| {
                at.may_go_on()?;
                Ok(self.answer(target, position))
            })?;
            theta.write(0, &turn.position);
            if draw >= self.settings.burn_in {
                self.tally.energies.add(turn.energy, turn.diverging);
                self.tally.leaps += turn.leaps;
                self.tally.cut_short += u64::from(turn.cut_short);
                self.tally.acceptance += turn.acceptance;
                self.tally.step = turn.step;
            }
        }
        self.library = Some((library, at.index + 1));
        let burning_in = at.index < self.settings.burn_in;
        Ok(if burning_in { Vec::new() } else { vec![theta.clone()] })
    }
}

//! `masksembles`: members of one network, each of which leaves out hidden units of its own.

use dubio_nn::engine::{Point, Vector};
use dubio_nn::matrix::{self, Matrix, Reads, Side};
use dubio_random::stream::Stream;
use dubio_random::uniform::{below, shuffle};
use serde::{Deserialize, Serialize};

use super::factors;
use super::sgd::Sgd;
use super::{Card, Settings, at_least_one};
use crate::error::Error;
use crate::memory::Memory;
use crate::optimisers::Optimiser;
use crate::rule::{Draw, Draws, Gradient, MiniBatch, Rule, Step, Steps};
use crate::target::Target;
use crate::wrong::Wrong;

/// Settings of `masksembles`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Masksembles {
    /// Masks, each of which is a sample.
    pub samples: usize,
    /// How far apart masks are: two of them have `1 / scale` of their units in common. At 1 all are the same.
    pub scale: f64,
    /// The settings of `sgd`.
    #[serde(flatten)]
    pub sgd: Sgd,
}

impl Default for Masksembles {
    fn default() -> Self {
        Self { samples: 4, scale: 2.0, sgd: Sgd::default() }
    }
}

/// The largest scale. Beyond it masks have nothing in common but by chance.
const MOST: f64 = 100.0;

impl Settings for Masksembles {
    const CARD: Card = Card {
        name: "masksembles",
        summary: "One network and a few fixed masks over the hidden units: each member leaves out units of its own.",
        rule: "inputs of every layer but the first times the binary mask of member k; sgd on the mean loss of the members, each on the whole mini-batch",
        citation: "Durasov et al. 2021",
    };

    fn check(&self) -> Result<(), Wrong> {
        at_least_one(&[("samples", self.samples)])?;
        if !(1.0..=MOST).contains(&self.scale) {
            let what = format!("`scale` must be from 1 to {MOST}, got {}", self.scale);
            return Err(Wrong::value(&["scale"], what));
        }
        self.sgd.check()
    }

    fn rule<V: Vector>(&self, like: &V) -> Box<dyn Rule<V>> {
        let Sgd { descent, optimiser } = &self.sgd;
        let optimiser = Optimiser::new(*optimiser, descent.momentum, like);
        let (matrices, masks) = (Vec::new(), Vec::new());
        Box::new(Masked { settings: self.clone(), matrices, masks, optimiser })
    }

    fn passes(&self) -> f64 {
        (self.samples * self.sgd.descent.epochs) as f64
    }

    fn samples(&self) -> usize {
        self.samples
    }

    /// A member's network and the sum of gradients.
    fn vectors(&self) -> usize {
        2
    }
}

/// How many of `length` places `count` masks cover together, on average, when each takes `ones` of them at random.
fn covered(length: usize, ones: usize, count: usize) -> f64 {
    let length = length as f64;
    length * (1.0 - (1.0 - ones as f64 / length).powf(count as f64))
}

/// How many of `units` units each of `count` masks keeps, and how many places they are drawn from: `S` times as many as
/// a mask keeps. Together the masks cover `S (1 - (1 - 1 / S)^count)` times as many as one keeps.
fn sizes(units: usize, count: usize, scale: f64) -> (usize, usize) {
    let spread = scale * (1.0 - (1.0 - 1.0 / scale).powf(count as f64));
    let ones = ((units as f64 / spread).round() as usize).max(units.div_ceil(count)).min(units);
    // The length whose cover is nearest to the units: it grows with the length.
    let (mut low, mut high) = (units, units * MOST as usize);
    while low < high {
        let middle = (low + high) / 2;
        if covered(middle, ones, count) < units as f64 { low = middle + 1 } else { high = middle }
    }
    let miss = |length: usize| (covered(length, ones, count) - units as f64).abs();
    let shorter = (low - 1).max(units);
    (ones, if miss(shorter) <= miss(low) { shorter } else { low })
}

/// Masks over some units, `[masks, units]`. All keep the same number; every unit is in at least one of them. As in the
/// paper, each mask takes its places at random, and places that none has taken are dropped; this is repeated until the
/// units are left.
pub fn masks(units: usize, count: usize, scale: f64, stream: &Stream) -> Vec<Vec<bool>> {
    let (ones, length) = sizes(units, count, scale);
    let mut generator = stream.generator();
    let mut places: Vec<usize> = (0..length).collect();
    loop {
        let mut taken = vec![vec![false; length]; count];
        for mask in &mut taken {
            shuffle(&mut places, |n| below(&mut generator, n));
            places[..ones].iter().for_each(|&place| mask[place] = true);
        }
        let used: Vec<usize> =
            (0..length).filter(|&place| taken.iter().any(|mask| mask[place])).collect();
        if used.len() == units {
            return taken.iter().map(|mask| used.iter().map(|&at| mask[at]).collect()).collect();
        }
    }
}

/// The masks of each member, as factors: on the inputs of layers that read hidden units, and ones elsewhere.
fn factors_of(settings: &Masksembles, matrices: &[Matrix], stream: &Stream) -> Vec<Vec<f64>> {
    let all = matrices.iter().map(Matrix::factors).sum();
    let mut factors = vec![vec![1.0; all]; settings.samples];
    for (index, (matrix, rows, columns)) in matrix::sides(matrices).enumerate() {
        if matrix.reads == Reads::Data {
            continue;
        }
        let inputs = if matrix.inputs == Side::Rows { rows } else { columns };
        let own = masks(inputs.len(), settings.samples, settings.scale, &stream.nth(index));
        for (factors, mask) in factors.iter_mut().zip(own) {
            let kept = factors[inputs.clone()].iter_mut().zip(mask);
            kept.for_each(|(factor, keeps)| *factor = f64::from(u8::from(keeps)));
        }
    }
    factors
}

struct Masked<V> {
    settings: Masksembles,
    matrices: Vec<Matrix>,
    /// Drawn before the first step, from the seed alone.
    masks: Vec<V>,
    optimiser: Optimiser<V>,
}

impl<V: Vector> Rule<V> for Masked<V> {
    fn begin(&mut self, target: &mut dyn Target<Vector = V>, stream: &Stream) -> Result<(), Error> {
        let (start, matrices) = (target.start(0).theta, target.matrices());
        let on_device = |factors: Vec<f64>| {
            let mut mask = start.zeros(factors.len());
            mask.write(0, &factors);
            mask
        };
        let factors = factors_of(&self.settings, &matrices, &stream.child("masks"));
        self.masks = factors.into_iter().map(on_device).collect();
        self.matrices = matrices;
        Ok(())
    }
    fn steps(&mut self) -> Option<&mut dyn Steps<V>> {
        Some(self)
    }
    fn draws(&mut self) -> Option<&mut dyn Draws<V>> {
        Some(self)
    }
    fn memory(&mut self) -> Memory<'_, V> {
        self.optimiser.memory()
    }
}

impl<V: Vector> Steps<V> for Masked<V> {
    fn epochs(&self) -> usize {
        self.settings.sgd.descent.epochs
    }
    fn rate(&self, at: &Step<'_>) -> f64 {
        self.settings.sgd.descent.rate(at)
    }
    fn step(&mut self, points: &mut [Point<V>], batch: &mut MiniBatch<'_, V>, at: &Step<'_>) {
        let shared = &mut points[0];
        let mut sum = shared.theta.zeros(shared.theta.len());
        for mask in &self.masks {
            let theta = factors::network(&self.matrices, &shared.theta, mask);
            let gradient = factors::gradient(theta, shared, batch);
            gradient.scale_sides(&self.matrices, mask);
            sum.axpy(1.0 / self.masks.len() as f64, gradient);
        }
        let gradient = Gradient::new(&mut sum, batch.prior(), at.examples);
        let rate = self.rate(at);
        self.optimiser.step(&mut shared.theta, gradient, rate);
    }
}

impl<V: Vector> Draws<V> for Masked<V> {
    fn count(&self) -> usize {
        self.settings.samples
    }
    fn draw(
        &mut self,
        points: &mut [Point<V>],
        _: &mut dyn Target<Vector = V>,
        at: &Draw<'_>,
    ) -> Result<Vec<V>, Error> {
        Ok(vec![factors::network(&self.matrices, &points[0].theta, &self.masks[at.index])])
    }
}

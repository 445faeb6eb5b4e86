//! `svgd`: Stein variational gradient descent, networks that move together and push one another away.

use dubio_nn::engine::{Point, Vector};
use serde::{Deserialize, Serialize};

use super::sgd::{Descent, Sgd};
use super::{Card, Settings, at_least_one};
use crate::memory::Memory;
use crate::optimisers::{Kind, Optimiser};
use crate::prior::Gaussian;
use crate::rule::{Gradient, Keep, MiniBatch, Rule, Step, Steps};
use crate::wrong::Wrong;

/// Settings of `svgd`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Svgd {
    /// Particles, each of which is a posterior sample.
    pub particles: usize,
    /// The settings of descent; every particle has an optimiser of its own.
    #[serde(flatten)]
    pub sgd: Sgd,
}

impl Default for Svgd {
    fn default() -> Self {
        let descent = Descent { lr: 0.005, ..Descent::default() };
        Self { particles: 10, sgd: Sgd { descent, optimiser: Kind::Adam } }
    }
}

/// The most particles: their distances are a matrix on the host.
const MOST: usize = 1000;
/// Standard deviation by which particles that begin at the same point are spread.
const SPREAD: f64 = 0.01;

impl Settings for Svgd {
    const CARD: Card = Card {
        name: "svgd",
        summary: "Networks that descend together and push one another away, so that they spread over the posterior.",
        rule: "theta_i -= lr / n sum_j (k_ij grad U_j / N - 2 k_ij (theta_i - theta_j) / (h N)), k_ij = exp(-|theta_i - theta_j|^2 / h), h = median squared distance / log(n + 1)",
        citation: "Liu and Wang 2016",
    };
    const PRIOR_STD: Option<f64> = Some(1.0);

    fn check(&self) -> Result<(), Wrong> {
        at_least_one(&[("particles", self.particles)])?;
        if self.particles > MOST {
            let what = format!("`particles` must be at most {MOST}, got {}", self.particles);
            return Err(Wrong::value(&["particles"], what));
        }
        self.sgd.check()
    }

    fn rule<V: Vector>(&self, like: &V) -> Box<dyn Rule<V>> {
        let optimiser = || Optimiser::new(self.sgd.optimiser, self.sgd.descent.momentum, like);
        Box::new(Particles {
            settings: self.clone(),
            optimisers: (0..self.particles).map(|_| optimiser()).collect(),
            gradients: Vec::new(),
            directions: Vec::new(),
        })
    }

    fn passes(&self) -> f64 {
        (self.particles * self.sgd.descent.epochs) as f64
    }

    fn samples(&self) -> usize {
        self.particles
    }

    /// A gradient, a direction and an optimiser's three for each particle.
    fn vectors(&self) -> usize {
        5 * self.particles
    }
}

struct Particles<V> {
    settings: Svgd,
    optimisers: Vec<Optimiser<V>>,
    /// The gradient of `U / N` at each particle.
    gradients: Vec<V>,
    /// The direction against which each particle is moved.
    directions: Vec<V>,
}

/// How much of every particle's gradient, and of every particle itself, is in the direction of each particle, `[n, n]`.
struct Weights {
    gradients: Vec<f64>,
    particles: Vec<f64>,
}

/// From the products of every two of `n` particles, for `examples` examples.
fn weights(products: &[f64], n: usize, examples: f64) -> Weights {
    let squared = |i: usize, j: usize| {
        (products[i * n + i] + products[j * n + j] - 2.0 * products[i * n + j]).max(0.0)
    };
    // Distances between different particles only: that of a particle from itself does not count.
    let mut all: Vec<f64> =
        (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| squared(i, j)).collect();
    all.sort_by(f64::total_cmp);
    let median = match all.len() {
        0 => 0.0,
        odd if odd % 2 == 1 => all[odd / 2],
        even => 0.5 * (all[even / 2 - 1] + all[even / 2]),
    };
    let width = median / (n as f64 + 1.0).ln();
    let kernel = |i: usize, j: usize| match squared(i, j) {
        0.0 => 1.0,
        // Where more than half of the distances are 0 a particle sees only those in its own place.
        _ if width == 0.0 => 0.0,
        apart => (-apart / width).exp(),
    };
    let (mut gradients, mut particles) = (vec![0.0; n * n], vec![0.0; n * n]);
    let push = if width == 0.0 { 0.0 } else { 2.0 / (width * examples * n as f64) };
    for i in 0..n {
        for j in 0..n {
            let k = kernel(i, j);
            gradients[i * n + j] = k / n as f64;
            particles[i * n + j] += push * k;
            particles[i * n + i] -= push * k;
        }
    }
    Weights { gradients, particles }
}

/// Spreads points that begin in the same place, which would otherwise stay together.
pub(super) fn spread<V: Vector>(points: &mut [Point<V>], at: &Step<'_>) {
    let together = |a: &V, b: &V| {
        let mut gap = a.clone();
        gap.axpy(-1.0, b);
        gap.dot(&gap) == 0.0
    };
    let (first, others) = points.split_at_mut(1);
    for (index, point) in others.iter_mut().enumerate() {
        if together(&first[0].theta, &point.theta) {
            point.theta.add_noise(SPREAD, &at.stream.child("spread").nth(index));
        }
    }
}

impl<V: Vector> Rule<V> for Particles<V> {
    fn steps(&mut self) -> Option<&mut dyn Steps<V>> {
        Some(self)
    }
    fn memory(&mut self) -> Memory<'_, V> {
        let mut all = Memory::none();
        for (index, optimiser) in self.optimisers.iter_mut().enumerate() {
            all = all.and(optimiser.memory().of(index));
        }
        all
    }
}

impl<V: Vector> Steps<V> for Particles<V> {
    fn epochs(&self) -> usize {
        self.settings.sgd.descent.epochs
    }
    fn points(&self) -> usize {
        self.settings.particles
    }
    fn rate(&self, at: &Step<'_>) -> f64 {
        self.settings.sgd.descent.rate(at)
    }
    fn step(&mut self, points: &mut [Point<V>], batch: &mut MiniBatch<'_, V>, at: &Step<'_>) {
        if at.number() == 0 {
            spread(points, at);
        }
        let (n, examples) = (points.len(), at.examples as f64);
        self.gradients.resize(n, points[0].theta.clone());
        self.directions.resize(n, points[0].theta.clone());
        batch.gradients(points, &mut self.gradients);
        for (point, gradient) in points.iter().zip(&mut self.gradients) {
            batch.prior().add_gradient(1.0, examples, &point.theta, gradient);
        }
        let particles: Vec<&V> = points.iter().map(|point| &point.theta).collect();
        let weights = weights(&V::gram(&particles), n, examples);
        let gradients: Vec<&V> = self.gradients.iter().collect();
        for (i, direction) in self.directions.iter_mut().enumerate() {
            direction.fill(0.0);
            direction.add_weighted(&weights.gradients[i * n..(i + 1) * n], &gradients);
            direction.add_weighted(&weights.particles[i * n..(i + 1) * n], &particles);
        }
        let rate = self.rate(at);
        // The prior is in the gradients already.
        let flat = Gaussian { precision: 0.0 };
        let moves = points.iter_mut().zip(&mut self.optimisers).zip(&mut self.directions);
        for ((point, optimiser), direction) in moves {
            let gradient = Gradient::new(direction, &flat, at.examples);
            optimiser.step(&mut point.theta, gradient, rate);
        }
    }
    fn after_epoch(&mut self, epoch: usize, _: &[Point<V>]) -> Keep {
        Keep::when(epoch + 1 == self.settings.sgd.descent.epochs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Particles at 0, 1 and 3: squared distances 1, 4 and 9, of which 4 is the median. DartML's code and
    /// Beyond_Deep_Ensembles count the three zeros of the diagonal too, and have 1.
    #[test]
    fn the_median_is_of_distances_between_different_particles() {
        let x = [0.0, 1.0, 3.0];
        let products: Vec<f64> = x.iter().flat_map(|a| x.map(|b| a * b)).collect();
        let Weights { gradients, particles } = weights(&products, 3, 10.0);
        let width = 4.0 / 4_f64.ln();
        let k = |i: usize, j: usize| (-(x[i] - x[j]).powi(2) / width).exp();
        for i in 0..3 {
            let mut push = 0.0;
            for j in 0..3 {
                assert!((gradients[i * 3 + j] - k(i, j) / 3.0).abs() < 1e-12);
                push += 2.0 / (width * 10.0 * 3.0) * k(i, j) * (x[i] - x[j]);
            }
            let ours: f64 = (0..3).map(|j| particles[i * 3 + j] * x[j]).sum();
            assert!(
                (ours + push).abs() < 1e-12,
                "a particle is moved against this: away from others"
            );
        }
    }

    #[test]
    fn a_particle_alone_follows_its_gradient_and_particles_in_one_place_the_mean() {
        let alone = weights(&[7.0], 1, 10.0);
        assert_eq!((alone.gradients, alone.particles), (vec![1.0], vec![0.0]));
        let together = weights(&[4.0; 4], 2, 10.0);
        assert_eq!((together.gradients, together.particles), (vec![0.5; 4], vec![0.0; 4]));
    }
}

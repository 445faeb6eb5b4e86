//! Gradients of the expected loss of a factorised Gaussian where every example has a draw of its own: see
//! [`Perturbation`].

use dubio_nn::engine::{Point, Vector};
use dubio_nn::network::Perturbation;
use dubio_random::stream::Stream;

use crate::error::Error;
use crate::rule::{MiniBatch, Step};
use crate::target::{self, Target};

/// What it takes to perturb the layers of a network around a mean.
pub(super) struct Perturbed<V> {
    by: Perturbation,
    /// 1 for parameters that no layer perturbs, which are drawn once for the whole mini-batch, 0 for others; `None` where
    /// there are no such parameters.
    drawn_once: Option<V>,
}

impl<V: Vector> Perturbed<V> {
    /// Prepares a target; `None` where it has no network.
    pub(super) fn new(by: Perturbation, target: &mut dyn Target<Vector = V>) -> Option<Self> {
        let stretches = target.perturb(by)?;
        let mut drawn_once = target.start(0).theta;
        drawn_once.fill(1.0);
        let mut left = drawn_once.len();
        for stretch in stretches {
            left -= stretch.len();
            drawn_once.put(stretch.start, &drawn_once.zeros(stretch.len()));
        }
        Some(Self { by, drawn_once: (left > 0).then_some(drawn_once) })
    }

    /// Adds the gradients of the loss, averaged over `draws` draws: with respect to the means `m` to the first sum,
    /// with respect to the log standard deviations `r` to the second. The mean's running statistics move.
    pub(super) fn gradients(
        &self,
        mean: &mut Point<V>,
        log_std: &V,
        batch: &mut MiniBatch<'_, V>,
        (draws, at): (usize, &Step<'_>),
        [slope, of_log_std]: [&mut V; 2],
    ) {
        let zeros = || log_std.zeros(log_std.len());
        let mut ones = zeros();
        ones.fill(1.0);
        let mut std = zeros();
        std.add_times_exp(1.0, &ones, log_std);
        for number in 0..draws {
            let stream = at.noise().nth(number);
            let [mut of_mean, mut of_std] = self.of_draw(mean, &std, batch, &stream);
            batch.clip(&mut of_mean);
            batch.clip(&mut of_std);
            slope.axpy(1.0 / draws as f64, &of_mean);
            // d sigma / d r = sigma.
            of_log_std.add_product(1.0 / draws as f64, &of_std, &std);
        }
    }

    /// Gradients of one draw with respect to means and to standard deviations.
    fn of_draw(
        &self,
        mean: &mut Point<V>,
        std: &V,
        batch: &mut MiniBatch<'_, V>,
        stream: &Stream,
    ) -> [V; 2] {
        let zeros = || std.zeros(std.len());
        let [mut z, mut spreads, mut of_spreads, mut of_means, mut of_std] =
            [(); 5].map(|()| zeros());
        if self.by == Perturbation::Flipout || self.drawn_once.is_some() {
            z.add_noise(1.0, stream);
        }
        // Per standard deviation: d sigma^2 / d sigma = 2 sigma, d sigma z / d sigma = z.
        let (factor, per_std) = match self.by {
            Perturbation::Local => (2.0, std),
            Perturbation::Flipout => (1.0, &z),
        };
        spreads.add_product(1.0, std, per_std);
        let mut means = mean.theta.clone();
        let mut z_once = None;
        if let Some(once) = &self.drawn_once {
            let z_once = z_once.insert(zeros());
            z_once.add_product(1.0, &z, once);
            means.add_product(1.0, std, z_once);
        }
        let (noise, statistics) = (&stream.child("layers"), &mut mean.statistics);
        let there = target::Perturbed { spreads: &spreads, means: &means, statistics, noise };
        batch.perturbed(there, [&mut of_spreads, &mut of_means]);
        of_std.add_product(factor, &of_spreads, per_std);
        if let Some(z_once) = &z_once {
            of_std.add_product(1.0, &of_means, z_once);
        }
        [of_means, of_std]
    }
}

/// A target that has no layers to perturb.
pub(super) fn no_network(method: &str) -> Error {
    Error::Unsuited(format!(
        "this estimator of {method} perturbs the layers of a network, and there is none here; use estimator = \"weights\""
    ))
}

#[cfg(test)]
mod tests;

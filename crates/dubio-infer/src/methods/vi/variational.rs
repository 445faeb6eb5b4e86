//! `vi` at work: gradients of the evidence lower bound with respect to means and log standard deviations, and the steps
//! along them.

use dubio_nn::engine::{Point, Vector};
use dubio_random::stream::Stream;

use super::{Shape, Vi};
use crate::error::Error;
use crate::memory::Memory;
use crate::methods::drawn::{self, Drawn};
use crate::methods::perturbed::{Perturbed, no_network};
use crate::methods::sgd::Sgd;
use crate::optimisers::{Kind, Optimiser};
use crate::prior::{Gaussian, Prior, ScaleMixture};
use crate::rule::{Draws, Gradient, MiniBatch, Rule, Step, Steps};
use crate::target::Target;

/// `theta = m + exp(r) z`. The means `m` are the point that moves.
pub(super) struct Variational<V> {
    settings: Vi,
    log_std: V,
    /// How layers are perturbed, where they are.
    perturbed: Option<Perturbed<V>>,
    of_means: Optimiser<V>,
    of_log_stds: Optimiser<V>,
}

impl<V: Vector> Drawn for Variational<V> {
    type Vector = V;
    fn samples(&self) -> usize {
        self.settings.samples
    }
    /// `m + exp(r) z`, and `exp(r) z`.
    fn drawn(&self, mean: &V, stream: &Stream) -> (V, V) {
        let (mut z, mut away) = (mean.zeros(mean.len()), mean.zeros(mean.len()));
        z.add_noise(1.0, stream);
        away.add_times_exp(1.0, &z, &self.log_std);
        let mut theta = mean.clone();
        theta.axpy(1.0, &away);
        (theta, away)
    }
}

impl<V: Vector> Variational<V> {
    pub(super) fn new(settings: &Vi, like: &V) -> Self {
        let mut log_std = like.zeros(like.len());
        log_std.fill(settings.initial_std.ln());
        let Sgd { descent, optimiser } = &settings.sgd;
        Self {
            settings: settings.clone(),
            log_std,
            perturbed: None,
            of_means: Optimiser::new(*optimiser, descent.momentum, like),
            of_log_stds: Optimiser::new(Kind::Adam, 0.9, like),
        }
    }

    /// The mixture, if the prior is one; its wide part is the Gaussian prior.
    fn mixture(&self, prior: &dyn Prior<V>, ones: &V) -> Option<ScaleMixture> {
        let Vi { prior: shape, narrow_std, wide_fraction, .. } = self.settings;
        if shape == Shape::Gaussian {
            return None;
        }
        let mut precision = ones.zeros(ones.len());
        prior.add_gradient(1.0, 1.0, ones, &mut precision);
        let wide_std = precision.read(0..1)[0].powf(-0.5);
        Some(ScaleMixture { wide_std, narrow_std, wide_fraction })
    }

    /// Adds gradients of the expected loss with respect to means and to log standard deviations, with those of
    /// `-w log p(theta) / N` where the prior is a mixture.
    fn add_expected(
        &self,
        mean: &mut Point<V>,
        batch: &mut MiniBatch<'_, V>,
        at: &Step<'_>,
        prior: Option<(f64, ScaleMixture)>,
        sums: [&mut V; 2],
    ) {
        let (draws, n) = (self.settings.draws, at.examples as f64);
        let of_prior = |theta: &V, gradient: &mut V| {
            if let Some((weight, mixture)) = prior {
                mixture.add_gradient(weight, n, theta, gradient);
            }
        };
        let Some(perturbed) = &self.perturbed else {
            // d theta / d r = exp(r) z.
            let draw = |mean: &V, stream: &Stream| self.drawn(mean, stream);
            return drawn::gradients(mean, batch, (draws, at), draw, of_prior, sums);
        };
        let [slope, of_log_std] = sums;
        perturbed.gradients(mean, &self.log_std, batch, (draws, at), [slope, of_log_std]);
        if prior.is_none() {
            return;
        }
        // With perturbed layers there is no draw of the weights at which the prior could be evaluated.
        for number in 0..draws {
            let stream = at.noise().nth(number).child("prior");
            let (theta, away) = self.drawn(&mean.theta, &stream);
            let mut gradient = theta.zeros(theta.len());
            of_prior(&theta, &mut gradient);
            slope.axpy(1.0 / draws as f64, &gradient);
            of_log_std.add_product(1.0 / draws as f64, &gradient, &away);
        }
    }
}

/// Weight of the divergence at a step, where it rises over the first `warm_up` epochs.
pub(in crate::methods) fn kl_weight(weight: f64, warm_up: usize, at: &Step<'_>) -> f64 {
    let rise = warm_up * at.batches;
    let risen = if rise == 0 { 1.0 } else { ((at.number() + 1) as f64 / rise as f64).min(1.0) };
    weight * risen
}

impl<V: Vector> Rule<V> for Variational<V> {
    fn begin(&mut self, target: &mut dyn Target<Vector = V>, _: &Stream) -> Result<(), Error> {
        let Some(by) = self.settings.estimator.perturbation() else { return Ok(()) };
        self.perturbed = Perturbed::new(by, target);
        if self.perturbed.is_some() { Ok(()) } else { Err(no_network("vi")) }
    }
    fn steps(&mut self) -> Option<&mut dyn Steps<V>> {
        Some(self)
    }
    fn draws(&mut self) -> Option<&mut dyn Draws<V>> {
        Some(self)
    }
    fn memory(&mut self) -> Memory<'_, V> {
        Memory::none()
            .vector("log_std", &mut self.log_std)
            .and(self.of_means.memory().of(0))
            .and(self.of_log_stds.memory().of(1))
    }
    /// The log standard deviation of each parameter.
    fn factors(&mut self) -> Vec<V> {
        vec![self.log_std.clone()]
    }
}

impl<V: Vector> Steps<V> for Variational<V> {
    fn epochs(&self) -> usize {
        self.settings.sgd.descent.epochs
    }
    fn rate(&self, at: &Step<'_>) -> f64 {
        self.settings.sgd.descent.rate(at)
    }
    fn step(&mut self, points: &mut [Point<V>], batch: &mut MiniBatch<'_, V>, at: &Step<'_>) {
        let Vi { kl_weight: weight, kl_warm_up, .. } = self.settings;
        let (n, weight) = (at.examples as f64, kl_weight(weight, kl_warm_up, at));
        let rate = self.rate(at);
        let mean = &mut points[0];
        let zeros = || mean.theta.zeros(mean.theta.len());
        let [mut slope, mut of_log_std, mut ones] = [(); 3].map(|()| zeros());
        ones.fill(1.0);
        let mixture = self.mixture(batch.prior(), &ones);
        let prior = mixture.map(|mixture| (weight, mixture));
        self.add_expected(mean, batch, at, prior, [&mut slope, &mut of_log_std]);
        // KL = E -log p(theta) - sum r, up to a constant; for a Gaussian prior sum (exp(2 r) + m^2) / (2 s^2) - r.
        of_log_std.axpy(-weight / n, &ones);
        if mixture.is_none() {
            batch.prior().add_gradient(weight, n, &mean.theta, &mut slope);
            // The gradient of a Gaussian prior where every parameter is 1 is its precision 1 / s^2.
            let (mut precision, mut variance) = (ones.zeros(ones.len()), self.log_std.clone());
            batch.prior().add_gradient(weight, n, &ones, &mut precision);
            variance.scale(2.0);
            of_log_std.add_times_exp(1.0, &precision, &variance);
        }
        // The prior is in both gradients already.
        let flat = Gaussian { precision: 0.0 };
        self.of_means.step(&mut mean.theta, Gradient::new(&mut slope, &flat, at.examples), rate);
        let rate = self.settings.log_std_lr * rate / self.settings.sgd.descent.lr;
        let gradient = Gradient::new(&mut of_log_std, &flat, at.examples);
        self.of_log_stds.step(&mut self.log_std, gradient, rate);
    }
}

//! `laplace`: a Gaussian around the most probable parameters, as wide as the curvature of the loss says.

use std::ops::Range;

use dubio_nn::engine::{Engine, Point, Vector};
use dubio_nn::loss::log_std;
use dubio_nn::network::Network;
use serde::{Deserialize, Serialize};

use super::linearised::Linearised;
use super::prior_precision::{Evidence, PriorPrecision, SharedNoise};
use super::sgd::{Descending, Sgd};
use super::{Card, Scene, Settings, at_least_one, positive};
use crate::curvature::{Curvature, Sought, Spectrum, Structure, Weights};
use crate::error::Error;
use crate::likelihood::{Link, NOISE};
use crate::memory::Memory;
use crate::posterior::{Points, Posterior, Predictive};
use crate::prior::Prior;
use crate::rule::{Draw, Draws, MiniBatch, Rule, Step, Steps};
use crate::target::Target;
use crate::wrong::Wrong;

/// How it predicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Predict {
    /// By networks drawn from the Gaussian. Underfits where the loss is far from quadratic.
    Mc,
    /// By the network as a linear function of its parameters, whose outputs are Gaussian; [`Link::Probit`].
    Probit,
    /// The same with [`Link::ExtendedProbit`].
    ExtendedProbit,
    /// The same with [`Link::MeanField`].
    MeanField,
}

/// Settings of `laplace`. Predictions are those of the linearised network, since networks drawn from the Gaussian underfit
/// (Immer et al. 2021). With more parameters than examples the prior precision that the marginal likelihood chooses after
/// training is too low, and predictions are underconfident: most directions are not constrained by the data and keep the
/// prior's variance. `layers = "last"` with `epochs = 0` and a `warm_up` is less so, and a `prior_precision` chosen on
/// validation data is not (Daxberger et al. 2021, sec. 3).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Laplace {
    /// The settings of the descent to the most probable parameters; with `epochs = 0` the start is taken for them.
    #[serde(flatten)]
    pub sgd: Sgd,
    /// `diag`, `units`, `kfac` or `full`.
    pub structure: Structure,
    /// `ggn`, `sampled-fisher` or `empirical-fisher`.
    pub curvature: Curvature,
    /// Training examples that the curvature is summed over, drawn without replacement, then scaled up to all of them;
    /// 0 for all. One pass over them costs far more than one of training where layers are convolutions.
    pub curvature_examples: usize,
    /// `marginal-likelihood`, which also finds a noise that all examples share, `given` for the prior of the descent, or
    /// a number.
    pub prior_precision: PriorPrecision,
    /// What the standard deviations of the Gaussian are multiplied by; chosen on validation data in Ritter et al. 2018 and
    /// Ashukha et al. 2020.
    pub noise_scale: f64,
    /// `probit`, `extended-probit`, `mean-field` or `mc`.
    pub predict: Predict,
    /// Networks drawn from the Gaussian for `mc`; the others predict in closed form.
    pub samples: usize,
}

impl Default for Laplace {
    fn default() -> Self {
        Self {
            sgd: Sgd::default(),
            structure: Structure::Kfac,
            curvature: Curvature::Ggn,
            curvature_examples: 0,
            prior_precision: PriorPrecision::MarginalLikelihood,
            noise_scale: 1.0,
            predict: Predict::Probit,
            samples: 30,
        }
    }
}

impl Settings for Laplace {
    const CARD: Card = Card {
        name: "laplace",
        summary: "A Gaussian around the MAP estimate whose precision is the curvature of the loss: diagonal, Kronecker-factored or full.",
        rule: "theta ~ Normal(MAP, noise_scale^2 (H + d)^-1), H = sum_n J_n' F_n J_n; d maximises log p(D | MAP) - sum log(1 + h / d) / 2 - d |MAP|^2 / 2; logits k f, k = 1 / sqrt(1 + pi v / 8), v = noise_scale^2 J (H + d)^-1 J'",
        citation: "MacKay 1992; Ritter et al. 2018; Immer et al. 2021; Daxberger et al. 2021",
    };

    fn check(&self) -> Result<(), Wrong> {
        self.sgd.descent.check()?;
        positive(&[("noise_scale", self.noise_scale)])?;
        at_least_one(&[("samples", self.samples)])
    }

    fn rule<V: Vector>(&self, like: &V) -> Box<dyn Rule<V>> {
        Box::new(Around::new(self, Random::Every, like))
    }

    fn bears_batch_norm(&self) -> bool {
        false
    }

    /// Curvature takes a pass for each output, roughly ten of them.
    fn passes(&self) -> f64 {
        let roots = if self.curvature == Curvature::Ggn { 10.0 } else { 1.0 };
        self.sgd.descent.epochs as f64 + roots
    }

    fn samples(&self) -> usize {
        if self.predict == Predict::Mc { self.samples } else { 1 }
    }

    fn bytes(&self, network: &Network, moving: &Range<usize>) -> f64 {
        self.structure.bytes(&Weights::inside(network, moving))
    }

    fn predictive<'a, E: Engine>(
        &self,
        posterior: &'a Posterior<E::Vector>,
        scene: &Scene<'a>,
    ) -> Box<dyn Predictive<E> + 'a> {
        let link = match self.predict {
            Predict::Mc => {
                return Box::new(Points { points: &posterior.points, noisy_passes: None });
            }
            Predict::Probit => Link::Probit,
            Predict::ExtendedProbit => Link::ExtendedProbit,
            Predict::MeanField => Link::MeanField,
        };
        Box::new(Linearised::new(posterior, scene, self.structure, link))
    }
}

/// Which of the layers that move are random.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Random {
    /// All of them.
    Every,
    /// The last one.
    Last,
}

pub(super) struct Around<V> {
    settings: Laplace,
    random: Random,
    descending: Descending<V>,
    /// A vector like those of the engine.
    empty: V,
    /// The layers' shapes, [`Weights::numbers`]; none before the curvature is known.
    weights: Vec<f64>,
    /// [`Spectrum::numbers`] of `H / noise_scale^2`.
    spectrum: Vec<f64>,
    /// `d`.
    precision: f64,
    /// Logarithm of the marginal likelihood.
    evidence: f64,
}

impl<V: Vector> Around<V> {
    pub(super) fn new(settings: &Laplace, random: Random, like: &V) -> Self {
        Self {
            descending: Descending::new(&settings.sgd, like),
            settings: settings.clone(),
            random,
            empty: like.zeros(0),
            weights: Vec::new(),
            spectrum: Vec::new(),
            precision: 0.0,
            evidence: 0.0,
        }
    }

    /// What is added to the spectrum, so that the sum is the precision of the Gaussian: `d / noise_scale^2`.
    fn added(&self) -> f64 {
        self.precision / self.settings.noise_scale.powi(2)
    }

    fn layers(&self) -> Vec<Weights> {
        self.weights.chunks(4).map(Weights::read).collect()
    }

    /// Sums up the curvature at a point and chooses the prior's precision, and with it a noise that all examples share.
    fn look_around(
        &mut self,
        point: &mut Point<V>,
        target: &mut dyn Target<Vector = V>,
        at: &Draw<'_>,
    ) -> Result<(), Error> {
        let Laplace { structure, curvature, prior_precision, curvature_examples, .. } =
            self.settings;
        let mut sums = structure.sums();
        let mut weights = Vec::new();
        let stretch = match (self.random, target.matrices().last()) {
            (Random::Last, Some(last)) => last.stretch(),
            _ => 0..point.theta.len(),
        };
        let labels = at.stream.child("labels");
        let all = target.examples();
        let examples = Some(curvature_examples).filter(|some| (1..all).contains(some));
        let sought = Sought { stretch, curvature, examples };
        target.curvature(point, &sought, &labels, &mut |root, layers| {
            at.may_go_on()?;
            if weights.is_empty() {
                weights = layers.iter().flat_map(|layer| layer.weights.numbers()).collect();
            }
            sums.add(root, &layers);
            Ok(())
        })?;
        let mut spectrum = sums.decompose()?;
        spectrum.scale(all as f64 / examples.unwrap_or(all) as f64);
        let of = |own: &Weights| point.theta.read(own.parameters.clone());
        let random = weights.chunks(4).map(Weights::read).flat_map(|own| of(&own));
        let mut evidence = Evidence {
            log_likelihood: -(all as f64) * target.whole_loss(&point.theta),
            eigenvalues: spectrum.eigenvalues(),
            squares: random.map(|w| w * w).sum(),
        };
        let noise = target.slices().into_iter().find(|slice| slice.name.starts_with(NOISE));
        let shared = noise.map(|slice| {
            let std = log_std(point.theta.read(slice.range.clone())[0]).exp();
            (slice.range.start, SharedNoise { examples: all as f64, std })
        });
        self.precision = match (prior_precision, shared) {
            (PriorPrecision::MarginalLikelihood, Some((at, noise))) => {
                let (precision, std) = evidence.best_precision_and_noise(noise);
                spectrum.scale((noise.std / std).powi(2));
                evidence = evidence.with_noise(noise, std);
                point.theta.write(at, &[std.ln()]);
                precision
            }
            (PriorPrecision::MarginalLikelihood, None) => evidence.best_precision(),
            (PriorPrecision::Number(precision), _) => precision,
            (PriorPrecision::Given, _) => given(&*target.prior(), &point.theta)?,
        };
        self.evidence = evidence.at(self.precision);
        spectrum.scale(self.settings.noise_scale.powi(-2));
        self.spectrum = spectrum.numbers();
        self.weights = weights;
        Ok(())
    }
}

/// The precision of a prior that has the same for every parameter.
fn given<V: Vector>(prior: &dyn Prior<V>, like: &V) -> Result<f64, Error> {
    // The gradient of a Gaussian prior where every parameter is 1 is its precision.
    let (mut ones, mut precisions) = (like.zeros(like.len()), like.zeros(like.len()));
    ones.fill(1.0);
    prior.add_gradient(1.0, 1.0, &ones, &mut precisions);
    let precisions = precisions.read(0..precisions.len());
    match precisions.first() {
        Some(&first) if first > 0.0 && precisions.iter().all(|other| *other == first) => Ok(first),
        _ => Err(Error::Unsuited(
            "`prior_precision = \"given\"` needs one prior precision above 0 for all parameters; set `prior_std`, \
             or leave `prior_precision` out".to_string(),
        )),
    }
}

impl<V: Vector> Rule<V> for Around<V> {
    fn steps(&mut self) -> Option<&mut dyn Steps<V>> {
        Some(self)
    }
    fn draws(&mut self) -> Option<&mut dyn Draws<V>> {
        Some(self)
    }
    fn memory(&mut self) -> Memory<'_, V> {
        self.descending
            .carried()
            .numbers("weights", &mut self.weights)
            .numbers("spectrum", &mut self.spectrum)
            .number("precision", &mut self.precision)
            .number("evidence", &mut self.evidence)
    }
    fn report(&self) -> Vec<(&'static str, f64)> {
        vec![("prior_precision", self.precision), ("log_marginal_likelihood", self.evidence)]
    }
    /// What is added to the spectrum, then the spectrum itself, for predictions in closed form.
    fn factors(&mut self) -> Vec<V> {
        if self.settings.predict == Predict::Mc {
            return Vec::new();
        }
        let mut factors = self.empty.zeros(1 + self.spectrum.len());
        factors.write(0, &[self.added()]);
        factors.write(1, &self.spectrum);
        vec![factors]
    }
}

impl<V: Vector> Steps<V> for Around<V> {
    fn epochs(&self) -> usize {
        self.descending.epochs()
    }
    fn rate(&self, at: &Step<'_>) -> f64 {
        self.descending.rate(at)
    }
    fn step(&mut self, points: &mut [Point<V>], batch: &mut MiniBatch<'_, V>, at: &Step<'_>) {
        self.descending.step(points, batch, at);
    }
}

impl<V: Vector> Draws<V> for Around<V> {
    fn count(&self) -> usize {
        self.settings.samples()
    }
    fn draw(
        &mut self,
        points: &mut [Point<V>],
        target: &mut dyn Target<Vector = V>,
        at: &Draw<'_>,
    ) -> Result<Vec<V>, Error> {
        if at.index == 0 {
            self.look_around(&mut points[0], target, at)?;
        }
        let mut theta = points[0].theta.clone();
        if self.settings.predict == Predict::Mc {
            let layers = self.layers();
            let spectrum: Box<dyn Spectrum> =
                self.settings.structure.spectrum(&layers, &self.spectrum);
            let drawn = spectrum.draw(&layers, self.added(), at.stream);
            for (weights, away) in layers.iter().zip(drawn) {
                let mut part = theta.part(weights.parameters.clone());
                let mut change = part.zeros(part.len());
                change.write(0, &away);
                part.axpy(1.0, &change);
                theta.put(weights.parameters.start, &part);
            }
        }
        Ok(vec![theta])
    }
}

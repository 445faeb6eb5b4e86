//! `bayesian-ridge`: linear regression whose prior and noise maximise the marginal likelihood.

use dubio_nn::engine::{Engine, Point, Vector};
use dubio_nn::layer::Layer;
use dubio_nn::network::Network;
use faer::{ColRef, Mat};
use serde::{Deserialize, Serialize};

use super::linearised::Linearised;
use super::{Card, Scene, Settings, at_least_one};
use crate::curvature::{Curvature, Eigen, Sought, Structure};
use crate::error::Error;
use crate::likelihood::{Link, NOISE, shared_noise};
use crate::memory::Memory;
use crate::posterior::{Posterior, Predictive};
use crate::rule::{Draw, Draws, Rule};
use crate::target::Target;
use crate::wrong::Wrong;

/// Settings of `bayesian-ridge`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BayesianRidge {
    /// The most updates of both precisions; they end earlier if nothing changes any more.
    pub iterations: usize,
}

impl Default for BayesianRidge {
    fn default() -> Self {
        Self { iterations: 1000 }
    }
}

impl Settings for BayesianRidge {
    const CARD: Card = Card {
        name: "bayesian-ridge",
        summary: "Bayesian linear regression in closed form; prior and noise by the marginal likelihood. The network is not used.",
        rule: "w ~ Normal(m, S), S = (a X'X + d)^-1, m = a S X'y; g = sum a h / (a h + d), d = g / |m|^2, a = (n - g) / |y - X m|^2; the intercept is the mean",
        citation: "MacKay 1992; Tipping 2001",
    };

    fn check(&self) -> Result<(), Wrong> {
        at_least_one(&[("iterations", self.iterations)])
    }

    fn rule<V: Vector>(&self, like: &V) -> Box<dyn Rule<V>> {
        Box::new(Ridge {
            iterations: self.iterations,
            empty: like.zeros(0),
            factors: Vec::new(),
            evidence: 0.0,
        })
    }

    /// One linear unit instead of the network, followed by the noise if that is learnt.
    fn network(&self, network: Network) -> Network {
        let mut linear = Network::new(network.input);
        linear.then("flatten", Layer::Flatten);
        linear.then("linear", Layer::Linear { outputs: 1 });
        if network.output().size() == 2 {
            linear.then(NOISE, shared_noise());
        }
        linear
    }

    fn is_for_regression(&self) -> bool {
        true
    }

    fn passes(&self) -> f64 {
        2.0
    }

    fn predictive<'a, E: Engine>(
        &self,
        posterior: &'a Posterior<E::Vector>,
        scene: &Scene<'a>,
    ) -> Box<dyn Predictive<E> + 'a> {
        Box::new(Linearised::new(posterior, scene, Structure::Full, Link::Probit))
    }
}

struct Ridge<V> {
    iterations: usize,
    /// A vector like those of the engine.
    empty: V,
    /// `d`, then the spectrum of `a X'X`, as [`Linearised`] reads them.
    factors: Vec<f64>,
    /// Logarithm of the marginal likelihood.
    evidence: f64,
}

/// What linear regression needs of the data, which are centred.
struct Moments {
    examples: f64,
    /// `X'X` by its eigenvectors.
    squares: Eigen,
    /// `X'y`, along the eigenvectors.
    products: Vec<f64>,
    /// `y'y`.
    targets: f64,
    /// Means of the columns of `X`, and of `y`.
    means: (Vec<f64>, f64),
    /// The standard deviation of the noise that the likelihood has at the start.
    noise: f64,
    /// Whether there is a column of ones.
    has_bias: bool,
}

impl Moments {
    /// From the gradients at the only output: with all weights 0 they are `-y / s^2`, and the root of the Fisher
    /// information is `1 / s`.
    fn of<V: Vector>(
        target: &mut dyn Target<Vector = V>,
        zero: &Point<V>,
        at: &Draw<'_>,
    ) -> Result<Self, Error> {
        let all = |curvature| Sought { stretch: 0..zero.theta.len(), curvature, examples: None };
        let mut noise = 1.0;
        target.curvature(zero, &all(Curvature::Ggn), at.stream, &mut |root, layers| {
            at.may_go_on()?;
            if let (0, Some(layer)) = (root, layers.first()) {
                noise = 1.0 / layer.at_outputs(0..1)[(0, 0)];
            }
            Ok(())
        })?;
        let (mut rows, mut y, mut has_bias) = (Vec::new(), Vec::new(), false);
        target.curvature(zero, &all(Curvature::EmpiricalFisher), at.stream, &mut |_, layers| {
            at.may_go_on()?;
            let Some(layer) = layers.first() else { return Ok(()) };
            has_bias = layer.has_bias();
            let all = 0..layer.examples();
            for read in layer.read(all.clone()).col_iter() {
                let inputs = read.nrows() - usize::from(has_bias);
                rows.push(read.iter().copied().take(inputs).collect::<Vec<f64>>());
            }
            let gradients = layer.at_outputs(all);
            y.extend(gradients.col(0).iter().map(|g| -noise * noise * g));
            Ok(())
        })?;
        let (n, width) = (rows.len(), rows.first().map_or(0, Vec::len));
        let mean = |of: &dyn Fn(usize) -> f64| (0..n).map(of).sum::<f64>() / n as f64;
        // Without an intercept nothing may be centred.
        let shift = f64::from(u8::from(has_bias));
        let columns: Vec<f64> = (0..width).map(|j| shift * mean(&|i| rows[i][j])).collect();
        let middle = shift * mean(&|i| y[i]);
        let x = Mat::from_fn(n, width, |i, j| rows[i][j] - columns[j]);
        let y: Vec<f64> = y.iter().map(|y| y - middle).collect();
        let squares = Eigen::of((x.transpose() * &x).as_ref())?;
        let products = squares.vectors.transpose() * (x.transpose() * ColRef::from_slice(&y));
        let products = products.iter().copied().collect();
        let targets = y.iter().map(|y| y * y).sum();
        Ok(Self {
            examples: n as f64,
            squares,
            products,
            targets,
            means: (columns, middle),
            noise,
            has_bias,
        })
    }

    /// `m` along the eigenvectors, and `|y - X m|^2`.
    fn mean(&self, a: f64, d: f64) -> (Vec<f64>, f64) {
        let pairs = || self.products.iter().zip(&self.squares.values);
        let m: Vec<f64> = pairs().map(|(q, h)| a * q / (a * h + d)).collect();
        let miss: f64 = m.iter().zip(pairs()).map(|(m, (q, h))| m * (h * m - 2.0 * q)).sum();
        (m, self.targets + miss)
    }

    /// The noise's precision `a` and the prior's `d` where the marginal likelihood is largest; `a` stays where the
    /// noise is known.
    fn precisions(&self, noise_is_known: bool, iterations: usize) -> (f64, f64) {
        let variance = self.targets / self.examples;
        let mut a = if noise_is_known { self.noise.powi(-2) } else { 1.0 / variance.max(1e-12) };
        let mut d = 1.0;
        for _ in 0..iterations {
            let (m, miss) = self.mean(a, d);
            let effective: f64 = self.squares.values.iter().map(|h| a * h / (a * h + d)).sum();
            let length: f64 = m.iter().map(|m| m * m).sum();
            // Neither grows without end where targets are all equal, or exactly linear.
            let new_d = (effective / length.max(1e-12)).clamp(1e-12, 1e12);
            let new_a = if noise_is_known {
                a
            } else {
                ((self.examples - effective) / miss.max(1e-12)).clamp(1e-12, 1e12)
            };
            let change = (new_d / d - 1.0).abs() + (new_a / a - 1.0).abs();
            (a, d) = (new_a, new_d);
            if change < 1e-12 {
                break;
            }
        }
        (a, d)
    }

    /// `log p(y)`: `Normal(0, 1 / a + X X' / d)`.
    fn evidence(&self, a: f64, d: f64) -> f64 {
        let (m, miss) = self.mean(a, d);
        let length: f64 = m.iter().map(|m| m * m).sum();
        let determinant: f64 = self.squares.values.iter().map(|h| (a * h / d).ln_1p()).sum();
        let constant = self.examples * (a / std::f64::consts::TAU).ln();
        0.5 * (constant - determinant - a * miss - d * length)
    }
}

impl<V: Vector> Rule<V> for Ridge<V> {
    fn draws(&mut self) -> Option<&mut dyn Draws<V>> {
        Some(self)
    }
    fn memory(&mut self) -> Memory<'_, V> {
        Memory::none().numbers("factors", &mut self.factors).number("evidence", &mut self.evidence)
    }
    fn report(&self) -> Vec<(&'static str, f64)> {
        let precision = self.factors.first().copied().unwrap_or(0.0);
        vec![("prior_precision", precision), ("log_marginal_likelihood", self.evidence)]
    }
    fn factors(&mut self) -> Vec<V> {
        let mut factors = self.empty.zeros(self.factors.len());
        factors.write(0, &self.factors);
        vec![factors]
    }
}

/// The precision of an intercept that is known.
const KNOWN: f64 = 1e30;

impl<V: Vector> Draws<V> for Ridge<V> {
    fn count(&self) -> usize {
        1
    }
    fn draw(
        &mut self,
        points: &mut [Point<V>],
        target: &mut dyn Target<Vector = V>,
        at: &Draw<'_>,
    ) -> Result<Vec<V>, Error> {
        let Point { theta, statistics } = &points[0];
        let zero = Point { theta: theta.zeros(theta.len()), statistics: statistics.clone() };
        let moments = Moments::of(target, &zero, at)?;
        let noise = target.slices().into_iter().find(|slice| slice.name.starts_with(NOISE));
        let (a, d) = moments.precisions(noise.is_none(), self.iterations);
        self.evidence = moments.evidence(a, d);
        let Eigen { values, vectors } = &moments.squares;
        let w = vectors * ColRef::from_slice(&moments.mean(a, d).0);
        let w: Vec<f64> = w.iter().copied().collect();
        let mut theta = zero.theta;
        theta.write(0, &w);
        let width = w.len();
        if moments.has_bias {
            let (columns, middle) = &moments.means;
            let bias = middle - w.iter().zip(columns).map(|(w, x)| w * x).sum::<f64>();
            theta.write(width, &[bias]);
        }
        if let Some(noise) = noise {
            theta.write(noise.range.start, &[-0.5 * a.ln()]);
        }
        let side = width + usize::from(moments.has_bias);
        let turned = Eigen {
            values: (0..side).map(|i| values.get(i).map_or(KNOWN, |h| a * h)).collect(),
            vectors: Mat::from_fn(side, side, |i, j| {
                if i < width && j < width { vectors[(i, j)] } else { f64::from(u8::from(i == j)) }
            }),
        };
        self.factors = [vec![d], turned.numbers()].concat();
        Ok(vec![theta])
    }
}

//! Targets with Gaussian noise: predicted for each example, shared, or known.

use std::f64::consts::TAU;
use std::sync::Arc;

use dubio_nn::loss::{Kernel, Loss, Truth, log_std, mean_loss};
use dubio_nn::network::Network;
use dubio_nn::networks;
use dubio_nn::shape::Shape;
use dubio_random::normal::normals;
use dubio_random::stream::Stream;

use super::{Array, Curved, Likelihood, Link, NOISE, Taught, shared_noise};
use crate::scaling::Scaling;

/// Targets `Normal(m, s^2)`, with outputs `m` and `log s`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gaussian;

impl Loss for Gaussian {
    fn outputs(&self) -> usize {
        2
    }
    fn mean(&self, outputs: &[f64], truth: Truth<'_>, _: &[u32], gradient: &mut [f64]) -> f64 {
        mean_loss(outputs, truth, gradient)
    }
    fn kernel(&self) -> Option<Kernel> {
        Some(Kernel::Gaussian)
    }
}

impl Likelihood for Gaussian {
    fn curved(&self) -> Option<&dyn Curved> {
        Some(self)
    }
    fn taught(&self) -> Option<&dyn Taught> {
        Some(self)
    }
    fn is_steep(&self) -> bool {
        true
    }
    fn predictions(&self, mut outputs: Vec<f32>, scaling: &Scaling) -> Vec<f32> {
        let scale = scaling.targets().expect("measured on targets");
        for pair in outputs.chunks_exact_mut(2) {
            pair[0] = scale.mean_back(f64::from(pair[0])) as f32;
            pair[1] = scale.std_back(log_std(f64::from(pair[1])).exp()) as f32;
        }
        outputs
    }
    fn arrays<'a>(&self, values: &'a [f32], [samples, examples, _]: [usize; 3]) -> Vec<Array<'a>> {
        let column = |name, which: usize| Array {
            name,
            values: values.iter().skip(which).step_by(2).copied().collect(),
            shape: vec![samples, examples],
        };
        vec![column("mean", 0), column("std", 1)]
    }
}

impl Curved for Gaussian {
    /// `(1/s, 0)` and `(0, sqrt 2)`.
    fn fisher(&self, outputs: &[f64]) -> Vec<Vec<f64>> {
        let of_mean = outputs.chunks(2).flat_map(|row| [(-log_std(row[1])).exp(), 0.0]).collect();
        let of_log_std = outputs.chunks(2).flat_map(|_| [0.0, 2_f64.sqrt()]).collect();
        vec![of_mean, of_log_std]
    }
    fn drawn(&self, outputs: &[f64], stream: &Stream) -> Vec<f64> {
        let z = normals(outputs.len() / 2, stream);
        let rows = outputs.chunks(2).zip(z);
        rows.flat_map(|(row, z)| [-z * (-log_std(row[1])).exp(), 1.0 - z * z]).collect()
    }
    /// Exact for the mean: the variances add up. The uncertainty of the noise itself is left out.
    fn averaged(&self, outputs: &[f64], covariance: &[f64], _: Link) -> Vec<f64> {
        let variance = (2.0 * log_std(outputs[1])).exp() + covariance[0];
        vec![outputs[0], 0.5 * variance.ln()]
    }
}

impl Taught for Gaussian {
    /// `log s + log(2 pi) / 2 + (s_t^2 + (m_t - m)^2) / (2 s^2)` with the teacher's `m_t` and `s_t`.
    fn cross_entropy(&self, teacher: &[f64], student: &[f64], gradient: &mut [f64]) -> f64 {
        let n = (teacher.len() / 2) as f64;
        let rows = teacher.chunks(2).zip(student.chunks(2)).zip(gradient.chunks_mut(2));
        let mut sum = 0.0;
        for ((teacher, student), gradient) in rows {
            let log_s = log_std(student[1]);
            let (miss, precision) = (student[0] - teacher[0], (-2.0 * log_s).exp());
            let squares = (2.0 * log_std(teacher[1])).exp() + miss * miss;
            sum += log_s + 0.5 * TAU.ln() + 0.5 * squares * precision;
            gradient[0] = miss * precision / n;
            // Beyond the bounds the output changes nothing.
            let moves = log_s == student[1];
            gradient[1] = if moves { (1.0 - squares * precision) / n } else { 0.0 };
        }
        sum / n
    }
    fn entropies(&self, outputs: &[f64]) -> Vec<f64> {
        let constant = 0.5 * (TAU.ln() + 1.0);
        outputs.chunks(2).map(|row| log_std(row[1]) + constant).collect()
    }
}

/// [`Gaussian`] with one `log s` for all examples, a parameter that follows the network's only output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedNoise;

impl Loss for SharedNoise {
    fn outputs(&self) -> usize {
        Gaussian.outputs()
    }
    fn mean(&self, outputs: &[f64], truth: Truth<'_>, rows: &[u32], gradient: &mut [f64]) -> f64 {
        Gaussian.mean(outputs, truth, rows, gradient)
    }
    fn kernel(&self) -> Option<Kernel> {
        Gaussian.kernel()
    }
}

impl Likelihood for SharedNoise {
    fn curved(&self) -> Option<&dyn Curved> {
        Some(self)
    }
    fn taught(&self) -> Option<&dyn Taught> {
        Some(&Gaussian)
    }
    fn is_steep(&self) -> bool {
        true
    }
    fn network(&self, name: &str, input: Shape) -> Result<Network, String> {
        let mut network = networks::build(name, input, 1)?;
        network.then(NOISE, shared_noise());
        Ok(network)
    }
    fn predictions(&self, outputs: Vec<f32>, scaling: &Scaling) -> Vec<f32> {
        Gaussian.predictions(outputs, scaling)
    }
    fn arrays<'a>(&self, values: &'a [f32], shape: [usize; 3]) -> Vec<Array<'a>> {
        Gaussian.arrays(values, shape)
    }
}

impl Curved for SharedNoise {
    fn fisher(&self, outputs: &[f64]) -> Vec<Vec<f64>> {
        Gaussian.fisher(outputs)
    }
    fn drawn(&self, outputs: &[f64], stream: &Stream) -> Vec<f64> {
        Gaussian.drawn(outputs, stream)
    }
    fn averaged(&self, outputs: &[f64], covariance: &[f64], link: Link) -> Vec<f64> {
        Gaussian.averaged(outputs, covariance, link)
    }
}

/// Targets `Normal(m, s^2)` with a known `s`: the only output is `m`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FixedNoise {
    /// `s`, relative to targets of standard deviation 1.
    pub std: f64,
}

impl Loss for FixedNoise {
    fn outputs(&self) -> usize {
        1
    }
    fn mean(&self, outputs: &[f64], truth: Truth<'_>, _: &[u32], gradient: &mut [f64]) -> f64 {
        let Truth::Targets(targets) = truth else { unreachable!("a noise is of targets") };
        let (n, s) = (targets.len() as f64, self.std);
        let mut sum = 0.0;
        for ((mean, target), gradient) in outputs.iter().zip(targets).zip(gradient) {
            let z = (mean - target) / s;
            *gradient = z / (s * n);
            sum += 0.5 * z * z;
        }
        sum / n + s.ln() + 0.5 * TAU.ln()
    }
}

impl Likelihood for FixedNoise {
    fn curved(&self) -> Option<&dyn Curved> {
        Some(self)
    }
    fn is_steep(&self) -> bool {
        true
    }
    fn predictions(&self, outputs: Vec<f32>, scaling: &Scaling) -> Vec<f32> {
        let scale = scaling.targets().expect("measured on targets");
        let std = scale.std_back(self.std) as f32;
        let means = outputs.iter().map(|mean| scale.mean_back(f64::from(*mean)) as f32);
        means.flat_map(|mean| [mean, std]).collect()
    }
    fn arrays<'a>(&self, values: &'a [f32], shape: [usize; 3]) -> Vec<Array<'a>> {
        Gaussian.arrays(values, shape)
    }
}

impl Curved for FixedNoise {
    fn fisher(&self, outputs: &[f64]) -> Vec<Vec<f64>> {
        vec![vec![1.0 / self.std; outputs.len()]]
    }
    fn drawn(&self, outputs: &[f64], stream: &Stream) -> Vec<f64> {
        normals(outputs.len(), stream).into_iter().map(|z| z / self.std).collect()
    }
    fn averaged(&self, outputs: &[f64], covariance: &[f64], link: Link) -> Vec<f64> {
        Gaussian.averaged(&[outputs[0], self.std.ln()], covariance, link)
    }
    /// Their standard deviations differ from example to example.
    fn of_averages(&self) -> Option<Arc<dyn Likelihood>> {
        Some(Arc::new(Gaussian))
    }
}

//! Logistic regression, whose posterior is no Gaussian.

use dubio_nn::cpu::Flat;
use dubio_nn::engine::Vector;
use dubio_nn::parameter::Slice;

use crate::support::*;

/// Logistic regression under `Normal(0, 2)`, whose posterior is no Gaussian.
pub(crate) struct Logistic;

impl Logistic {
    fn potential(theta: &[f64], out: &mut Flat<f64>) -> f64 {
        let wave = |k: f64, i: usize| (k * (i + 1) as f64).sin();
        let (mut loss, mut gradient) = (0.0, [0.0; 2]);
        for i in 0..12 {
            let x = [wave(1.3, 2 * i), wave(1.3, 2 * i + 1)].map(|x| x * wave(2.1, i).signum());
            let e = (-x[0] * theta[0] - x[1] * theta[1]).exp();
            loss += e.ln_1p() / 12.0;
            gradient = [0, 1].map(|j| gradient[j] - x[j] * e / (1.0 + e) / 12.0);
        }
        out.write(0, &gradient);
        loss
    }
}

impl Analytic for Logistic {
    fn examples(&self) -> usize {
        12
    }
    fn prior_precision(&self) -> f64 {
        0.5
    }
    fn batches(&self) -> usize {
        1
    }
    fn start(&self) -> Flat<f64> {
        self.start_of(0)
    }
    fn start_of(&self, index: usize) -> Flat<f64> {
        let (sin, cos) = (index as f64 + 1.0).sin_cos();
        Flat(vec![2.0 * sin, 2.0 * cos])
    }
    fn slices(&self) -> Vec<Slice> {
        vec![Slice { name: "theta.weight".to_string(), range: 0..2 }]
    }
    fn batch(&mut self, theta: &Flat<f64>, _: usize, _: usize, out: &mut Flat<f64>) -> f64 {
        Self::potential(&theta.0, out)
    }
    fn whole(&mut self, theta: &Flat<f64>, out: &mut Flat<f64>) -> f64 {
        Self::potential(&theta.0, out)
    }
    fn whole_loss(&mut self, theta: &Flat<f64>) -> f64 {
        Self::potential(&theta.0, &mut Flat(vec![0.0; 2]))
    }
}

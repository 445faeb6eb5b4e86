//! Linear regression, whose posterior is a Gaussian in closed form.

use dubio_infer::curvature::Curvature;
use dubio_nn::cpu::Flat;
use dubio_nn::engine::Vector;
use dubio_nn::matrix::{Matrix, Reads, Side};
use dubio_nn::parameter::Slice;
use dubio_random::stream::Stream;

use super::{Analytic, inverse, times};

/// Linear regression with known noise: `loss = mean_i (y_i - x_i theta)^2 / 2`. The posterior under
/// the prior `Normal(0, 1 / precision)` is `Normal(m, C)`, `C = (X'X + precision I)^-1`, `m = C X'y`.
pub struct LinearRegression {
    pub x: Vec<[f64; 2]>,
    pub y: Vec<f64>,
    pub precision: f64,
    pub start: [f64; 2],
    pub batch: usize,
    /// Where gradients of mini-batches were asked for, in order.
    pub visited: Vec<[f64; 2]>,
    /// How often the loss of all the data was asked for.
    pub evaluations: usize,
}

impl LinearRegression {
    /// `n` examples of correlated inputs, all in one batch.
    pub fn new(n: usize, precision: f64) -> Self {
        let mut noise = Flat(vec![0.0; 3 * n]);
        noise.add_noise(1.0, &Stream::root(17).child("data"));
        let x: Vec<[f64; 2]> = noise.0.chunks(3).map(|z| [z[0], 0.8 * z[0] + 0.6 * z[1]]).collect();
        let y = x.iter().zip(noise.0.chunks(3)).map(|(x, z)| x[0] - 0.5 * x[1] + z[2]).collect();
        let (start, visited) = ([0.0, 0.0], Vec::new());
        Self { x, y, precision, start, batch: n, visited, evaluations: 0 }
    }

    /// `X'X + precision I`.
    pub fn hessian(&self) -> [[f64; 2]; 2] {
        let sum = |i: usize, j: usize| self.x.iter().map(|x| x[i] * x[j]).sum::<f64>();
        let p = self.precision;
        [[sum(0, 0) + p, sum(0, 1)], [sum(0, 1), sum(1, 1) + p]]
    }

    pub fn covariance(&self) -> [[f64; 2]; 2] {
        inverse(self.hessian())
    }

    pub fn mean(&self) -> [f64; 2] {
        let sum = |i: usize| self.x.iter().zip(&self.y).map(|(x, y)| x[i] * y).sum::<f64>();
        times(self.covariance(), [sum(0), sum(1)])
    }

    fn loss(&self, rows: std::ops::Range<usize>, theta: &[f64]) -> (f64, [f64; 2]) {
        let weight = 1.0 / rows.len() as f64;
        let (mut loss, mut gradient) = (0.0, [0.0; 2]);
        for row in rows {
            let x = self.x[row];
            let miss = x[0] * theta[0] + x[1] * theta[1] - self.y[row];
            loss += 0.5 * weight * miss * miss;
            gradient = [gradient[0] + weight * miss * x[0], gradient[1] + weight * miss * x[1]];
        }
        (loss, gradient)
    }
}

impl Analytic for LinearRegression {
    fn examples(&self) -> usize {
        self.x.len()
    }
    fn prior_precision(&self) -> f64 {
        self.precision
    }
    fn batches(&self) -> usize {
        self.x.len().div_ceil(self.batch)
    }
    fn start(&self) -> Flat<f64> {
        Flat(self.start.to_vec())
    }
    fn slices(&self) -> Vec<Slice> {
        vec![Slice { name: "theta.weight".to_string(), range: 0..2 }]
    }
    fn matrices(&self) -> Vec<Matrix> {
        let (inputs, reads) = (Side::Columns, Reads::Data);
        vec![Matrix { range: 0..2, rows: 1, columns: 2, inputs, bias: 0..0, reads }]
    }
    fn batch(&mut self, theta: &Flat<f64>, _: usize, batch: usize, out: &mut Flat<f64>) -> f64 {
        self.visited.push([theta.0[0], theta.0[1]]);
        let last = self.x.len().min((batch + 1) * self.batch);
        let (loss, gradient) = self.loss(batch * self.batch..last, &theta.0);
        out.write(0, &gradient);
        loss
    }
    fn whole(&mut self, theta: &Flat<f64>, out: &mut Flat<f64>) -> f64 {
        let (loss, gradient) = self.loss(0..self.x.len(), &theta.0);
        out.write(0, &gradient);
        loss
    }
    fn whole_loss(&mut self, theta: &Flat<f64>) -> f64 {
        self.evaluations += 1;
        self.loss(0..self.x.len(), &theta.0).0
    }
    fn reads(&self, theta: &Flat<f64>, curvature: Curvature) -> Option<(Vec<f64>, Vec<f64>)> {
        let miss = |(x, y): (&[f64; 2], &f64)| x[0] * theta.0[0] + x[1] * theta.0[1] - y;
        let gradients = match curvature {
            Curvature::EmpiricalFisher => self.x.iter().zip(&self.y).map(miss).collect(),
            _ => vec![1.0; self.x.len()],
        };
        Some((self.x.concat(), gradients))
    }
}

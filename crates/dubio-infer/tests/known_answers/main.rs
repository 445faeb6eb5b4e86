//! Every method on targets whose answer is known in closed form.

#[path = "../support/mod.rs"]
mod support;

mod dropout;
mod hamiltonian;
mod langevin;
mod logistic;
mod particles;
mod paths;
mod variational;

use dubio_nn::cpu::Flat;
use support::*;

/// Plain descent with momentum, written out; theta after each of so many full-batch epochs.
pub(crate) fn descent(
    target: &mut LinearRegression,
    epochs: usize,
    rate: f64,
    momentum: f64,
) -> Vec<[f64; 2]> {
    let n = target.x.len() as f64;
    let (mut theta, mut velocity, mut path) = (target.start, [0.0; 2], Vec::new());
    for epoch in 0..epochs {
        let mut gradient = Flat(vec![0.0; 2]);
        target.batch(&Flat(theta.to_vec()), epoch, 0, &mut gradient);
        for i in 0..2 {
            let slope = gradient.0[i] + target.precision / n * theta[i];
            velocity[i] = momentum * velocity[i] + slope;
            theta[i] -= rate * velocity[i];
        }
        path.push(theta);
    }
    path
}

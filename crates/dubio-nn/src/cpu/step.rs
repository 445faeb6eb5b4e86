//! A step of a network on a CPU: a pass forward, a loss, a pass back.

use super::Flat;
use super::gather::InMemory;
use super::layers::Mode;
use super::tape::{Gradients, Tape};
use crate::loss::{Kernel, Loss, Truth, mean_loss};
use crate::real::Real;

/// A pass forward, what `loss` makes of the outputs, and a pass back.
pub(super) fn step<T: Real>(
    tape: &mut Tape<T>,
    seed: &mut [T],
    (theta, statistics): (&Flat<T>, &mut Flat<T>),
    inputs: &[T],
    mode: &Mode,
    gradient: &mut Flat<T>,
    loss: impl FnOnce(&[T], &mut [T]) -> f64,
) -> f64 {
    let outputs = tape.forward(&theta.0, &mut statistics.0, inputs, mode);
    let seed = &mut seed[..outputs.len()];
    let loss = loss(outputs, seed);
    gradient.0.fill(T::zero());
    let into = Gradients { parameters: &mut gradient.0, inputs: &mut [] };
    tape.backward(&theta.0, inputs, seed, mode, into);
    loss
}

/// The mean loss of a batch; its gradient at the outputs replaces `seed`.
pub(super) fn loss_of<T: Real>(
    loss: &dyn Loss,
    outputs: &[T],
    batch: InMemory<'_, T>,
    seed: &mut [T],
) -> f64 {
    match (loss.kernel(), batch.truth) {
        (Some(Kernel::CrossEntropy), Truth::Labels(_))
        | (Some(Kernel::Gaussian), Truth::Targets(_)) => mean_loss(outputs, batch.truth, seed),
        _ => {
            let wide: Vec<f64> = outputs.iter().map(|v| v.wide()).collect();
            let mut gradient = vec![0.0; wide.len()];
            let mean = loss.mean(&wide, batch.truth, batch.rows, &mut gradient);
            seed.iter_mut().zip(gradient).for_each(|(s, g)| *s = T::of(g));
            mean
        }
    }
}

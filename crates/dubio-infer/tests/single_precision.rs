//! What must not be lost in numbers of 32 bits.

mod support;

use std::sync::Arc;

use dubio_infer::fit::{self, Options};
use dubio_infer::prior::{Gaussian, Prior};
use dubio_infer::target::{BatchName, Target};
use dubio_nn::cpu::Flat;
use dubio_nn::engine::{Point, Vector};
use dubio_nn::parameter::Slice;
use dubio_random::stream::Stream;
use serde_json::{Value, json};
use support::*;

/// Examples of MNIST.
const EXAMPLES: usize = 60_000;
const PARAMETERS: usize = 4096;

/// Parameters around 1.5 that the data say nothing of but noise: what moves them on average is the prior.
struct Noise;

impl Target for Noise {
    type Vector = Flat<f32>;

    fn examples(&self) -> usize {
        EXAMPLES
    }
    fn prior(&self) -> Arc<dyn Prior<Flat<f32>>> {
        Arc::new(Gaussian { precision: 1.0 })
    }
    fn batches(&self) -> usize {
        1
    }
    fn start(&self, _: usize) -> Point<Flat<f32>> {
        Point { theta: Flat(vec![1.5; PARAMETERS]), statistics: Flat(Vec::new()) }
    }
    fn slices(&self) -> Vec<Slice> {
        vec![Slice { name: "theta.weight".to_string(), range: 0..PARAMETERS }]
    }
    fn gradient(&mut self, _: &mut Point<Flat<f32>>, name: BatchName, gradient: &mut Flat<f32>) {
        gradient.fill(0.0);
        gradient.add_noise(1e-3, &Stream::root(9).nth(name.epoch));
    }
    fn losses(&mut self) -> Vec<f64> {
        vec![0.0]
    }
    fn whole(&mut self, _: &Flat<f32>, gradient: &mut Flat<f32>) -> f64 {
        gradient.fill(0.0);
        0.0
    }
    fn whole_loss(&mut self, _: &Flat<f32>) -> f64 {
        0.0
    }
}

/// Mean of the parameters at the end, and of the noise alone: the same run without a prior.
fn moved(name: &str, settings: Value) -> f64 {
    let rule = method(name, settings).rule(&Noise.start(0).theta);
    let fit = fit::fit(rule, &mut Noise, &Stream::root(1), 0, &Options::default());
    let posterior = fit.unwrap_or_else(|e| panic!("{}", e.error));
    let theta = &posterior.points.last().expect("a sample").theta.0;
    theta.iter().map(|v| f64::from(*v) - 1.5).sum::<f64>() / theta.len() as f64
}

/// With the prior `Normal(0, 1)` a step shrinks the parameters by `lr / N`, here 1.7e-8 of themselves: less than half
/// of the last digit of a number of 32 bits, which is lost by itself and not in a sum with the gradient and the
/// noise.
#[test]
fn the_pull_of_the_prior_is_not_rounded_away() {
    let steps = 2000;
    for lr in [0.001, 0.004] {
        // A cold chain, so that a mean over 4096 parameters sees the pull.
        let chain = json!({"burn_in": steps - 1, "samples": 1, "lr": lr, "schedule": "constant", "temperature": 1e-5});
        let mut rough = chain.clone();
        rough["friction"] = json!(1.0);
        let descent = |momentum: f64, optimiser: &str| json!({"epochs": steps, "lr": lr, "schedule": "constant", "momentum": momentum, "optimiser": optimiser});
        for (name, settings) in [
            ("sgld", chain),
            ("sghmc", rough),
            ("sgd", descent(0.0, "sgd")),
            ("sgd", descent(0.0, "nesterov")),
        ] {
            let expected = -1.5 * lr * steps as f64 / EXAMPLES as f64;
            let ratio = moved(name, settings.clone()) / expected;
            assert!(
                (0.9..1.1).contains(&ratio),
                "{name} at {lr}: {ratio} times the pull, {settings}"
            );
        }
    }
}

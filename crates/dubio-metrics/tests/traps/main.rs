//! Places where published implementations part ways, one named test for each. The numbers come
//! from the definitions worked by hand, from sums over all pairs, or from closed forms.

#[path = "../support/mod.rs"]
mod support;

mod bin_edges;
mod distributions;
mod entropies;
mod equal_mass;
mod other_calibration;
mod ranking;
mod references;
mod scoring_rules;
mod temperature;

use dubio_metrics::binning::Edges;
use dubio_metrics::members::Form::{Logits, Probs};
use dubio_metrics::numeric::normal;
use dubio_metrics::score::Options;
use dubio_metrics::scorecard::{self, Entry};
use dubio_random::stream::Stream;
use std::f64::consts::{LN_2, PI, SQRT_2, TAU};
use support::*;

fn score(data: &Data, name: &str) -> f64 {
    value_in(&data.scores(&Options::default()), name)
}

fn score_in(data: &Data, name: &str, bins: usize) -> f64 {
    value_in(&data.scores(&Options { bins, ..Options::default() }), name)
}

fn entry(data: &Data, name: &str) -> Entry {
    let entries = data.scores(&Options::default());
    entries.into_iter().find(|entry| entry.name == name).unwrap()
}

fn calibrated(data: &Data, name: &str) -> f64 {
    value_in(&data.calibrated(&Options::default()), &format!("calibrated.{name}"))
}

#[track_caller]
fn assert_is(value: f64, expected: f64) {
    assert!(close(value, expected, 1e-12), "{value}, not {expected}");
}

/// Numbers in `[0, 1)`, the same in every run.
fn numbers(count: usize) -> Vec<f64> {
    let mut generator = Stream::root(5).generator();
    (0..count).map(|_| uniform(&mut generator)).collect()
}

/// Confidences in `[1/2, 1)`, about as often right as they say.
fn ordinary(n: usize) -> Data {
    let numbers = numbers(2 * n);
    let (confidence, chance) = numbers.split_at(n);
    let confidence: Vec<f64> = confidence.iter().map(|u| 0.5 + 0.5 * u).collect();
    let hits = chance.iter().zip(&confidence).map(|(u, c)| u8::from(u < c));
    let correct: Vec<u8> = hits.collect();
    Data::confident(&confidence, &correct)
}

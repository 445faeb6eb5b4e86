//! `mlp`: fully connected layers with ReLU between them; `mlp-elu` with ELU.

use super::{Built, Card};
use crate::layer::Layer::{Elu, Flatten, Linear, Relu};
use crate::network::Network;
use crate::shape::Shape;

/// 200 and 200 hidden units unless the name says otherwise.
pub const CARD: Card = Card {
    name: "mlp-N-N",
    summary: "Fully connected layers with ReLU between them, or ELU (`mlp-elu-N-N`); `mlp` has 200 and 200 hidden units.",
    citation: "784-200-200-10: Vadera et al. 2020",
};

/// The most units of a hidden layer.
const WIDEST: usize = 1_000_000;
/// The most hidden layers.
const DEEPEST: usize = 1000;

/// A number of units; one with more digits than fit into a number counts as too large.
fn width(text: &str) -> Option<usize> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().unwrap_or(usize::MAX))
}

pub(super) fn build(name: &str, thin: usize, input: Shape, outputs: usize) -> Built {
    let rest = name.strip_prefix("mlp")?;
    let (rest, elu) = rest.strip_prefix("-elu").map_or((rest, false), |rest| (rest, true));
    let widths: Vec<usize> = match rest.strip_prefix('-') {
        None if rest.is_empty() => vec![200, 200],
        None => return None,
        Some(widths) => widths.split('-').map(width).collect::<Option<_>>()?,
    };
    if widths.len() > DEEPEST || widths.iter().any(|width| !(1..=WIDEST).contains(width)) {
        let what = format!("1 to {DEEPEST} hidden layers have 1 to {WIDEST} units each");
        return Some(Err(format!("{name}: {what}")));
    }
    let mut network = Network::new(input);
    if input.places() > 1 {
        network.then("flatten", Flatten);
    }
    for (index, width) in widths.iter().enumerate() {
        network.then(format!("fc{}", index + 1), Linear { outputs: (width / thin).max(1) });
        match elu {
            true => network.then(format!("elu{}", index + 1), Elu),
            false => network.then(format!("relu{}", index + 1), Relu),
        };
    }
    network.then(format!("fc{}", widths.len() + 1), Linear { outputs });
    Some(Ok(network))
}

//! Networks, one file each. Layers are named as the usual PyTorch implementations name them, so
//! that weights travel in both directions.

pub mod lenet5;
pub mod mlp;
pub mod preresnet;
pub mod resnet;
pub mod resnet_cifar;
pub mod resnet_frn;
pub mod vgg16;
pub mod wide_resnet;

use crate::real::Real;
use crate::shape::Shape;
use crate::tape::Tape;

/// What a network says of itself.
pub struct Card {
    /// Name, with `N` where a number is part of it.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// Where it comes from.
    pub citation: &'static str,
}

/// Every family of networks.
pub const CARDS: [&Card; 8] = [
    &mlp::CARD,
    &lenet5::CARD,
    &vgg16::CARD,
    &resnet_cifar::CARD,
    &preresnet::CARD,
    &resnet_frn::CARD,
    &resnet::CARD,
    &wide_resnet::CARD,
];

/// Builds a network by name: `mlp` or `mlp-50-50`, `lenet5`, `vgg16`, `resnet20-cifar`,
/// `preresnet20`, `resnet20-frn`, `resnet18`, `wideresnet28x10`. A name ending in `/4` has a
/// quarter of the channels.
#[inline(never)]
pub fn build<T: Real>(name: &str, input: Shape, outputs: usize) -> Result<Tape<T>, String> {
    let (plain, thin) = match name.split_once('/') {
        None => (name, 1),
        Some((plain, thin)) => match thin.parse() {
            Ok(thin) if (1..=16).contains(&thin) => (plain, thin),
            _ => return Err(format!("`{thin}` in `{name}` must be a whole number from 1 to 16")),
        },
    };
    let builders = [
        mlp::build::<T>,
        lenet5::build,
        vgg16::build,
        resnet_cifar::build,
        preresnet::build,
        resnet_frn::build,
        resnet::build,
        wide_resnet::build,
    ];
    for build in builders {
        if let Some(tape) = build(plain, thin, input, outputs) {
            return tape.and_then(|tape| not_too_large(name, tape));
        }
    }
    let names: Vec<&str> = CARDS.iter().map(|card| card.name).collect();
    Err(format!("no network is called `{name}`; there are {}", names.join(", ")))
}

/// What is generic and never inlined is shared with the crates that use it, if it is used here.
#[used]
static SINGLE: fn(&str, Shape, usize) -> Result<Tape<f32>, String> = build;

/// `None` when a name is not of the family; an error when the network cannot take such inputs.
type Built<T> = Option<Result<Tape<T>, String>>;

/// Parameters of a network; a vector of them has 8 GB in single precision.
const MOST_PARAMETERS: usize = 1 << 31;

fn not_too_large<T: Real>(name: &str, tape: Tape<T>) -> Result<Tape<T>, String> {
    match tape.parameters() {
        count if count > MOST_PARAMETERS => {
            Err(format!("{name} has {count} parameters here; it may have {MOST_PARAMETERS}"))
        }
        _ => Ok(tape),
    }
}

/// The number in `prefix NUMBER suffix`.
fn number_in(name: &str, prefix: &str, suffix: &str) -> Option<usize> {
    name.strip_prefix(prefix)?.strip_suffix(suffix)?.parse().ok()
}

/// That pictures are at least so large.
fn at_least(input: Shape, side: usize, name: &str) -> Result<(), String> {
    if input.height >= side && input.width >= side {
        return Ok(());
    }
    Err(format!(
        "{name} needs pictures of {side}x{side} or more, got {}x{}",
        input.height, input.width
    ))
}

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

use dubio_words::nearest;

use crate::network::Network;
use crate::shape::Shape;

/// How a network describes itself.
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
pub fn build(name: &str, input: Shape, outputs: usize) -> Result<Network, String> {
    let name = &canonical(name)[..];
    let (plain, thin) = match name.split_once('/') {
        None => (name, 1),
        Some((plain, thin)) => match thin.parse() {
            Ok(thin) if (1..=16).contains(&thin) => (plain, thin),
            _ => return Err(format!("`{thin}` in `{name}` must be a whole number from 1 to 16")),
        },
    };
    let builders = [
        mlp::build,
        lenet5::build,
        vgg16::build,
        resnet_cifar::build,
        preresnet::build,
        resnet_frn::build,
        resnet::build,
        wide_resnet::build,
    ];
    for build in builders {
        if let Some(network) = build(plain, thin, input, outputs) {
            return network.and_then(|network| not_too_large(name, network));
        }
    }
    Err(unknown(name))
}

/// Says that no network has this name, and which family may have been meant, numbers apart.
fn unknown(name: &str) -> String {
    let letters = |name: &str| name.replace(|c: char| !c.is_ascii_lowercase(), "");
    let known: Vec<String> = CARDS.iter().map(|card| letters(card.name)).collect();
    let near = nearest(&letters(name), known.iter().map(|name| &name[..])).unwrap_or_default();
    let is_near = |card: &&&Card| near.contains(&format!("`{}`", letters(card.name)));
    let near: Vec<String> =
        CARDS.iter().filter(is_near).map(|card| format!("`{}`", card.name)).collect();
    let names = CARDS.iter().map(|card| card.name).collect::<Vec<_>>().join(", ");
    match near.is_empty() {
        true => format!("no network is called `{name}`; there are {names}"),
        false => format!(
            "no network is called `{name}`; did you mean {}? There are {names}",
            near.join(" or ")
        ),
    }
}

/// A name as it is written in lists: `ResNet20_CIFAR` is `resnet20-cifar`.
pub fn canonical(name: &str) -> String {
    name.to_ascii_lowercase().replace('_', "-")
}

/// `None` when a name is not of the family; an error when the network cannot take such inputs.
type Built = Option<Result<Network, String>>;

/// The most parameters of a network; a vector of them has 8 GiB in single precision.
const MOST_PARAMETERS: usize = 1 << 31;

fn not_too_large(name: &str, network: Network) -> Result<Network, String> {
    match network.parameters() {
        count if count > MOST_PARAMETERS => {
            Err(format!("{name} has {count} parameters here; it may have {MOST_PARAMETERS}"))
        }
        _ => Ok(network),
    }
}

/// The number in `prefix NUMBER suffix`.
fn number_in(name: &str, prefix: &str, suffix: &str) -> Option<usize> {
    name.strip_prefix(prefix)?.strip_suffix(suffix)?.parse().ok()
}

/// Checks that images are at least this large.
fn at_least(input: Shape, side: usize, name: &str) -> Result<(), String> {
    if input.height >= side && input.width >= side {
        return Ok(());
    }
    let what = format!("{name} needs images of {side}x{side} or more");
    Err(match (input.height, input.width) {
        (1, 1) => format!("{what}, and this is a table; take a network such as `mlp`"),
        (height, width) => format!(
            "{what}, got {height}x{width}; take a smaller network, or enlarge images of your own by size={side}x{side}"
        ),
    })
}

//! `frost`: ice on the lens.

use rand::RngExt;

use super::imaging::canvas::{Canvas, Plane};
use super::imaging::draws::{Draws, normals, uniform};
use super::imaging::motion;
use super::imaging::plasma::plasma;
use super::{Card, Family, HENDRYCKS, Severity, Shift};

/// `a x + b ice`, where `ice` is a made texture.
///
/// `(a, b)` = (1, 0.2), (1, 0.3), (0.9, 0.4), (0.85, 0.4), (0.75, 0.45).
///
/// Not the published corruption bit for bit: that lays crops of five photographs of frost over the
/// picture, at a fifth of their size. Here the ice is made: short needles of grain along a random
/// direction over slow clouds, in one of five kinds with the mean colour and the deviation measured
/// on the five photographs, and about their share of slow variation.
pub struct Frost;

const CARD: Card = Card {
    name: "frost",
    summary: "A made texture of ice laid over the picture.",
    family: Family::Weather,
    severities: "(weight of the picture, of the ice) = (1, 0.2), (1, 0.3), (0.9, 0.4), (0.85, 0.4), (0.75, 0.45)",
    citation: HENDRYCKS,
};

impl Shift for Frost {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn corrupt(&self, picture: &Canvas, severity: Severity, draws: &mut Draws) -> Canvas {
        let constants = [(1.0, 0.2), (1.0, 0.3), (0.9, 0.4), (0.85, 0.4), (0.75, 0.45)];
        let (kept, laid) = severity.pick(constants);
        let kind = KINDS[draws.random_range(0..KINDS.len())];
        let relief = relief(&kind, picture, draws);
        picture.in_colour(|colours| {
            std::array::from_fn(|c| {
                let ice = relief.map(|height| ((kind.colour[c] + height) / 255.0).clamp(0.0, 1.0));
                colours[c].zip(&ice, |value, ice| kept * value + laid * ice)
            })
        })
    }
}

/// A kind of ice: mean colour and deviation in bytes, share of the variance that is slow.
#[derive(Clone, Copy)]
struct Ice {
    colour: [f64; 3],
    deviation: f64,
    slow: f64,
}

const KINDS: [Ice; 5] = [
    Ice { colour: [78.0, 149.0, 166.0], deviation: 18.0, slow: 0.5 },
    Ice { colour: [201.0, 205.0, 214.0], deviation: 22.0, slow: 0.3 },
    Ice { colour: [201.0, 205.0, 214.0], deviation: 22.0, slow: 0.3 },
    Ice { colour: [138.0, 153.0, 166.0], deviation: 29.0, slow: 0.2 },
    Ice { colour: [112.0, 123.0, 135.0], deviation: 43.0, slow: 0.2 },
];

/// Heights around 0, in bytes.
fn relief(kind: &Ice, picture: &Canvas, draws: &mut Draws) -> Plane {
    let (height, width, scale) = (picture.height(), picture.width(), picture.scale());
    let clouds = standard(&plasma(height, width, 1.75, draws));
    let needle = motion::taps(2.0 * scale, 0.7 * scale, uniform(draws, 0.0, 180.0));
    let grain = standard(&motion::blur(&normals(height, width, draws), &needle));
    let (slow, fast) = (kind.slow.sqrt(), (1.0 - kind.slow).sqrt());
    clouds.zip(&grain, |cloud, grain| kind.deviation * (slow * cloud + fast * grain))
}

/// The plane moved to mean 0 and deviation 1; one level alone becomes 0.
fn standard(plane: &Plane) -> Plane {
    let count = plane.values.len() as f64;
    let mean = plane.values.iter().sum::<f64>() / count;
    let square = plane.values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    plane.map(|value| (value - mean) / square.sqrt().max(f64::MIN_POSITIVE))
}

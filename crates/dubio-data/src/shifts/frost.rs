//! `frost`: ice on the lens.

use rand::RngExt;

use super::imaging::canvas::{Canvas, Plane};
use super::imaging::draws::{Draws, normal, normals, uniform};
use super::imaging::motion;
use super::imaging::plasma::plasma;
use super::{Card, Family, HENDRYCKS, Severity, Shift};

/// `a x + b ice`, where `ice` is a made texture.
///
/// `(a, b)` = (1, 0.2), (1, 0.3), (0.9, 0.4), (0.85, 0.4), (0.75, 0.45).
///
/// Not the published corruption bit for bit: that lays crops of five photographs of frost over the
/// image, at a fifth of their size. Here the ice is made: short needles of grain along a random
/// direction over slow clouds, in one of five kinds with what was measured on crops of the five
/// photographs: mean colour, standard deviation within a crop and of the means of crops, and about the
/// fraction of variance that is slow.
pub struct Frost;

const CARD: Card = Card {
    name: "frost",
    summary: "A made texture of ice laid over the image.",
    family: Family::Weather,
    severities: "(weight of the image, of the ice) = (1, 0.2), (1, 0.3), (0.9, 0.4), (0.85, 0.4), (0.75, 0.45)",
    citation: HENDRYCKS,
};

impl Shift for Frost {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn corrupt(&self, image: &Canvas, severity: Severity, draws: &mut Draws) -> Canvas {
        let constants = [(1.0, 0.2), (1.0, 0.3), (0.9, 0.4), (0.85, 0.4), (0.75, 0.45)];
        let (kept, laid) = severity.pick(constants);
        let kind = KINDS[draws.random_range(0..KINDS.len())];
        let relief = relief(&kind, image, draws);
        image.in_colour(|colours| {
            std::array::from_fn(|c| {
                let ice = relief.map(|height| ((kind.colour[c] + height) / 255.0).clamp(0.0, 1.0));
                colours[c].zip(&ice, |value, ice| kept * value + laid * ice)
            })
        })
    }
}

/// A kind of ice, in bytes.
#[derive(Clone, Copy)]
struct Ice {
    colour: [f64; 3],
    /// Standard deviation within a crop of 32 x 32.
    within: f64,
    /// Standard deviation of the means of crops.
    between: f64,
    /// Fraction of the variance within a crop that is slow.
    slow: f64,
}

/// Measured on the photographs: `within` of the second to fifth, and that `between` is 8 to 17 over all
/// five. Those of the first four come with `within` to the standard deviation of the whole photograph
/// (18, 22, 22 and 29).
const KINDS: [Ice; 5] = [
    Ice { colour: [78.0, 149.0, 166.0], within: 16.0, between: 8.0, slow: 0.5 },
    Ice { colour: [201.0, 205.0, 214.0], within: 18.0, between: 13.0, slow: 0.3 },
    Ice { colour: [201.0, 205.0, 214.0], within: 18.0, between: 13.0, slow: 0.3 },
    Ice { colour: [138.0, 153.0, 166.0], within: 26.0, between: 13.0, slow: 0.2 },
    Ice { colour: [112.0, 123.0, 135.0], within: 34.0, between: 17.0, slow: 0.2 },
];

/// Heights around 0, in bytes.
fn relief(kind: &Ice, image: &Canvas, draws: &mut Draws) -> Plane {
    let (height, width, scale) = (image.height(), image.width(), image.scale());
    let clouds = standard(&plasma(height, width, 1.75, draws));
    let needle = motion::taps(2.0 * scale, 0.7 * scale, uniform(draws, 0.0, 180.0));
    let grain = standard(&motion::blur(&normals(height, width, draws), &needle));
    let (slow, fast) = (kind.slow.sqrt(), (1.0 - kind.slow).sqrt());
    let mean = kind.between * normal(draws);
    clouds.zip(&grain, |cloud, grain| mean + kind.within * (slow * cloud + fast * grain))
}

/// The plane moved to mean 0 and standard deviation 1; one level alone becomes 0.
fn standard(plane: &Plane) -> Plane {
    let count = plane.values.len() as f64;
    let mean = plane.values.iter().sum::<f64>() / count;
    let square = plane.values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    plane.map(|value| (value - mean) / square.sqrt().max(f64::MIN_POSITIVE))
}

#[cfg(test)]
mod tests {
    use dubio_random::stream::Stream;

    use super::*;

    /// Measured on crops of the published photographs, the second to fifth: the standard deviation
    /// within a crop; the means of crops vary by 8 to 17.
    #[test]
    fn ice_varies_within_a_crop_and_between_crops_as_the_photographs_do() {
        let black = Canvas::from_pixels(&[0; 1024], 32, 32, 255);
        for (kind, within) in KINDS[1..].iter().zip([18.0, 18.0, 26.0, 34.0]) {
            let crops: Vec<(f64, f64)> = (0..1000)
                .map(|i| relief(kind, &black, &mut Stream::root(1).nth(i).generator()))
                .map(|relief| moments(&relief.values))
                .collect();
            let (means, stds): (Vec<f64>, Vec<f64>) = crops.into_iter().unzip();
            let (mean, between) = moments(&means);
            assert!(mean.abs() < 2.0, "{mean}");
            assert!((8.0..=17.9).contains(&between), "{between}");
            assert!((moments(&stds).0 / within - 1.0).abs() < 0.1, "{within}");
        }
    }

    fn moments(values: &[f64]) -> (f64, f64) {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let square = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
        (mean, square.sqrt())
    }
}

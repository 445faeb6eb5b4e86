//! `frost`: ice on the lens.

use rand::RngExt;

use super::imaging::canvas::{Canvas, Plane};
use super::imaging::draws::{Draws, normal, normals, uniform};
use super::imaging::motion;
use super::imaging::plasma::plasma;
use super::{Card, Family, HENDRYCKS, Severity, Shift};

/// `a x + b ice`, where `ice` is a generated texture.
///
/// `(a, b)` = (1, 0.2), (1, 0.3), (0.9, 0.4), (0.85, 0.4), (0.75, 0.45).
///
/// Not the published corruption bit for bit: that lays crops of five photographs of frost over the
/// image, at a fifth of their size. Here the ice is generated: short needles of grain along a random
/// direction over slowly varying clouds, in one of five kinds that match what was measured on crops of
/// the five photographs: mean colour, standard deviation and skewness within a crop, standard deviation
/// of the means of crops, and correlation of neighbouring pixels.
pub struct Frost;

const CARD: Card = Card {
    name: "frost",
    summary: "A synthetic ice texture blended over the image.",
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
                let ice = relief.map(|height| {
                    ((kind.colour[c] + kind.gain[c] * height) / 255.0).clamp(0.0, 1.0)
                });
                colours[c].zip(&ice, |value, ice| kept * value + laid * ice)
            })
        })
    }
}

/// A kind of ice; colours and their standard deviations are in bytes, 0 to 255.
#[derive(Clone, Copy)]
struct Ice {
    colour: [f64; 3],
    /// How much of the relief each channel shows; 1 on average.
    gain: [f64; 3],
    /// Standard deviation within a crop of 32 x 32, on average over crops.
    within: f64,
    /// Standard deviation of `within` from crop to crop, as a fraction of it.
    uneven: f64,
    /// Standard deviation of the means of crops.
    between: f64,
    /// Fraction of the variance within a crop that is due to the slowly varying clouds.
    slow: f64,
    /// Length of the needles, in pixels.
    needle: f64,
    /// Weight `w` of the square in the relief `z + w (z^2 - 1)`: below 0 there are dark cracks.
    bend: f64,
}

const GREY: [f64; 3] = [1.0; 3];

/// Measured on 2,000 random crops of each photograph at a fifth of its size; the second and third are the
/// same photograph. `slow`, `needle` and `bend` are chosen so that correlations of neighbours and skewness
/// are those of the crops.
const KINDS: [Ice; 5] = [
    Ice {
        colour: [77.0, 148.0, 165.0],
        gain: [1.36, 0.84, 0.8],
        within: 14.2,
        uneven: 0.18,
        between: 10.8,
        slow: 0.5,
        needle: 0.7,
        bend: 0.06,
    },
    CRACKED,
    CRACKED,
    Ice {
        colour: [143.0, 158.0, 171.0],
        gain: GREY,
        within: 26.2,
        uneven: 0.08,
        between: 10.2,
        slow: 0.2,
        needle: 0.55,
        bend: -0.02,
    },
    Ice {
        colour: [103.0, 114.0, 126.0],
        gain: GREY,
        within: 34.4,
        uneven: 0.19,
        between: 15.9,
        slow: 0.2,
        needle: 1.05,
        bend: 0.05,
    },
];

const CRACKED: Ice = Ice {
    colour: [199.0, 203.0, 212.0],
    gain: GREY,
    within: 18.1,
    uneven: 0.15,
    between: 8.9,
    slow: 0.33,
    needle: 0.8,
    bend: -0.19,
};

/// Heights around 0, in bytes.
fn relief(kind: &Ice, image: &Canvas, draws: &mut Draws) -> Plane {
    let (height, width, scale) = (image.height(), image.width(), image.scale());
    let clouds = standard(&plasma(height, width, 1.75, draws));
    let needle = motion::taps(2.0 * scale, kind.needle * scale, uniform(draws, 0.0, 180.0));
    let grain = standard(&motion::blur(&normals(height, width, draws), &needle));
    let (slow, fast) = (kind.slow.sqrt(), (1.0 - kind.slow).sqrt());
    let mean = kind.between * normal(draws);
    let within = kind.within * (1.0 + kind.uneven * normal(draws)).max(0.0);
    let mixed = clouds.zip(&grain, |cloud, grain| slow * cloud + fast * grain);
    standard(&mixed.map(|z| z + kind.bend * (z * z - 1.0))).map(|z| mean + within * z)
}

/// The plane standardised to mean 0 and standard deviation 1; a constant plane becomes 0.
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

    /// Measured on 2,000 random crops of each published photograph at a fifth of its size: the standard
    /// deviation within a crop, the standard deviation of the means of crops, and the correlation of
    /// neighbouring pixels.
    #[test]
    fn ice_varies_within_a_crop_and_between_crops_as_the_photographs_do() {
        let measured = [
            (14.2, 10.8, 0.52),
            (18.1, 8.9, 0.37),
            (18.1, 8.9, 0.37),
            (26.2, 10.2, 0.23),
            (34.4, 15.9, 0.36),
        ];
        let black = Canvas::from_pixels(&[0; 1024], 32, 32, 255);
        for (kind, (within, between, neighbours)) in KINDS.iter().zip(measured) {
            let crops: Vec<Plane> = (0..1000)
                .map(|i| relief(kind, &black, &mut Stream::root(1).nth(i).generator()))
                .collect();
            let (means, stds): (Vec<f64>, Vec<f64>) =
                crops.iter().map(|crop| moments(&crop.values)).unzip();
            let (mean, spread) = moments(&means);
            let correlation = crops.iter().map(correlation).sum::<f64>() / 1000.0;
            assert!(mean.abs() < 2.0, "{mean}");
            assert!((spread / between - 1.0).abs() < 0.1, "{spread} for {between}");
            assert!((moments(&stds).0 / within - 1.0).abs() < 0.05, "{within}");
            assert!((correlation - neighbours).abs() < 0.05, "{correlation} for {neighbours}");
        }
    }

    /// Of horizontal and vertical neighbours.
    fn correlation(plane: &Plane) -> f64 {
        let (mean, std) = moments(&plane.values);
        let z: Vec<f64> = plane.values.iter().map(|value| (value - mean) / std).collect();
        let along = |step: usize, last: usize| {
            let pairs: Vec<f64> = (0..1024 - step)
                .filter(|i| (i / last) % 32 != 31)
                .map(|i| z[i] * z[i + step])
                .collect();
            pairs.iter().sum::<f64>() / pairs.len() as f64
        };
        f64::midpoint(along(1, 1), along(32, 32))
    }

    fn moments(values: &[f64]) -> (f64, f64) {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let square = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
        (mean, square.sqrt())
    }
}

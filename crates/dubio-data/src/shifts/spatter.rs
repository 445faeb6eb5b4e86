//! `spatter`: drops on the lens.

use super::imaging::canvas::{Canvas, Plane};
use super::imaging::draws::{Draws, normals};
use super::imaging::kernel::Kernel;
use super::imaging::{canny, distance, gaussian, histogram};
use super::{Card, Family, HENDRYCKS, Severity, Shift};

/// A liquid stands where Gaussian noise (mean `m`, standard deviation `s`), blurred by `b`, exceeds `t`.
///
/// Severities 1 to 3 are water: its brightness follows the distance from the edges of the drops,
/// embossed from the upper left, up to `k` of pale turquoise, which is added. Severities 4 and 5
/// are mud: the drops, blurred by `k` and kept where above 0.8, cover the image in brown.
///
/// `(m, s, b, t, k)` = (0.62, 0.1, 0.7, 0.7, 0.5), (0.65, 0.1, 0.8, 0.7, 0.5),
/// (0.65, 0.3, 1, 0.69, 0.5); (0.65, 0.1, 0.7, 0.69, 0.6), (0.65, 0.1, 0.5, 0.68, 0.6); `b`, and
/// `k` of mud, are lengths in pixels of 32. At other sizes the noise is made stronger or weaker so
/// that the liquid covers as much of the image.
pub struct Spatter;

const CARD: Card = Card {
    name: "spatter",
    summary: "Splashes on the lens: water at severities 1 to 3, mud at 4 and 5.",
    family: Family::Weather,
    severities: "(mean, std, blur, threshold, strength) = water (0.62, 0.1, 0.7, 0.7, 0.5), (0.65, 0.1, 0.8, 0.7, 0.5), (0.65, 0.3, 1, 0.69, 0.5), mud (0.65, 0.1, 0.7, 0.69, 0.6), (0.65, 0.1, 0.5, 0.68, 0.6)",
    citation: HENDRYCKS,
};

impl Shift for Spatter {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn corrupt(&self, image: &Canvas, severity: Severity, draws: &mut Draws) -> Canvas {
        let (mean, std, blur, threshold, strength, liquid) = severity.pick(CONSTANTS);
        let scale = image.scale();
        let noise = normals(image.height(), image.width(), draws);
        let gain = std * gaussian::noise_gain(blur, scale, 4.0);
        let layer = gaussian::soft(&noise, blur * scale).map(|value| mean + gain * value);
        let layer = layer.map(|value| if value < threshold { 0.0 } else { value });
        match liquid {
            Liquid::Water => water(image, &layer, strength),
            Liquid::Mud => mud(image, &layer, strength * scale),
        }
    }
}

#[derive(Clone, Copy)]
enum Liquid {
    Water,
    Mud,
}

const CONSTANTS: [(f64, f64, f64, f64, f64, Liquid); 5] = [
    (0.62, 0.1, 0.7, 0.7, 0.5, Liquid::Water),
    (0.65, 0.1, 0.8, 0.7, 0.5, Liquid::Water),
    (0.65, 0.3, 1.0, 0.69, 0.5, Liquid::Water),
    (0.65, 0.1, 0.7, 0.69, 0.6, Liquid::Mud),
    (0.65, 0.1, 0.5, 0.68, 0.6, Liquid::Mud),
];
const TURQUOISE: [f64; 3] = [175.0 / 255.0, 238.0 / 255.0, 238.0 / 255.0];
const BROWN: [f64; 3] = [63.0 / 255.0, 42.0 / 255.0, 20.0 / 255.0];

fn water(image: &Canvas, layer: &Plane, strength: f64) -> Canvas {
    // Bytes wrap around where the noise exceeds 1, as published.
    let liquid = layer.map(|value| f64::from((value * 255.0) as i64 as u8));
    let light = liquid.zip(&shine(&liquid, image.scale()), |liquid, shine| liquid * shine);
    let brightest = light.max();
    if brightest <= 0.0 {
        return image.clone();
    }
    image.in_colour(|colours| {
        std::array::from_fn(|c| {
            let gain = strength * TURQUOISE[c] / brightest;
            colours[c].zip(&light, |value, light| value + gain * light)
        })
    })
}

/// Light on drops: the distance from their edges, with its histogram equalised, embossed.
fn shine(liquid: &Plane, scale: f64) -> Plane {
    let step = scale.round().max(1.0) as usize;
    let edges = canny::edges(liquid, 50.0, 150.0);
    let far = distance::to_marked(&edges, liquid.height, liquid.width, 20.0 * scale);
    // OpenCV's single precision: the mean of nine equal distances is that distance, not a bit less.
    let far = Kernel::mean(step).correlate(&far).map(|v| f64::from(((v / scale) as f32).floor()));
    let emboss = vec![-2.0, -1.0, 0.0, -1.0, 1.0, 1.0, 0.0, 1.0, 2.0];
    let emboss = Kernel { weights: Plane { height: 3, width: 3, values: emboss }, step };
    let embossed = emboss.correlate(&histogram::equalised(&far));
    let embossed = embossed.map(|value| value.round().clamp(0.0, 255.0));
    Kernel::mean(step).correlate(&embossed).map(f64::round)
}

fn mud(image: &Canvas, layer: &Plane, sigma: f64) -> Canvas {
    let cover = gaussian::soft(&layer.map(|value| f64::from(value > 0.0)), sigma);
    let cover = cover.map(|value| if value < 0.8 { 0.0 } else { value });
    image.in_colour(|colours| {
        std::array::from_fn(|c| {
            colours[c].zip(&cover, |value, cover| value * (1.0 - cover) + BROWN[c] * cover)
        })
    })
}

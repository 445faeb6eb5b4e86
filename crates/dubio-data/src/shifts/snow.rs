//! `snow`: snow that falls across the image.

use super::imaging::canvas::{Canvas, cut_off};
use super::imaging::draws::{Draws, normals, uniform};
use super::imaging::{motion, sampling};
use super::{Card, Family, HENDRYCKS, Severity, Shift};

/// Flakes: Gaussian noise of mean `m` and standard deviation `s`, zoomed by `z`, kept where above `t`,
/// smeared along a steep line (`r`, `b` as in `motion_blur`), laid over twice, the second time
/// upside down. Below them the image turns pale: `w x + (1 - w) max(x, 1.5 luminance + 0.5)`.
///
/// `(m, s, z, t, r, b, w)` = (0.1, 0.2, 1, 0.6, 8, 3, 0.95), (0.1, 0.2, 1, 0.5, 10, 4, 0.9),
/// (0.15, 0.3, 1.75, 0.55, 10, 4, 0.9), (0.25, 0.3, 2.25, 0.6, 12, 6, 0.85),
/// (0.3, 0.3, 1.25, 0.65, 14, 12, 0.8); `z`, `r` and `b` are lengths in pixels of 32. The flakes
/// are truncated to whole bytes before and after they are smeared, as in the published program.
pub struct Snow;

const CARD: Card = Card {
    name: "snow",
    summary: "White flakes, blurred along the wind, over a whitened image.",
    family: Family::Weather,
    severities: "(mean, std, zoom, threshold, radius, smear, weight) = (0.1, 0.2, 1, 0.6, 8, 3, 0.95), (0.1, 0.2, 1, 0.5, 10, 4, 0.9), (0.15, 0.3, 1.75, 0.55, 10, 4, 0.9), (0.25, 0.3, 2.25, 0.6, 12, 6, 0.85), (0.3, 0.3, 1.25, 0.65, 14, 12, 0.8)",
    citation: HENDRYCKS,
};

impl Shift for Snow {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn corrupt(&self, image: &Canvas, severity: Severity, draws: &mut Draws) -> Canvas {
        let (mean, std, zoom, threshold, radius, sigma, weight) = severity.pick(CONSTANTS);
        let scale = image.scale();
        let noise = normals(image.height(), image.width(), draws);
        let noise = noise.map(|value| mean + std * value);
        let flakes = sampling::zoomed(&noise, (zoom * scale).max(1.0));
        let flakes = flakes.map(|v| if v < threshold { 0.0 } else { whole_byte(v) });
        let taps = motion::taps(radius * scale, sigma * scale, uniform(draws, -135.0, -45.0));
        let flakes = motion::blur(&flakes, &taps).map(cut_off);
        let flakes = flakes.zip(&flakes.half_turn(), |a, b| a + b);
        let pale = image.luma().map(|value| 1.5 * value + 0.5);
        image.each(|plane| {
            let paler = plane.zip(&pale, |x, p| weight * x + (1.0 - weight) * x.max(p));
            paler.zip(&flakes, |x, flake| x + flake)
        })
    }
}

fn whole_byte(value: f64) -> f64 {
    (value.clamp(0.0, 1.0) * 255.0).floor() / 255.0
}

const CONSTANTS: [(f64, f64, f64, f64, f64, f64, f64); 5] = [
    (0.1, 0.2, 1.0, 0.6, 8.0, 3.0, 0.95),
    (0.1, 0.2, 1.0, 0.5, 10.0, 4.0, 0.9),
    (0.15, 0.3, 1.75, 0.55, 10.0, 4.0, 0.9),
    (0.25, 0.3, 2.25, 0.6, 12.0, 6.0, 0.85),
    (0.3, 0.3, 1.25, 0.65, 14.0, 12.0, 0.8),
];

//! `glass_blur`: behind frosted glass.

use rand::RngExt;

use super::imaging::canvas::Canvas;
use super::imaging::draws::Draws;
use super::imaging::gaussian;
use super::{Card, Family, HENDRYCKS, Severity, Shift};

/// Blur by a Gaussian; then, `times` times over and from the last pixel to the first, each pixel takes
/// the colour of one at most `d` pixels away; then blur again.
///
/// `(std, d, times)` = (0.05, 1, 1), (0.25, 1, 1), (0.4, 1, 1), (0.25, 1, 2), (0.4, 1, 2) at
/// 32.
///
/// Two peculiarities of the published program are kept, because they are in the published images:
/// what is written as an exchange of two pixels copies one onto the other, and steps are drawn from
/// `-d..d`, so that pixels come from above and the left, never from `d` below or to the right.
pub struct GlassBlur;

const CARD: Card = Card {
    name: "glass_blur",
    summary: "Pixels scattered among their neighbours, between two blurs.",
    family: Family::Blur,
    severities: "(std, reach, rounds) = (0.05, 1, 1), (0.25, 1, 1), (0.4, 1, 1), (0.25, 1, 2), (0.4, 1, 2), lengths in pixels of 32",
    citation: HENDRYCKS,
};

impl Shift for GlassBlur {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn corrupt(&self, image: &Canvas, severity: Severity, draws: &mut Draws) -> Canvas {
        let (sigma, reach, rounds) = severity.pick(CONSTANTS);
        let sigma = sigma * image.scale();
        let reach = (reach * image.scale()).round().max(1.0) as usize;
        let soften = |image: &Canvas| image.each(|plane| gaussian::soft(plane, sigma));
        // Truncated to whole bytes before scattering, as published.
        let mut glass = soften(image).map(|value| (value * 255.0).floor() / 255.0);
        for _ in 0..rounds {
            scatter(&mut glass, reach, draws);
        }
        soften(&glass)
    }
}

const CONSTANTS: [(f64, f64, usize); 5] =
    [(0.05, 1.0, 1), (0.25, 1.0, 1), (0.4, 1.0, 1), (0.25, 1.0, 2), (0.4, 1.0, 2)];

fn scatter(image: &mut Canvas, reach: usize, draws: &mut Draws) {
    let (height, width) = (image.height(), image.width());
    let mut near = |place: usize| place - reach + draws.random_range(0..2 * reach);
    for row in (reach + 1..=height.saturating_sub(reach)).rev() {
        for column in (reach + 1..=width.saturating_sub(reach)).rev() {
            let (x, y) = (near(column), near(row));
            for plane in &mut image.planes {
                plane.values[row * width + column] = plane.at(y, x);
            }
        }
    }
}

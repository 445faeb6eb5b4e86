//! `gaussian_blur`: a soft lens.

use super::imaging::canvas::Canvas;
use super::imaging::draws::Draws;
use super::imaging::gaussian;
use super::{Card, Family, HENDRYCKS, Severity, Shift};

/// Each colour blurred by a Gaussian, cut off at four standard deviations, edges repeated.
///
/// Standard deviation 0.4, 0.6, 0.7, 0.8, 1 pixel of 32.
pub struct GaussianBlur;

const CARD: Card = Card {
    name: "gaussian_blur",
    summary: "Gaussian blur.",
    family: Family::Blur,
    severities: "std 0.4, 0.6, 0.7, 0.8, 1 pixel of 32",
    citation: HENDRYCKS,
};

impl Shift for GaussianBlur {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn corrupt(&self, image: &Canvas, severity: Severity, _: &mut Draws) -> Canvas {
        let sigma = severity.pick([0.4, 0.6, 0.7, 0.8, 1.0]) * image.scale();
        image.each(|plane| gaussian::soft(plane, sigma))
    }
}

//! `gaussian_noise`: a sensor in low light.

use super::imaging::canvas::Canvas;
use super::imaging::draws::{Draws, normal};
use super::{Card, Family, HENDRYCKS, Severity, Shift};

/// `x + c e`, `e` from the standard Gaussian in every pixel and colour.
///
/// `c` = 0.04, 0.06, 0.08, 0.09, 0.10 of the full range.
pub struct GaussianNoise;

const CARD: Card = Card {
    name: "gaussian_noise",
    summary: "Gaussian noise added to every pixel and channel.",
    family: Family::Noise,
    severities: "std 0.04, 0.06, 0.08, 0.09, 0.10 of the full range",
    citation: HENDRYCKS,
};

impl Shift for GaussianNoise {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn corrupt(&self, image: &Canvas, severity: Severity, draws: &mut Draws) -> Canvas {
        let std = severity.pick([0.04, 0.06, 0.08, 0.09, 0.10]);
        image.map(|value| value + std * normal(draws))
    }
}

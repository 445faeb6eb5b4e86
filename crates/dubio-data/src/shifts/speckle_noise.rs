//! `speckle_noise`: noise in proportion to the light.

use super::imaging::canvas::Canvas;
use super::imaging::draws::{Draws, normal};
use super::{Card, Family, HENDRYCKS, Severity, Shift};

/// `x + c x e`, `e` from the standard Gaussian in every pixel and colour.
///
/// `c` = 0.06, 0.10, 0.12, 0.16, 0.20.
pub struct SpeckleNoise;

const CARD: Card = Card {
    name: "speckle_noise",
    summary: "Gaussian noise proportional to each value.",
    family: Family::Noise,
    severities: "std 0.06, 0.10, 0.12, 0.16, 0.20 of the value",
    citation: HENDRYCKS,
};

impl Shift for SpeckleNoise {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn corrupt(&self, image: &Canvas, severity: Severity, draws: &mut Draws) -> Canvas {
        let std = severity.pick([0.06, 0.10, 0.12, 0.16, 0.20]);
        image.map(|value| value + std * value * normal(draws))
    }
}

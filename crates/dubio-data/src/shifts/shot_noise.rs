//! `shot_noise`: light comes in grains.

use super::imaging::canvas::Canvas;
use super::imaging::draws::{Draws, poisson};
use super::{Card, Family, HENDRYCKS, Severity, Shift};

/// `n / c`, the count `n` from the Poisson distribution with mean `c x`, in every pixel and colour.
///
/// `c` = 500, 250, 100, 75, 50 photons at full brightness.
pub struct ShotNoise;

const CARD: Card = Card {
    name: "shot_noise",
    summary: "Poisson noise, as from counting few photons.",
    family: Family::Noise,
    severities: "photons at full brightness 500, 250, 100, 75, 50",
    citation: HENDRYCKS,
};

impl Shift for ShotNoise {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn corrupt(&self, image: &Canvas, severity: Severity, draws: &mut Draws) -> Canvas {
        let photons = severity.pick([500.0, 250.0, 100.0, 75.0, 50.0]);
        image.map(|value| poisson(draws, value * photons) / photons)
    }
}

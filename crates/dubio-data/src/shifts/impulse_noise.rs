//! `impulse_noise`: dead and stuck pixels.

use super::imaging::canvas::Canvas;
use super::imaging::draws::{Draws, uniform};
use super::{Card, Family, HENDRYCKS, Severity, Shift};

/// A fraction `c` of the values, each colour by itself, becomes 0 or 1 with equal chances (salt and
/// pepper).
///
/// `c` = 0.01, 0.02, 0.03, 0.05, 0.07.
pub struct ImpulseNoise;

const CARD: Card = Card {
    name: "impulse_noise",
    summary: "Salt-and-pepper noise: some values become 0 or the maximum.",
    family: Family::Noise,
    severities: "fraction of values 0.01, 0.02, 0.03, 0.05, 0.07",
    citation: HENDRYCKS,
};

impl Shift for ImpulseNoise {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn corrupt(&self, image: &Canvas, severity: Severity, draws: &mut Draws) -> Canvas {
        let fraction = severity.pick([0.01, 0.02, 0.03, 0.05, 0.07]);
        image.map(|value| {
            // Both are drawn for every value, so that a severity also strikes all that a lower one strikes.
            let (strike, colour) = (uniform(draws, 0.0, 1.0), uniform(draws, 0.0, 1.0));
            if strike < fraction { f64::from(colour < 0.5) } else { value }
        })
    }
}

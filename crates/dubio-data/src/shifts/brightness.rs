//! `brightness`: too much light.

use super::imaging::canvas::Canvas;
use super::imaging::draws::Draws;
use super::imaging::hsv;
use super::{Card, Family, HENDRYCKS, Severity, Shift};

/// The value in HSV (hue, saturation, value) raised by `c`, to at most 1.
///
/// `c` = 0.05, 0.10, 0.15, 0.20, 0.30.
pub struct Brightness;

const CARD: Card = Card {
    name: "brightness",
    summary: "Brightness (HSV value) raised.",
    family: Family::Weather,
    severities: "raise 0.05, 0.10, 0.15, 0.20, 0.30",
    citation: HENDRYCKS,
};

impl Shift for Brightness {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn corrupt(&self, image: &Canvas, severity: Severity, _: &mut Draws) -> Canvas {
        let raise = severity.pick([0.05, 0.10, 0.15, 0.20, 0.30]);
        hsv::change(image, |[hue, saturation, value]| [hue, saturation, (value + raise).min(1.0)])
    }
}

//! `motion_blur`: a camera that moves.

use super::imaging::canvas::Canvas;
use super::imaging::draws::{Draws, uniform};
use super::imaging::motion;
use super::{Card, Family, HENDRYCKS, Severity, Shift};

/// Each pixel smeared along a line, at an angle between -45 and 45 degrees that is the same for the
/// whole image; weights fall as half a Gaussian; edges are repeated. Bytes are truncated, as in the
/// published program.
///
/// `(radius, std)` = (6, 1), (6, 1.5), (6, 2), (8, 2), (9, 2.5) pixels of 32.
pub struct MotionBlur;

const CARD: Card = Card {
    name: "motion_blur",
    summary: "Blur along a line at a random angle.",
    family: Family::Blur,
    severities: "(radius, std) = (6, 1), (6, 1.5), (6, 2), (8, 2), (9, 2.5) pixels of 32",
    citation: HENDRYCKS,
};

impl Shift for MotionBlur {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn corrupt(&self, image: &Canvas, severity: Severity, draws: &mut Draws) -> Canvas {
        let constants = [(6.0, 1.0), (6.0, 1.5), (6.0, 2.0), (8.0, 2.0), (9.0, 2.5)];
        let (radius, sigma) = severity.pick(constants);
        let scale = image.scale();
        let taps = motion::taps(radius * scale, sigma * scale, uniform(draws, -45.0, 45.0));
        image.each(|plane| motion::blur(plane, &taps)).cut_off()
    }
}

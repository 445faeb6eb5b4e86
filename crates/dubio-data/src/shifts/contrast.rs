//! `contrast`: flat light.

use super::imaging::canvas::Canvas;
use super::imaging::draws::Draws;
use super::{Card, Family, HENDRYCKS, Severity, Shift};

/// `(x - mean) c + mean`, the mean of each colour over the image.
///
/// `c` = 0.75, 0.5, 0.4, 0.3, 0.15.
pub struct Contrast;

const CARD: Card = Card {
    name: "contrast",
    summary: "Contrast lowered: every channel pulled towards its mean over the image.",
    family: Family::Digital,
    severities: "contrast kept 0.75, 0.5, 0.4, 0.3, 0.15",
    citation: HENDRYCKS,
};

impl Shift for Contrast {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn corrupt(&self, image: &Canvas, severity: Severity, _: &mut Draws) -> Canvas {
        let kept = severity.pick([0.75, 0.5, 0.4, 0.3, 0.15]);
        image.each(|plane| {
            let mean = plane.values.iter().sum::<f64>() / plane.values.len() as f64;
            plane.map(|value| (value - mean) * kept + mean)
        })
    }
}

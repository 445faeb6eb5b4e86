//! `pixelate`: too few pixels.

use super::imaging::canvas::Canvas;
use super::imaging::draws::Draws;
use super::imaging::sampling::boxed;
use super::{Card, Family, HENDRYCKS, Severity, Shift};

/// Resized by box means to `floor(c side)` pixels and back, whole bytes at each step.
///
/// `c` = 0.95, 0.9, 0.85, 0.75, 0.65.
pub struct Pixelate;

const CARD: Card = Card {
    name: "pixelate",
    summary: "Downsampled and upsampled again with a box filter.",
    family: Family::Digital,
    severities: "side kept 0.95, 0.9, 0.85, 0.75, 0.65",
    citation: HENDRYCKS,
};

impl Shift for Pixelate {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn corrupt(&self, image: &Canvas, severity: Severity, _: &mut Draws) -> Canvas {
        let kept = severity.pick([0.95, 0.9, 0.85, 0.75, 0.65]);
        let (height, width) = (image.height(), image.width());
        let fewer = |side: usize| ((side as f64 * kept) as usize).max(1);
        image.each(|plane| {
            let bytes = plane.map(|value| (value * 255.0).round());
            let small = boxed(&bytes, fewer(height), fewer(width));
            boxed(&small, height, width).map(|value| value / 255.0)
        })
    }
}

//! `zoom_blur`: a camera that moves towards its object.

use super::imaging::canvas::Canvas;
use super::imaging::draws::Draws;
use super::imaging::sampling::zoomed;
use super::{Card, Family, HENDRYCKS, Severity, Shift};

/// Mean of the image and of its zooms by 1.00, 1.01, 1.02, ..., so that the image itself counts
/// twice.
///
/// 6, 11, 15, 20, 25 zooms beyond the first, that is up to 1.06, 1.11, 1.15, 1.20, 1.25.
pub struct ZoomBlur;

const CARD: Card = Card {
    name: "zoom_blur",
    summary: "Average of the image at slightly increasing zooms.",
    family: Family::Blur,
    severities: "largest zoom 1.06, 1.11, 1.15, 1.20, 1.25 by steps of 0.01",
    citation: HENDRYCKS,
};

impl Shift for ZoomBlur {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn corrupt(&self, image: &Canvas, severity: Severity, _: &mut Draws) -> Canvas {
        let steps = severity.pick([6, 11, 15, 20, 25]);
        // numpy.arange's step; with 0.01 itself the last zoom would be one pixel smaller.
        let step_by = (1.0 + 0.01) - 1.0;
        image.each(|plane| {
            let mut sum = plane.clone();
            for step in 0..=steps {
                sum = sum.zip(&zoomed(plane, 1.0 + step_by * f64::from(step)), |a, b| a + b);
            }
            sum.map(|value| value / f64::from(steps + 2))
        })
    }
}

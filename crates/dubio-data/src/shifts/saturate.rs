//! `saturate`: colours too weak or too strong.

use super::imaging::canvas::Canvas;
use super::imaging::draws::Draws;
use super::imaging::hsv;
use super::{Card, Family, HENDRYCKS, Severity, Shift};

/// The saturation `s` in HSV (hue, saturation, value) becomes `a s + b`, at most 1.
///
/// `(a, b)` = (0.3, 0), (0.1, 0), (1.5, 0), (2, 0.1), (2.5, 0.2): severities 1 and 2 take colour
/// away, 3 to 5 add it, so the change does not grow from 2 to 3. Grey has hue 0, that is red, and
/// turns reddish at 4 and 5; an image of one channel gets the luminance of that.
pub struct Saturate;

const CARD: Card = Card {
    name: "saturate",
    summary: "Saturation (HSV) lowered at severities 1 and 2, raised from 3 on.",
    family: Family::Digital,
    severities: "(factor, offset) = (0.3, 0), (0.1, 0), (1.5, 0), (2, 0.1), (2.5, 0.2)",
    citation: HENDRYCKS,
};

impl Shift for Saturate {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn corrupt(&self, image: &Canvas, severity: Severity, _: &mut Draws) -> Canvas {
        let constants = [(0.3, 0.0), (0.1, 0.0), (1.5, 0.0), (2.0, 0.1), (2.5, 0.2)];
        let (factor, offset) = severity.pick(constants);
        hsv::change(image, |[hue, saturation, value]| {
            [hue, (saturation * factor + offset).clamp(0.0, 1.0), value]
        })
    }
}

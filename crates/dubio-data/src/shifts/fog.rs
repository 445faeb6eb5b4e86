//! `fog`: fog between the camera and the world.

use super::imaging::canvas::Canvas;
use super::imaging::draws::Draws;
use super::imaging::plasma::plasma;
use super::{Card, Family, HENDRYCKS, Severity, Shift};

/// `(x + a cloud) m / (m + a)`, `m` the image's largest value and `cloud` in `[0, 1]` a map by
/// midpoint displacement whose noise falls by `d^2` from level to level.
///
/// `(a, d)` = (0.2, 3), (0.5, 3), (0.75, 2.5), (1, 2), (1.5, 1.75).
pub struct Fog;

const CARD: Card = Card {
    name: "fog",
    summary: "A cloud blended over the image.",
    family: Family::Weather,
    severities: "(amount, decay) = (0.2, 3), (0.5, 3), (0.75, 2.5), (1, 2), (1.5, 1.75)",
    citation: HENDRYCKS,
};

impl Shift for Fog {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn corrupt(&self, image: &Canvas, severity: Severity, draws: &mut Draws) -> Canvas {
        let constants = [(0.2, 3.0), (0.5, 3.0), (0.75, 2.5), (1.0, 2.0), (1.5, 1.75)];
        let (amount, decay) = severity.pick(constants);
        let cloud = plasma(image.height(), image.width(), decay, draws);
        let brightest = image.planes.iter().map(|plane| plane.max()).fold(0.0, f64::max);
        let room = brightest / (brightest + amount);
        image.each(|plane| plane.zip(&cloud, |value, cloud| (value + amount * cloud) * room))
    }
}

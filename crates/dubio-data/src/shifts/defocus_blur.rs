//! `defocus_blur`: a lens out of focus.

use super::imaging::canvas::Canvas;
use super::imaging::draws::Draws;
use super::imaging::kernel::Kernel;
use super::{Card, Family, HENDRYCKS, Severity, Shift};

/// Each colour correlated with a disk whose edge is softened by a Gaussian; the image is mirrored at its edges.
///
/// `(radius, softening)` = (0.3, 0.4), (0.4, 0.5), (0.5, 0.6), (1, 0.2), (1.5, 0.1) pixels of 32.
/// Below radius 1 the disk is one pixel and the softening is all there is; it reaches one pixel of
/// 32.
pub struct DefocusBlur;

const CARD: Card = Card {
    name: "defocus_blur",
    summary: "Blur by a disk with a soft edge.",
    family: Family::Blur,
    severities: "(radius, softening) = (0.3, 0.4), (0.4, 0.5), (0.5, 0.6), (1, 0.2), (1.5, 0.1) pixels of 32",
    citation: HENDRYCKS,
};

impl Shift for DefocusBlur {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn corrupt(&self, image: &Canvas, severity: Severity, _: &mut Draws) -> Canvas {
        let constants = [(0.3, 0.4), (0.4, 0.5), (0.5, 0.6), (1.0, 0.2), (1.5, 0.1)];
        let (radius, soften) = severity.pick(constants);
        let scale = image.scale();
        let disk = Kernel::disk(radius * scale, soften * scale, scale.round().max(1.0) as usize);
        image.each(|plane| disk.correlate(plane))
    }
}

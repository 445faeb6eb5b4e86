//! `jpeg_compression`: stored in too few bytes.

use super::imaging::canvas::Canvas;
use super::imaging::draws::Draws;
use super::imaging::jpeg;
use super::{Card, Family, HENDRYCKS, Severity, Shift};

/// The image after an encoder and a decoder of JPEG at quality `q`.
///
/// `q` = 80, 65, 58, 50, 40.
pub struct JpegCompression;

const CARD: Card = Card {
    name: "jpeg_compression",
    summary: "JPEG compression.",
    family: Family::Digital,
    severities: "quality 80, 65, 58, 50, 40",
    citation: HENDRYCKS,
};

impl Shift for JpegCompression {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn corrupt(&self, image: &Canvas, severity: Severity, _: &mut Draws) -> Canvas {
        jpeg::round_trip(image, severity.pick([80, 65, 58, 50, 40]))
    }
}

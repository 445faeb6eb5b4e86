//! `translation`: the image moved to the right.

use rayon::prelude::*;

use super::imaging::canvas::{Canvas, Plane};
use super::imaging::draws::Draws;
use super::{Card, Family, Severity, Shift};
use crate::dataset::Images;

/// Moved to the right by 2, 4, 6, 8, 10 pixels of 32, rounded to whole pixels; black comes in from
/// the left. The five lengths are our choice; [`translate`] moves by any.
pub struct Translation;

const CARD: Card = Card {
    name: "translation",
    summary: "Shifted to the right; black fills in.",
    family: Family::Geometry,
    severities: "2, 4, 6, 8, 10 pixels of 32",
    citation: "Ovadia et al. 2019, arXiv:1906.02530 (rotated and translated MNIST)",
};

impl Shift for Translation {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn corrupt(&self, image: &Canvas, severity: Severity, _: &mut Draws) -> Canvas {
        let pixels = severity.pick([2.0, 4.0, 6.0, 8.0, 10.0]) * image.scale();
        image.each(|plane| moved(plane, 0, pixels.round() as isize))
    }
}

/// Every image moved by whole pixels, down and to the right where positive; black comes in.
pub fn translate(images: &Images, down: isize, right: isize) -> Images {
    let Images { height, width, white, .. } = *images;
    let mut shifted = images.clone();
    shifted.pixels.par_chunks_mut(images.size()).for_each(|pixels| {
        let image = Canvas::from_pixels(pixels, height, width, white);
        image.each(|plane| moved(plane, down, right)).write_pixels(pixels, white);
    });
    shifted
}

fn moved(plane: &Plane, down: isize, right: isize) -> Plane {
    Plane::from_fn(plane.height, plane.width, |row, column| {
        let row = row.checked_add_signed(-down).filter(|&row| row < plane.height);
        let column = column.checked_add_signed(-right).filter(|&column| column < plane.width);
        row.zip(column).map_or(0.0, |(row, column)| plane.at(row, column))
    })
}

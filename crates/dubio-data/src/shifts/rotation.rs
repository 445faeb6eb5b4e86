//! `rotation`: the image turned about its middle.

use rayon::prelude::*;

use super::imaging::canvas::{Canvas, Plane};
use super::imaging::draws::Draws;
use super::{Card, Family, Severity, Shift};
use crate::dataset::Images;

/// Rotated anticlockwise by 15, 30, 45, 60, 75 degrees; bilinear, black beyond the edge. The
/// five angles are our choice; [`rotate`] takes any.
pub struct Rotation;

const CARD: Card = Card {
    name: "rotation",
    summary: "Rotated anticlockwise about the centre.",
    family: Family::Geometry,
    severities: "15, 30, 45, 60, 75 degrees",
    citation: "Ovadia et al. 2019, arXiv:1906.02530 (rotated and translated MNIST)",
};

impl Shift for Rotation {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn corrupt(&self, image: &Canvas, severity: Severity, _: &mut Draws) -> Canvas {
        let degrees = severity.pick([15.0, 30.0, 45.0, 60.0, 75.0]);
        image.each(|plane| turned(plane, degrees)).rounded()
    }
}

/// Every image rotated anticlockwise about its middle, by any angle; bilinear, black beyond the
/// edge. Quarter turns of square images and half turns of all images are exact.
pub fn rotate(images: &Images, degrees: f64) -> Images {
    let Images { height, width, white, .. } = *images;
    let mut shifted = images.clone();
    shifted.pixels.par_chunks_mut(images.size()).for_each(|pixels| {
        let image = Canvas::from_pixels(pixels, height, width, white);
        image.each(|plane| turned(plane, degrees)).rounded().write_pixels(pixels, white);
    });
    shifted
}

fn turned(plane: &Plane, degrees: f64) -> Plane {
    let (sin, cos) = sin_cos(degrees);
    let (middle_y, middle_x) =
        ((plane.height as f64 - 1.0) / 2.0, (plane.width as f64 - 1.0) / 2.0);
    Plane::from_fn(plane.height, plane.width, |row, column| {
        let (y, x) = (row as f64 - middle_y, column as f64 - middle_x);
        at_or_black(plane, middle_y + cos * y + sin * x, middle_x + cos * x - sin * y)
    })
}

/// Sine and cosine, exact at quarter turns.
fn sin_cos(degrees: f64) -> (f64, f64) {
    match degrees.rem_euclid(360.0) {
        0.0 => (0.0, 1.0),
        90.0 => (1.0, 0.0),
        180.0 => (0.0, -1.0),
        270.0 => (-1.0, 0.0),
        other => other.to_radians().sin_cos(),
    }
}

/// The value between the four pixels around a place, those beyond the edge black.
fn at_or_black(plane: &Plane, y: f64, x: f64) -> f64 {
    let (top, left) = (y.floor(), x.floor());
    let pixel = |row: f64, column: f64| {
        let inside = row >= 0.0 && column >= 0.0;
        let inside = inside && row < plane.height as f64 && column < plane.width as f64;
        if inside { plane.at(row as usize, column as usize) } else { 0.0 }
    };
    let (down, right) = (y - top, x - left);
    (pixel(top, left) * (1.0 - right) + pixel(top, left + 1.0) * right) * (1.0 - down)
        + (pixel(top + 1.0, left) * (1.0 - right) + pixel(top + 1.0, left + 1.0) * right) * down
}

//! `elastic_transform`: the image pulled like rubber.

use super::imaging::border::Border;
use super::imaging::canvas::{Canvas, Plane};
use super::imaging::draws::{Draws, uniform};
use super::imaging::gaussian;
use super::imaging::sampling::bilinear;
use super::{Card, Family, HENDRYCKS, Severity, Shift};

/// An affine map that moves three points around the middle by up to `p` in each direction; then
/// every pixel is displaced by `a` times a field of uniform noise in `±1`, blurred by `b`. Bilinear;
/// edges are mirrored.
///
/// `(a, b, p)` = (0, 0, 0.08), (0.05, 0.2, 0.07), (0.08, 0.06, 0.06), (0.1, 0.04, 0.05),
/// (0.1, 0.03, 0.03) of the side, at 32. As published, the affine part shrinks and the local part
/// grows, so the change in bytes does not grow with severity. At other sizes the blurred noise is
/// made stronger or weaker so that pixels move by the same fraction of the side. OpenCV rounds
/// coordinates to 1/32 of a pixel; here they are not rounded.
pub struct ElasticTransform;

const CARD: Card = Card {
    name: "elastic_transform",
    summary: "A random affine map, then a smooth random displacement of every pixel.",
    family: Family::Digital,
    severities: "(strength, smoothness, affine reach) = (0, 0, 0.08), (0.05, 0.2, 0.07), (0.08, 0.06, 0.06), (0.1, 0.04, 0.05), (0.1, 0.03, 0.03) of the side",
    citation: HENDRYCKS,
};

impl Shift for ElasticTransform {
    fn card(&self) -> &'static Card {
        &CARD
    }
    fn corrupt(&self, image: &Canvas, severity: Severity, draws: &mut Draws) -> Canvas {
        let (strength, smooth, reach) = severity.pick(CONSTANTS);
        let (height, width, scale) = (image.height(), image.width(), image.scale());
        let affine = Affine::random(height, width, 32.0 * reach * scale, draws);
        let sigma = 32.0 * smooth;
        let gain = 32.0 * strength * scale * gaussian::noise_gain(sigma, scale, 3.0);
        let mut field = || {
            let noise = Plane::from_fn(height, width, |_, _| uniform(draws, -1.0, 1.0));
            gaussian::blur(&noise, sigma * scale, 3.0, Border::Reflect).map(|value| gain * value)
        };
        let (across, down) = (field(), field());
        image.each(|plane| {
            let moved = Plane::from_fn(height, width, |row, column| {
                let (y, x) = affine.source(row as f64, column as f64);
                bilinear(plane, y, x, Border::Mirror)
            });
            Plane::from_fn(height, width, |row, column| {
                let (y, x) =
                    (row as f64 + down.at(row, column), column as f64 + across.at(row, column));
                bilinear(&moved, y, x, Border::Reflect)
            })
        })
    }
}

const CONSTANTS: [(f64, f64, f64); 5] =
    [(0.0, 0.0, 0.08), (0.05, 0.2, 0.07), (0.08, 0.06, 0.06), (0.1, 0.04, 0.05), (0.1, 0.03, 0.03)];

/// Where a pixel of the new image comes from: `source = r row + c column + constant`, per axis.
struct Affine {
    /// Rows `[r, c, constant]` that give the row and the column of the source.
    rows: [[f64; 3]; 2],
}

impl Affine {
    /// The map that carries three corners of a square around the middle, a third of the side from
    /// it, to places up to `reach` pixels away; the identity in images too small for a square.
    fn random(height: usize, width: usize, reach: f64, draws: &mut Draws) -> Self {
        let (y, x) = ((height / 2) as f64, (width / 2) as f64);
        let third = (height.min(width) / 3) as f64;
        let from = [[y + third, x + third], [y - third, x + third], [y - third, x - third]];
        let to = from.map(|point| point.map(|place| place + uniform(draws, -reach, reach)));
        // The map takes the edges `a` and `b` of the moved square back to `u` and `v`; solved by Cramer's rule.
        let [a, b] = [0, 2].map(|k| [to[k][0] - to[1][0], to[k][1] - to[1][1]]);
        let [u, v] = [0, 2].map(|k| [from[k][0] - from[1][0], from[k][1] - from[1][1]]);
        let area = a[0] * b[1] - a[1] * b[0];
        if area.abs() < 1e-9 {
            return Self { rows: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]] };
        }
        let rows = [0, 1].map(|axis| {
            let by_row = (u[axis] * b[1] - v[axis] * a[1]) / area;
            let by_column = (v[axis] * a[0] - u[axis] * b[0]) / area;
            let constant = from[1][axis] - by_row * to[1][0] - by_column * to[1][1];
            [by_row, by_column, constant]
        });
        Self { rows }
    }

    fn source(&self, row: f64, column: f64) -> (f64, f64) {
        let [y, x] = self.rows.map(|[r, c, constant]| r * row + c * column + constant);
        (y, x)
    }
}

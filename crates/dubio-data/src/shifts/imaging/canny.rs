//! Edges of an image (Canny 1986), as OpenCV finds them.

use super::border::Border;
use super::canvas::Plane;

/// Pixels on an edge of a plane of whole bytes.
///
/// Sobel slopes (edges of the image repeated) of size `|dx| + |dy|`; kept where the slope exceeds
/// `low` and is the largest along its own direction (four sectors of 45 degrees); and of these,
/// those connected, also by corners, to one that exceeds `high`.
pub fn edges(plane: &Plane, low: f64, high: f64) -> Vec<bool> {
    let slopes = slopes(plane);
    let ridge: Vec<bool> =
        (0..slopes.len()).map(|k| slopes[k].size() > low && is_ridge(plane, &slopes, k)).collect();
    let mut edge = vec![false; ridge.len()];
    let mut grow: Vec<usize> =
        (0..ridge.len()).filter(|&k| ridge[k] && slopes[k].size() > high).collect();
    grow.iter().for_each(|&k| edge[k] = true);
    while let Some(k) = grow.pop() {
        for (dy, dx) in NEIGHBOURS {
            if let Some(next) = neighbour(plane, k, dy, dx)
                && ridge[next]
                && !edge[next]
            {
                edge[next] = true;
                grow.push(next);
            }
        }
    }
    edge
}

const NEIGHBOURS: [(isize, isize); 8] =
    [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)];

#[derive(Clone, Copy)]
struct Slope {
    down: f64,
    right: f64,
}

impl Slope {
    fn size(self) -> f64 {
        self.down.abs() + self.right.abs()
    }
}

fn slopes(plane: &Plane) -> Vec<Slope> {
    let at = |row: isize, column: isize| {
        let row = Border::Nearest.index(row, plane.height);
        plane.at(row, Border::Nearest.index(column, plane.width))
    };
    let slope = |k: usize| {
        let (y, x) = ((k / plane.width) as isize, (k % plane.width) as isize);
        let side = |dy: isize, dx: isize| match dx {
            0 => at(y + dy, x - 1) + 2.0 * at(y + dy, x) + at(y + dy, x + 1),
            _ => at(y - 1, x + dx) + 2.0 * at(y, x + dx) + at(y + 1, x + dx),
        };
        Slope { down: side(1, 0) - side(-1, 0), right: side(0, 1) - side(0, -1) }
    };
    (0..plane.values.len()).map(slope).collect()
}

/// Whether no neighbour along the slope is steeper; of two equal ones along an axis the first wins.
fn is_ridge(plane: &Plane, slopes: &[Slope], k: usize) -> bool {
    let Slope { down, right } = slopes[k];
    let size = slopes[k].size();
    let beside = |dy, dx| neighbour(plane, k, dy, dx).map_or(0.0, |other| slopes[other].size());
    let tan_eighth = std::f64::consts::SQRT_2 - 1.0;
    if down.abs() < tan_eighth * right.abs() {
        size > beside(0, -1) && size >= beside(0, 1)
    } else if down.abs() > (tan_eighth + 2.0) * right.abs() {
        size > beside(-1, 0) && size >= beside(1, 0)
    } else {
        let across = if (down < 0.0) == (right < 0.0) { 1 } else { -1 };
        size > beside(-1, -across) && size > beside(1, across)
    }
}

fn neighbour(plane: &Plane, k: usize, dy: isize, dx: isize) -> Option<usize> {
    let row = (k / plane.width).checked_add_signed(dy).filter(|&row| row < plane.height)?;
    let column = (k % plane.width).checked_add_signed(dx).filter(|&c| c < plane.width)?;
    Some(row * plane.width + column)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_has_one_edge_of_one_pixel() {
        let plane = Plane::from_fn(6, 6, |_, column| if column < 3 { 0.0 } else { 200.0 });
        let found = edges(&plane, 50.0, 150.0);
        assert!(found.iter().enumerate().all(|(k, &edge)| edge == (k % 6 == 2)));
    }
}

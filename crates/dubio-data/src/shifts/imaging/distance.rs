//! Distance to the nearest marked pixel.

use super::canvas::Plane;

/// Steps of the 5 x 5 mask that look back, `(rows up, columns, length)`; OpenCV's lengths.
const STEPS: [(isize, isize, f64); 8] = [
    (0, -1, 1.0),
    (1, 0, 1.0),
    (1, -1, 1.4),
    (1, 1, 1.4),
    (1, -2, 2.1969),
    (1, 2, 2.1969),
    (2, -1, 2.1969),
    (2, 1, 2.1969),
];

/// Length of the shortest way to a marked pixel by steps of 1 (straight), 1.4 (diagonal) and 2.1969
/// (a knight's move): Borgefors' chamfer distance, within 2 % of the straight line. At most
/// `limit`.
pub fn to_marked(marked: &[bool], height: usize, width: usize, limit: f64) -> Plane {
    let start = |&mark: &bool| if mark { 0.0 } else { limit };
    let mut plane = Plane { height, width, values: marked.iter().map(start).collect() };
    for way in [1, -1] {
        for k in 0..height * width {
            let k = if way == 1 { k } else { height * width - 1 - k };
            let (row, column) = ((k / width) as isize, (k % width) as isize);
            for (up, across, length) in STEPS {
                let (y, x) = (row - way * up, column + way * across);
                if (0..height as isize).contains(&y) && (0..width as isize).contains(&x) {
                    let through = plane.at(y as usize, x as usize) + length;
                    plane.values[k] = plane.values[k].min(through);
                }
            }
        }
    }
    plane
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_nearly_straight_lines() {
        let marked: Vec<bool> = (0..121).map(|k| k == 60).collect();
        let plane = to_marked(&marked, 11, 11, 20.0);
        for k in 0..121_usize {
            let straight = (k as f64 / 11.0).floor() - 5.0;
            let straight = straight.hypot(k as f64 % 11.0 - 5.0);
            assert!((plane.values[k] - straight).abs() <= 0.025 * straight, "{k}");
        }
    }
}

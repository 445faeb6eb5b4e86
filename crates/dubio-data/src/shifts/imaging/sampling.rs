//! Interpolation between pixels, and resizing.

use super::border::Border;
use super::canvas::Plane;

/// The value at `(y, x)` pixels, linear between the four pixels around it.
pub fn bilinear(plane: &Plane, y: f64, x: f64, border: Border) -> f64 {
    let (top, left) = (y.floor(), x.floor());
    let (down, right) = (y - top, x - left);
    let pixel = |dy: isize, dx: isize| {
        let row = border.index(top as isize + dy, plane.height);
        plane.at(row, border.index(left as isize + dx, plane.width))
    };
    (pixel(0, 0) * (1.0 - right) + pixel(0, 1) * right) * (1.0 - down)
        + (pixel(1, 0) * (1.0 - right) + pixel(1, 1) * right) * down
}

/// The middle of the image made `factor >= 1` times larger, at the image's own size.
///
/// The middle `n = ceil(side / factor)` pixels become `round(n factor)`, with aligned corners, linear in
/// between (`scipy.ndimage.zoom`, order 1); the excess is cut off on both sides.
pub fn zoomed(plane: &Plane, factor: f64) -> Plane {
    let rows = zoomed_line(plane.height, factor);
    let columns = zoomed_line(plane.width, factor);
    let mut values = Vec::with_capacity(plane.values.len());
    for &(above, below, down) in &rows {
        let [upper, lower] =
            [above, below].map(|row| &plane.values[row * plane.width..][..plane.width]);
        values.extend(columns.iter().map(|&(before, after, right)| {
            (upper[before] * (1.0 - right) + upper[after] * right) * (1.0 - down)
                + (lower[before] * (1.0 - right) + lower[after] * right) * down
        }));
    }
    Plane { values, ..*plane }
}

/// For each pixel of the zoomed line: the two pixels of a line of `len` between which it lies, and how
/// far it is from the first to the second.
fn zoomed_line(len: usize, factor: f64) -> Vec<(usize, usize, f64)> {
    let kept = (len as f64 / factor).ceil();
    let first = ((len as f64 - kept) / 2.0).floor();
    let grown = (kept * factor).round_ties_even();
    let cut = ((grown - len as f64) / 2.0).floor();
    let step = if grown > 1.0 { (kept - 1.0) / (grown - 1.0) } else { 0.0 };
    let place = |i: usize| {
        let at = (first + (i as f64 + cut) * step).min(len as f64 - 1.0);
        let before = at as usize;
        (before, (before + 1).min(len - 1), at - at.floor())
    };
    (0..len).map(place).collect()
}

/// The plane at another size, each pixel the mean of those whose centres its square covers, rows
/// first, rounded to whole bytes after each axis: Pillow's `resize` with `BOX`. Values are bytes.
pub fn boxed(plane: &Plane, height: usize, width: usize) -> Plane {
    let columns = boxed_line(plane.width, width);
    let narrow = Plane::from_fn(plane.height, width, |row, column| {
        let (from, to) = columns[column];
        let sum: f64 = (from..to).map(|x| plane.at(row, x)).sum();
        (sum / (to - from) as f64 + 0.5).floor()
    });
    let rows = boxed_line(plane.height, height);
    Plane::from_fn(height, width, |row, column| {
        let (from, to) = rows[row];
        let sum: f64 = (from..to).map(|y| narrow.at(y, column)).sum();
        (sum / (to - from) as f64 + 0.5).floor()
    })
}

/// The pixels `from..to` of a line of `len` that are averaged into each pixel of a line of `new`.
fn boxed_line(len: usize, new: usize) -> Vec<(usize, usize)> {
    let step = len as f64 / new as f64;
    let reach = 0.5 * step.max(1.0);
    let edge = |place: f64| ((place + 0.5).max(0.0) as usize).min(len);
    let middle = |i: usize| (i as f64 + 0.5) * step;
    (0..new).map(|i| (edge(middle(i) - reach), edge(middle(i) + reach))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zoom_of_one_and_a_box_of_the_same_size_change_nothing() {
        let plane = Plane::from_fn(5, 7, |row, column| (row * 7 + column) as f64);
        assert_eq!(zoomed(&plane, 1.0), plane);
        assert_eq!(boxed(&plane, 5, 7), plane);
    }
}

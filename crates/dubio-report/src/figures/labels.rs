//! Names beside points, where they do not overlap.

/// Room that names are placed for; a figure that is wider has more.
const ROOM: (f64, f64) = (400.0, 240.0);
/// Width of a letter and height of a line.
const LETTER: (f64, f64) = (5.6, 12.0);

/// A point in fractions of the plot, from the bottom left, and its name.
pub(super) struct Named<'a> {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) name: &'a str,
}

/// Whether each name stands `above` its point, `below` it, or nowhere (empty) because it would overlap another
/// name or leave the plot. Names come in the order of their importance.
pub(super) fn sides(points: &[Named<'_>]) -> Vec<&'static str> {
    let mut taken: Vec<[f64; 4]> = Vec::new();
    let place = |point: &Named<'_>| {
        for (side, shift) in [("above", 6.0), ("below", -16.0)] {
            let (x, y) = (point.x * ROOM.0 + 8.0, point.y * ROOM.1 + shift);
            let width = LETTER.0 * point.name.chars().count() as f64;
            let own = [x, x + width, y, y + LETTER.1];
            let overlaps = |other: &[f64; 4]| {
                own[0] < other[1] && other[0] < own[1] && own[2] < other[3] && other[2] < own[3]
            };
            if own[1] <= ROOM.0 + 40.0 && !taken.iter().any(overlaps) {
                taken.push(own);
                return side;
            }
        }
        ""
    };
    points.iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_points_at_the_same_place_do_not_overlap() {
        let point = |x, y| Named { x, y, name: "method" };
        let same = [point(0.5, 0.5), point(0.5, 0.5), point(0.5, 0.5), point(0.1, 0.9)];
        assert_eq!(sides(&same), ["above", "below", "", "above"]);
        assert_eq!(sides(&[Named { x: 1.0, y: 0.5, name: "a name that is far too long" }]), [""]);
    }
}

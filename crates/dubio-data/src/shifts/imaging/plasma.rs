//! Clouds: a height map by midpoint displacement on a torus (diamond-square).

use super::canvas::Plane;
use super::draws::{Draws, uniform};

/// A map of `height` x `width` heights in `[0, 1]`, cut from a square whose side is the next power
/// of two. The noise of a level is uniform in `±wobble^2`; `wobble` starts at 100 and is divided by
/// `decay` from level to level, so that a small decay gives a rough map.
pub fn plasma(height: usize, width: usize, decay: f64, draws: &mut Draws) -> Plane {
    let side = height.max(width).next_power_of_two().max(2);
    let mut map = vec![0.0; side * side];
    let (mut step, mut wobble) = (side, 100.0_f64);
    while step >= 2 {
        let (half, noise) = (step / 2, wobble * wobble);
        // Middles of squares, then of the edges: each the mean of its four neighbours plus noise.
        for (first, second, ways) in [(half, half, CORNERS), (0, half, SIDES), (half, 0, SIDES)] {
            for row in (first..side).step_by(step) {
                for column in (second..side).step_by(step) {
                    let mean = around(&map, side, (row, column), half, ways) / 4.0;
                    map[row * side + column] = mean + uniform(draws, -noise, noise);
                }
            }
        }
        step = half;
        wobble /= decay;
    }
    normalised(Plane { height: side, width: side, values: map }, height, width)
}

/// Ways to four neighbours, in steps of a row and a column.
type Ways = [(isize, isize); 4];
const CORNERS: Ways = [(-1, -1), (-1, 1), (1, -1), (1, 1)];
const SIDES: Ways = [(-1, 0), (1, 0), (0, -1), (0, 1)];

/// Sum over the four neighbours at distance `by`; the map's opposite edges meet.
fn around(map: &[f64], side: usize, (row, column): (usize, usize), by: usize, ways: Ways) -> f64 {
    let by = by as isize;
    let wrapped = |place: usize, way: isize| (place + side).wrapping_add_signed(way * by) % side;
    ways.iter().map(|&(dy, dx)| map[wrapped(row, dy) * side + wrapped(column, dx)]).sum()
}

/// The top left corner of the map, after the whole map is rescaled to `[0, 1]`.
fn normalised(map: Plane, height: usize, width: usize) -> Plane {
    let low = map.values.iter().copied().fold(f64::INFINITY, f64::min);
    let range = (map.max() - low).max(f64::MIN_POSITIVE);
    Plane::from_fn(height, width, |row, column| (map.at(row, column) - low) / range)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dubio_random::stream::Stream;

    #[test]
    fn heights_fill_the_unit_interval() {
        let map = plasma(32, 32, 3.0, &mut Stream::root(1).generator());
        assert_eq!(map.max(), 1.0);
        assert_eq!(map.values.iter().copied().fold(f64::INFINITY, f64::min), 0.0);
    }

    #[test]
    fn a_large_decay_gives_a_smooth_map() {
        let roughness = |decay: f64| {
            let map = plasma(64, 64, decay, &mut Stream::root(1).generator());
            map.values.windows(2).map(|pair| (pair[1] - pair[0]).abs()).sum::<f64>()
        };
        let (smooth, rough) = (roughness(3.0), roughness(1.5));
        assert!(smooth < 0.8 * rough, "{smooth} {rough}");
    }
}

//! Grey levels spread evenly, as OpenCV's `equalizeHist` does it.

use super::canvas::Plane;

/// The plane of whole bytes with its levels moved so that their distribution is even: level `v`
/// becomes `255 (n(<= v) - n(lowest)) / (n - n(lowest))`, rounded. A plane of one level stays as it is.
pub fn equalised(plane: &Plane) -> Plane {
    let mut counts = [0_usize; 256];
    plane.values.iter().for_each(|&value| counts[value as usize] += 1);
    let lowest = counts.iter().copied().find(|&count| count > 0).unwrap_or(0);
    let rest = plane.values.len() - lowest;
    if rest == 0 {
        return plane.clone();
    }
    let mut below = 0;
    let levels = counts.map(|count| {
        below += count;
        (255.0 * below.saturating_sub(lowest) as f64 / rest as f64).round()
    });
    plane.map(|value| levels[value as usize])
}

//! Hue, saturation and value, with scikit-image's conventions.

use super::canvas::{Canvas, Plane};

/// `[hue, saturation, value]` in `[0, 1]` of `[red, green, blue]`; grey has hue and saturation 0.
pub fn from_rgb([red, green, blue]: [f64; 3]) -> [f64; 3] {
    let value = red.max(green).max(blue);
    let spread = value - red.min(green).min(blue);
    if spread == 0.0 {
        return [0.0, 0.0, value];
    }
    let sextant = if blue == value {
        4.0 + (red - green) / spread
    } else if green == value {
        2.0 + (blue - red) / spread
    } else {
        (green - blue) / spread
    };
    [(sextant / 6.0).rem_euclid(1.0), spread / value, value]
}

/// `[red, green, blue]` of `[hue, saturation, value]`.
pub fn to_rgb([hue, saturation, value]: [f64; 3]) -> [f64; 3] {
    let sextant = (hue * 6.0).floor();
    let part = hue * 6.0 - sextant;
    let low = value * (1.0 - saturation);
    let falling = value * (1.0 - part * saturation);
    let rising = value * (1.0 - (1.0 - part) * saturation);
    match sextant as u8 % 6 {
        0 => [value, rising, low],
        1 => [falling, value, low],
        2 => [low, value, rising],
        3 => [low, falling, value],
        4 => [rising, low, value],
        _ => [value, low, falling],
    }
}

/// The image with hue, saturation and value of every pixel replaced.
pub fn change(image: &Canvas, new: impl Fn([f64; 3]) -> [f64; 3]) -> Canvas {
    image.in_colour(|[red, green, blue]| {
        let mut planes: [Plane; 3] = [red.clone(), green.clone(), blue.clone()];
        for i in 0..red.values.len() {
            let pixel = to_rgb(new(from_rgb([red.values[i], green.values[i], blue.values[i]])));
            for (plane, value) in planes.iter_mut().zip(pixel) {
                plane.values[i] = value;
            }
        }
        planes
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_come_back() {
        for i in 0..4096 {
            let rgb = [i % 16, i / 16 % 16, i / 256].map(|level| f64::from(level) / 15.0);
            let back = to_rgb(from_rgb(rgb));
            assert!(rgb.iter().zip(back).all(|(a, b)| (a - b).abs() < 1e-12), "{rgb:?} {back:?}");
        }
        assert_eq!(from_rgb([0.0, 0.0, 1.0]), [4.0 / 6.0, 1.0, 1.0]);
    }
}

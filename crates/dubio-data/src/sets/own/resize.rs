//! Resizing of images.

use crate::dataset::Images;

/// The image at this height and width: each axis scaled by itself or, with `crop`, both by the smallest
/// factor that covers the size, then cut to the centre. Bilinear; where the image shrinks, the triangle
/// filter widens with the scale, as in Pillow.
pub(super) fn fitted(image: &Images, (height, width): (usize, usize), crop: bool) -> Images {
    if !crop {
        return resized(image, height, width);
    }
    let scale = (height as f64 / image.height as f64).max(width as f64 / image.width as f64);
    let scaled = |side: usize, least: usize| ((side as f64 * scale).round() as usize).max(least);
    let large = resized(image, scaled(image.height, height), scaled(image.width, width));
    let (top, left) = ((large.height - height) / 2, (large.width - width) / 2);
    let rows = (0..large.channels).flat_map(|channel| {
        (0..height).map(move |row| (channel * large.height + top + row) * large.width + left)
    });
    let pixels = rows.flat_map(|start| large.pixels[start..start + width].to_vec()).collect();
    Images { height, width, pixels, ..large }
}

fn resized(image: &Images, height: usize, width: usize) -> Images {
    if (height, width) == (image.height, image.width) {
        return image.clone();
    }
    let (across, down) = (weights(image.width, width), weights(image.height, height));
    let mut pixels = Vec::with_capacity(image.channels * height * width);
    for plane in image.pixels.chunks_exact(image.height * image.width) {
        let mut narrow = Vec::with_capacity(image.height * width);
        for row in plane.chunks_exact(image.width) {
            narrow.extend(across.iter().map(|w| w.sum(|i| f64::from(row[i]))));
        }
        for weights in &down {
            let column = |x: usize| weights.sum(|i| narrow[i * width + x]);
            pixels.extend((0..width).map(|x| column(x).round().clamp(0.0, 255.0) as u8));
        }
    }
    Images { height, width, pixels, ..*image }
}

/// What one new pixel is made of: old ones from `first` on, with weights that add up to 1.
struct Weights {
    first: usize,
    weights: Vec<f64>,
}

impl Weights {
    fn sum(&self, value: impl Fn(usize) -> f64) -> f64 {
        (self.first..).zip(&self.weights).map(|(i, weight)| weight * value(i)).sum()
    }
}

fn weights(old: usize, new: usize) -> Vec<Weights> {
    let scale = old as f64 / new as f64;
    let support = scale.max(1.0);
    let one = |place: usize| {
        let centre = (place as f64 + 0.5) * scale;
        let first = ((centre - support + 0.5).floor().max(0.0)) as usize;
        let last = ((centre + support + 0.5).floor() as usize).min(old);
        let triangle = |i: usize| (1.0 - ((i as f64 + 0.5 - centre) / support).abs()).max(0.0);
        let weights: Vec<f64> = (first..last).map(triangle).collect();
        let total: f64 = weights.iter().sum();
        Weights { first, weights: weights.iter().map(|weight| weight / total).collect() }
    };
    (0..new).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(height: usize, width: usize) -> Images {
        let pixels = (0..height * width).map(|i| (i * 37 % 256) as u8).collect();
        Images { channels: 1, height, width, white: 255, pixels }
    }

    /// `PIL.Image.fromarray(x).resize((w, h), PIL.Image.BILINEAR)` for the images above (Pillow 13),
    /// which rounds between its two passes: so 1 is the tolerance.
    #[test]
    fn sizes_are_those_of_pillow() {
        let cases: [(usize, usize, usize, usize, &[u8]); 2] = [
            (5, 7, 3, 4, &[20, 78, 146, 204, 25, 83, 151, 209, 30, 88, 156, 214]),
            (
                2,
                3,
                4,
                5,
                &[
                    0, 15, 37, 59, 74, 28, 43, 65, 87, 102, 83, 98, 120, 142, 157, 111, 126, 148,
                    170, 185,
                ],
            ),
        ];
        for (height, width, new_height, new_width, expected) in cases {
            let found = resized(&image(height, width), new_height, new_width).pixels;
            let near = |(&a, &b): (&u8, &u8)| a.abs_diff(b) <= 1;
            assert!(
                found.len() == expected.len() && found.iter().zip(expected).all(near),
                "{found:?}"
            );
        }
    }

    #[test]
    fn a_crop_keeps_the_centre_and_a_constant_stays() {
        let mut wide = image(4, 12);
        wide.pixels = (0..48).map(|i| if (4..8).contains(&(i % 12)) { 200 } else { 0 }).collect();
        let cut = fitted(&wide, (4, 4), true);
        assert_eq!((cut.height, cut.width, &cut.pixels[..]), (4, 4, &[200; 16][..]));
        let mut flat = image(9, 6);
        flat.pixels.fill(77);
        assert!(fitted(&flat, (4, 5), false).pixels.iter().all(|&pixel| pixel == 77));
    }
}

//! The losses of a baseline JPEG: all that an encoder and a decoder do, except for the lossless packing.
//!
//! Colours become luminance and two colour differences, the differences at half the size; 8 x 8
//! blocks go through the cosine transform and are rounded to multiples of the quality's tables; and
//! all the way back. Whole numbers throughout, with libjpeg's conventions: 4:2:0, the tables of
//! ITU-T T.81 Annex K, the accurate integer transform, triangle upsampling.

use super::border::Border;
use super::canvas::{Canvas, Plane};

#[rustfmt::skip]
const LUMINANCE: [u16; 64] = [
    16, 11, 10, 16, 24, 40, 51, 61,
    12, 12, 14, 19, 26, 58, 60, 55,
    14, 13, 16, 24, 40, 57, 69, 56,
    14, 17, 22, 29, 51, 87, 80, 62,
    18, 22, 37, 56, 68, 109, 103, 77,
    24, 35, 55, 64, 81, 104, 113, 92,
    49, 64, 78, 87, 103, 121, 120, 101,
    72, 92, 95, 98, 112, 100, 103, 99,
];
#[rustfmt::skip]
const COLOUR: [u16; 64] = [
    17, 18, 24, 47, 99, 99, 99, 99,
    18, 21, 26, 66, 99, 99, 99, 99,
    24, 26, 56, 99, 99, 99, 99, 99,
    47, 66, 99, 99, 99, 99, 99, 99,
    99, 99, 99, 99, 99, 99, 99, 99,
    99, 99, 99, 99, 99, 99, 99, 99,
    99, 99, 99, 99, 99, 99, 99, 99,
    99, 99, 99, 99, 99, 99, 99, 99,
];

/// `8192 cos(...)` of the 8-point transform times `sqrt(8)`, one wave per row: the matrix of libjpeg's
/// `jfdctint.c` with its rounding. The inverse transform uses its transpose.
#[rustfmt::skip]
const WAVES: [i64; 64] = [
    8192, 8192, 8192, 8192, 8192, 8192, 8192, 8192,
    11363, 9633, 6437, 2260, -2260, -6437, -9633, -11363,
    10703, 4433, -4433, -10703, -10703, -4433, 4433, 10703,
    9633, -2259, -11362, -6436, 6436, 11362, 2259, -9633,
    8192, -8192, -8192, 8192, 8192, -8192, -8192, 8192,
    6437, -11362, 2261, 9633, -9633, -2261, 11362, -6437,
    4433, -10704, 10704, -4433, -4433, 10704, -10704, 4433,
    2260, -6436, 9633, -11363, 11363, -9633, 6436, -2260,
];

/// The image after a JPEG of this quality, 1 to 100.
pub fn round_trip(image: &Canvas, quality: u16) -> Canvas {
    let bytes = image.rounded().map(|value| (value * 255.0).round());
    let back = match bytes.planes.as_slice() {
        [red, green, blue] => colours([red, green, blue], quality).into(),
        greys => greys.iter().map(|grey| blocks(grey, &table(LUMINANCE, quality))).collect(),
    };
    Canvas { planes: back }.map(|value| value / 255.0)
}

/// libjpeg's scaling of a table: 50 leaves it, 100 makes all ones.
fn table(base: [u16; 64], quality: u16) -> [i64; 64] {
    let percent = if quality < 50 { 5000 / quality } else { 200 - 2 * quality };
    base.map(|step| i64::from(((step * percent + 50) / 100).clamp(1, 255)))
}

fn colours([red, green, blue]: [&Plane; 3], quality: u16) -> [Plane; 3] {
    let mix = |offset: f64, [r, g, b]: [f64; 3]| {
        let pixel = |i: usize| r * red.values[i] + g * green.values[i] + b * blue.values[i];
        let values = (0..red.values.len()).map(|i| byte(pixel(i) / 65536.0 + offset)).collect();
        Plane { values, ..*red }
    };
    // A colour difference of exactly one half is rounded down.
    let half = 128.0 - 1.0 / 65536.0;
    let luminance = mix(0.0, [19595.0, 38470.0, 7471.0]);
    let to_blue = mix(half, [-11059.0, -21709.0, 32768.0]);
    let to_red = mix(half, [32768.0, -27439.0, -5329.0]);
    let luminance = blocks(&luminance, &table(LUMINANCE, quality));
    let [to_blue, to_red] = [to_blue, to_red].map(|plane| {
        let half = blocks(&halved(&plane), &table(COLOUR, quality));
        doubled(&half, plane.height, plane.width).map(|value| value - 128.0)
    });
    let green = to_blue.zip(&to_red, |b, r| -(22554.0 * b + 46802.0 * r) / 65536.0);
    [
        luminance.zip(&to_red, |y, r| byte(y + 91881.0 * r / 65536.0)),
        luminance.zip(&green, |y, g| byte(y + g)),
        luminance.zip(&to_blue, |y, b| byte(y + 116_130.0 * b / 65536.0)),
    ]
}

/// The nearest whole byte; halves are rounded up.
fn byte(value: f64) -> f64 {
    (value + 0.5).floor().clamp(0.0, 255.0)
}

/// Half the size: means of 2 x 2 pixels, rounded down and up in turn.
fn halved(plane: &Plane) -> Plane {
    Plane::from_fn(plane.height.div_ceil(2), plane.width.div_ceil(2), |row, column| {
        let pixel = |dy: usize, dx: usize| {
            let y = (2 * row + dy).min(plane.height - 1);
            plane.at(y, (2 * column + dx).min(plane.width - 1))
        };
        let bias = 1.0 + (column % 2) as f64;
        ((pixel(0, 0) + pixel(0, 1) + pixel(1, 0) + pixel(1, 1) + bias) / 4.0).floor()
    })
}

/// Twice the size: along each axis 3/4 of the nearer and 1/4 of the farther pixel.
fn doubled(plane: &Plane, height: usize, width: usize) -> Plane {
    let far = |place: usize, len: usize| {
        let next = (place / 2) as isize + if place.is_multiple_of(2) { -1 } else { 1 };
        Border::Nearest.index(next, len)
    };
    Plane::from_fn(height, width, |row, column| {
        let (y, x) = (row / 2, column / 2);
        let (y_far, x_far) = (far(row, plane.height), far(column, plane.width));
        let line = |x: usize| 3.0 * plane.at(y, x) + plane.at(y_far, x);
        let bias = if column.is_multiple_of(2) { 8.0 } else { 7.0 };
        ((3.0 * line(x) + line(x_far) + bias) / 16.0).floor()
    })
}

/// Every 8 x 8 block through the transform, rounded to multiples of `steps`, and back. Blocks that
/// reach over the edge repeat the last pixel.
fn blocks(plane: &Plane, steps: &[i64; 64]) -> Plane {
    let mut result = plane.clone();
    for top in (0..plane.height).step_by(8) {
        for left in (0..plane.width).step_by(8) {
            let block = std::array::from_fn(|k| {
                let y = (top + k / 8).min(plane.height - 1);
                plane.at(y, (left + k % 8).min(plane.width - 1)) as i64 - 128
            });
            let block = through(&block, steps);
            for (k, &value) in block.iter().enumerate() {
                let (y, x) = (top + k / 8, left + k % 8);
                if y < plane.height && x < plane.width {
                    result.values[y * plane.width + x] = (value + 128).clamp(0, 255) as f64;
                }
            }
        }
    }
    result
}

/// One block there and back: rows, columns, rounding; columns, rows.
fn through(block: &[i64; 64], steps: &[i64; 64]) -> [i64; 64] {
    let back = std::array::from_fn(|k| WAVES[k % 8 * 8 + k / 8]);
    let rows = product(block, &back, 13 - 2);
    let waves = product(&WAVES, &rows, 13 + 2);
    let kept = std::array::from_fn(|k| {
        // Waves are eight times too large here.
        let (wave, step) = (waves[k], 8 * steps[k]);
        (wave.abs() + step / 2) / step * wave.signum() * steps[k]
    });
    let columns = product(&back, &kept, 13 - 2);
    product(&columns, &WAVES, 13 + 2 + 3)
}

/// The product of two matrices divided by `2^bits` and rounded, halves up.
fn product(a: &[i64; 64], b: &[i64; 64], bits: u32) -> [i64; 64] {
    std::array::from_fn(|k| {
        let sum: i64 = (0..8).map(|i| a[k / 8 * 8 + i] * b[i * 8 + k % 8]).sum();
        (sum + (1 << (bits - 1))) >> bits
    })
}

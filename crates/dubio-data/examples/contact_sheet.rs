//! Draws every corruption of CIFAR-10-C at every severity, on two images, into one PNG.
//!
//! ```text
//! cargo run --release -p dubio-data --example contact_sheet -- cifar-10/test_batch.bin shifts.png
//! ```
//!
//! The first argument is a batch of CIFAR-10 in its binary format, the second the file to write;
//! more arguments are the indices of the images to draw (10 and 17 if left out).

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;

use dubio_data::dataset::Images;
use dubio_data::shifts;
use dubio_random::stream::Stream;

/// Pixels of the sheet per pixel of an image.
const ZOOM: usize = 2;
/// From one tile to the next.
const STEP: usize = 32 * ZOOM + 3;
/// Room for a name on the left, and for the severities above.
const MARGIN: usize = 152;
const HEAD: usize = 22;
/// Between the tiles of one image and those of the next.
const GAP: usize = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [batch, file, chosen @ ..] = arguments.as_slice() else {
        return Err("usage: contact_sheet test_batch.bin sheet.png [index ...]".into());
    };
    let chosen: Vec<usize> = match chosen {
        [] => vec![10, 17],
        chosen => chosen.iter().map(|index| index.parse()).collect::<Result<_, _>>()?,
    };
    let images = read(batch, &chosen)?;
    let shifts: Vec<_> = shifts::cifar_10_c().collect();
    let width = MARGIN + chosen.len() * (6 * STEP + GAP);
    let mut sheet = Sheet::white(width, HEAD + shifts.len() * STEP);
    for severity in 0..=5 {
        for place in 0..chosen.len() {
            let left = tile_left(place, severity) + 13 * ZOOM;
            sheet.write(&severity.to_string(), left, 6);
        }
    }
    for (row, shift) in shifts.iter().enumerate() {
        let top = HEAD + row * STEP;
        sheet.write(shift.card().name, 6, top + 27);
        for severity in 0..=5 {
            let shifted = shift.apply(&images, severity as u8, &Stream::root(1));
            for place in 0..chosen.len() {
                sheet.draw(shifted.image(place), tile_left(place, severity), top);
            }
        }
    }
    sheet.save(file)
}

fn tile_left(place: usize, severity: usize) -> usize {
    MARGIN + place * (6 * STEP + GAP) + severity * STEP
}

/// The chosen images of a batch: rows of a label and 3072 bytes.
fn read(batch: &str, chosen: &[usize]) -> Result<Images, Box<dyn Error>> {
    let bytes = std::fs::read(batch)?;
    let mut pixels = vec![];
    for &index in chosen {
        let row = bytes.chunks_exact(3073).nth(index).ok_or(format!("no image {index}"))?;
        pixels.extend_from_slice(&row[1..]);
    }
    Ok(Images { channels: 3, height: 32, width: 32, white: 255, pixels })
}

struct Sheet {
    width: usize,
    height: usize,
    rgb: Vec<u8>,
}

impl Sheet {
    fn white(width: usize, height: usize) -> Self {
        Self { width, height, rgb: vec![255; 3 * width * height] }
    }

    fn dot(&mut self, x: usize, y: usize, colour: [u8; 3]) {
        for k in 0..ZOOM * ZOOM {
            let start = 3 * ((y + k / ZOOM) * self.width + x + k % ZOOM);
            self.rgb[start..start + 3].copy_from_slice(&colour);
        }
    }

    fn draw(&mut self, image: &[u8], left: usize, top: usize) {
        for k in 0..1024 {
            let colour = [0, 1, 2].map(|channel| image[channel * 1024 + k]);
            self.dot(left + k % 32 * ZOOM, top + k / 32 * ZOOM, colour);
        }
    }

    fn write(&mut self, text: &str, left: usize, top: usize) {
        for (place, letter) in text.bytes().enumerate() {
            for k in (0..15).filter(|k| glyph(letter) >> (14 - k) & 1 == 1) {
                self.dot(left + (4 * place + k % 3) * ZOOM, top + k / 3 * ZOOM, [40; 3]);
            }
        }
    }

    fn save(&self, file: &str) -> Result<(), Box<dyn Error>> {
        let mut encoder = png::Encoder::new(
            BufWriter::new(File::create(file)?),
            self.width as u32,
            self.height as u32,
        );
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::High);
        encoder.write_header()?.write_image_data(&self.rgb)?;
        Ok(())
    }
}

/// Five rows of three dots, from the top left.
fn glyph(letter: u8) -> u16 {
    match letter {
        b'a'..=b'z' => LETTERS[usize::from(letter - b'a')],
        b'0'..=b'5' => DIGITS[usize::from(letter - b'0')],
        _ => 0b000_000_000_000_000,
    }
}

#[rustfmt::skip]
const LETTERS: [u16; 26] = [
    0b010_101_111_101_101, 0b110_101_110_101_110, 0b011_100_100_100_011, 0b110_101_101_101_110,
    0b111_100_110_100_111, 0b111_100_110_100_100, 0b011_100_101_101_011, 0b101_101_111_101_101,
    0b111_010_010_010_111, 0b001_001_001_101_010, 0b101_101_110_101_101, 0b100_100_100_100_111,
    0b101_111_111_101_101, 0b110_101_101_101_101, 0b010_101_101_101_010, 0b110_101_110_100_100,
    0b010_101_101_110_011, 0b110_101_110_101_101, 0b011_100_010_001_110, 0b111_010_010_010_010,
    0b101_101_101_101_111, 0b101_101_101_101_010, 0b101_101_111_111_101, 0b101_101_010_101_101,
    0b101_101_010_010_010, 0b111_001_010_100_111,
];
const DIGITS: [u16; 6] = [
    0b111_101_101_101_111,
    0b010_110_010_010_111,
    0b110_001_010_100_111,
    0b110_001_010_001_110,
    0b101_101_111_001_001,
    0b111_100_110_001_110,
];

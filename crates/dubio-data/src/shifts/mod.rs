//! Shifts: the test set as it may turn up in the real world. One file per corruption.
//!
//! The nineteen corruptions of CIFAR-10-C (Hendrycks and Dietterich, "Benchmarking Neural Network
//! Robustness to Common Corruptions and Perturbations", ICLR 2019) with the definitions and the
//! constants published for 32 x 32 images, and two of geometry. Constants that are lengths in
//! pixels are multiplied by the shorter side / 32. Each file's card says what its five severities
//! set; `docs/shifts.md` shows them all.

use dubio_random::stream::Stream;
use dubio_words::meant;
use rayon::prelude::*;

use crate::dataset::Images;
use imaging::canvas::Canvas;
use imaging::draws::Draws;

pub mod brightness;
pub mod contrast;
pub mod defocus_blur;
pub mod drop_classes;
pub mod elastic_transform;
pub mod fog;
pub mod frost;
pub mod gaussian_blur;
pub mod gaussian_noise;
pub mod glass_blur;
pub mod imaging;
pub mod impulse_noise;
pub mod jpeg_compression;
pub mod motion_blur;
pub mod pixelate;
pub mod rotation;
pub mod saturate;
pub mod shot_noise;
pub mod snow;
pub mod spatter;
pub mod speckle_noise;
pub mod translation;
pub mod zoom_blur;

/// The description of a shift.
#[derive(Debug)]
pub struct Card {
    /// Name in suites, on the command line and at the head of a column.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// The group it belongs to.
    pub family: Family,
    /// What severities 1 to 5 set, in plain text.
    pub severities: &'static str,
    /// Where the definition comes from.
    pub citation: &'static str,
}

/// The groups of shifts: the published ones, and geometry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Something random in every pixel.
    Noise,
    /// Pixels mixed with their neighbours.
    Blur,
    /// Something between the lens and the world.
    Weather,
    /// What processing does.
    Digital,
    /// The image moved as a whole; not part of CIFAR-10-C.
    Geometry,
}

/// How strong, 1 to 5.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Severity(u8);

impl Severity {
    /// The constant published for this severity.
    pub fn pick<T: Copy>(self, constants: [T; 5]) -> T {
        constants[usize::from(self.0) - 1]
    }
}

/// A corruption of images.
pub trait Shift: Sync {
    /// Its description.
    fn card(&self) -> &'static Card;

    /// One image, corrupted. Numbers beyond 0 and 1 are clipped by the caller.
    fn corrupt(&self, image: &Canvas, severity: Severity, draws: &mut Draws) -> Canvas;

    /// All images, corrupted. Constants that are published for bytes are taken relative to the images' own
    /// white. Severity 0 returns the images as they are.
    ///
    /// Image `i` draws from `stream / name / i` whatever the severity and the number of threads:
    /// the same image sees the same noise at every severity, and other noise in every shift. Hand
    /// over another stream where severities must be independent.
    ///
    /// # Panics
    ///
    /// When `severity` exceeds 5 or images have neither 1 nor 3 channels.
    fn apply(&self, images: &Images, severity: u8, stream: &Stream) -> Images {
        assert!(severity <= 5, "severity must be between 0 and 5, got {severity}");
        let channels = images.channels;
        assert!([1, 3].contains(&channels), "images must have 1 or 3 channels, got {channels}");
        let mut shifted = images.clone();
        if severity == 0 {
            return shifted;
        }
        let stream = stream.child(self.card().name);
        let Images { height, width, white, .. } = *images;
        shifted.pixels.par_chunks_mut(images.size()).enumerate().for_each(|(i, pixels)| {
            let image = Canvas::from_pixels(pixels, height, width, white);
            let mut draws = stream.nth(i).generator();
            self.corrupt(&image, Severity(severity), &mut draws).write_pixels(pixels, white);
        });
        shifted
    }
}

/// Every shift: the nineteen of CIFAR-10-C in the published order, then those of geometry.
#[inline(never)] // or every crate that asks for one would build all of them again
pub fn list() -> &'static [&'static dyn Shift] {
    &[
        &gaussian_noise::GaussianNoise,
        &shot_noise::ShotNoise,
        &impulse_noise::ImpulseNoise,
        &defocus_blur::DefocusBlur,
        &glass_blur::GlassBlur,
        &motion_blur::MotionBlur,
        &zoom_blur::ZoomBlur,
        &snow::Snow,
        &frost::Frost,
        &fog::Fog,
        &brightness::Brightness,
        &contrast::Contrast,
        &elastic_transform::ElasticTransform,
        &pixelate::Pixelate,
        &jpeg_compression::JpegCompression,
        &speckle_noise::SpeckleNoise,
        &gaussian_blur::GaussianBlur,
        &spatter::Spatter,
        &saturate::Saturate,
        &rotation::Rotation,
        &translation::Translation,
    ]
}

/// The nineteen of CIFAR-10-C, in the published order.
pub fn cifar_10_c() -> impl Iterator<Item = &'static dyn Shift> {
    list().iter().copied().filter(|shift| shift.card().family != Family::Geometry)
}

/// The shift with this name.
pub fn find(name: &str) -> Option<&'static dyn Shift> {
    let known = meant(name, list().iter().map(|shift| shift.card().name));
    list().iter().copied().find(|shift| Some(shift.card().name) == known)
}

/// The source of the nineteen.
const HENDRYCKS: &str = "Hendrycks and Dietterich 2019, arXiv:1903.12261; constants of CIFAR-10-C";

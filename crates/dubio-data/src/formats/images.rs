//! A folder of PNG and JPEG files and a list of them, as the sets of WILDS come: a CSV whose
//! columns are `file`, `label` and perhaps `split`, and whose other columns are groups.
//!
//! ```text
//! file,label,split,hospital
//! patches/patient_004/a.png,1,train,3
//! ```
//!
//! Groups that are not whole numbers are numbered in the order of their sorted names over the whole
//! list, so that every split uses the same numbers. All images must have one size. The first one decides
//! whether the set is grey or coloured: among coloured ones a grey image has three equal
//! channels; transparency is dropped, as WILDS does. Koh et al., "WILDS", ICML 2021.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Cursor;
use std::path::{Component, Path, PathBuf};

use dubio_predictions::lines::{records, table};
use rayon::prelude::*;
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

use super::{gzip, open};
use crate::dataset::{Answers, Dataset, Images, Inputs};
use crate::error::Error;

/// Longest side of an image.
const LARGEST: usize = 1 << 13;

/// Reads the images of one split, or all when `split` is `None`. `classes` may be left out: then
/// it is one more than the largest label of the whole list.
pub fn read(list: &Path, split: Option<&str>, classes: Option<usize>) -> Result<Dataset, Error> {
    let table = List::read(list)?;
    let files = table.column("file")?;
    let labels = table.labels()?;
    let classes = classes.unwrap_or(labels.iter().max().map_or(0, |&most| most as usize + 1));
    if let Some(row) = labels.iter().position(|&label| label as usize >= classes) {
        let what = format!("label {} in row {row}, where there are {classes} classes", labels[row]);
        return Err(Error::new(list, what, "labels count from 0"));
    }
    let rows = table.rows_of(split)?;
    let folder = list.parent().unwrap_or(Path::new(""));
    let paths: Vec<PathBuf> =
        rows.iter().map(|&row| inside(list, folder, files[row])).collect::<Result<_, _>>()?;
    let take = |all: &[i64]| rows.iter().map(|&row| all[row]).collect();
    let groups = table.groups().iter().map(|(name, all)| (name.clone(), take(all))).collect();
    Ok(Dataset {
        inputs: Inputs::Images(images(&paths)?),
        answers: Answers::Classes {
            classes,
            labels: rows.iter().map(|&row| labels[row]).collect(),
        },
        groups,
    })
}

/// The list of images.
struct List<'a> {
    path: &'a Path,
    names: Vec<String>,
    /// Each with its line.
    rows: Vec<(u64, csv::StringRecord)>,
}

impl<'a> List<'a> {
    fn read(path: &'a Path) -> Result<Self, Error> {
        let bytes = open(path)?;
        let fault = |error: csv::Error| Error::new(path, error, "a list is a CSV with a header");
        let (builder, text) = table(&bytes[..], b',').map_err(|e| Error::new(path, e, ""))?;
        let mut reader = builder.from_reader(text);
        let names = reader.headers().map_err(fault)?.iter().map(String::from).collect();
        let rows: Vec<_> = records(&mut reader).collect::<Result<_, _>>().map_err(fault)?;
        if rows.is_empty() {
            return Err(Error::new(path, "no image in the list", "give a row for each image"));
        }
        Ok(Self { path, names, rows })
    }

    fn column(&self, name: &str) -> Result<Vec<&str>, Error> {
        let place = self.names.iter().position(|found| found == name).ok_or_else(|| {
            let what = format!("no column `{name}` among {}", self.names.join(", "));
            Error::new(self.path, what, "the first line names the columns: file,label,split,...")
        })?;
        Ok(self.rows.iter().map(|(_, row)| &row[place]).collect())
    }

    fn labels(&self) -> Result<Vec<u32>, Error> {
        let label = |(row, text): (usize, &str)| {
            text.parse::<u32>().ok().filter(|&label| label < 1 << 24).ok_or_else(|| {
                let what = format!("line {}: label {text:?} is not a class", self.rows[row].0);
                Error::new(self.path, what, "labels are whole numbers from 0")
            })
        };
        self.column("label")?.into_iter().enumerate().map(label).collect()
    }

    fn rows_of(&self, split: Option<&str>) -> Result<Vec<usize>, Error> {
        let Some(wanted) = split else { return Ok((0..self.rows.len()).collect()) };
        let splits = self.column("split")?;
        let rows: Vec<usize> = (0..splits.len()).filter(|&row| splits[row] == wanted).collect();
        if rows.is_empty() {
            let there: BTreeSet<&str> = splits.into_iter().collect();
            let there: Vec<&str> = there.into_iter().collect();
            let what = format!("no image of split `{wanted}`");
            return Err(Error::new(self.path, what, format!("there are {}", there.join(", "))));
        }
        Ok(rows)
    }

    fn groups(&self) -> BTreeMap<String, Vec<i64>> {
        let mut groups = BTreeMap::new();
        for (place, name) in self.names.iter().enumerate() {
            if !["file", "label", "split"].contains(&&name[..]) {
                let texts: Vec<&str> = self.rows.iter().map(|(_, row)| &row[place]).collect();
                groups.insert(name.clone(), numbered(&texts));
            }
        }
        groups
    }
}

pub(crate) fn numbered(texts: &[&str]) -> Vec<i64> {
    let whole: Result<Vec<i64>, _> = texts.iter().map(|text| text.parse()).collect();
    whole.unwrap_or_else(|_| {
        let names: BTreeSet<&str> = texts.iter().copied().collect();
        let numbers: BTreeMap<&str, i64> = names.into_iter().zip(0..).collect();
        texts.iter().map(|text| numbers[text]).collect()
    })
}

/// A file of the list, which may not lead out of the list's folder.
pub(crate) fn inside(list: &Path, folder: &Path, file: &str) -> Result<PathBuf, Error> {
    if Path::new(file).components().all(|part| matches!(part, Component::Normal(_))) {
        return Ok(folder.join(file));
    }
    let what = format!("{file:?} leads out of the folder of the list");
    Err(Error::new(list, what, "write paths relative to the list, without `..`"))
}

fn images(paths: &[PathBuf]) -> Result<Images, Error> {
    let first = decode(&paths[0], &open(&paths[0])?)?;
    let (channels, height, width) = (first.channels, first.height, first.width);
    let one = |path: &PathBuf| {
        let image = decode(path, &open(path)?)?;
        if (image.height, image.width) != (height, width) {
            let what = format!("{} x {} pixels", image.width, image.height);
            let advice = format!("resize it to the {width} x {height} of {}", paths[0].display());
            return Err(Error::new(path, what, advice));
        }
        match (image.channels, channels) {
            (found, wanted) if found == wanted => Ok(image.pixels),
            (1, _) => Ok(image.pixels.repeat(channels)),
            _ => Err(Error::new(path, "a coloured image in a grey set", "make them all alike")),
        }
    };
    let all: Vec<Vec<u8>> = paths.par_iter().map(one).collect::<Result<_, _>>()?;
    Ok(Images { pixels: all.concat(), ..first })
}

/// Decodes a PNG or a JPEG to grey or to red, green, blue, plane after plane.
pub fn decode(path: &Path, bytes: &[u8]) -> Result<Images, Error> {
    let decoded = if bytes.starts_with(b"\x89PNG") { png(bytes) } else { jpeg(bytes) };
    let (stride, width, height, pixels) = decoded.map_err(|what| {
        Error::new(path, format!("cannot be decoded: {what}"), "PNG and JPEG are read")
    })?;
    let channels = if stride < 3 { 1 } else { 3 };
    let plane = |channel| pixels.chunks_exact(stride).map(move |pixel| pixel[channel]);
    let pixels = (0..channels).flat_map(plane).collect();
    Ok(Images { channels, height, width, white: 255, pixels })
}

/// Bytes per pixel, width, height, and the pixels.
type Decoded = (usize, usize, usize, Vec<u8>);

fn png(bytes: &[u8]) -> Result<Decoded, String> {
    let limits = png::Limits { bytes: 4 * LARGEST * LARGEST };
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), limits);
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().map_err(|error| error.to_string())?;
    let (width, height) = (reader.info().width as usize, reader.info().height as usize);
    let size = reader.output_buffer_size().filter(|&size| gzip::can_hold(bytes.len(), size));
    let size = size.filter(|_| width.max(height) <= LARGEST);
    let mut pixels = vec![0; size.ok_or_else(|| format!("{width} x {height} is too large"))?];
    let frame = reader.next_frame(&mut pixels).map_err(|error| error.to_string())?;
    pixels.truncate(frame.buffer_size());
    Ok((frame.color_type.samples(), width, height, pixels))
}

fn jpeg(bytes: &[u8]) -> Result<Decoded, String> {
    let options = || DecoderOptions::default().set_max_width(LARGEST).set_max_height(LARGEST);
    let fault = |error| format!("{error:?}");
    let mut probe = JpegDecoder::new_with_options(ZCursor::new(bytes), options());
    probe.decode_headers().map_err(fault)?;
    let (width, height) = probe.dimensions().ok_or("no size in it")?;
    // JPEG takes at least one bit for every block of 64 pixels: less than deflate's ratio.
    if !gzip::can_hold(bytes.len(), width * height) {
        return Err(format!("{width} x {height} pixels cannot be in {} bytes", bytes.len()));
    }
    let grey = probe.input_colorspace() == Some(ColorSpace::Luma);
    let (space, stride) = if grey { (ColorSpace::Luma, 1) } else { (ColorSpace::RGB, 3) };
    let options = options().jpeg_set_out_colorspace(space);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    let pixels = decoder.decode().map_err(fault)?;
    Ok((stride, width, height, pixels))
}

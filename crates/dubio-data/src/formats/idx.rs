//! IDX, the format of MNIST and sets like it: two zero bytes, the type (8 for unsigned bytes), the
//! number of axes, the length of each axis as a big-endian u32, then the bytes, last axis fastest.
//! LeCun, Cortes and Burges, "The MNIST database", <http://yann.lecun.com/exdb/mnist/>.

use std::path::Path;

use super::{DAMAGED, gzip, labels};
use crate::dataset::{Answers, Dataset, Images, Inputs};
use crate::error::Error;

/// An array of unsigned bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// Length of each axis.
    pub shape: Vec<usize>,
    /// The elements, last axis fastest.
    pub bytes: Vec<u8>,
}

/// Reads an array, packed with gzip or plain.
pub fn read(path: &Path, bytes: &[u8]) -> Result<Array, Error> {
    if gzip::is_gzip(bytes) {
        return read_packed(path, bytes);
    }
    let (shape, data) = header(path, bytes)?;
    let claim = size(path, &shape)?;
    if claim != data.len() {
        return Err(wrong_size(path, &shape, data.len()));
    }
    Ok(Array { shape, bytes: data.to_vec() })
}

fn read_packed(path: &Path, bytes: &[u8]) -> Result<Array, Error> {
    let mut reader = gzip::unpacker(bytes);
    let mut head = gzip::exactly(path, &mut reader, 4)?;
    head.extend(gzip::exactly(path, &mut reader, 4 * usize::from(head[3]))?);
    let (shape, _) = header(path, &head)?;
    let claim = size(path, &shape)?;
    if !gzip::can_hold(bytes.len(), claim) {
        let what = format!("shape {shape:?} cannot come out of {} packed bytes", bytes.len());
        return Err(Error::new(path, what, DAMAGED));
    }
    let data = gzip::exactly(path, &mut reader, claim)?;
    gzip::ends(path, &mut reader)?;
    Ok(Array { shape, bytes: data })
}

/// Shape of an array, and what follows the header.
fn header<'a>(path: &Path, bytes: &'a [u8]) -> Result<(Vec<usize>, &'a [u8]), Error> {
    let (kind, axes, rest) = match bytes {
        [0, 0, kind, axes, rest @ ..] => (*kind, usize::from(*axes), rest),
        _ => return Err(Error::new(path, "no IDX header at its start", DAMAGED)),
    };
    if kind != 8 {
        let what = format!("IDX elements of type 0x{kind:02x}, not 0x08 (unsigned bytes)");
        return Err(Error::new(path, what, "only bytes are read: images and labels are bytes"));
    }
    let Some((lengths, data)) = rest.split_at_checked(4 * axes).filter(|_| axes > 0) else {
        return Err(Error::new(
            path,
            format!("the IDX header of {axes} axes is cut short"),
            DAMAGED,
        ));
    };
    let shape = lengths.as_chunks().0.iter().map(|&axis| u32::from_be_bytes(axis) as usize);
    Ok((shape.collect(), data))
}

fn size(path: &Path, shape: &[usize]) -> Result<usize, Error> {
    let size = shape.iter().try_fold(1_usize, |product, &axis| product.checked_mul(axis));
    size.ok_or_else(|| Error::new(path, format!("shape {shape:?} is beyond any memory"), DAMAGED))
}

fn wrong_size(path: &Path, shape: &[usize], found: usize) -> Error {
    let what = format!("its header says {shape:?}, and {found} bytes follow it");
    Error::new(path, what, "the file is cut short or damaged: delete it and fetch it again")
}

/// A set from a file of images, `[images, height, width]`, and one of labels, `[images]`.
pub fn dataset(
    images: (&Path, &[u8]),
    labels_file: (&Path, &[u8]),
    classes: usize,
) -> Result<Dataset, Error> {
    let array = read(images.0, images.1)?;
    let &[count, height, width] = &array.shape[..] else {
        let what = format!("shape {:?}, not [images, height, width]", array.shape);
        return Err(Error::new(images.0, what, "is it the file of labels?"));
    };
    let truth = read(labels_file.0, labels_file.1)?;
    if truth.shape != [count] || array.bytes.is_empty() {
        let what = format!("shape {:?} for {count} images {height} x {width}", truth.shape);
        return Err(Error::new(
            labels_file.0,
            what,
            "images and labels must belong to the same part",
        ));
    }
    let labels = labels(labels_file.0, truth.bytes.iter().copied(), 0, classes)?;
    let images = Images { channels: 1, height, width, white: 255, pixels: array.bytes };
    Ok(Dataset {
        inputs: Inputs::Images(images),
        answers: Answers::Classes { classes, labels },
        groups: Default::default(),
    })
}

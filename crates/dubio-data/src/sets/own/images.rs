//! Images of a user: a folder for each class, or a list of files.

use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::mistakes::Mistakes;
use super::options::Own;
use super::resize::fitted;
use super::split::{Side, Split};
use super::whole::{Seen, Whole};
use crate::dataset::{Answers, Dataset, Images, Inputs};
use crate::error::Error;
use crate::formats::images::{decode, inside};
use crate::formats::open;

/// Whether a file's name says that it is an image which can be read.
pub(super) fn is_image_name(name: &str) -> bool {
    let end = name.rsplit_once('.').map(|(_, end)| end.to_ascii_lowercase());
    matches!(end.as_deref(), Some("png" | "jpg" | "jpeg"))
}

/// The images of a list, whose paths are relative to it.
pub(super) fn listed(own: &Own, files: &[&str]) -> Result<Images, Error> {
    let folder = own.path.parent().unwrap_or(Path::new(""));
    let paths: Vec<_> = files.iter().map(|file| inside(&own.path, folder, file)).collect();
    read_all(own, &paths, "correct the list, whose paths are relative to it, or the files")
}

/// `train/CLASS/*.png` and `test/CLASS/*.png`, or `CLASS/*.png`. Classes are in the order of their names.
pub(super) fn folder(own: &Own) -> Result<Whole, Error> {
    let top = subfolders(&own.path)?;
    if own.is_unlabelled() || (top.is_empty() && !files(&own.path)?.is_empty()) {
        return unlabelled(own);
    }
    let half =
        |names: &[&str]| names.iter().map(|name| own.path.join(name)).find(|p| top.contains(p));
    let (train, test) = (half(&["train", "training"]), half(&["test", "testing"]));
    // A class may be called `train`, but then it has images, not folders.
    let has_classes = |half: &PathBuf| Ok::<_, Error>(!subfolders(half)?.is_empty());
    if let (Some(half), None) | (None, Some(half)) = (&train, &test)
        && has_classes(half)?
    {
        let what = format!("there is a folder `{}` alone", file_name(half));
        let advice = "name the folders of both sets `train` and `test`, or put the folders of the classes \
                      beside each other and the split is drawn";
        return Err(Error::new(&own.path, what, advice));
    }
    let (Some(train), Some(test)) = (train, test) else {
        let classes = class_names(&[&own.path])?;
        let data = labelled(own, found(&own.path, &classes)?, classes.len())?;
        return Ok(Whole { data, given: None, by: None, seen: seen(own, classes)? });
    };
    let classes = class_names(&[&train, &test])?;
    let (train, test) = (found(&train, &classes)?, found(&test, &classes)?);
    let sides = [vec![Side::Train; train.len()], vec![Side::Test; test.len()]].concat();
    let how = "by the folders `train` and `test`".to_string();
    let data = labelled(own, [train, test].concat(), classes.len())?;
    Ok(Whole { data, given: Some(Split { sides, how }), by: None, seen: seen(own, classes)? })
}

/// All images below a folder, in the order of their paths: an OOD set.
fn unlabelled(own: &Own) -> Result<Whole, Error> {
    let paths: Vec<_> = some(&own.path, files(&own.path)?)?.into_iter().map(Ok).collect();
    let ignored = others(&own.path, &own.path)?;
    let mut seen = Seen { kind: "images", ignored, ..Seen::default() };
    let answers = seen.unlabelled(paths.len());
    let inputs = Inputs::Images(read_all(own, &paths, OF_FOLDERS)?);
    let data = Dataset { inputs, answers, groups: Default::default() };
    Ok(Whole { data, given: None, by: None, seen })
}

fn some<T>(folder: &Path, paths: Vec<T>) -> Result<Vec<T>, Error> {
    match paths.is_empty() {
        true => Err(Error::new(folder, "no image in it", "PNG and JPEG are read")),
        false => Ok(paths),
    }
}

fn seen(own: &Own, classes: Vec<String>) -> Result<Seen, Error> {
    let task = "classification: a folder for each class".to_string();
    let (target, ignored) = ("folder".to_string(), others(&own.path, &own.path)?);
    Ok(Seen { kind: "images", target, task, classes, ignored, ..Seen::default() })
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let listed = std::fs::read_dir(folder).map_err(|e| Error::io(folder, &e))?;
    let mut paths: Vec<PathBuf> = listed.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| !file_name(path).starts_with('.'));
    paths.sort();
    Ok(paths)
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn subfolders(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    Ok(entries(folder)?.into_iter().filter(|path| path.is_dir()).collect())
}

fn class_names(folders: &[&Path]) -> Result<Vec<String>, Error> {
    let mut names = Vec::new();
    for folder in folders {
        names.extend(subfolders(folder)?.iter().map(|path| file_name(path)));
    }
    names.sort();
    names.dedup();
    match names.len() {
        0 | 1 => Err(Error::new(
            folders[0],
            format!(
                "{} in it, where two or more are expected",
                dubio_words::counted(names.len(), "folder")
            ),
            "make a folder for each class, as in train/cat/1.png and test/dog/2.png, or list the images \
             in a CSV with the columns file and label; an OOD set without labels is read with target=none",
        )),
        _ => Ok(names),
    }
}

/// The image files of a class, including those in its subfolders.
fn files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut all = Vec::new();
    for path in entries(folder)? {
        if path.is_dir() {
            all.extend(files(&path)?);
        } else if is_image_name(&file_name(&path)) {
            all.push(path);
        }
    }
    Ok(all)
}

/// The files below a folder whose names are not those of images, as paths from `root`.
fn others(folder: &Path, root: &Path) -> Result<Vec<String>, Error> {
    let mut all = Vec::new();
    for path in entries(folder)? {
        if path.is_dir() {
            all.extend(others(&path, root)?);
        } else if !is_image_name(&file_name(&path)) {
            all.push(path.strip_prefix(root).unwrap_or(&path).display().to_string());
        }
    }
    Ok(all)
}

/// The image files of each class, with its label.
fn found(folder: &Path, classes: &[String]) -> Result<Vec<(PathBuf, u32)>, Error> {
    let mut all = Vec::new();
    for (class, label) in classes.iter().zip(0..) {
        let place = folder.join(class);
        let found = if place.is_dir() { files(&place)? } else { Vec::new() };
        all.extend(found.into_iter().map(|path| (path, label)));
    }
    some(folder, all)
}

fn labelled(own: &Own, files: Vec<(PathBuf, u32)>, classes: usize) -> Result<Dataset, Error> {
    let (paths, labels): (Vec<_>, _) =
        files.into_iter().map(|(path, label)| (Ok(path), label)).unzip();
    Ok(Dataset {
        inputs: Inputs::Images(read_all(own, &paths, OF_FOLDERS)?),
        answers: Answers::Classes { classes, labels },
        groups: Default::default(),
    })
}

/// Advice about unusable images in folders.
const OF_FOLDERS: &str = "replace or remove the files; PNG and JPEG are read";

/// Decodes the images, resizes them if `size` is given, and brings them to one number of channels. Mistakes are
/// reported for every image, with advice.
fn read_all(
    own: &Own,
    paths: &[Result<PathBuf, Error>],
    mut advice: &str,
) -> Result<Images, Error> {
    let results: Vec<Result<(&PathBuf, Images), Error>> =
        paths.par_iter().map(|path| read_one(own, path.as_ref())).collect();
    let mut mistakes = Mistakes::default();
    let mut images: Vec<Images> = Vec::new();
    let mut of_first = String::new();
    for (index, result) in results.into_iter().enumerate() {
        match result {
            Err(error) => {
                mistakes.at_file(index, format!("{}: {}", error.path.display(), error.what));
            }
            Ok((path, image)) => {
                let size = |i: &Images| (i.height, i.width);
                if let Some(first) = images.first().filter(|first| size(first) != size(&image)) {
                    let what = format!(
                        "{}: {} x {} pixels, where {of_first} has {} x {}",
                        path.display(),
                        image.height,
                        image.width,
                        first.height,
                        first.width
                    );
                    mistakes.at_file(index, what);
                    advice = "give `size`, as in size=32x32, and every image gets it";
                }
                if images.is_empty() {
                    of_first = path.display().to_string();
                }
                images.push(image);
            }
        }
    }
    mistakes.finish_files(&own.path, advice)?;
    let colour = match own.get("channels") {
        Some(asked) => asked == "colour",
        None => images.iter().any(|image| image.channels == 3),
    };
    let (height, width) = (images[0].height, images[0].width);
    let channels = if colour { 3 } else { 1 };
    let pixels = images.iter().flat_map(|image| coloured(image, channels)).collect();
    Ok(Images { channels, height, width, white: 255, pixels })
}

fn read_one<'a>(
    own: &Own,
    path: Result<&'a PathBuf, &Error>,
) -> Result<(&'a PathBuf, Images), Error> {
    let path = path.map_err(Error::clone)?;
    let image = decode(path, &open(path)?)?;
    let crop = own.get("fit") == Some("crop");
    Ok((path, own.size().map_or(image.clone(), |size| fitted(&image, size, crop))))
}

/// Grey to three equal channels; colour to luma, 0.299 R + 0.587 G + 0.114 B (ITU-R BT.601).
fn coloured(image: &Images, channels: usize) -> Vec<u8> {
    match (image.channels, channels) {
        (1, 3) => image.pixels.repeat(3),
        (3, 1) => {
            let area = image.height * image.width;
            let (red, rest) = image.pixels.split_at(area);
            let (green, blue) = rest.split_at(area);
            let luma = |((&r, &g), &b): ((&u8, &u8), &u8)| {
                (0.299 * f64::from(r) + 0.587 * f64::from(g) + 0.114 * f64::from(b)).round() as u8
            };
            red.iter().zip(green).zip(blue).map(luma).collect()
        }
        _ => image.pixels.clone(),
    }
}

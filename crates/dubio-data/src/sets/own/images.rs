//! Images of a user: a folder for each class, or a list of files.

use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::mistakes::Mistakes;
use super::options::Own;
use super::resize::fitted;
use super::whole::{Seen, Whole, join};
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
    let paths = files.iter().map(|file| inside(&own.path, folder, file));
    read_all(own, &paths.collect::<Result<Vec<_>, _>>()?)
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
    let (Some(train), Some(test)) = (train, test) else {
        let classes = class_names(&[&own.path])?;
        let data = labelled(own, &own.path, &classes)?;
        return Ok(Whole { data, given: None, by: None, seen: seen(classes) });
    };
    let classes = class_names(&[&train, &test])?;
    let (train, test) = (labelled(own, &train, &classes)?, labelled(own, &test, &classes)?);
    if let (Inputs::Images(a), Inputs::Images(b)) = (&train.inputs, &test.inputs)
        && (a.channels, a.height, a.width) != (b.channels, b.height, b.width)
    {
        let shape = |i: &Images| format!("{} x {} x {}", i.channels, i.height, i.width);
        let what = format!("training images are {}, test images {}", shape(a), shape(b));
        return Err(Error::new(
            &own.path,
            what,
            "give `size` and `channels`, as in size=32x32,channels=grey",
        ));
    }
    let (data, split) = join(train, test, "by the folders `train` and `test`");
    Ok(Whole { data, given: Some(split), by: None, seen: seen(classes) })
}

/// All images below a folder, in the order of their paths: an OOD set.
fn unlabelled(own: &Own) -> Result<Whole, Error> {
    let paths = some(&own.path, files(&own.path)?)?;
    let mut seen = Seen { kind: "images", ..Seen::default() };
    let answers = seen.unlabelled(paths.len());
    let inputs = Inputs::Images(read_all(own, &paths)?);
    let data = Dataset { inputs, answers, groups: Default::default() };
    Ok(Whole { data, given: None, by: None, seen })
}

fn some(folder: &Path, paths: Vec<PathBuf>) -> Result<Vec<PathBuf>, Error> {
    match paths.is_empty() {
        true => Err(Error::new(folder, "no image in it", "PNG and JPEG are read")),
        false => Ok(paths),
    }
}

fn seen(classes: Vec<String>) -> Seen {
    let task = "classification: a folder for each class".to_string();
    Seen { kind: "images", target: "folder".to_string(), task, classes, ..Seen::default() }
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

/// The image files of a class, those of its own folders too.
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

fn labelled(own: &Own, folder: &Path, classes: &[String]) -> Result<Dataset, Error> {
    let (mut paths, mut labels) = (Vec::new(), Vec::new());
    for (class, label) in classes.iter().zip(0..) {
        let place = folder.join(class);
        let found = if place.is_dir() { files(&place)? } else { Vec::new() };
        labels.extend(vec![label; found.len()]);
        paths.extend(found);
    }
    let paths = some(folder, paths)?;
    let answers = Answers::Classes { classes: classes.len(), labels };
    Ok(Dataset {
        inputs: Inputs::Images(read_all(own, &paths)?),
        answers,
        groups: Default::default(),
    })
}

/// Decodes, brings all to one size and one number of channels. What is wrong is reported for every image.
fn read_all(own: &Own, paths: &[PathBuf]) -> Result<Images, Error> {
    let one = |path: &PathBuf| {
        let image = decode(path, &open(path)?)?;
        let crop = own.get("fit") == Some("crop");
        Ok::<_, Error>(own.size().map_or(image.clone(), |size| fitted(&image, size, crop)))
    };
    let results: Vec<Result<Images, Error>> = paths.par_iter().map(one).collect();
    let mut mistakes = Mistakes::default();
    let (mut images, mut of_first): (Vec<Images>, _) = (Vec::new(), 0);
    let mut advice = "replace or remove the files";
    for (index, result) in results.into_iter().enumerate() {
        match result {
            Err(error) => mistakes.at_file(index, error.in_one_line()),
            Ok(image) => {
                let size = |i: &Images| (i.height, i.width);
                if let Some(first) = images.first().filter(|first| size(first) != size(&image)) {
                    let what = format!(
                        "{}: {} x {} pixels, where {} has {} x {}",
                        paths[index].display(),
                        image.height,
                        image.width,
                        paths[of_first].display(),
                        first.height,
                        first.width
                    );
                    mistakes.at_file(index, what);
                    advice = "give `size`, as in size=32x32, and every image gets it";
                }
                if images.is_empty() {
                    of_first = index;
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

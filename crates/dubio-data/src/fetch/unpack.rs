//! Files out of a `.tar.gz`: only those that are asked for, each at its own place, so that no
//! path inside the archive is ever followed.

use std::fs;
use std::io::{BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use super::part::{part_of, write_part};
use crate::check::verify;
use crate::error::Error;
use crate::sets::{Archive, File, Origin};

const DAMAGED: &str = "the archive is damaged: delete it and fetch it again";

/// Writes the wanted members of an archive to their places below `root`.
pub(super) fn members(
    path: &Path,
    archive: &Archive,
    wanted: &[File],
    root: &Path,
) -> Result<(), Error> {
    let file = fs::File::open(path).map_err(|error| Error::io(path, &error))?;
    let mut tar = tar::Archive::new(MultiGzDecoder::new(BufReader::new(file)));
    let broken = |error: std::io::Error| Error::new(path, error, DAMAGED);
    let mut missing: Vec<(&str, &File)> = wanted
        .iter()
        .filter_map(|file| match file.origin {
            Origin::Member(of, member) if of == archive => Some((member, file)),
            _ => None,
        })
        .collect();
    for entry in tar.entries().map_err(broken)? {
        let entry = entry.map_err(broken)?;
        let name = entry.path().map_err(broken)?.into_owned();
        let name = name.strip_prefix("./").unwrap_or(&name);
        let place = missing.iter().position(|(member, _)| Path::new(member) == name);
        if let Some(place) = place {
            let (_, file) = missing.swap_remove(place);
            write(entry, file, &root.join(&*file.path), archive.url)?;
        }
        if missing.is_empty() {
            return Ok(());
        }
    }
    let names: Vec<&str> = missing.iter().map(|(member, _)| *member).collect();
    Err(Error::new(path, format!("there is no {} in it", names.join(", ")), DAMAGED))
}

fn write(entry: impl Read, file: &File, target: &Path, origin: &str) -> Result<(), Error> {
    let part = part_of(target);
    let io = |error: std::io::Error| Error::io(&part, &error);
    if let Some(folder) = target.parent() {
        fs::create_dir_all(folder).map_err(|error| Error::io(folder, &error))?;
    }
    let mut out = write_part(&part, 0).map_err(io)?;
    // One byte more than there should be is enough to be refused.
    std::io::copy(&mut entry.take(file.size.most() + 1), &mut out).map_err(io)?;
    verify(file, &part, &format!("{origin}, {}", file.path)).inspect_err(|_| {
        let _ = fs::remove_file(&part);
    })?;
    fs::rename(&part, target).map_err(|error| Error::io(target, &error))
}

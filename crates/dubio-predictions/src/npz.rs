//! An `.npz` archive: a zip file of `.npy` entries, stored or deflated.

use std::io::{Cursor, Read, Seek, SeekFrom, Write};
use std::path::Path;

use zip::read::ZipFile;
use zip::{CompressionMethod, ZipArchive};

use crate::Arrays;
use crate::array::Array;
use crate::bytes::Bytes;
use crate::error::{Error, Fault};
use crate::npy::Header;

const DAMAGED: &str = "the archive is damaged: write it again with numpy.savez";

/// Deflate cannot make data smaller than this; a header that claims more is lying.
const MOST_EXPANSION: usize = 1032;

/// Arrays that together unpack to more than this go to temporary files instead of memory.
const IN_MEMORY: usize = 1 << 30;

/// Stored entries up to this size have their checksum compared. Larger ones are mapped and only
/// read when they are scored; a second pass over them would cost as much as the scores.
const CHECKED: usize = 1 << 26;

/// Entries in one archive; no predictions file has more than a few.
const MOST_ENTRIES: usize = 1 << 12;

/// Maps stored entries and unpacks deflated ones.
pub(crate) fn read(path: &Path, wanted: &dyn Fn(&str) -> bool) -> Result<Arrays, Error> {
    let file = Bytes::map(path).map_err(|e| Error::io(path, &e))?;
    let mut archive = ZipArchive::new(Cursor::new(file.get()))
        .map_err(|e| Error::file(path, format!("not a readable .npz archive: {e}"), DAMAGED))?;
    if archive.len() > MOST_ENTRIES {
        return Err(Error::file(path, format!("an archive of {} entries", archive.len()), DAMAGED));
    }
    if archive.has_duplicate_names() {
        return Err(Error::file(path, "an archive with two entries of one name", DAMAGED));
    }
    // Entries that share their bytes can unpack to far more than the archive's size allows.
    match archive.has_overlapping_entries() {
        Ok(false) => {}
        Ok(true) => return Err(Error::file(path, "an archive whose entries overlap", DAMAGED)),
        Err(e) => return Err(Error::file(path, format!("unreadable: {e}"), DAMAGED)),
    }
    let mut arrays = Arrays::default();
    let mut memory = IN_MEMORY;
    for index in 0..archive.len() {
        let name =
            archive.by_index_raw(index).and_then(|entry| entry.name().map(|n| n.to_string()));
        let name = name.map_err(|e| Error::file(path, format!("entry {index}: {e}"), DAMAGED))?;
        let Some(array_name) = name.strip_suffix(".npy") else { continue };
        arrays.note(array_name, wanted, || {
            entry(&file, &mut archive, index, &mut memory)
                .map_err(|fault| fault.at(path, array_name))
        })?;
    }
    Ok(arrays)
}

fn entry(
    file: &Bytes,
    archive: &mut ZipArchive<Cursor<&[u8]>>,
    index: usize,
    memory: &mut usize,
) -> Result<Array, Fault> {
    let broken = |e: &dyn std::fmt::Display| Fault::new(format!("unreadable: {e}"), DAMAGED);
    let raw = archive.by_index_raw(index).map_err(|e| broken(&e))?;
    if raw.encrypted() {
        return Err(Fault::new("the entry is encrypted", "write the archive without a password"));
    }
    let (method, size, crc) = (raw.compression(), raw.size(), raw.crc32());
    let packed = raw.compressed_size() as usize;
    let start = raw.data_start().ok_or_else(|| broken(&"no data"))? as usize;
    drop(raw);
    let bytes = start.checked_add(packed).and_then(|end| file.slice(start..end));
    let bytes = bytes.ok_or_else(|| broken(&"the archive is cut short"))?;
    match method {
        CompressionMethod::Stored => {
            if size != packed as u64 {
                return Err(broken(&"its two sizes differ, though it is not compressed"));
            }
            if packed <= CHECKED && crc32fast::hash(bytes.get()) != crc {
                return Err(broken(&"its checksum is wrong"));
            }
            Header::parse(bytes.get())?.array(&bytes)
        }
        CompressionMethod::Deflated => {
            let unpacked = archive.by_index(index).map_err(|e| broken(&e))?;
            inflate(unpacked, memory)
        }
        other => Err(Fault::new(
            format!("compressed by {other}, which .npz files are not"),
            "write it with numpy.savez or numpy.savez_compressed",
        )),
    }
}

/// Unpacks an entry: as many bytes as its own header says and its packed size makes possible.
fn inflate<R: Read>(mut reader: ZipFile<'_, R>, memory: &mut usize) -> Result<Array, Fault> {
    let broken = |e: &dyn std::fmt::Display| Fault::new(format!("unreadable: {e}"), DAMAGED);
    let (packed, size) = (reader.compressed_size() as usize, reader.size());
    let mut head = Vec::new();
    reader.by_ref().take(1 << 15).read_to_end(&mut head).map_err(|e| broken(&e))?;
    let header = Header::parse(&head)?;
    let possible = packed.saturating_mul(MOST_EXPANSION).saturating_add(1 << 12);
    let total = header.total().filter(|&total| total <= possible).ok_or_else(|| {
        broken(&format!("its header claims more than {packed} packed bytes can hold"))
    })?;
    if total as u64 != size {
        return Err(broken(&format!("its header needs {total} bytes, the archive has {size}")));
    }
    // One byte more than expected, so that an entry which is too long is seen to be.
    let rest = (total + 1).saturating_sub(head.len()) as u64;
    let bytes = if total <= *memory {
        *memory -= total;
        reader.take(rest).read_to_end(&mut head).map_err(|e| broken(&e))?;
        Bytes::owned(head)
    } else {
        let mut file = tempfile::tempfile().map_err(|e| broken(&e))?;
        file.write_all(&head).map_err(|e| broken(&e))?;
        std::io::copy(&mut reader.take(rest), &mut file).map_err(|e| broken(&e))?;
        file.seek(SeekFrom::Start(0)).map_err(|e| broken(&e))?;
        Bytes::map_file(&file).map_err(|e| broken(&e))?
    };
    header.array(&bytes)
}

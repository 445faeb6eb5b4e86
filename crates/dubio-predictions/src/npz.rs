//! An `.npz` archive: a zip file of `.npy` entries, stored or deflated.

use std::fmt::Display;
use std::io::{BufReader, Read, Write};
use std::path::Path;

use zip::read::ZipFile;
use zip::{CompressionMethod, ZipArchive};

use crate::Arrays;
use crate::array::Array;
use crate::bytes::{Bytes, Reader};
use crate::error::{Error, Fault};
use crate::npy::Header;

const DAMAGED: &str = "the archive is damaged: write it again with numpy.savez";

/// Deflate cannot shrink data by more than this factor; a header that claims more is lying.
const MOST_EXPANSION: usize = 1032;

/// Arrays that together unpack to more than this go to temporary files instead of memory.
const IN_MEMORY: usize = 1 << 26;

/// How many times larger than the archive its arrays may be once they are unpacked. Predictions hardly
/// compress; what compresses more is a handful of numbers repeated, or made to fill the disk.
const MOST_GROWTH: usize = 32;

/// Bytes that may be unpacked even from the smallest archive.
const ALWAYS_ALLOWED: usize = 1 << 24;

/// Most entries in one archive; no predictions file has more than a few.
const MOST_ENTRIES: usize = 1 << 12;

/// Finds stored entries and unpacks deflated ones.
pub(crate) fn read(
    path: &Path,
    file: &Bytes,
    wanted: &dyn Fn(&str) -> bool,
) -> Result<Arrays, Error> {
    let mut archive = ZipArchive::new(BufReader::new(file.reader()))
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
    let mut room = Room::of(file);
    let names = names(path, &mut archive)?;
    for (index, name) in names.iter().enumerate() {
        let Some(array) = name.strip_suffix(".npy") else {
            arrays.unread.push(name.clone());
            continue;
        };
        // numpy knows both by the shorter name, and gives one of them.
        if names.iter().any(|other| other == array) {
            let what = format!("both an entry `{array}` and an entry `{name}`");
            return Err(Error::file(path, what, "leave one of them"));
        }
        arrays.note(array, wanted, || {
            entry(file, &mut archive, index, &mut room).map_err(|fault| fault.at(path, array))
        })?;
    }
    Ok(arrays)
}

type Archive = ZipArchive<BufReader<Reader>>;

/// The names of the entries, in the order of the archive.
fn names(path: &Path, archive: &mut Archive) -> Result<Vec<String>, Error> {
    let count = archive.len();
    let name = |index| {
        let name = archive.by_index_raw(index).and_then(|e| e.name().map(|n| n.to_string()));
        name.map_err(|e| Error::file(path, format!("entry {index}: {e}"), DAMAGED))
    };
    (0..count).map(name).collect()
}

fn broken(what: impl Display) -> Fault {
    Fault::new(format!("unreadable: {what}"), DAMAGED)
}

fn entry(
    file: &Bytes,
    archive: &mut Archive,
    index: usize,
    room: &mut Room,
) -> Result<Array, Fault> {
    let raw = archive.by_index_raw(index).map_err(broken)?;
    let (method, size, crc) = (raw.compression(), raw.size(), raw.crc32());
    if raw.encrypted() || encrypted_here(file, raw.header_start() as usize)? {
        return Err(Fault::new("the entry is encrypted", "write the archive without a password"));
    }
    let packed = raw.compressed_size() as usize;
    let start = raw.data_start().ok_or_else(|| broken("no data"))? as usize;
    drop(raw);
    match method {
        CompressionMethod::Stored => {
            let bytes = start.checked_add(packed).and_then(|end| file.slice(start..end));
            let bytes = bytes.ok_or_else(|| broken("the archive is cut short"))?;
            if size != packed as u64 {
                return Err(broken("its two sizes differ, though it is not compressed"));
            }
            let bytes = bytes.checked(crc);
            Header::of(&bytes)?.array(&bytes)
        }
        CompressionMethod::Deflated => inflate(archive.by_index(index).map_err(broken)?, room),
        other => Err(Fault::new(
            format!("compressed by {other}, which .npz files are not"),
            "write it with numpy.savez or numpy.savez_compressed",
        )),
    }
}

/// Whether the header before the data says that the entry is encrypted: the archive's list of entries may
/// not say so.
fn encrypted_here(file: &Bytes, header: usize) -> Result<bool, Fault> {
    let flags = header.checked_add(8).and_then(|end| file.slice(header + 6..end));
    let flags = flags.ok_or_else(|| broken("the archive is cut short"))?;
    Ok(flags.head(1).map_err(broken)?[0] & 1 == 1)
}

/// What is left of the room for unpacked arrays.
struct Room {
    /// Bytes in all, wherever they go.
    allowed: usize,
    /// Bytes in memory.
    memory: usize,
}

impl Room {
    fn of(file: &Bytes) -> Self {
        let allowed = file.len().saturating_mul(MOST_GROWTH).max(ALWAYS_ALLOWED);
        Self { allowed, memory: IN_MEMORY }
    }

    /// Takes room for this many more bytes, or says that they may not be unpacked.
    fn take(&mut self, bytes: usize) -> Result<(), Fault> {
        let left = self.allowed.checked_sub(bytes).ok_or_else(|| {
            let what = format!(
                "unpacks to {bytes} bytes, and an archive may grow to {MOST_GROWTH} times its size \
                 or {} MiB",
                ALWAYS_ALLOWED >> 20
            );
            Fault::new(what, "write it with numpy.savez, which does not compress")
        })?;
        self.allowed = left;
        Ok(())
    }
}

/// Unpacks an entry: as many bytes as its own header says and its packed size makes possible.
fn inflate<R: Read>(mut reader: ZipFile<'_, R>, room: &mut Room) -> Result<Array, Fault> {
    let (packed, size) = (reader.compressed_size() as usize, reader.size());
    let mut head = Vec::new();
    reader.by_ref().take(1 << 15).read_to_end(&mut head).map_err(broken)?;
    let header = Header::parse(&head)?;
    let possible = packed.saturating_mul(MOST_EXPANSION).saturating_add(1 << 12);
    let total = header.total().filter(|&total| total <= possible).ok_or_else(|| {
        broken(format!("its header claims more than {packed} packed bytes can hold"))
    })?;
    if total as u64 != size {
        return Err(broken(format!("its header needs {total} bytes, the archive has {size}")));
    }
    room.take(total)?;
    // One byte more than expected, so that an entry which is too long is seen to be.
    let mut rest = reader.take((total + 1).saturating_sub(head.len()) as u64);
    let bytes = if total <= room.memory {
        room.memory -= total;
        rest.read_to_end(&mut head).map_err(broken)?;
        Bytes::owned(head)
    } else {
        aside(&head, &mut rest, total)?
    };
    header.array(&bytes)
}

/// Unpacks to a temporary file.
fn aside(head: &[u8], rest: &mut impl Read, total: usize) -> Result<Bytes, Fault> {
    let no_room = |e: std::io::Error| {
        let folder = std::env::temp_dir();
        let what = format!("could not be unpacked to {}: {e}", folder.display());
        let megabytes = total.div_ceil(1_000_000);
        Fault::new(what, format!("set TMPDIR to a folder with room for {megabytes} MB"))
    };
    let mut file = tempfile::tempfile().map_err(no_room)?;
    file.write_all(head).map_err(no_room)?;
    let mut block = vec![0; 1 << 16];
    loop {
        match rest.read(&mut block).map_err(broken)? {
            0 => break,
            read => file.write_all(&block[..read]).map_err(no_room)?,
        }
    }
    Bytes::file(file).map_err(no_room)
}

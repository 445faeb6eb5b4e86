//! Unpacking with a limit: a file must hold as many bytes as it claims, and no more.

use std::io::Read;
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use super::DAMAGED;
use crate::error::Error;

/// Deflate codes at most 258 bytes in two bits, so nothing unpacks to more than this many times
/// its size (zlib's own figure is 1032).
pub const LARGEST_RATIO: usize = 1032;

/// Whether bytes start like a gzip file.
pub fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

/// Unpacks bytes as they are read.
pub(crate) fn unpacker(bytes: &[u8]) -> MultiGzDecoder<&[u8]> {
    MultiGzDecoder::new(bytes)
}

/// Whether `packed` bytes can hold `claim` bytes at all.
pub(crate) fn can_hold(packed: usize, claim: usize) -> bool {
    claim / LARGEST_RATIO <= packed
}

/// Reads exactly `length` bytes. Memory grows with what arrives, not with what is claimed.
pub(crate) fn exactly(
    path: &Path,
    reader: &mut impl Read,
    length: usize,
) -> Result<Vec<u8>, Error> {
    const FIRST: usize = 1 << 20;
    let mut out = Vec::with_capacity(length.min(FIRST));
    let limit = length as u64;
    reader.by_ref().take(limit).read_to_end(&mut out).map_err(|error| broken(path, &error))?;
    if out.len() < length {
        let what = format!("{} bytes where {length} should be", out.len());
        return Err(Error::new(path, what, "the file is cut short: delete it and fetch it again"));
    }
    Ok(out)
}

/// Checks that nothing more follows; reading to the end also verifies the checksum.
pub(crate) fn ends(path: &Path, reader: &mut impl Read) -> Result<(), Error> {
    match reader.read(&mut [0]) {
        Ok(0) => Ok(()),
        Ok(_) => Err(Error::new(path, "it has data after its expected end", DAMAGED)),
        Err(error) => Err(broken(path, &error)),
    }
}

/// All of a small packed text, or an error when it is larger than `limit`.
pub fn unpack(path: &Path, bytes: &[u8], limit: usize) -> Result<Vec<u8>, Error> {
    let mut reader = unpacker(bytes);
    let mut out = Vec::new();
    let most = limit as u64;
    reader.by_ref().take(most).read_to_end(&mut out).map_err(|error| broken(path, &error))?;
    ends(path, &mut reader)?;
    Ok(out)
}

fn broken(path: &Path, error: &std::io::Error) -> Error {
    Error::new(path, format!("cannot be unpacked: {error}"), DAMAGED)
}

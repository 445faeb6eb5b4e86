//! The bytes of an array: a stretch of a file, or memory of its own.
//!
//! Files are read by calls and never mapped: a file that is cut short meanwhile then gives an error
//! instead of a signal, and what was read does not stay in this process's memory.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use crate::checksum::Checksum;
use crate::input;

/// The most bytes that are read at once; a multiple of every element's size.
pub(crate) const BLOCK: usize = 1 << 16;

/// Shared read-only bytes.
#[derive(Clone, Debug)]
pub(crate) struct Bytes {
    store: Store,
    range: Range<usize>,
    /// Checksum of the entry that these bytes are part of.
    checksum: Option<Arc<Checksum>>,
}

#[derive(Clone, Debug)]
enum Store {
    File(Arc<Stored>),
    Memory(Arc<dyn Memory>),
}

/// Bytes that somebody holds in memory.
pub trait Memory: AsRef<[u8]> + Send + Sync {}

impl<T: AsRef<[u8]> + Send + Sync> Memory for T {}

impl std::fmt::Debug for dyn Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes", self.as_ref().len())
    }
}

impl Bytes {
    /// The bytes of a file.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Self::file(input::open(path)?)
    }

    /// The bytes of an open file.
    pub(crate) fn file(file: File) -> io::Result<Self> {
        let length = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
        let store = Store::File(Arc::new(Stored::new(file)));
        Ok(Self { range: 0..length, store, checksum: None })
    }

    pub(crate) fn owned(bytes: Vec<u8>) -> Self {
        Self::shared(Arc::new(bytes))
    }

    /// Bytes in memory that others own.
    pub(crate) fn shared(bytes: Arc<dyn Memory>) -> Self {
        let range = 0..(*bytes).as_ref().len();
        Self { range, store: Store::Memory(bytes), checksum: None }
    }

    /// The same bytes, with a checksum that is computed while they are read.
    pub(crate) fn checked(mut self, crc32: u32) -> Self {
        self.checksum = Some(Arc::new(Checksum::new(self.range.clone(), crc32)));
        self
    }

    pub(crate) fn len(&self) -> usize {
        self.range.len()
    }

    /// A stretch of these bytes; `None` when it reaches beyond them.
    pub(crate) fn slice(&self, range: Range<usize>) -> Option<Self> {
        let start = self.range.start.checked_add(range.start)?;
        let end = self.range.start.checked_add(range.end)?;
        (start <= end && end <= self.range.end).then(|| Self { range: start..end, ..self.clone() })
    }

    /// Calls `f` with a stretch of these bytes, which must lie within them.
    pub(crate) fn with<T>(&self, range: Range<usize>, f: impl FnOnce(&[u8]) -> T) -> io::Result<T> {
        thread_local!(static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) });
        let place = self.range.start + range.start..self.range.start + range.end;
        match &self.store {
            Store::Memory(bytes) => Ok(f(&(**bytes).as_ref()[place])),
            Store::File(file) => BUFFER.with_borrow_mut(|buffer| {
                buffer.resize(place.len(), 0);
                file.read_exact_at(buffer, place.start as u64)?;
                if let Some(checksum) = &self.checksum {
                    checksum.note(place.start, buffer)?;
                }
                Ok(f(buffer))
            }),
        }
    }

    /// The first bytes, `most` of them or as many as there are.
    pub(crate) fn head(&self, most: usize) -> io::Result<Vec<u8>> {
        self.with(0..most.min(self.len()), <[u8]>::to_vec)
    }

    /// Calls `f` with a stretch of these bytes, in order, a block at a time: however long it is, it
    /// takes little memory.
    pub(crate) fn each_block(
        &self,
        range: Range<usize>,
        mut f: impl FnMut(&[u8]),
    ) -> io::Result<()> {
        let starts = range.clone().step_by(BLOCK);
        starts
            .map(|at| at..range.end.min(at + BLOCK))
            .try_for_each(|block| self.with(block, &mut f))
    }

    /// Reads what has not been read yet of the entry that these bytes are part of, so that its checksum
    /// is compared.
    pub(crate) fn read_rest(&self) -> io::Result<()> {
        let Some(checksum) = &self.checksum else { return Ok(()) };
        let rest = |range| {
            let rest = Self { range, ..self.clone() };
            rest.each_block(0..rest.len(), |_| ())
        };
        checksum.unseen().into_iter().try_for_each(rest)
    }

    /// A reader of these bytes that computes no checksum.
    pub(crate) fn reader(&self) -> Reader {
        Reader { bytes: Self { checksum: None, ..self.clone() }, at: 0 }
    }
}

/// Reads bytes from a position of its own.
pub(crate) struct Reader {
    bytes: Bytes,
    at: u64,
}

impl Read for Reader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let at = usize::try_from(self.at).unwrap_or(usize::MAX).min(self.bytes.len());
        let count = out.len().min(self.bytes.len() - at).min(BLOCK);
        self.bytes.with(at..at + count, |bytes| out[..count].copy_from_slice(bytes))?;
        self.at += count as u64;
        Ok(count)
    }
}

impl Seek for Reader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let place = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => (self.bytes.len() as u64).checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = place.ok_or_else(|| io::Error::other("a place before the beginning"))?;
        Ok(self.at)
    }
}

/// A file that several threads read, each at its own offset.
#[cfg(unix)]
#[derive(Debug)]
struct Stored(File);

#[cfg(unix)]
impl Stored {
    fn new(file: File) -> Self {
        Self(file)
    }

    fn read_exact_at(&self, out: &mut [u8], at: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.0, out, at)
    }
}

/// The same where only one thread can read at a time.
#[cfg(not(unix))]
#[derive(Debug)]
struct Stored(std::sync::Mutex<File>);

#[cfg(not(unix))]
impl Stored {
    fn new(file: File) -> Self {
        Self(std::sync::Mutex::new(file))
    }

    fn read_exact_at(&self, out: &mut [u8], at: u64) -> io::Result<()> {
        let mut file = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(out)
    }
}

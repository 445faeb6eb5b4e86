//! The bytes of an array: a stretch of a mapped file, or memory of its own.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use memmap2::Mmap;

/// Files up to this size are read through their maps, which stay in memory.
const SMALL: usize = 1 << 28;

/// Shared read-only bytes.
#[derive(Clone, Debug)]
pub(crate) struct Bytes {
    store: Store,
    range: Range<usize>,
}

#[derive(Clone, Debug)]
enum Store {
    Mapped(Arc<Mapped>),
    Owned(Arc<Vec<u8>>),
}

#[derive(Debug)]
struct Mapped {
    map: Mmap,
    /// The file itself, if it is large.
    large: Option<File>,
}

impl Bytes {
    /// Maps a file into memory.
    pub(crate) fn map(path: &Path) -> io::Result<Self> {
        Self::map_file(&File::open(path)?)
    }

    /// Maps an open file into memory.
    pub(crate) fn map_file(file: &File) -> io::Result<Self> {
        // SAFETY: the map is read-only and its bytes are only ever read as plain numbers. Another
        // process that rewrites the file meanwhile can change the numbers, and one that cuts it
        // short can end this process with a bus error, but neither breaks a rule of the language
        // that we rely on: no reference into the map outlives a read.
        #[allow(unsafe_code)]
        let map = unsafe { Mmap::map(file)? };
        let large = if map.len() > SMALL { Some(file.try_clone()?) } else { None };
        Ok(Self { range: 0..map.len(), store: Store::Mapped(Arc::new(Mapped { map, large })) })
    }

    pub(crate) fn owned(bytes: Vec<u8>) -> Self {
        Self { range: 0..bytes.len(), store: Store::Owned(Arc::new(bytes)) }
    }

    /// A stretch of these bytes; `None` when it reaches beyond them.
    pub(crate) fn slice(&self, range: Range<usize>) -> Option<Self> {
        let start = self.range.start.checked_add(range.start)?;
        let end = self.range.start.checked_add(range.end)?;
        (start <= end && end <= self.range.end)
            .then(|| Self { store: self.store.clone(), range: start..end })
    }

    pub(crate) fn get(&self) -> &[u8] {
        match &self.store {
            Store::Mapped(mapped) => &mapped.map[self.range.clone()],
            Store::Owned(bytes) => &bytes[self.range.clone()],
        }
    }

    /// Calls `f` with a stretch of these bytes. Those of a large file are read and not looked at in
    /// the map: its pages stay in memory, with others that the system brings along.
    pub(crate) fn with<T>(&self, range: Range<usize>, f: impl FnOnce(&[u8]) -> T) -> T {
        #[cfg(unix)]
        if let Store::Mapped(mapped) = &self.store
            && let Some(file) = &mapped.large
        {
            use std::cell::RefCell;
            use std::os::unix::fs::FileExt;
            thread_local!(static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) });
            return BUFFER.with_borrow_mut(|buffer| {
                buffer.resize(range.len(), 0);
                match file.read_exact_at(buffer, (self.range.start + range.start) as u64) {
                    Ok(()) => f(buffer),
                    Err(_) => f(&self.get()[range]),
                }
            });
        }
        f(&self.get()[range])
    }
}

//! The bytes of an array: a stretch of a mapped file, or memory of its own.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use memmap2::Mmap;

/// Maps up to this size stay in memory while they are read.
const SMALL: usize = 1 << 28;

/// Shared read-only bytes.
#[derive(Clone, Debug)]
pub(crate) struct Bytes {
    store: Store,
    range: Range<usize>,
}

#[derive(Clone, Debug)]
enum Store {
    Mapped(Arc<Mmap>),
    Owned(Arc<Vec<u8>>),
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
        Ok(Self { range: 0..map.len(), store: Store::Mapped(Arc::new(map)) })
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
            Store::Mapped(map) => &map[self.range.clone()],
            Store::Owned(bytes) => &bytes[self.range.clone()],
        }
    }

    /// Lets the system take back the pages of a stretch; they are read again when needed. Small
    /// maps are left alone: telling all cores that pages are gone costs more than it saves.
    pub(crate) fn release(&self, range: Range<usize>) {
        #[cfg(unix)]
        if let Store::Mapped(map) = &self.store
            && map.len() > SMALL
        {
            // Only whole pages, and only of this stretch.
            const PAGE: usize = 4096;
            let start = (self.range.start + range.start).next_multiple_of(PAGE);
            let end = (self.range.start + range.end) / PAGE * PAGE;
            if start < end {
                // SAFETY: the pages are a clean, read-only, file-backed mapping: dropping them
                // loses nothing, and the next access reads them from the file.
                #[allow(unsafe_code)]
                let _ = unsafe {
                    let advice = memmap2::UncheckedAdvice::DontNeed;
                    map.unchecked_advise_range(advice, start, end - start)
                };
            }
        }
        #[cfg(not(unix))]
        let _ = range;
    }
}

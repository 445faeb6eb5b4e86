//! Large blocks of memory that were given back, for whoever asks next.
//!
//! A new block has to be cleared by the system page by page, which took a quarter of the time of scoring
//! five million examples: each half of each split takes and gives back the same dozens of blocks.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Blocks that are kept at most.
const MOST: usize = 64;

/// The blocks, and how much memory there is in all. Kept blocks never raise the most that was ever in use:
/// memory is as large as without them.
struct Spare {
    blocks: [Option<Block>; MOST],
    /// Bytes of blocks in use, and the most that ever were.
    used: usize,
    most_used: usize,
    /// Bytes of blocks that are kept.
    kept: usize,
}

/// A block of this size from the system; null where it has none.
type New = fn(usize) -> *mut u8;
/// Gives a block of this size back to the system.
type Release = fn(*mut u8, usize);

/// Where a block is, and its size.
#[derive(Clone, Copy)]
struct Block {
    address: usize,
    size: usize,
}

static SPARE: Mutex<Spare> = Mutex::new(Spare::new());

fn spare() -> MutexGuard<'static, Spare> {
    SPARE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A block of this size: one that was kept, or a `new` one. What has to go to make room for it goes through
/// `release`.
pub(crate) fn take(size: usize, new: New, release: Release) -> *mut u8 {
    spare().take(size, new, release)
}

/// A new block of this size, which holds zeros.
pub(crate) fn take_new(size: usize, new: New, release: Release) -> *mut u8 {
    spare().take_new(size, new, release)
}

/// Keeps a block that is no longer used, or releases it.
pub(crate) fn give(block: *mut u8, size: usize, release: Release) {
    spare().give(block, size, release);
}

impl Spare {
    const fn new() -> Self {
        Self { blocks: [None; MOST], used: 0, most_used: 0, kept: 0 }
    }

    fn take(&mut self, size: usize, new: New, release: Release) -> *mut u8 {
        let same = |block: &&mut Option<Block>| block.is_some_and(|block| block.size == size);
        match self.blocks.iter_mut().find(same).and_then(Option::take) {
            Some(found) => {
                self.kept -= size;
                self.use_more(size);
                found.address as *mut u8
            }
            None => self.take_new(size, new, release),
        }
    }

    fn take_new(&mut self, size: usize, new: New, release: Release) -> *mut u8 {
        self.use_more(size);
        self.shrink(self.most_used, release);
        let block = new(size);
        if block.is_null() {
            // Under a limit of memory, what is kept may be what is missing.
            self.shrink(0, release);
            return new(size);
        }
        block
    }

    fn give(&mut self, block: *mut u8, size: usize, release: Release) {
        self.used -= size;
        match self.blocks.iter_mut().find(|block| block.is_none()) {
            Some(place) => {
                *place = Some(Block { address: block as usize, size });
                self.kept += size;
            }
            None => release(block, size),
        }
    }

    fn use_more(&mut self, size: usize) {
        self.used += size;
        self.most_used = self.most_used.max(self.used);
    }

    /// Releases blocks until those in use and those kept are no more than so many bytes, or none is left.
    fn shrink(&mut self, most: usize, release: Release) {
        for slot in &mut self.blocks {
            if self.used + self.kept <= most {
                return;
            }
            if let Some(block) = slot.take() {
                release(block.address as *mut u8, block.size);
                self.kept -= block.size;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::ptr;

    use super::*;

    thread_local! {
        /// Bytes that the system still has, and the next address that it gives.
        static SYSTEM: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
    }

    fn new(size: usize) -> *mut u8 {
        let (left, address) = SYSTEM.get();
        match left.checked_sub(size) {
            None => ptr::null_mut(),
            Some(left) => {
                SYSTEM.set((left, address + 1));
                ptr::without_provenance_mut(address + 1)
            }
        }
    }

    fn release(_: *mut u8, size: usize) {
        let (left, address) = SYSTEM.get();
        SYSTEM.set((left + size, address));
    }

    #[test]
    fn a_block_that_was_given_back_is_used_again() {
        SYSTEM.set((1000, 0));
        let mut spare = Spare::new();
        let first = spare.take(300, new, release);
        spare.give(first, 300, release);
        assert_eq!(spare.take(300, new, release), first);
        assert_eq!(SYSTEM.get().0, 700, "only one was ever asked for");
    }

    #[test]
    fn kept_blocks_never_raise_the_most_that_was_in_use() {
        SYSTEM.set((10_000, 0));
        let mut spare = Spare::new();
        for size in [500, 400, 300, 200, 450, 350] {
            let block = spare.take(size, new, release);
            assert!(10_000 - SYSTEM.get().0 <= 500, "{size}");
            spare.give(block, size, release);
        }
    }

    #[test]
    fn where_memory_is_out_what_is_kept_goes_first() {
        SYSTEM.set((1000, 0));
        let mut spare = Spare::new();
        let (one, other) = (spare.take(500, new, release), spare.take(400, new, release));
        spare.give(one, 500, release);
        spare.give(other, 400, release);
        spare.shrink(400, release);
        // Memory that is not of these blocks has grown meanwhile: 350 bytes are there only without what is kept.
        SYSTEM.set((300, 9));
        assert!(!spare.take(350, new, release).is_null());
        assert!(spare.take(800, new, release).is_null(), "there is no more");
    }
}

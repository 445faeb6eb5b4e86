//! Large blocks of memory that were given back, for whoever asks next.
//!
//! A new block has to be cleared by the system page by page, which took a quarter of the time of scoring
//! five million examples: each half of each split takes and gives back the same dozens of blocks.

use std::sync::{Mutex, PoisonError};

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

/// Gives a block of this size back to the system.
type Release = fn(*mut u8, usize);

/// Where a block is, and its size.
#[derive(Clone, Copy)]
struct Block {
    address: usize,
    size: usize,
}

static SPARE: Mutex<Spare> =
    Mutex::new(Spare { blocks: [None; MOST], used: 0, most_used: 0, kept: 0 });

/// A block of this size: one that was kept, or a `new` one. What has to go to make room for it goes through
/// `release`.
pub(crate) fn take(size: usize, new: fn(usize) -> *mut u8, release: Release) -> *mut u8 {
    let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
    let same = |block: &&mut Option<Block>| block.is_some_and(|block| block.size == size);
    if let Some(found) = spare.blocks.iter_mut().find(same).and_then(Option::take) {
        spare.kept -= size;
        spare.use_more(size);
        return found.address as *mut u8;
    }
    drop(spare);
    take_new(size, new, release)
}

/// A new block of this size, which holds zeros.
pub(crate) fn take_new(size: usize, new: fn(usize) -> *mut u8, release: Release) -> *mut u8 {
    let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
    spare.use_more(size);
    let most = spare.most_used;
    spare.shrink(most, release);
    let block = new(size);
    if block.is_null() {
        // Under a limit of memory, what is kept may be what is missing.
        spare.shrink(0, release);
        return new(size);
    }
    block
}

/// Keeps a block that is no longer used, or releases it.
pub(crate) fn give(block: *mut u8, size: usize, release: Release) {
    let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
    spare.used -= size;
    match spare.blocks.iter_mut().find(|block| block.is_none()) {
        Some(place) => {
            *place = Some(Block { address: block as usize, size });
            spare.kept += size;
        }
        None => release(block, size),
    }
}

impl Spare {
    fn use_more(&mut self, size: usize) {
        self.used += size;
        self.most_used = self.most_used.max(self.used);
    }

    /// Releases blocks until those in use and those kept are no more than so many bytes, or none is left.
    fn shrink(&mut self, most: usize, release: Release) {
        for place in &mut self.blocks {
            if self.used + self.kept <= most {
                return;
            }
            if let Some(block) = place.take() {
                release(block.address as *mut u8, block.size);
                self.kept -= block.size;
            }
        }
    }
}

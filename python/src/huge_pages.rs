//! Large blocks of memory in huge pages, where Linux has them.
//!
//! Scoring 40 MB spent half of its time on page faults of 4 KiB each. This works as in the command's allocator, but
//! keeps nothing between calls and has no lock that a forked process could find taken: blocks are the system's, and
//! huge pages are only requested.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};

/// Huge pages are requested for blocks from this size on.
const LARGE: usize = 1 << 23;

/// Size of a huge page.
const HUGE: usize = 1 << 21;

/// The system's allocator, with huge pages for large blocks.
pub(crate) struct HugePages;

/// Asks for huge pages inside a block.
fn wish(block: *mut u8, size: usize) -> *mut u8 {
    if size >= LARGE && !block.is_null() {
        let before = block.align_offset(HUGE);
        let inside = (size - before) / HUGE * HUGE;
        // SAFETY: the range lies inside the block, and the call changes nothing in it.
        unsafe { libc::madvise(block.add(before).cast(), inside, libc::MADV_HUGEPAGE) };
    }
    block
}

// SAFETY: every block is the system's, by the layout that was asked for.
unsafe impl GlobalAlloc for HugePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        wish(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        wish(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        unsafe { System.dealloc(block, layout) };
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        wish(unsafe { System.realloc(block, layout, size) }, size)
    }
}

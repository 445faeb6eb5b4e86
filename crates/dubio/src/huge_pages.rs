//! Large blocks of memory in huge pages.
//!
//! Scoring a large file writes hundreds of megabytes once. In pages of 4 KiB that is tens of
//! thousands of faults, which took a fifth of the time (docs/PERFORMANCE.md); in pages of 2 MiB it
//! is a hundred. Linux gives huge pages to those who ask, so blocks of some size are mapped
//! directly and asked for. Everything else is left to the system's allocator.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};

/// Blocks from this size on are mapped.
const LARGE: usize = 1 << 23;

/// Size of a huge page.
const HUGE: usize = 1 << 21;

/// The system's allocator, with huge pages for large blocks.
pub(crate) struct HugePages;

fn is_large(layout: Layout) -> bool {
    layout.size() >= LARGE && layout.align() <= HUGE
}

/// Maps zeroed memory that starts at a huge page; null when there is none.
fn map(size: usize) -> *mut u8 {
    let rounded = size.next_multiple_of(HUGE);
    let Some(wanted) = rounded.checked_add(HUGE) else { return std::ptr::null_mut() };
    // SAFETY: an anonymous private mapping at no particular place; what is trimmed off below is
    // part of it and was never handed out.
    unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let start = libc::mmap(std::ptr::null_mut(), wanted, protection, flags, -1, 0);
        if start == libc::MAP_FAILED {
            return std::ptr::null_mut();
        }
        let before = start.align_offset(HUGE);
        if before > 0 {
            libc::munmap(start, before);
        }
        let block = start.byte_add(before);
        if before < HUGE {
            libc::munmap(block.byte_add(rounded), HUGE - before);
        }
        // Only a wish: without huge pages the block is as good, and slower.
        libc::madvise(block, rounded, libc::MADV_HUGEPAGE);
        block.cast()
    }
}

// SAFETY: a block is handed to `map` or to the system by its layout alone, and is given back by
// the same rule. Mapped blocks start at a multiple of any alignment that `is_large` lets through.
unsafe impl GlobalAlloc for HugePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_large(layout) { map(layout.size()) } else { unsafe { System.alloc(layout) } }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if is_large(layout) { map(layout.size()) } else { unsafe { System.alloc_zeroed(layout) } }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if is_large(layout) {
            unsafe { libc::munmap(block.cast(), layout.size().next_multiple_of(HUGE)) };
        } else {
            unsafe { System.dealloc(block, layout) };
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let new = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        if !is_large(layout) && !is_large(new) {
            return unsafe { System.realloc(block, layout, size) };
        }
        unsafe {
            let moved = self.alloc(new);
            if !moved.is_null() {
                std::ptr::copy_nonoverlapping(block, moved, layout.size().min(size));
                self.dealloc(block, layout);
            }
            moved
        }
    }
}

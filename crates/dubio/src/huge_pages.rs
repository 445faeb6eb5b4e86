//! Large blocks of memory in huge pages.
//!
//! Scoring a large file writes hundreds of megabytes once. In pages of 4 KiB that is tens of
//! thousands of faults, which took a fifth of the time (docs/PERFORMANCE.md); in pages of 2 MiB it
//! is a hundred. Linux gives huge pages to those who ask, so blocks of some size are mapped
//! directly and asked for. Everything else is left to the system's allocator.
//!
//! Where there is no memory the program says so and ends as it does when it could not run: nothing in it
//! goes on without a block that it asked for, and an abort would look like a fault of its own.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;

use crate::spare_blocks;

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
    // SAFETY: an anonymous private mapping at no particular address; what is trimmed off below is
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

/// A block, or the end of the program.
fn there(block: *mut u8, size: usize) -> *mut u8 {
    if block.is_null() { out_of_memory(size) } else { block }
}

/// Without memory, so by calls that need none.
#[cold]
fn out_of_memory(size: usize) -> ! {
    let mut text = [0; 160];
    let mut rest = &mut text[..];
    let megabytes = size.div_ceil(1_000_000);
    // A message that is cut off is better than none.
    let _ = writeln!(
        rest,
        "error: no memory for {megabytes} MB more; ask for less, or raise the limit"
    );
    let left = rest.len();
    let text = &text[..text.len() - left];
    // SAFETY: the bytes are initialised and outlive the call; `_exit` runs nothing of ours.
    unsafe {
        libc::write(2, text.as_ptr().cast(), text.len());
        libc::_exit(2)
    }
}

/// Gives a block of whole huge pages back.
fn unmap(block: *mut u8, size: usize) {
    // SAFETY: it came from `map`, and nobody uses it any more.
    unsafe { libc::munmap(block.cast(), size) };
}

// SAFETY: a block is handed to `map` or to the system by its layout alone, and is given back by
// the same rule. Mapped blocks start at a multiple of any alignment that `is_large` lets through.
unsafe impl GlobalAlloc for HugePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let size = layout.size().next_multiple_of(HUGE);
        let block = match is_large(layout) {
            true => spare_blocks::take(size, map, unmap),
            false => unsafe { System.alloc(layout) },
        };
        there(block, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let block = match is_large(layout) {
            // A new block is zero; one that was used would have to be cleared as well.
            true => spare_blocks::take_new(layout.size().next_multiple_of(HUGE), map, unmap),
            false => unsafe { System.alloc_zeroed(layout) },
        };
        there(block, layout.size())
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if is_large(layout) {
            spare_blocks::give(block, layout.size().next_multiple_of(HUGE), unmap);
        } else {
            unsafe { System.dealloc(block, layout) };
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let new = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        if !is_large(layout) && !is_large(new) {
            return there(unsafe { System.realloc(block, layout, size) }, size);
        }
        unsafe {
            let moved = self.alloc(new);
            std::ptr::copy_nonoverlapping(block, moved, layout.size().min(size));
            self.dealloc(block, layout);
            moved
        }
    }
}

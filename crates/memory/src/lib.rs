//! The system's allocator, with last words: where no memory is left, a function of the program is called that gives the
//! terminal back and ends the program with a sentence. Without it the standard library aborts, and the terminal stays
//! as it is.
//!
//! A crate of its own because an allocator cannot be written without `unsafe`, which the program forbids.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

/// What is kept free for the last words.
const RESERVE: usize = 1 << 20;
/// So long other threads wait for the last words of the first.
const PATIENCE: Duration = Duration::from_secs(5);

static LAST_WORDS: OnceLock<fn(usize)> = OnceLock::new();
static KEPT: Mutex<Option<Vec<u8>>> = Mutex::new(None);
static SPEAKS: AtomicBool = AtomicBool::new(false);

thread_local! {
    static IS_SPEAKER: Cell<bool> = const { Cell::new(false) };
}

/// Says what is to be done once an allocation of so many bytes fails; it should end the program. Of several calls the
/// first counts.
pub fn on_failure(last_words: fn(usize)) {
    if LAST_WORDS.set(last_words).is_ok()
        && let Ok(mut kept) = KEPT.lock()
    {
        *kept = Some(Vec::with_capacity(RESERVE));
    }
}

/// The system's allocator, with last words.
#[derive(Debug)]
pub struct Watched;

// SAFETY: every call goes on to the system's allocator with the same arguments, and its pointers come back unchanged.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `alloc`, which is the same.
        watched(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `alloc_zeroed`, which is the same.
        watched(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `realloc`, which is the same.
        watched(unsafe { System.realloc(pointer, layout, size) }, size)
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the pointer comes from the same allocator, with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[inline]
fn watched(pointer: *mut u8, size: usize) -> *mut u8 {
    if pointer.is_null() {
        failed(size);
    }
    pointer
}

#[cold]
fn failed(size: usize) {
    let Some(last_words) = LAST_WORDS.get() else { return };
    if !SPEAKS.swap(true, Ordering::SeqCst) {
        IS_SPEAKER.set(true);
        if let Ok(mut kept) = KEPT.try_lock() {
            *kept = None;
        }
        last_words(size);
    } else if !IS_SPEAKER.get() {
        // Going on would abort the program in the middle of the last words.
        std::thread::sleep(PATIENCE);
    }
}

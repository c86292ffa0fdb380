//! The system's allocator, with last words: where no memory is left, a function of the program is called that gives the
//! terminal back and ends the program with a sentence. Without it the standard library aborts, and the terminal stays
//! as it is.
//!
//! A crate of its own because an allocator cannot be written without `unsafe`, which the program forbids.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, UnsafeCell};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

#[cfg(all(target_os = "linux", target_env = "gnu"))]
use rustix::process::{Resource, getrlimit};

/// Memory for the last words: it is part of the program, so that it is there when nothing else is.
const RESERVE: usize = 256 << 10;
/// So large pieces are the system's own.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE: i32 = 1 << 20;
/// Number of threads with memory of their own: with one share for all they wait for each other at every other piece.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const SHARES: i32 = 8;
/// Address space that is reserved for each share.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const SHARE: u64 = 128 << 20;
/// Time that other threads wait for the last words of the first.
const PATIENCE: Duration = Duration::from_secs(5);

static LAST_WORDS: OnceLock<fn(usize)> = OnceLock::new();
static HANDLING_OOM: AtomicBool = AtomicBool::new(false);
static KEPT: Reserve = Reserve { bytes: UnsafeCell::new([0; RESERVE]), used: AtomicUsize::new(0) };

thread_local! {
    static IS_SPEAKER: Cell<bool> = const { Cell::new(false) };
}

/// Says what is to be done once an allocation of so many bytes fails; it should end the program. Of several calls the
/// first counts.
pub fn on_failure(last_words: fn(usize)) {
    let _ = LAST_WORDS.set(last_words);
}

/// Large pieces go back to the system as soon as they are free, and what is kept of the rest does not grow with the number
/// of threads. To be called before there are threads. Other systems than GNU's do so by themselves.
pub fn tune_malloc() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        const MMAP_THRESHOLD: i32 = -3;
        const ARENA_MAX: i32 = -8;
        unsafe extern "C" {
            safe fn mallopt(parameter: i32, value: i32) -> i32;
        }
        // Where the address space is limited and a share of its own is refused, a thread gets a page for each piece.
        let limit = getrlimit(Resource::As).current.unwrap_or(u64::MAX);
        let shares = if limit / 2 < SHARE * u64::from(SHARES.unsigned_abs()) { 1 } else { SHARES };
        // Both are wishes: where they are refused, more memory is kept.
        mallopt(MMAP_THRESHOLD, LARGE);
        mallopt(ARENA_MAX, shares);
    }
}

/// Memory for the last words, handed out once and never taken back.
struct Reserve {
    bytes: UnsafeCell<[u8; RESERVE]>,
    used: AtomicUsize,
}

// SAFETY: every part of the bytes is handed out once, by an atomic count.
unsafe impl Sync for Reserve {}

impl Reserve {
    fn take(&self, layout: Layout) -> *mut u8 {
        let start = self.bytes.get().cast::<u8>();
        let most = layout.size().saturating_add(layout.align());
        let at = self.used.fetch_add(most, Ordering::Relaxed);
        if at.saturating_add(most) > RESERVE {
            return std::ptr::null_mut();
        }
        let free = start.wrapping_add(at);
        free.wrapping_add(free.align_offset(layout.align()))
    }

    fn holds(&self, pointer: *mut u8) -> bool {
        (pointer as usize).wrapping_sub(self.bytes.get() as usize) < RESERVE
    }
}

/// The system's allocator, with last words.
#[derive(Debug)]
pub struct OomAllocator;

// SAFETY: every call goes on to the system's allocator with the same arguments, and its pointers come back unchanged.
// What it cannot give to the last words comes from `KEPT`, is aligned and long enough, and never goes to the system.
unsafe impl GlobalAlloc for OomAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `alloc`, which is the same.
        watched(unsafe { System.alloc(layout) }, layout)
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `alloc_zeroed`, which is the same. What is kept is zero.
        watched(unsafe { System.alloc_zeroed(layout) }, layout)
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !KEPT.holds(pointer) {
            // SAFETY: the caller keeps the contract of `realloc`, and the pointer is the system's.
            let moved = unsafe { System.realloc(pointer, layout, size) };
            if !moved.is_null() {
                return moved;
            }
        }
        // SAFETY: the caller promises that the size is not zero and fits the alignment.
        let new = watched(std::ptr::null_mut(), unsafe { Layout::from_size_align_unchecked(size, layout.align()) });
        if !new.is_null() {
            // SAFETY: both are as long as the shorter of the two, and what is kept is handed out once.
            unsafe { std::ptr::copy_nonoverlapping(pointer, new, layout.size().min(size)) };
        }
        new
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        if !KEPT.holds(pointer) {
            // SAFETY: the pointer comes from the system's allocator, with this layout.
            unsafe { System.dealloc(pointer, layout) }
        }
    }
}

#[inline]
fn watched(pointer: *mut u8, layout: Layout) -> *mut u8 {
    if pointer.is_null() { failed(layout) } else { pointer }
}

#[cold]
fn failed(layout: Layout) -> *mut u8 {
    let Some(last_words) = LAST_WORDS.get() else { return std::ptr::null_mut() };
    if !HANDLING_OOM.swap(true, Ordering::SeqCst) {
        IS_SPEAKER.set(true);
        last_words(layout.size());
    } else if IS_SPEAKER.get() {
        return KEPT.take(layout);
    } else {
        // Going on would abort the program in the middle of the last words.
        std::thread::sleep(PATIENCE);
    }
    std::ptr::null_mut()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    fn what_is_free_is_given_back() {
        const PIECE: usize = 24 << 20;
        let resident = || {
            let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
            statm.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
        };
        tune_malloc();
        let before = resident();
        // Without it the first piece that is freed makes the allocator keep those after it.
        for _ in 0..3 {
            drop(std::hint::black_box(vec![1_u8; PIECE]));
        }
        assert!(resident() < before + PIECE / 2, "{} more are kept", resident() - before);
    }

    #[test]
    fn what_is_kept_is_aligned_apart_and_ends() {
        static FRESH: Reserve = Reserve { bytes: UnsafeCell::new([0; RESERVE]), used: AtomicUsize::new(0) };
        let kept = &FRESH;
        let (one, other) = (Layout::from_size_align(3, 1).unwrap(), Layout::from_size_align(64, 64).unwrap());
        let (a, b, c) = (kept.take(one), kept.take(other), kept.take(one));
        assert!(kept.holds(a) && kept.holds(b) && kept.holds(c) && (b as usize).is_multiple_of(64));
        assert!(a as usize + 3 <= b as usize && b as usize + 64 <= c as usize);
        assert!(kept.take(Layout::from_size_align(RESERVE, 1).unwrap()).is_null());
        assert!(!kept.holds(std::ptr::null_mut()) && !kept.holds((&raw const kept.used).cast_mut().cast()));
    }
}

//! Work that may panic on hostile data: panics of libraries are caught, and put into words.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::shown;
use crate::text::Shown;

/// Longest part of what a panic says that is shown: it may quote data.
const MAX_SAID: usize = 200;

/// The sentence in the place of what a caught panic left out.
pub const FAULT: &str = "internal error; please report this";

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Does the work; `None`: it panicked. The panic hook stays silent on this thread: see
/// [`is_guarded`].
pub fn guarded<T>(work: impl FnOnce() -> T) -> Option<T> {
    let before = GUARDED.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work)).ok();
    GUARDED.set(before);
    done
}

/// True while a panic of this thread would be caught and told in a sentence.
pub fn is_guarded() -> bool {
    GUARDED.get()
}

/// Beginnings of the panics of the standard library, the runtime and [`no_thread`] where no more threads can be started.
const NO_THREAD: [&str; 2] = ["failed to spawn thread", "OS can't spawn worker thread"];

/// Ends the work of a thread that cannot go on without another one.
///
/// # Panics
///
/// Always; [`sentence`] tells it from a bug.
#[expect(clippy::panic, reason = "as `std::thread::spawn`")]
pub fn no_thread(error: &std::io::Error) -> ! {
    panic!("{}: {error}", NO_THREAD[0]);
}

/// The sentence where the system starts no more threads.
pub fn scarce_threads() -> Shown {
    Shown::own("no more threads can be started; end other programs, or raise the limit (`ulimit -u`)")
}

/// A panic in one sentence.
pub fn sentence(info: &PanicHookInfo<'_>) -> Shown {
    let said = info.payload();
    let said = said.downcast_ref::<&str>().copied().or_else(|| said.downcast_ref::<String>().map(String::as_str));
    let said = said.unwrap_or("no reason given");
    if NO_THREAD.iter().any(|begin| said.starts_with(begin)) {
        return scarce_threads().and(". Nothing that was saved is lost.");
    }
    let said = Shown::line(said.as_bytes()).cut(MAX_SAID);
    let place = info.location().map_or_else(|| Shown::own("an unknown place"), |at| place(at.file(), at.line()));
    shown!("internal error at {place}: {said}. This is a bug in stepscope; nothing that was saved is lost.")
}

/// Takes a lock, also after a thread that held it panicked: what it leaves behind is used as it is.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The place in the source, without the folder in which whoever built the program keeps its libraries.
fn place(file: &str, line: u32) -> Shown {
    let file =
        file.split_once("/registry/src/").and_then(|(_, file)| file.split_once('/')).map_or(file, |(_, file)| file);
    shown!("{}:{line}", Shown::line(file.as_bytes()))
}

/// A fault of our own that a test asks for through `STEPSCOPE_PANIC`; only debug builds listen.
///
/// # Panics
///
/// Where it is asked for.
pub fn strike(name: &str) {
    let asked = cfg!(debug_assertions) && std::env::var("STEPSCOPE_PANIC").is_ok_and(|asked| asked == name);
    assert!(!asked, "asked for by STEPSCOPE_PANIC\u{1b}[31m");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_nothing_and_ends_the_guard() {
        assert_eq!(guarded(|| 7), Some(7));
        assert_eq!(guarded(|| assert!(!is_guarded(), "always guarded here")), None);
        assert!(!is_guarded());
    }

    #[test]
    fn a_place_is_the_source_file() {
        assert_eq!(place("src/a.rs", 7).as_str(), "src/a.rs:7");
        assert_eq!(place("/home/x/.cargo/registry/src/index-1/lib-1.0/src/b.rs", 7).as_str(), "lib-1.0/src/b.rs:7");
    }
}

//! Start and exit code: everything else lives in the library.

use std::process::ExitCode;

use stepscope::cli::{self, Invocation, Out, ScreenLists};
use stepscope_base::shown;
use stepscope_io::system::outlive_file_limit;

#[cfg(not(feature = "screen"))]
#[path = "main/no_screen.rs"]
mod no_screen;
#[cfg(feature = "screen")]
#[path = "main/screen.rs"]
mod screen;

#[cfg(not(feature = "screen"))]
use no_screen as screen;

/// Allocator that, when no memory is left, gives the terminal back and prints a sentence.
#[global_allocator]
static MEMORY: stepscope_memory::OomAllocator = stepscope_memory::OomAllocator;

fn main() -> ExitCode {
    stepscope_memory::tune_malloc();
    stepscope_memory::on_failure(out_of_memory);
    outlive_file_limit();
    cli::tell_panics();
    // A panic was told where it happened; here it only becomes an exit code.
    ExitCode::from(std::panic::catch_unwind(run).unwrap_or(cli::FAILED))
}

fn run() -> u8 {
    let mut out = Out::new();
    let done = match cli::parse(std::env::args_os(), &mut out) {
        Ok(Invocation::Command(command)) => {
            let lists =
                ScreenLists { keys: &screen::keys(), themes: &screen::themes(), clipboard: screen::clipboard() };
            cli::run(&command, lists, &screen::picture, screen::check_settings, &mut out)
        }
        Ok(Invocation::Screen(options)) => screen::open(&options, &mut out),
        Ok(Invocation::Linear(options)) => cli::read_by_line(&options, &mut out),
        Ok(Invocation::Demo(demo)) => screen::show(*demo, &mut out),
        Err(code) => Ok(code),
    };
    let code = out.code(done);
    out.finish(code)
}

/// The end of a program that gets no more memory. What it writes needs hardly any.
fn out_of_memory(size: usize) {
    screen::give_back();
    let advice = "Open fewer or smaller files, write tables in smaller row groups, or raise the limit (`ulimit`).";
    Out::new().complain(&shown!("not enough memory ({size} bytes requested). {advice}"));
    std::process::exit(i32::from(cli::FAILED));
}

//! Start and exit code: everything else lives in the library.

use std::process::ExitCode;

use stepscope::cli::{self, Asked, Out};
use stepscope::tui::session::{self, Start};

fn main() -> ExitCode {
    let mut out = Out::new();
    let code = match cli::parse(std::env::args_os(), &mut out) {
        Ok(Asked::Command(command)) => cli::run(&command, &cli::Keys(&[]), &mut out),
        Ok(Asked::Screen(screen)) => open(&screen, &mut out),
        Err(code) => code,
    };
    ExitCode::from(out.finish(code))
}

/// Opens the screen, or says why there is none.
fn open(screen: &cli::Screen, out: &mut Out) -> u8 {
    let start = Start { paths: screen.paths.clone(), theme: screen.theme.clone(), ..Start::default() };
    session::open(&start, |_| Ok(())).unwrap_or_else(|why| {
        out.complain(&why);
        cli::FAILED
    })
}

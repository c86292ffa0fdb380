//! Start and exit code: everything else lives in the library.

use std::io::IsTerminal as _;
use std::process::ExitCode;

use stepscope::cli::{self, Asked, Out};

fn main() -> ExitCode {
    let mut out = Out::new();
    let code = match cli::parse(std::env::args_os(), &mut out) {
        Ok(Asked::Command(command)) => cli::run(&command, &cli::Keys(&[]), &mut out),
        Ok(Asked::Screen(screen)) => open(&screen, &mut out),
        Err(code) => code,
    };
    ExitCode::from(out.finish(code))
}

/// The screen needs a terminal on both sides.
fn open(_screen: &cli::Screen, out: &mut Out) -> u8 {
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        out.complain(&stepscope::domain::text::Shown::own(
            "standard input or output is not a terminal, and the screen needs one; use `stepscope check PATH` or \
             `stepscope show PATH --id ID` here",
        ));
        return cli::FAILED;
    }
    out.complain(&stepscope::domain::text::Shown::own("the screen is not connected yet"));
    cli::FAILED
}

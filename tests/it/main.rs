//! Everything but terminals and models: one program, so that it is linked once.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "tests"
)]

#[path = "../support/mod.rs"]
mod support;

mod answers;
mod architecture;
mod cli;
mod compare_screen;
mod crash;
mod create;
mod demo;
mod drive;
mod export;
mod fork_screen;
mod fuzz;
mod hostile;
mod invariance;
mod large;
mod limits;
mod linear;
mod live;
mod loading;
mod model;
mod parity;
mod peers;
mod power;
mod prompts;
mod readme;
mod rerun_screen;
mod review;
mod review_screen;
mod run;
mod screens;
mod showing;
mod sight;
mod soak;
mod state;
mod statistics;
mod stores;
mod tables;
mod verify;
mod voices;
mod walk;
mod words;

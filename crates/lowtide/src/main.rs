//! `lowtide`: congestion controllers on links whose capacity changes.

use std::process::ExitCode;

fn main() -> ExitCode {
    lowtide::App::default().run()
}

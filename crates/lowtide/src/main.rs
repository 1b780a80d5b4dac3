//! `lowtide`: congestion controllers on links whose capacity changes.

mod compare;
mod failure;
mod list;
mod output;
mod scenario_args;
mod sparkline;
mod trace;
#[cfg(feature = "quic")]
mod transfer;

use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

#[derive(Parser)]
#[command(name = "lowtide", version, about, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run controllers over one link and show who gets what throughput at what delay
    Compare(Box<compare::Args>),
    /// List the controllers and their parameters
    List(list::Args),
    /// Describe, convert or generate link traces
    Trace {
        #[command(subcommand)]
        command: trace::Command,
    },
    /// Send and receive over QUIC, for 'lowtide fetch' on another machine
    #[cfg(feature = "quic")]
    Serve(transfer::serve::Args),
    /// Measure a transfer over QUIC from or to 'lowtide serve'
    #[cfg(feature = "quic")]
    Fetch(Box<transfer::fetch::Args>),
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match cli.command {
        Command::Compare(args) => compare::run(&args),
        Command::List(args) => list::run(&args),
        Command::Trace { command } => trace::run(&command),
        #[cfg(feature = "quic")]
        Command::Serve(args) => transfer::serve::run(&args),
        #[cfg(feature = "quic")]
        Command::Fetch(args) => transfer::fetch::run(&args),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "lowtide", &mut script);
            output::print(&script)
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            // Nobody is left to tell when even this fails.
            let _ = writeln!(std::io::stderr(), "error: {failure}");
            failure.exit_code()
        }
    }
}

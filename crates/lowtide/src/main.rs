//! `lowtide`: congestion controllers on links whose capacity changes.

mod compare;
mod experiment;
mod failure;
mod link;
mod link_args;
mod list;
mod output;
mod progress;
mod qlog_version;
mod reproduce;
mod run_flags;
mod setting_args;
mod sparkline;
mod trace;
#[cfg(feature = "quic")]
mod transfer;

use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use lowtide_lab::contender::Contenders;
use lowtide_lab::scenario_file::ScenarioFile;

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
    /// Run a scenario file: flows of any kind on one link, its cases and its sweep
    Run(experiment::RunArgs),
    /// Run a scenario file's grid; results are kept, so that what was interrupted goes on
    Sweep(experiment::SweepArgs),
    /// Run the papers' experiments again and say which claims hold
    Reproduce(reproduce::Args),
    /// Print the JSON schema of scenario files, for editors
    Schema,
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
    /// Run a command behind an emulated link, or put one before a UDP service (Linux)
    Link(Box<link::Args>),
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let contenders = Contenders::default();
    let done = match cli.command {
        Command::Compare(args) => compare::run(&args, &contenders),
        Command::Run(args) => experiment::run(&args, &contenders),
        Command::Sweep(args) => experiment::sweep(&args, &contenders),
        Command::Reproduce(args) => reproduce::run(&args, &contenders),
        Command::Schema => output::print_json(&ScenarioFile::schema()),
        Command::List(args) => list::run(&args),
        Command::Trace { command } => trace::run(&command),
        #[cfg(feature = "quic")]
        Command::Serve(args) => transfer::serve::run(&args),
        #[cfg(feature = "quic")]
        Command::Fetch(args) => transfer::fetch::run(&args),
        Command::Link(args) => match link::run(&args) {
            Ok(code) => return code,
            Err(failure) => Err(failure),
        },
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

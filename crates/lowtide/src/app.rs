//! What the command line asks for, and who does it.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::builder::PossibleValue;
use clap::{CommandFactory, Parser, Subcommand};
use lowtide_cc::registry::{self, Entry};
use lowtide_lab::contender::{Contenders, stock};
use lowtide_lab::scenario_file::ScenarioFile;
use lowtide_lab::{setting, visible};

use crate::executable::{self, Executable};
use crate::failure::Failure;
#[cfg(feature = "stacks")]
use crate::transfer;
use crate::{
    attack, command, compare, experiment, frontier, kernel, link, list, merge, output, record,
    reproduce, score, trace,
};

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
    /// Draw the throughput and delay of controllers over many traces, their parameters swept
    Frontier(Box<frontier::Args>),
    /// Run a scenario file: flows of any kind on one link, its cases and its sweep
    Run(experiment::RunArgs),
    /// Run a scenario file's grid; results are kept, so that what was interrupted goes on
    Sweep(experiment::SweepArgs),
    /// Land the results of sweeps in Parquet: those of shards and machines as one table
    Merge(merge::Args),
    /// Hold controllers against suites of cases with limits: conformance, fairness, delay
    Score(Box<score::Args>),
    /// Search the networks on which controllers are worst, and keep them as cases of a suite
    Attack(Box<attack::Args>),
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
    /// Send and receive over QUIC, for 'lowtide fetch' on another machine; answer 'lowtide record'
    #[cfg(feature = "stacks")]
    Serve(transfer::serve::Args),
    /// Answer 'lowtide record' on another machine
    #[cfg(not(feature = "stacks"))]
    Serve(record::answer::AnswerArgs),
    /// Record what a real link carries, as a trace, with 'lowtide serve --record' at its other end
    Record(Box<record::Args>),
    /// Measure a transfer over QUIC from or to 'lowtide serve'
    #[cfg(feature = "stacks")]
    Fetch(Box<transfer::fetch::Args>),
    /// Not in this build, which is without QUIC
    #[cfg(not(feature = "stacks"))]
    Fetch {
        #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
        ignored: Vec<String>,
    },
    /// Run a command behind an emulated link, or put one before a UDP service (Linux)
    Link(Box<link::Args>),
    /// Load controllers into the kernel's TCP, and show the sockets that use them (Linux)
    Kernel {
        #[command(subcommand)]
        command: kernel::Command,
    },
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// The command line, and the controllers that it knows by name.
#[derive(Clone, Debug, Default)]
pub struct App {
    contenders: Contenders,
}

impl App {
    /// With one more controller.
    ///
    /// # Errors
    /// When another has its name.
    pub fn with(self, entry: &'static Entry) -> Result<Self, registry::Error> {
        let contenders = self.contenders.with(entry)?;
        Ok(Self { contenders })
    }

    /// Names the program where the process is no program of its own but an interpreter that runs this library:
    /// `start` starts it again, `code` is the file in which this code is.
    #[must_use]
    pub fn started_as(self, start: PathBuf, code: PathBuf) -> Self {
        executable::set(Executable { start, code });
        self
    }

    /// Does what the arguments of the process ask for; the exit code says how that went: 0 done, 1 a
    /// run or write failed, 2 bad input.
    #[must_use]
    pub fn run(self) -> ExitCode {
        ExitCode::from(self.run_with(&env::args_os().collect::<Vec<_>>()))
    }

    /// Does what arguments ask for, of which the first is the program's name; the exit code.
    #[must_use]
    pub fn run_with(self, arguments: &[OsString]) -> u8 {
        // No command for people: neither help nor completions have it.
        #[cfg(target_os = "linux")]
        if let Some(done) = lowtide_link::guard_if_asked(arguments)
            .or_else(|| lowtide_bench::bulk_tcp_if_asked(arguments))
        {
            return ended(done.map_err(Failure::from));
        }
        command::note(arguments);
        match Cli::try_parse_from(arguments) {
            Ok(cli) => run(cli, &self.contenders),
            Err(problem) => {
                // It names arguments, which may be what a pattern of the shell has found. Help is ours.
                let plain = problem.to_string();
                if plain.chars().any(visible::is_hidden) {
                    output::tell(&plain);
                } else {
                    // Nobody is left to tell when even this fails.
                    let _ = problem.print();
                }
                u8::try_from(problem.exit_code()).unwrap_or(2)
            }
        }
    }
}

/// The commands with the names that completions offer: those of controllers and of built-in scenarios.
fn with_names(mut command: clap::Command, contenders: &Contenders) -> clap::Command {
    let controllers = contenders.registry().entries().iter();
    let controllers: Vec<PossibleValue> = controllers
        .map(|entry| PossibleValue::new(entry.name).help(entry.summary))
        .collect();
    let of_stacks = stock().map(|stock| PossibleValue::new(stock.name).help(stock.summary));
    let in_virtual_time: Vec<PossibleValue> =
        controllers.iter().cloned().chain(of_stacks).collect();
    let scenarios = setting::built_in().iter();
    let scenarios: Vec<PossibleValue> = scenarios
        .map(|scenario| PossibleValue::new(scenario.name).help(scenario.summary))
        .collect();
    let names: Vec<String> = command
        .get_subcommands()
        .map(|s| s.get_name().to_string())
        .collect();
    for name in names {
        let controllers = match name.as_str() {
            "fetch" | "serve" => &controllers,
            _ => &in_virtual_time,
        };
        command = command.mut_subcommand(name, |subcommand| {
            subcommand.mut_args(|arg| match arg.get_long() {
                Some("cc") => arg.value_parser(controllers.clone()),
                Some("scenario") => arg.value_parser(scenarios.clone()),
                _ => arg,
            })
        });
    }
    command
}

fn run(cli: Cli, contenders: &Contenders) -> u8 {
    ended(match cli.command {
        Command::Compare(args) => compare::run(&args, contenders),
        Command::Frontier(args) => frontier::run(&args, contenders),
        Command::Run(args) => experiment::run(&args, contenders),
        Command::Sweep(args) => experiment::sweep(&args, contenders),
        Command::Merge(args) => merge::run(&args),
        Command::Score(args) => score::run(&args, contenders),
        Command::Attack(args) => attack::run(&args, contenders),
        Command::Reproduce(args) => reproduce::run(&args, contenders),
        Command::Schema => output::print_json(&ScenarioFile::schema()),
        Command::List(args) => list::run(&args, contenders),
        Command::Trace { command } => trace::run(&command),
        #[cfg(feature = "stacks")]
        Command::Serve(args) => transfer::serve::run(&args, contenders),
        #[cfg(not(feature = "stacks"))]
        Command::Serve(args) => args.run(),
        Command::Record(args) => record::run(&args),
        #[cfg(feature = "stacks")]
        Command::Fetch(args) => transfer::fetch::run(&args, contenders),
        #[cfg(not(feature = "stacks"))]
        Command::Fetch { .. } => Err(Failure::Input(
            "'fetch' is not in this build; build it with --features stacks".to_string(),
        )),
        Command::Link(args) => match link::run(&args, contenders) {
            Ok(code) => return code,
            Err(failure) => Err(failure),
        },
        Command::Kernel { command } => kernel::run(&command),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            let mut command = with_names(Cli::command(), contenders);
            clap_complete::generate(shell, &mut command, "lowtide", &mut script);
            output::print(&script)
        }
    })
}

fn ended(done: Result<(), Failure>) -> u8 {
    match done {
        Ok(()) => 0,
        Err(failure) => {
            output::say(format_args!("error: {failure}"));
            failure.exit_code()
        }
    }
}

//! Processes at the ends of a link, none of which outlives what started it.

use std::ffi::{OsStr, OsString};
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{self, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::{Pid, getpgrp, tcgetpgrp};

use crate::error::Error;

/// What a process learns of the link.
type Environment = [(&'static str, Ipv4Addr); 2];

/// A process that was started. Dropped, it is killed if it still runs.
#[derive(Debug)]
pub struct Child {
    process: process::Child,
    /// Whether it leads a process group, which is signalled as a whole.
    leads_group: bool,
}

/// The exit code of a process, or as shells have it 128 and the number of the signal that ended it.
pub(crate) fn exit_code(ended: ExitStatus) -> u8 {
    let code = ended.code().or(ended.signal().map(|s| 128 + s));
    code.and_then(|c| u8::try_from(c).ok()).unwrap_or(1)
}

/// Whether this process is in the foreground of a terminal, whose Ctrl-C then goes to all of the
/// group.
pub(crate) fn at_terminal() -> bool {
    let groups = [
        tcgetpgrp(io::stdin()),
        tcgetpgrp(io::stdout()),
        tcgetpgrp(io::stderr()),
    ];
    groups.contains(&Ok(getpgrp()))
}

impl Child {
    /// The command; a shell where there is none.
    pub(crate) fn command(command: &[OsString], environment: Environment) -> Result<Self, Error> {
        let shell = || std::env::var_os("SHELL").unwrap_or_else(|| "/bin/sh".into());
        let program = command.first().cloned().unwrap_or_else(shell);
        let process = Command::new(&program)
            .args(command.iter().skip(1))
            .envs(environment.map(|(name, value)| (name, value.to_string())))
            .spawn()
            .map_err(|e| cannot_run(&program, &e))?;
        Ok(Self {
            process,
            leads_group: false,
        })
    }

    /// The peer. Its output goes to standard error, as it is not the command's.
    pub(crate) fn peer(text: &OsStr, environment: Environment) -> Result<Self, Error> {
        let output = io::stderr().as_fd().try_clone_to_owned();
        let output = output.map_or_else(|_| Stdio::null(), Stdio::from);
        let environment = environment.map(|(name, value)| (name, value.to_string()));
        Self::shell(text, environment, [output, Stdio::inherit()])
    }

    /// A command run by `sh`, with these standard output and standard error, and nothing to read.
    ///
    /// # Errors
    /// When there is no `sh`, or no more processes.
    pub fn shell(
        text: &OsStr,
        environment: impl IntoIterator<Item = (&'static str, String)>,
        [output, error]: [Stdio; 2],
    ) -> Result<Self, Error> {
        let process = Command::new("sh")
            .arg("-c")
            .arg(text)
            .envs(environment)
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(error)
            .process_group(0)
            .spawn()
            .map_err(|e| cannot_run(OsStr::new("sh"), &e))?;
        Ok(Self {
            process,
            leads_group: true,
        })
    }

    /// How it ended, if it has.
    ///
    /// # Errors
    /// When the system does not say.
    pub fn has_ended(&mut self) -> Result<Option<ExitStatus>, Error> {
        Ok(self.process.try_wait()?)
    }

    pub(crate) fn interrupt(&self) {
        self.signal(Signal::SIGINT);
    }

    /// Sends SIGTERM, to all that `sh` has started too.
    pub fn terminate(&self) {
        self.signal(Signal::SIGTERM);
    }

    pub(crate) fn kill(&self) {
        self.signal(Signal::SIGKILL);
    }

    /// Ends it: asks first, and after `grace` insists.
    pub fn end(&mut self, grace: Duration) {
        let start = Instant::now();
        self.terminate();
        while matches!(self.process.try_wait(), Ok(None)) {
            if start.elapsed() > grace {
                self.kill();
                let _ = self.process.wait();
                return;
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Signals the program, which may just have ended.
    fn signal(&self, signal: Signal) {
        let Ok(id) = i32::try_from(self.process.id()) else {
            return;
        };
        let id = Pid::from_raw(id);
        let _ = if self.leads_group {
            killpg(id, signal)
        } else {
            kill(id, signal)
        };
    }
}

/// Whatever goes wrong, nothing is left running.
impl Drop for Child {
    fn drop(&mut self) {
        if matches!(self.process.try_wait(), Ok(None)) {
            self.kill();
            let _ = self.process.wait();
        }
    }
}

fn cannot_run(program: &OsStr, e: &io::Error) -> Error {
    let program = program.to_string_lossy();
    let program = program.escape_debug();
    match e.kind() {
        io::ErrorKind::NotFound => Error::Input(format!(
            "there is no command '{program}'; its path may be missing, and shell syntax needs \
             sh -c '…'"
        )),
        io::ErrorKind::PermissionDenied => Error::Input(format!("'{program}' is not executable")),
        _ => Error::Failed(format!("cannot run '{program}': {e}")),
    }
}

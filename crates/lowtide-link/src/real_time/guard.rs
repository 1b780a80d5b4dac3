//! Nothing outlives a link in its namespaces, not even when SIGKILL ends it.
//!
//! Each namespace that a link makes has a guard: a process of its own, which waits until the link's
//! end of a pipe is closed, as the kernel does whatever became of the link, and then ends all others
//! in the namespace. (A parent-death signal would not do: it reaches the children alone, not what
//! they have started, and it comes when the thread ends that started them.)

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{self, ChildStdin, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::namespace::Namespace;
use crate::error::Error;

/// The first argument of a guard; the second is its namespace.
const NAME: &str = "link-guard";

/// How long processes may take to die; one that the kernel holds may take longer than any.
const PATIENCE: Duration = Duration::from_secs(10);

/// A running guard. Dropped, it has ended what was left in its namespace.
#[derive(Debug)]
pub(crate) struct Guard {
    process: process::Child,
    /// Closed when this process is gone.
    alive: Option<ChildStdin>,
}

impl Guard {
    /// Starts the guard of a namespace, which must be the link's own: `program`, which calls
    /// [`guard_if_asked`].
    pub(crate) fn of(namespace: &Namespace, program: &Path) -> Result<Self, Error> {
        let start = || {
            let id = fs::read_link("/proc/thread-self/ns/net")?;
            Command::new(program)
                .arg(NAME)
                .arg(id)
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                // A terminal's signals are not for it.
                .process_group(0)
                .spawn()
        };
        let mut process = namespace
            .run(start)?
            .map_err(|e| Error::Failed(format!("cannot start the link's guard: {e}")))?;
        let alive = process.stdin.take();
        Ok(Self { process, alive })
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.alive = None;
        let _ = self.process.wait();
    }
}

/// Is the guard of a namespace, where a process of these arguments is to be one. Programs that make links call this
/// first of all.
#[must_use]
pub fn guard_if_asked(arguments: &[OsString]) -> Option<Result<(), Error>> {
    match arguments {
        [_, name, namespace, ..] if name == NAME => Some(run(namespace)),
        _ => None,
    }
}

/// Is the guard of the namespace of this name, which must be the one that this process is in.
fn run(namespace: &OsStr) -> Result<(), Error> {
    let own = fs::read_link("/proc/self/ns/net")?;
    if own.as_os_str() != namespace {
        return Err(Error::Input(format!(
            "{NAME} is started by 'lowtide link', and by nobody else"
        )));
    }
    io::copy(&mut io::stdin().lock(), &mut io::sink())?;
    let end = Instant::now() + PATIENCE;
    // Whoever was being started meanwhile is found the next time.
    while Instant::now() < end && kill_others(&own)? {
        thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

/// Kills all other processes in a network namespace; whether there was one.
fn kill_others(namespace: &Path) -> Result<bool, Error> {
    let own = process::id().cast_signed();
    let is_other = |id: &i32| {
        let link = PathBuf::from(format!("/proc/{id}/ns/net"));
        *id != own && fs::read_link(link).is_ok_and(|other| other == namespace)
    };
    let all = fs::read_dir("/proc")?.flatten();
    let ids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let others: Vec<i32> = ids.filter(is_other).collect();
    for id in &others {
        // It may just have ended.
        let _ = kill(Pid::from_raw(*id), Signal::SIGKILL);
    }
    Ok(!others.is_empty())
}

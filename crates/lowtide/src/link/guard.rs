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

use lowtide_link::Namespace;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::failure::Failure;
use crate::program;

/// The first argument of a guard; the second is its namespace.
const NAME: &str = "link-guard";

/// How long processes may take to die; one that the kernel holds may take longer than any.
const PATIENCE: Duration = Duration::from_secs(10);

/// A running guard. Dropped, it has ended what was left in its namespace.
pub(crate) struct Guard {
    process: process::Child,
    /// Closed when this process is gone.
    alive: Option<ChildStdin>,
}

impl Guard {
    /// Starts the guard of a namespace, which must be the link's own.
    pub(crate) fn of(namespace: &Namespace) -> Result<Self, Failure> {
        let start = || {
            let id = fs::read_link("/proc/thread-self/ns/net")?;
            Command::new(program::start())
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
            .map_err(|e| Failure::run(format!("cannot start the link's guard: {e}")))?;
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

/// The namespace, where a process of these arguments is to be a guard.
pub(crate) fn asked_for(arguments: &[OsString]) -> Option<&OsStr> {
    match arguments {
        [_, name, namespace, ..] if name == NAME => Some(namespace),
        _ => None,
    }
}

/// Is the guard of the namespace of this name, which must be the one that this process is in.
pub(crate) fn run(namespace: &OsStr) -> Result<(), Failure> {
    let own = fs::read_link("/proc/self/ns/net").map_err(Failure::run)?;
    if own.as_os_str() != namespace {
        return Err(Failure::input(format!(
            "{NAME} is started by 'lowtide link', and by nobody else"
        )));
    }
    io::copy(&mut io::stdin().lock(), &mut io::sink()).map_err(Failure::run)?;
    let end = Instant::now() + PATIENCE;
    // Whoever was being started meanwhile is found the next time.
    while Instant::now() < end && kill_others(&own)? {
        thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

/// Kills all other processes in a network namespace; whether there was one.
fn kill_others(namespace: &Path) -> Result<bool, Failure> {
    let own = process::id().cast_signed();
    let is_other = |id: &i32| {
        let link = PathBuf::from(format!("/proc/{id}/ns/net"));
        *id != own && fs::read_link(link).is_ok_and(|other| other == namespace)
    };
    let all = fs::read_dir("/proc").map_err(Failure::run)?.flatten();
    let ids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let others: Vec<i32> = ids.filter(is_other).collect();
    for id in &others {
        // It may just have ended.
        let _ = kill(Pid::from_raw(*id), Signal::SIGKILL);
    }
    Ok(!others.is_empty())
}

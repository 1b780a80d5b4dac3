//! The executable of this process: how it is started again, and whose results are its own.

use std::env;
use std::path::PathBuf;
use std::sync::OnceLock;

use lowtide_lab::contender::Contenders;
use lowtide_lab::key::Key;
use lowtide_lab::simulator;

use crate::failure::Failure;

/// What a process runs.
#[derive(Clone, Debug)]
pub(crate) struct Executable {
    /// What starts it again. Only links in real time do, which need Linux.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    pub(crate) start: PathBuf,
    /// Where its code is: results of another build are not its own.
    pub(crate) code: PathBuf,
}

/// What this process runs, where that is not its executable file.
static THIS: OnceLock<Executable> = OnceLock::new();

/// Says what this process runs: a module of an interpreter, say. What was said first holds.
pub(crate) fn set(executable: Executable) {
    let _ = THIS.set(executable);
}

/// What starts this program again from this process, even where the file has been replaced meanwhile.
#[cfg(target_os = "linux")]
pub(crate) fn start() -> PathBuf {
    let given = THIS.get().map(|this| this.start.clone());
    given.unwrap_or_else(|| "/proc/self/exe".into())
}

/// What starts this program again from another.
#[cfg(target_os = "linux")]
pub(crate) fn path() -> PathBuf {
    let given = THIS.get().map(|this| this.start.clone());
    given.unwrap_or_else(|| env::current_exe().unwrap_or_else(|_| "lowtide".into()))
}

/// The key of this program's code.
pub(crate) fn key() -> Result<Key, Failure> {
    let path = THIS.get().map(|this| this.code.clone());
    let bytes = path
        .map_or_else(env::current_exe, Ok)
        .and_then(std::fs::read);
    let bytes = bytes.map_err(|e| Failure::run(format!("cannot read this program: {e}")))?;
    Ok(Key::of(&[&bytes]))
}

/// The key of what simulates these contenders. Controllers that are not ours have sources that nobody has looked at: with
/// them it is the program's code that counts.
pub(crate) fn simulator(contenders: &Contenders) -> Result<Key, Failure> {
    let ours = simulator::key();
    if contenders.are_ours() {
        return Ok(ours);
    }
    let both = [ours, key()?].map(|key| key.to_string());
    Ok(Key::of(&[both[0].as_bytes(), both[1].as_bytes()]))
}

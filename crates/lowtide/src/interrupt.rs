//! The signals that ask this process to end: the one place that listens for them.

use std::process;
use std::sync::atomic::{AtomicI32, Ordering};

use lowtide_lab::run::Stop;

use crate::failure::Failure;

/// SIGINT, as of Ctrl-C, and SIGTERM: numbers that POSIX fixes.
pub(crate) const END: &[i32] = &[2, 15];

/// SIGHUP as well, where the end of a terminal is to keep what is done.
pub(crate) const END_OR_HANGUP: &[i32] = &[1, 2, 15];

/// Does `work`, and calls `on` with each of these signals that comes meanwhile. One that comes later is ignored.
#[cfg(unix)]
pub(crate) fn heeding<T>(
    signals: &[i32],
    mut on: impl FnMut(i32) + Send,
    work: impl FnOnce() -> T,
) -> Result<T, Failure> {
    use signal_hook::iterator::{Handle, Signals};

    /// Ends the wait for signals, even where the work panics.
    struct Close(Handle);

    impl Drop for Close {
        fn drop(&mut self) {
            self.0.close();
        }
    }

    let mut signals = Signals::new(signals).map_err(Failure::run)?;
    Ok(std::thread::scope(|scope| {
        let _close = Close(signals.handle());
        scope.spawn(move || signals.forever().for_each(&mut on));
        work()
    }))
}

/// Does `work`.
#[cfg(not(unix))]
pub(crate) fn heeding<T>(
    _signals: &[i32],
    _on: impl FnMut(i32) + Send,
    work: impl FnOnce() -> T,
) -> Result<T, Failure> {
    Ok(work())
}

/// Does `work`, which one of these signals tells to stop; and which of them did. A second one ends the process at once.
pub(crate) fn stopping<T>(
    signals: &[i32],
    work: impl FnOnce(&Stop) -> T,
) -> Result<(T, Option<i32>), Failure> {
    let (stop, first) = (Stop::new(), AtomicI32::new(0));
    let on = |signal| {
        if first.swap(signal, Ordering::Relaxed) != 0 {
            process::exit(128 + signal);
        }
        stop.utter();
    };
    let done = heeding(signals, on, || work(&stop))?;
    let signal = first.into_inner();
    Ok((done, (signal != 0).then_some(signal)))
}

/// Does `work`. SIGINT and SIGTERM meanwhile end the process, with the exit code that shells have for
/// them, after `farewell`.
pub(crate) fn with_farewell<T>(
    farewell: impl FnOnce() + Send,
    work: impl FnOnce() -> Result<T, Failure>,
) -> Result<T, Failure> {
    let mut farewell = Some(farewell);
    let on = |signal| {
        if let Some(farewell) = farewell.take() {
            farewell();
        }
        process::exit(128 + signal);
    };
    heeding(END, on, work)?
}

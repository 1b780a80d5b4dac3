//! Ctrl-C in work whose results are kept.

use lowtide_lab::run::Stop;

use crate::failure::Failure;

/// Does `work`, which SIGINT, SIGTERM or SIGHUP tell to stop; and which of them did. A second one ends the process at
/// once.
#[cfg(unix)]
pub(crate) fn stopping<T>(work: impl FnOnce(&Stop) -> T) -> Result<(T, Option<i32>), Failure> {
    use std::sync::atomic::{AtomicI32, Ordering};

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(Failure::run)?;
    let handle = signals.handle();
    let (stop, first) = (Stop::new(), AtomicI32::new(0));
    let done = std::thread::scope(|scope| {
        let _close = Close(handle);
        scope.spawn(|| {
            for signal in signals.forever() {
                if first.swap(signal, Ordering::Relaxed) != 0 {
                    std::process::exit(128 + signal);
                }
                stop.utter();
            }
        });
        work(&stop)
    });
    let signal = first.into_inner();
    Ok((done, (signal != 0).then_some(signal)))
}

/// Does `work`.
#[cfg(not(unix))]
pub(crate) fn stopping<T>(work: impl FnOnce(&Stop) -> T) -> Result<(T, Option<i32>), Failure> {
    Ok((work(&Stop::default()), None))
}

/// Ends the wait for signals, even where the work panics.
#[cfg(unix)]
struct Close(signal_hook::iterator::Handle);

#[cfg(unix)]
impl Drop for Close {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Does `work`. SIGINT and SIGTERM meanwhile end the process, with the exit code that shells have for
/// them, after `farewell`.
#[cfg(unix)]
pub(crate) fn with_farewell<T>(
    farewell: impl FnOnce() + Send,
    work: impl FnOnce() -> Result<T, Failure>,
) -> Result<T, Failure> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(Failure::run)?;
    std::thread::scope(|scope| {
        let _close = Close(signals.handle());
        scope.spawn(move || {
            if let Some(signal) = signals.forever().next() {
                farewell();
                std::process::exit(128 + signal);
            }
        });
        work()
    })
}

/// Does `work`.
#[cfg(not(unix))]
pub(crate) fn with_farewell<T>(
    _farewell: impl FnOnce() + Send,
    work: impl FnOnce() -> Result<T, Failure>,
) -> Result<T, Failure> {
    work()
}

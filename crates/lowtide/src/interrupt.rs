//! Ctrl-C in work whose results are kept.

use crate::failure::Failure;

/// Does `work`. SIGINT and SIGTERM meanwhile end the process, with the exit code that shells have for
/// them, after `farewell`.
#[cfg(unix)]
pub(crate) fn with_farewell<T>(
    farewell: impl FnOnce() + Send,
    work: impl FnOnce() -> Result<T, Failure>,
) -> Result<T, Failure> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::iterator::{Handle, Signals};

    /// Ends the wait, even where the work panics.
    struct Close(Handle);

    impl Drop for Close {
        fn drop(&mut self) {
            self.0.close();
        }
    }

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

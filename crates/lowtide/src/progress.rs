//! Progress of long work.

use indicatif::{ProgressBar, ProgressStyle};

/// A bar on a terminal's standard error, nothing elsewhere.
pub(crate) fn bar(runs: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} runs, {eta} left {msg}");
    match style {
        Ok(style) => ProgressBar::new(runs).with_style(style),
        Err(_) => ProgressBar::hidden(),
    }
}

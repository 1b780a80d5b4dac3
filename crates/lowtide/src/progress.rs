//! Progress of long work.

use std::io::{self, IsTerminal as _};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use lowtide_lab::run::{Stop, Watch};

use crate::output;

/// How often a line is printed where there is no terminal, as in logs of CI.
const EVERY: Duration = Duration::from_secs(10);

/// Runs that are done of those that there are: a bar on a terminal's standard error, a line now and then elsewhere.
pub(crate) struct Progress {
    bar: ProgressBar,
    lines: Option<Mutex<Lines>>,
}

/// What has been printed of work without a bar.
struct Lines {
    unit: &'static str,
    started: Instant,
    last: Instant,
}

impl Lines {
    fn new(unit: &'static str, now: Instant) -> Self {
        Self {
            unit,
            started: now,
            last: now,
        }
    }

    /// The line that is due; `done`: how many, of how many.
    fn next(&mut self, now: Instant, (done, all): (u64, u64)) -> Option<String> {
        if now.duration_since(self.last) < EVERY {
            return None;
        }
        self.last = now;
        let seconds = now.duration_since(self.started).as_secs();
        let unit = self.unit;
        Some(format!("{done} of {all} {unit} in {seconds} s"))
    }
}

pub(crate) fn bar(runs: u64) -> Progress {
    bar_of("runs", runs)
}

/// A bar of what is counted by another name.
pub(crate) fn bar_of(unit: &'static str, count: u64) -> Progress {
    let template = format!("{{bar:40}} {{pos}}/{{len}} {unit}, {{eta}} left {{msg}}");
    let bar = match ProgressStyle::with_template(&template) {
        Ok(style) => ProgressBar::new(count).with_style(style),
        Err(_) => ProgressBar::hidden(),
    };
    let lines = (!io::stderr().is_terminal()).then(|| Mutex::new(Lines::new(unit, Instant::now())));
    Progress { bar, lines }
}

impl Progress {
    /// One more is done.
    pub(crate) fn inc(&self) {
        self.bar.inc(1);
        // Whoever prints does it for the others.
        let Some(Ok(mut lines)) = self.lines.as_ref().map(Mutex::try_lock) else {
            return;
        };
        let done = (self.bar.position(), self.length());
        if let Some(line) = lines.next(Instant::now(), done) {
            output::say(line);
        }
    }

    /// Shows how many are done, and how it stands.
    pub(crate) fn set(&self, done: u64, told: String) {
        self.bar.set_position(done);
        let line = self.lines.as_ref().and_then(|lines| lines.try_lock().ok());
        let line = line.and_then(|mut lines| lines.next(Instant::now(), (done, self.length())));
        if let Some(line) = line {
            output::say(format_args!("{line}; {told}"));
        }
        self.bar.set_message(told);
    }

    /// How many there are.
    pub(crate) fn length(&self) -> u64 {
        self.bar.length().unwrap_or(0)
    }

    /// Does something that prints while no bar is drawn.
    pub(crate) fn suspend(&self, print: impl FnOnce()) {
        self.bar.suspend(print);
    }

    pub(crate) fn finish_and_clear(&self) {
        self.bar.finish_and_clear();
    }
}

/// Shows progress, and ends the work when it is told to.
pub(crate) struct Runs<'a> {
    bar: Progress,
    stop: &'a Stop,
}

impl Runs<'_> {
    pub(crate) fn with_bar<T>(runs: u64, stop: &Stop, work: impl FnOnce(&Runs<'_>) -> T) -> T {
        let bar = bar(runs);
        let watched = Runs { bar, stop };
        let done = work(&watched);
        watched.bar.finish_and_clear();
        done
    }
}

impl Watch for Runs<'_> {
    fn on_run(&self) {
        self.bar.inc();
    }

    fn stop(&self) -> Stop {
        self.stop.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_terminal_there_is_a_line_now_and_then() {
        let start = Instant::now();
        let mut lines = Lines::new("runs", start);
        let mut at = |seconds| lines.next(start + Duration::from_secs(seconds), (seconds, 99));
        assert_eq!((at(0), at(9)), (None, None));
        assert_eq!(at(10).as_deref(), Some("10 of 99 runs in 10 s"));
        assert_eq!(at(19), None);
        assert_eq!(at(31).as_deref(), Some("31 of 99 runs in 31 s"));
    }
}

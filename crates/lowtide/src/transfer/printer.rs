//! Lines on standard output that nobody has to wait for.
//!
//! Who reads standard output may be slow or stop; connections go on nevertheless. A thread of its own
//! prints what waits in a queue, and what does not fit there is counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::failure::Failure;
use crate::output;

/// Lines that wait to be printed.
const QUEUE: usize = 1024;

/// How often the end of the thread is looked for.
const LOOK: Duration = Duration::from_millis(2);

/// Says how many lines are missing.
type Missing = fn(u64) -> String;

/// Prints lines without ever blocking who has them.
#[derive(Debug)]
pub(super) struct Printer {
    lines: SyncSender<String>,
    missing: Arc<AtomicU64>,
    thread: JoinHandle<()>,
}

impl Printer {
    /// `missing` makes the line that says how many did not fit, printed as soon as there is room.
    pub(super) fn new(missing: Missing) -> Result<Self, Failure> {
        let mut has_failed = false;
        Self::onto(missing, move |mut line| {
            line.push('\n');
            if let Err(failure) = output::print(line.as_bytes())
                && !has_failed
            {
                // Once is enough, and whoever reads neither is not to be told.
                has_failed = true;
                output::say(format_args!("error: {failure}"));
            }
        })
    }

    fn onto(
        missing: Missing,
        mut print: impl FnMut(String) + Send + 'static,
    ) -> Result<Self, Failure> {
        let (lines, queue) = sync_channel(QUEUE);
        let count = Arc::new(AtomicU64::new(0));
        let counted = count.clone();
        let work = move || {
            loop {
                let waiting = queue.try_recv().ok();
                if waiting.is_none()
                    && let lines @ 1.. = counted.swap(0, Relaxed)
                {
                    print(missing(lines));
                }
                match waiting.or_else(|| queue.recv().ok()) {
                    Some(line) => print(line),
                    None => return,
                }
            }
        };
        let thread = thread::Builder::new()
            .name("printer".to_string())
            .spawn(work)
            .map_err(|e| Failure::run(format!("cannot start threads: {e}")))?;
        Ok(Self {
            lines,
            missing: count,
            thread,
        })
    }

    /// Prints a line when its turn comes, or counts it.
    pub(super) fn line(&self, line: String) {
        if let Err(TrySendError::Full(_)) = self.lines.try_send(line) {
            self.missing.fetch_add(1, Relaxed);
        }
    }

    /// Waits until all is printed, no longer than this.
    pub(super) fn finish(self, patience: Duration) {
        drop(self.lines);
        let started = Instant::now();
        while !self.thread.is_finished() && started.elapsed() < patience {
            thread::sleep(LOOK);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn lines_for_which_there_is_no_room_are_counted_and_said_behind_those_before_them() {
        let printed = Arc::new(Mutex::new(Vec::new()));
        let (out, gate) = (printed.clone(), printed.lock().unwrap());
        let printer = Printer::onto(
            |lines| format!("{lines} missing"),
            move |line| out.lock().unwrap().push(line),
        );
        let printer = printer.unwrap();
        for n in 0..QUEUE + 100 {
            printer.line(n.to_string());
        }
        drop(gate);
        printer.finish(Duration::MAX);
        let printed = printed.lock().unwrap();
        let (said, lines) = printed.split_last().unwrap();
        let in_order = (0..lines.len()).map(|n| n.to_string());
        assert!(in_order.eq(lines.iter().cloned()));
        // One line may have left the queue before the printing stopped.
        assert_eq!(*said, format!("{} missing", QUEUE + 100 - lines.len()));
    }
}

//! `lowtide serve --record`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::thread::{self, JoinHandle};

use lowtide_cc::units::quantity;
use lowtide_cc::units::{Bytes, Duration, Rate};
use lowtide_lab::run::Stop;
use lowtide_record::Limits;
use lowtide_record::run::Listening;

use super::token;
use crate::failure::Failure;
use crate::{interrupt, output};

#[derive(clap::Args)]
#[command(next_help_heading = "Recorders")]
pub(crate) struct AnswerArgs {
    /// Answer 'lowtide record', too; at 0.0.0.0:4456 unless =ADDR names another place
    #[arg(long, value_name = "ADDR", num_args = 0..=1, require_equals = true,
          default_missing_value = "0.0.0.0:4456")]
    record: Option<SocketAddr>,

    /// Answer 'lowtide record' and nobody else
    #[arg(long, requires = "record")]
    only: bool,

    /// File with a secret, 16 characters or more, that recorders must know
    #[arg(long, value_name = "FILE", requires = "record")]
    token_file: Option<PathBuf>,

    /// Recordings at a time, one of each address
    #[arg(long, value_name = "N", requires = "record", default_value_t = 4,
          value_parser = clap::value_parser!(u16).range(1..=100))]
    record_sessions: u16,

    /// Longest recording
    #[arg(long, value_name = "TIME", requires = "record", default_value = "10min", value_parser = quantity::duration)]
    record_duration: Duration,

    /// Highest rate of a recording each way
    #[arg(long, value_name = "RATE", requires = "record", default_value = "1gbit", value_parser = quantity::rate)]
    record_rate: Rate,

    /// Largest volume of a recording
    #[arg(long, value_name = "SIZE", requires = "record", default_value = "4GB", value_parser = quantity::bytes)]
    record_volume: Bytes,

    /// Largest volume of all recordings in an hour
    #[arg(long, value_name = "SIZE", requires = "record", default_value = "20GB", value_parser = quantity::bytes)]
    record_volume_per_hour: Bytes,
}

impl AnswerArgs {
    /// Whether nobody but recorders is answered.
    #[cfg(feature = "stacks")]
    pub(crate) fn is_all(&self) -> bool {
        self.only
    }

    fn limits(&self) -> Limits {
        Limits {
            sessions: self.record_sessions.into(),
            sessions_per_address: 1,
            duration: self.record_duration,
            rate: self.record_rate,
            volume: self.record_volume,
            volume_per_hour: self.record_volume_per_hour,
        }
    }

    /// Begins to answer, on a thread of its own, if that is asked for.
    pub(crate) fn start(&self) -> Result<Option<Answering>, Failure> {
        let Some(address) = self.record else {
            return Ok(None);
        };
        let token = token(self.token_file.as_deref())?;
        let failed = |e| Failure::run(format!("cannot answer recorders on {address}: {e}"));
        let listening = Listening::bind(address, self.limits(), token).map_err(failed)?;
        let at = listening.local_addr().map_err(failed)?;
        output::say(format_args!("answers recorders on {at} (UDP)"));
        let stop = Stop::new();
        let wish = stop.clone();
        let thread = thread::Builder::new().spawn(move || {
            let show = |sessions| output::say(format_args!("recordings under way: {sessions}"));
            let done = listening.serve(|| wish.is_uttered(), show);
            if let Err(problem) = done {
                output::say(format_args!("recorders are answered no more: {problem}"));
            }
        });
        let thread = thread.map_err(failed)?;
        Ok(Some(Answering { stop, thread }))
    }

    /// Answers recorders only, until Ctrl-C.
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let Some(answering) = self.start()? else {
            return Err(Failure::input(
                "this lowtide was built without QUIC: it serves with --record only",
            ));
        };
        interrupt::stopping(interrupt::END, |stop| {
            while !stop.is_uttered() && !answering.thread.is_finished() {
                thread::sleep(std::time::Duration::from_millis(100));
            }
        })?;
        answering.end();
        Ok(())
    }
}

/// A thread that answers recorders.
#[derive(Debug)]
pub(crate) struct Answering {
    stop: Stop,
    thread: JoinHandle<()>,
}

impl Answering {
    /// Ends it.
    pub(crate) fn end(self) {
        self.stop.utter();
        // One that panicked has said so.
        let _ = self.thread.join();
    }
}

//! A client's transfer.

use std::fmt::Display;
use std::pin::pin;
use std::time::{Duration, Instant};

use lowtide_cc::registry::Registry;
use lowtide_lab::run::Stop;
use s2n_quic::Client;

use crate::bounds::SILENCE;
use crate::client::{self, Connections, Packets, Plan};
use crate::fetched::Fetched;
use crate::progress::Progress;
use crate::protocol::SAMPLES;
use crate::report::{Interval, Outcome, Summary};
use crate::statistics::{ByConnection, SenderState};
use crate::{Error, SECOND, bounds, controllers, factory, runtime, trust, uttered};

/// How long the server's last reports are waited for, at least, and at most while packets still come:
/// queues on the way may be long.
const LAST_REPORTS: Duration = Duration::from_secs(2);
const LAST_PACKETS: Duration = Duration::from_secs(5);

/// A server from which nothing has come for so long when its last reports should be there is gone.
const GONE: Duration = Duration::from_millis(1_500);

/// Makes a transfer, which `stop` ends early; `None` where that came before it began. `tell` is called when it begins, and
/// then with each second; it must not block.
///
/// # Errors
/// When the plan is wrong, or there is no connection.
pub fn fetch(
    plan: &Plan,
    registry: &Registry,
    stop: &Stop,
    tell: impl Fn(Option<&Interval>),
) -> Result<Option<Fetched>, Error> {
    runtime()?.block_on(transfer(plan, registry, stop, &tell))
}

async fn transfer(
    plan: &Plan,
    registry: &Registry,
    stop: &Stop,
    tell: &impl Fn(Option<&Interval>),
) -> Result<Option<Fetched>, Error> {
    let target = plan.target;
    let statistics = ByConnection::default();
    if let Some(cc) = &plan.controller {
        // A typing mistake need not travel.
        factory(registry, cc)?;
    }
    let factory = factory(registry, plan.own_controller())?;
    let parts = controllers(factory, &statistics).parts();
    let tls = trust::client(plan.certificate.as_deref())?;
    let limits = bounds::of_client(plan.connections, plan.max_ack_delay.into())?;
    let local = if target.is_ipv4() {
        "0.0.0.0:0"
    } else {
        "[::]:0"
    };
    let failed = |e: &dyn Display| Error::Failed(format!("{target}: {e}"));
    let packets = Packets::default();
    let client = client::endpoint(tls, local, limits, parts, packets.clone());
    let mut client = client.map_err(|e| failed(&e))?;
    let opened = tokio::select! {
        opened = Connections::open(&client, plan, &statistics) => Some(opened),
        () = uttered(stop) => None,
    };
    let connections = match opened {
        Some(Ok(connections)) => connections,
        other => {
            say_goodbye(&mut client).await;
            return match other {
                Some(Err(problem)) => Err(failed(&problem)),
                _ => Ok(None),
            };
        }
    };
    let mut transfer = Transfer {
        plan,
        statistics,
        connections,
        packets,
        intervals: Vec::new(),
        is_final: false,
    };
    let mut outcome = transfer.watch(stop, tell).await;
    transfer.finish(&mut outcome).await;
    transfer.connections.close();
    say_goodbye(&mut client).await;
    let flows = transfer.progress().take_flows();
    Ok(Some(Fetched {
        summary: transfer.summary(&outcome),
        outcome,
        flows,
    }))
}

/// Lets servers learn that connections have ended, so that they do not keep them; a second is plenty.
async fn say_goodbye(client: &mut Client) {
    let _ = tokio::time::timeout(SECOND, client.wait_idle()).await;
}

/// A transfer under way.
struct Transfer<'a> {
    plan: &'a Plan,
    statistics: ByConnection,
    connections: Connections,
    packets: Packets,
    intervals: Vec<Interval>,
    /// The senders' state is that at the end.
    is_final: bool,
}

impl Transfer<'_> {
    fn progress(&self) -> &Progress {
        &self.connections.progress
    }

    /// Tells of each second until the time is over, all streams have ended, or something went wrong.
    async fn watch(&mut self, stop: &Stop, tell: &impl Fn(Option<&Interval>)) -> Outcome {
        tell(None);
        let mut seconds = tokio::time::interval(SECOND);
        seconds.tick().await;
        let limit = self.plan.duration;
        let mut until = pin!(async {
            match limit {
                Some(limit) => tokio::time::sleep(limit.into()).await,
                None => std::future::pending().await,
            }
        });
        let mut interrupted = pin!(uttered(stop));
        loop {
            tokio::select! {
                () = &mut until => return Outcome::Complete,
                () = &mut interrupted => return Outcome::Interrupted,
                ended = self.connections.streams.join_next() => match ended {
                    Some(Ok(Err(problem))) => return Outcome::CutShort(problem),
                    Some(Err(panic)) => return Outcome::CutShort(panic.to_string()),
                    None | Some(Ok(Ok(()))) => if self.connections.streams.is_empty() {
                        return Outcome::Complete;
                    },
                },
                _ = seconds.tick() => {
                    self.take_samples();
                    let second = self.interval(self.progress().elapsed());
                    self.intervals.push(second);
                    tell(Some(&second));
                    if self.progress().silence() > SILENCE {
                        let silent = SILENCE.as_secs();
                        return Outcome::CutShort(format!("nothing came for {silent} s"));
                    }
                }
            }
        }
    }

    /// Waits for what the server has not told yet, takes the last interval, and says so when the
    /// server is not there any more.
    async fn finish(&mut self, outcome: &mut Outcome) {
        let mut end = self.progress().elapsed();
        let is_all = self.connections.streams.is_empty();
        let mut last = match (self.plan.is_upload, is_all) {
            (false, _) => Some(self.interval(end)),
            // Of what came until the server last said what came: more is under way, maybe in a long
            // queue.
            (true, false) => {
                end = self.progress().heard_at();
                Some(self.interval(end))
            }
            (true, true) => None,
        };
        if !matches!(outcome, Outcome::CutShort(_)) {
            self.connections.ask_for_last_reports();
            let is_gone = self.wait_for_last_reports().await;
            let has_all = is_all && !self.plan.is_upload;
            if *outcome == Outcome::Complete && is_gone && !has_all {
                let at = self.progress().heard_at().as_secs_f64();
                *outcome = Outcome::CutShort(format!("nothing came after {at:.1} s"));
            }
        }
        if matches!(outcome, Outcome::CutShort(_)) {
            // Silence is no part of the transfer.
            end = self.progress().heard_at();
            let seconds = end.as_secs_f64();
            while self
                .intervals
                .last()
                .is_some_and(|i| i.start_s >= seconds || i.received_bytes == 0)
            {
                self.intervals.pop();
            }
            if let Some(cut) = self.intervals.pop_if(|i| i.end_s > seconds) {
                let shorter = Interval::new(cut.start_s, seconds, cut.received_bytes, cut.sender);
                self.intervals.push(shorter);
            }
            last = Some(self.interval(end));
        }
        let sender = self.sender();
        let mut last = last.unwrap_or_else(|| self.interval(end));
        last.sender = sender;
        match self.intervals.last_mut() {
            Some(before) if last.received_bytes == 0 => before.sender = sender,
            _ => self.intervals.push(last),
        }
        self.take_samples();
    }

    /// Waits for last reports. Whether the server is gone instead.
    async fn wait_for_last_reports(&mut self) -> bool {
        let asked = Instant::now();
        let mut newest = (self.packets.count(), asked);
        loop {
            self.is_final = self.progress().is_confirmed();
            if self.is_final {
                return false;
            }
            let count = self.packets.count();
            if count != newest.0 {
                newest = (count, Instant::now());
            }
            let is_silent = newest.1.elapsed() > GONE;
            let waited = asked.elapsed();
            if waited > LAST_PACKETS || (waited > LAST_REPORTS && is_silent) {
                return is_silent && !self.connections.are_alive();
            }
            tokio::time::sleep(SECOND / 100).await;
        }
    }

    /// Keeps what the senders of an upload saw.
    fn take_samples(&self) {
        if !(self.plan.is_upload && self.plan.is_recorded) {
            return;
        }
        for (index, id) in self.connections.ids().enumerate() {
            while let Some(samples) = self
                .statistics
                .of(id)
                .map(|sender| sender.take_samples(SAMPLES))
                .filter(|samples| !samples.is_empty())
            {
                self.progress().record(index, samples);
            }
        }
    }

    fn summary(&self, outcome: &Outcome) -> Summary {
        let controller = match self.plan.is_upload {
            true => Some(self.plan.own_controller().to_string()),
            false => self.progress().server_controller(),
        };
        let (is_final, intervals) = (self.is_final, &self.intervals);
        Summary::new(self.plan, outcome, controller, is_final, intervals)
    }

    /// From the last interval to `end`.
    fn interval(&self, end: Duration) -> Interval {
        let start = self.intervals.last().map_or(0.0, |i| i.end_s);
        let before: u64 = self.intervals.iter().map(|i| i.received_bytes).sum();
        let bytes = self.progress().received().saturating_sub(before);
        let end = end.as_secs_f64().max(start);
        Interval::new(start, end, bytes, self.sender())
    }

    /// The state of all connections' senders.
    fn sender(&self) -> Option<SenderState> {
        if !self.plan.is_upload {
            return self.progress().server_sender();
        }
        let senders = self
            .connections
            .ids()
            .filter_map(|id| self.statistics.of(id));
        SenderState::together(senders.map(|s| s.state()))
    }
}

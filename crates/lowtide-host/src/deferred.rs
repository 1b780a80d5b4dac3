//! A path whose acknowledgments wait for the losses and marks that they show.

use std::time::Instant;

use lowtide_cc::controller::Feedback;
use lowtide_cc::units::{Bytes, Duration, Time};

use crate::clock::Clock;
use crate::flight::{Flight, Sent};
use crate::path::Path;

/// An acknowledgment that the controller has not been told of.
#[derive(Clone, Copy, Debug)]
struct Held {
    now: Time,
    rtt: Option<Duration>,
    app_limited: bool,
}

/// A path of quinn or of its fork noq. Both report acknowledgments before losses and those before marks,
/// where the core expects losses and marks first: an acknowledgment is held until the stack asks for the
/// window or has the next event. Both say nothing when they drop the packets of a handshake or lose an
/// MTU probe: what is in flight is corrected at each acknowledgment.
#[derive(Debug)]
pub struct Deferred {
    /// The path.
    pub path: Path,
    /// Its packets.
    pub flight: Flight,
    /// The clock of its events.
    pub clock: Clock,
    /// The transport's smoothed RTT.
    pub smoothed_rtt: Duration,
    is_app_limited: bool,
    held: Option<Held>,
    acked: Vec<Sent>,
    newest_acked: Option<u64>,
}

impl Deferred {
    /// Events of this path come out of order.
    #[must_use]
    pub fn new(path: Path) -> Self {
        Self {
            path,
            flight: Flight::default(),
            clock: Clock::default(),
            smoothed_rtt: Duration::ZERO,
            is_app_limited: false,
            held: None,
            acked: Vec::new(),
            newest_acked: None,
        }
    }

    /// Whether an acknowledgment waits.
    #[inline]
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.held.is_some()
    }

    /// Whether the application limited the flow at the last acknowledgment.
    #[inline]
    #[must_use]
    pub fn is_app_limited(&self) -> bool {
        self.is_app_limited
    }

    /// Tells the controller what has been held back, and when that came; `feedback`: what else is new by
    /// then.
    pub fn settle(&mut self, feedback: impl FnOnce(Time) -> Option<Feedback>) -> Option<Time> {
        let Some(held) = self.held.take() else {
            self.path.report_losses();
            return None;
        };
        if held.app_limited {
            self.path.on_app_limited();
        }
        self.is_app_limited = held.app_limited;
        if let Some(rtt) = held.rtt {
            self.path.on_rtt(rtt, self.smoothed_rtt);
        }
        let feedback = feedback(held.now);
        self.path
            .on_acked(held.now, &self.acked, held.rtt, feedback, None);
        self.acked.clear();
        Some(held.now)
    }

    /// A packet that the acknowledgment under way covers.
    #[inline]
    pub fn note_acked(&mut self, sent: Sent) {
        self.acked.push(sent);
    }

    /// The acknowledgment that arrived at `now` is complete; the stack has `inflight` left. `is_newest`:
    /// it covers the newest packet that its frame names, and so gives a sample of the RTT.
    pub fn hold(&mut self, now: Instant, inflight: Bytes, app_limited: bool, is_newest: bool) {
        if self.acked.is_empty() {
            return;
        }
        let arrived = self.clock.time(now);
        let now = self.clock.now(now);
        self.correct_inflight(inflight);
        self.acked.sort_unstable_by_key(|s| s.number);
        let newest = self.acked.iter().map(|s| s.at).max();
        let rtt = newest.filter(|_| is_newest).map(|at| arrived.since(at));
        self.newest_acked = self.newest_acked.max(self.acked.last().map(|s| s.number));
        self.held = Some(Held {
            now,
            rtt,
            app_limited,
        });
    }

    /// Whether the acknowledgment under way covers a packet newer than all acknowledged before.
    #[must_use]
    pub fn covers_newest(&self) -> bool {
        let newest = self.acked.iter().map(|s| s.number).max();
        newest > self.newest_acked
    }

    /// Packets that the stack no longer tracks are no longer in flight.
    fn correct_inflight(&mut self, inflight: Bytes) {
        let acked: Bytes = self.acked.iter().map(|s| s.bytes).sum();
        let surplus = self.path.inflight() - acked - inflight;
        if !surplus.is_zero() {
            let left = self.flight.discard(surplus);
            self.path.on_discarded(surplus - left);
        }
    }
}

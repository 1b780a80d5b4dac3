//! What a pacing rate allows, where only a window is obeyed.

use lowtide_cc::Controller;
use lowtide_cc::units::{Bytes, Duration, Time};

/// What keeps a flow to its controller's pacing rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pacing {
    /// The window. quinn sees what is in flight and what the rate has allowed since, up to the
    /// controller's own window. The rate's credit comes with acknowledgments, because quinn tells a
    /// controller no other time. Between them quinn's pacer spreads the packets.
    #[default]
    Window,
    /// Nothing but quinn's pacer, which sends 1.25 of the controller's windows a smoothed RTT. Meant for
    /// a quinn whose pacer asks [`metrics`](quinn_proto::congestion::Controller::metrics) for the rate, as
    /// its pull request 2481 would: the rate is there.
    Quinn,
}

/// In flight these many packets may always be: acknowledgments bring the credit, and without any flight
/// none would come.
const MIN_PACKETS: u64 = 4;

/// What part of a round trip unused credit lasts: the pacer of quinn needs some of it to send what a gap
/// between acknowledgments has allowed.
const LASTING: u64 = 8;

/// Bytes that the pacing rate has allowed and that have not been sent.
///
/// Credit of a gap between acknowledgments is whole, up to a round trip: after a pause none come for so
/// long. What is not used lasts an eighth of that, or a controller that slows down would be late by it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Budget {
    bytes: Bytes,
    at: Option<Time>,
}

impl Budget {
    /// Time passes. `None` of an RTT: before the first sample nothing is held back.
    pub(crate) fn refill(&mut self, now: Time, core: &dyn Controller, rtt: Option<Duration>) {
        let (Some(rate), Some(rtt)) = (core.pacing_rate(), rtt) else {
            *self = Self::default();
            return;
        };
        let since = self.at.map_or(rtt, |at| now.since(at).min(rtt));
        let full = rate.volume_in(since.max(rtt.div(LASTING)));
        // Some controllers leave the size of a burst to their host.
        let full = full.max(core.send_quantum().min(rate.volume_in(rtt)));
        self.bytes = (self.bytes + rate.volume_in(since)).min(full);
        self.at = Some(now);
    }

    pub(crate) fn spend(&mut self, bytes: Bytes) {
        self.bytes -= bytes;
    }

    /// The part of a window that may be in flight now.
    pub(crate) fn window(&self, cwnd: Bytes, inflight: Bytes, max_datagram: Bytes) -> Bytes {
        if self.at.is_none() {
            return cwnd;
        }
        let least = max_datagram * MIN_PACKETS;
        cwnd.min((inflight + self.bytes).max(least))
    }
}

//! NewReno (RFC 9002 §7; timeouts as RFC 5681): Reno's window and nothing else.

pub(crate) mod entry;

use crate::controller::{
    AckEvent, Config, Controller, LossEvent, PacketSent, Snapshot, TimeoutEvent,
};
use crate::ecn::Ecn;
use crate::mechanisms::RenoWindow;
use crate::state::State;
use crate::units::{Bytes, Rate, Time};

/// NewReno.
#[derive(Clone, Debug)]
pub struct NewReno {
    window: RenoWindow,
    /// The window grows for an acknowledgment as for one packet, whatever it acknowledges.
    counts_acks: bool,
}

impl NewReno {
    /// A flow in slow start.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        Self {
            window: RenoWindow::new(config),
            counts_acks: false,
        }
    }

    /// The same with ABE: a mark in congestion avoidance leaves 0.8 of the window (RFC 8511).
    #[must_use]
    pub fn with_abe(mut self) -> Self {
        self.window = self.window.with_abe();
        self
    }

    /// The same, growing by acknowledgments: one that covers several packets counts as one (RFC 5681
    /// Eq. 2 and 3; ns-3's `TcpNewReno`).
    #[must_use]
    pub fn counting_acks(mut self) -> Self {
        self.counts_acks = true;
        self
    }

    /// The same, reducing at each loss event instead of once a round trip (ns-3's QUIC module).
    #[must_use]
    pub fn with_each_loss(mut self) -> Self {
        self.window = self.window.with_each_loss();
        self
    }
}

impl Controller for NewReno {
    fn on_packet_sent(&mut self, sent: &PacketSent) {
        self.window.on_packet_sent(sent);
    }

    fn on_ack(&mut self, ack: &AckEvent<'_>) {
        if self.window.on_ack(ack) {
            let acked = if self.counts_acks {
                ack.bytes_acked.min(self.window.max_datagram())
            } else {
                ack.bytes_acked
            };
            self.window.grow(acked);
        }
    }

    fn on_loss(&mut self, loss: &LossEvent<'_>) {
        self.window.on_loss(loss);
    }

    fn on_timeout(&mut self, timeout: &TimeoutEvent) {
        self.window.on_timeout(timeout);
    }

    fn on_spurious_timeout(&mut self, _now: Time) {
        self.window.on_spurious_timeout();
    }

    fn on_ecn_ce(&mut self, now: Time, _sent_at: Time, _marked_packets: u64) {
        self.window.on_ecn_ce(now);
    }

    fn ecn(&self) -> Ecn {
        Ecn::Ect0
    }

    fn on_mtu_change(&mut self, max_datagram: Bytes) {
        self.window.on_mtu_change(max_datagram);
    }

    fn cwnd(&self) -> Bytes {
        self.window.allowed()
    }

    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    fn send_quantum(&self) -> Bytes {
        self.window.send_quantum()
    }

    fn snapshot(&self) -> Snapshot {
        self.window.snapshot()
    }

    fn phases(&self) -> &'static [State] {
        RenoWindow::STATES
    }
}

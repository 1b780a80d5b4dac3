//! NewReno (RFC 9002 §7; timeouts as RFC 5681): Reno's window and nothing else.

pub(crate) mod entry;

use crate::controller::{AckEvent, Config};
use crate::mechanisms::RenoWindow;

/// NewReno.
#[derive(Clone, Debug)]
pub struct NewReno {
    reno: RenoWindow,
    /// The window grows for an acknowledgment as for one packet, whatever it acknowledges.
    counts_acks: bool,
}

impl NewReno {
    /// A flow in slow start.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        Self {
            reno: RenoWindow::new(config),
            counts_acks: false,
        }
    }

    /// Turns on ABE: a mark in congestion avoidance leaves 0.8 of the window (RFC 8511).
    #[must_use]
    pub fn with_abe(mut self) -> Self {
        self.reno = self.reno.with_abe();
        self
    }

    /// Grows the window by acknowledgments instead of bytes: one that covers several packets counts
    /// as one (RFC 5681 Eq. 2 and 3; ns-3's `TcpNewReno`).
    #[must_use]
    pub fn counting_acks(mut self) -> Self {
        self.counts_acks = true;
        self
    }

    /// Reduces the window at each loss event instead of once a round trip (ns-3's QUIC module).
    #[must_use]
    pub fn with_each_loss(mut self) -> Self {
        self.reno = self.reno.with_each_loss();
        self
    }
}

impl crate::Wrap for NewReno {
    type Inner = RenoWindow;

    fn inner(&self) -> &RenoWindow {
        &self.reno
    }

    fn inner_mut(&mut self) -> &mut RenoWindow {
        &mut self.reno
    }

    fn on_ack(&mut self, ack: &AckEvent<'_>) {
        if self.reno.take_ack(ack) {
            let acked = if self.counts_acks {
                ack.bytes_acked.min(self.reno.max_datagram())
            } else {
                ack.bytes_acked
            };
            self.reno.grow(acked);
        }
    }
}

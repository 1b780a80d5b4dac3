//! A constant window: the floor that any controller must beat.

use crate::controller::{AckEvent, Controller, LossEvent, PacketSent, Snapshot, TimeoutEvent};
use crate::units::{Bytes, Rate};

/// Keeps the same number of bytes in flight, whatever happens. Does not pace.
#[derive(Clone, Copy, Debug)]
pub struct ConstantWindow {
    cwnd: Bytes,
}

impl ConstantWindow {
    /// A window of `cwnd`, at least one byte.
    #[must_use]
    pub fn new(cwnd: Bytes) -> Self {
        Self {
            cwnd: cwnd.max(Bytes::new(1)),
        }
    }
}

impl Controller for ConstantWindow {
    fn on_packet_sent(&mut self, _sent: &PacketSent) {}
    fn on_ack(&mut self, _ack: &AckEvent<'_>) {}
    fn on_loss(&mut self, _loss: &LossEvent<'_>) {}
    fn on_timeout(&mut self, _timeout: &TimeoutEvent) {}
    fn on_mtu_change(&mut self, _max_datagram: Bytes) {}

    fn cwnd(&self) -> Bytes {
        self.cwnd
    }

    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    fn send_quantum(&self) -> Bytes {
        self.cwnd
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            phase: "Constant",
            ..Snapshot::default()
        }
    }
}

//! A constant window: the floor that any controller must beat.

pub(crate) mod entry;

use crate::controller::{
    AckEvent, Config, Controller, LossEvent, PacketSent, Snapshot, TimeoutEvent,
};
use crate::state::{State, StateKind};
use crate::units::{Bytes, Rate};

/// The only state.
const STATES: &[State] = &[State::new("Constant", StateKind::Steady)];

/// Keeps the same number of packets in flight, regardless of loss and delay. Does not pace.
#[derive(Clone, Copy, Debug)]
pub struct ConstantWindow {
    packets: u64,
    max_datagram: Bytes,
}

impl ConstantWindow {
    /// The window in packets, at least one.
    #[must_use]
    pub fn new(config: &Config, packets: u64) -> Self {
        Self {
            packets: packets.max(1),
            max_datagram: config.max_datagram.max(Bytes::new(1)),
        }
    }
}

impl Controller for ConstantWindow {
    fn on_packet_sent(&mut self, _sent: &PacketSent) {}
    fn on_ack(&mut self, _ack: &AckEvent<'_>) {}
    fn on_loss(&mut self, _loss: &LossEvent<'_>) {}
    fn on_timeout(&mut self, _timeout: &TimeoutEvent) {}
    fn on_mtu_change(&mut self, max_datagram: Bytes) {
        self.max_datagram = max_datagram.max(Bytes::new(1));
    }

    fn cwnd(&self) -> Bytes {
        self.max_datagram * self.packets
    }

    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    fn send_quantum(&self) -> Bytes {
        self.cwnd()
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            phase: STATES[0].name,
            ..Snapshot::default()
        }
    }

    fn phases(&self) -> &'static [State] {
        STATES
    }
}

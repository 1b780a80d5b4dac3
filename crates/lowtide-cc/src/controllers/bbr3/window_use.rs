//! Whether the window was used up within the last round (`C.is_cwnd_limited`, §2.2): only then does its
//! bound keep the flow from finding more.

use crate::controller::PacketSent;
use crate::units::Bytes;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WindowUse {
    this_round: bool,
    last_round: bool,
}

impl WindowUse {
    /// A packet has left: is there room for another?
    pub(super) fn on_packet_sent(&mut self, sent: &PacketSent, cwnd: Bytes, max_datagram: Bytes) {
        self.this_round |= sent.inflight + max_datagram > cwnd;
    }

    pub(super) fn on_round(&mut self) {
        self.last_round = self.this_round;
        self.this_round = false;
    }

    pub(super) fn is_limited(&self) -> bool {
        self.this_round || self.last_round
    }
}

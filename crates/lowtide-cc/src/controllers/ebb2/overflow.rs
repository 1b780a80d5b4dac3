//! What a queue that overflows allows: CUBIC's window from the first loss behind a queue on.
//!
//! The law counts losses as a share of what it would gain, and so keeps a short queue full that CUBIC would leave.
//! From such a loss on CUBIC's window (RFC 9438) is the most, until the link is found to be the flow's own. Beside
//! others it is the window.

use crate::controller::{AckEvent, Config, Controller, LossEvent, PacketSent, TimeoutEvent};
use crate::controllers::cubic::{Cubic, HyStart};
use crate::units::{Bytes, Time};

#[derive(Clone, Debug)]
pub(super) struct Overflow {
    config: Config,
    /// `None` before the first loss behind a queue.
    cubic: Option<Cubic>,
    /// The last packet that left: a congestion event lasts until a later one is acknowledged.
    last_sent: Option<PacketSent>,
}

impl Overflow {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            config: config.clone(),
            cubic: None,
            last_sent: None,
        }
    }

    /// The window that it allows, bytes.
    pub(super) fn cwnd(&self) -> Option<f64> {
        self.cubic.as_ref().map(|cubic| cubic.cwnd().as_f64())
    }

    /// The link is the flow's own.
    pub(super) fn forget(&mut self) {
        self.cubic = None;
    }

    pub(super) fn on_packet_sent(&mut self, sent: &PacketSent) {
        self.last_sent = Some(*sent);
        if let Some(cubic) = &mut self.cubic {
            cubic.on_packet_sent(sent);
        }
    }

    pub(super) fn on_ack(&mut self, ack: &AckEvent<'_>) {
        if let Some(cubic) = &mut self.cubic {
            cubic.on_ack(ack);
        }
    }

    /// Packets were lost behind a queue, with a window of `cwnd` bytes.
    pub(super) fn on_loss(&mut self, loss: &LossEvent<'_>, cwnd: f64) {
        let cubic = self.cubic.get_or_insert_with(|| {
            let initial_window = Bytes::new(cwnd as u64);
            let config = Config {
                initial_window,
                ..self.config.clone()
            };
            let mut cubic = Cubic::new(&config, HyStart::Off);
            if let Some(sent) = &self.last_sent {
                cubic.on_packet_sent(sent);
            }
            cubic
        });
        cubic.on_loss(loss);
    }

    pub(super) fn on_timeout(&mut self, timeout: &TimeoutEvent) {
        if let Some(cubic) = &mut self.cubic {
            cubic.on_timeout(timeout);
        }
    }

    pub(super) fn on_ecn_ce(&mut self, now: Time, sent_at: Time, marked_packets: u64) {
        if let Some(cubic) = &mut self.cubic {
            cubic.on_ecn_ce(now, sent_at, marked_packets);
        }
    }

    pub(super) fn on_mtu_change(&mut self, max_datagram: Bytes) {
        self.config.max_datagram = max_datagram;
        if let Some(cubic) = &mut self.cubic {
            cubic.on_mtu_change(max_datagram);
        }
    }
}

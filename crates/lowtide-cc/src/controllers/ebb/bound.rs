//! The bound on the window that marks of L4S queues set.
//!
//! ECT(1) promises an answer in proportion to the marks (RFC 9331 §4.3), whatever the law thinks of the
//! queue. So from the first mark on a window is kept beside the law's that gives this answer, Prague's,
//! and binds while it is the smaller one. Without marks it grows until it bounds nothing, and is
//! forgotten.

use crate::controller::{AckEvent, Config, Controller, LossEvent, PacketSent, TimeoutEvent};
use crate::controllers::prague::Prague;
use crate::units::{Bytes, Time};

/// A bound that is so many times the window bounds nothing.
const FORGOTTEN: f64 = 2.0;

/// The bound, while there is one.
#[derive(Clone, Debug)]
pub(super) struct Bound {
    config: Config,
    prague: Option<Prague>,
}

impl Bound {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            config: *config,
            prague: None,
        }
    }

    pub(super) fn on_packet_sent(&mut self, sent: &PacketSent) {
        if let Some(prague) = &mut self.prague {
            prague.on_packet_sent(sent);
        }
    }

    /// So many packets were marked, with a window of `cwnd` bytes.
    pub(super) fn on_marks(&mut self, now: Time, sent_at: Time, marked: u64, cwnd: f64) {
        let config = Config {
            initial_window: Bytes::new(cwnd as u64),
            now,
            ..self.config
        };
        self.prague
            .get_or_insert_with(|| Prague::in_avoidance(&config))
            .on_ecn_ce(now, sent_at, marked);
    }

    pub(super) fn on_ack(&mut self, ack: &AckEvent<'_>) {
        if let Some(prague) = &mut self.prague {
            prague.on_ack(ack);
        }
    }

    pub(super) fn on_loss(&mut self, loss: &LossEvent<'_>) {
        if let Some(prague) = &mut self.prague {
            prague.on_loss(loss);
        }
    }

    pub(super) fn on_timeout(&mut self, timeout: &TimeoutEvent) {
        if let Some(prague) = &mut self.prague {
            prague.on_timeout(timeout);
        }
    }

    pub(super) fn on_spurious_timeout(&mut self, now: Time) {
        if let Some(prague) = &mut self.prague {
            prague.on_spurious_timeout(now);
        }
    }

    pub(super) fn on_mtu_change(&mut self, max_datagram: Bytes) {
        self.config.max_datagram = max_datagram;
        if let Some(prague) = &mut self.prague {
            prague.on_mtu_change(max_datagram);
        }
    }

    /// The part of a window, bytes, that the bound leaves.
    pub(super) fn apply(&mut self, window: f64) -> f64 {
        let most = self.prague.as_ref().map(|p| p.cwnd().as_f64());
        if most.is_some_and(|most| most > FORGOTTEN * window) {
            self.prague = None;
        }
        most.map_or(window, |most| window.min(most))
    }

    /// Whether it leaves no more than `window`.
    pub(super) fn binds(&self, window: f64) -> bool {
        let most = self.prague.as_ref().map(|p| p.cwnd().as_f64());
        most.is_some_and(|most| most <= window)
    }
}

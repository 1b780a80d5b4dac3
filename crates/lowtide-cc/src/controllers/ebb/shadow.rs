//! A controller of another kind that runs beside the law, for the window that it would have.

use crate::controller::{
    AckEvent, Config, Controller, LossEvent, PacketSent, TimeoutEvent, Transport,
};
use crate::units::{Bytes, Time};

/// The controller, while there is one, and what it is made from.
#[derive(Clone, Debug)]
pub(super) struct Shadow<C> {
    config: Config,
    controller: Option<C>,
}

impl<C: Controller> Shadow<C> {
    /// None yet. Over any transport it is the controller of the specification, QUIC's.
    pub(super) fn new(config: &Config) -> Self {
        Self {
            config: Config {
                transport: Transport::Quic,
                ..*config
            },
            controller: None,
        }
    }

    /// One begins with a window of `cwnd` bytes.
    pub(super) fn start(&mut self, now: Time, cwnd: f64, make: impl FnOnce(&Config) -> C) {
        self.controller = Some(make(&Config {
            initial_window: Bytes::new(cwnd as u64),
            now,
            ..self.config
        }));
    }

    pub(super) fn stop(&mut self) {
        self.controller = None;
    }

    pub(super) fn is_on(&self) -> bool {
        self.controller.is_some()
    }

    /// The shadow controller's window, bytes.
    pub(super) fn window(&self) -> Option<f64> {
        self.controller.as_ref().map(|c| c.cwnd().as_f64())
    }

    pub(super) fn on_packet_sent(&mut self, sent: &PacketSent) {
        if let Some(controller) = &mut self.controller {
            controller.on_packet_sent(sent);
        }
    }

    pub(super) fn on_ack(&mut self, ack: &AckEvent<'_>) {
        if let Some(controller) = &mut self.controller {
            controller.on_ack(ack);
        }
    }

    pub(super) fn on_loss(&mut self, loss: &LossEvent<'_>) {
        if let Some(controller) = &mut self.controller {
            controller.on_loss(loss);
        }
    }

    pub(super) fn on_ecn_ce(&mut self, now: Time, sent_at: Time, marked: u64) {
        if let Some(controller) = &mut self.controller {
            controller.on_ecn_ce(now, sent_at, marked);
        }
    }

    pub(super) fn on_timeout(&mut self, timeout: &TimeoutEvent) {
        if let Some(controller) = &mut self.controller {
            controller.on_timeout(timeout);
        }
    }

    pub(super) fn on_spurious_timeout(&mut self, now: Time) {
        if let Some(controller) = &mut self.controller {
            controller.on_spurious_timeout(now);
        }
    }

    pub(super) fn on_mtu_change(&mut self, max_datagram: Bytes) {
        self.config.max_datagram = max_datagram;
        if let Some(controller) = &mut self.controller {
            controller.on_mtu_change(max_datagram);
        }
    }
}

//! The protocol whose loss recovery a sender uses.

use lowtide_cc::controller::TimeoutKind;
use lowtide_cc::units::{Duration, Time};

use super::TransportConfig;
use super::connection::Connection;
use super::quic::Quic;
use super::ranges::Range;
use super::receiver::Ack;
use super::recovery::{Expiry, LossRecovery};
use super::tcp::Tcp;

/// The loss recovery of one sender.
#[derive(Debug)]
pub(super) enum Recovery {
    Quic(Quic),
    Tcp(Tcp),
}

impl Recovery {
    pub(super) fn new(config: &TransportConfig) -> Self {
        match *config {
            TransportConfig::Quic { max_ack_delay, .. } => Self::Quic(Quic::new(max_ack_delay)),
            TransportConfig::Tcp { min_rto, sack, .. } => Self::Tcp(Tcp::new(min_rto, sack)),
        }
    }
}

macro_rules! dispatch {
    ($self:ident, $protocol:ident => $call:expr) => {
        match $self {
            Self::Quic($protocol) => $call,
            Self::Tcp($protocol) => $call,
        }
    };
}

impl LossRecovery for Recovery {
    #[inline]
    fn first_unacked(&self, connection: &Connection) -> u64 {
        dispatch!(self, p => p.first_unacked(connection))
    }

    #[inline]
    fn on_ack(
        &mut self,
        now: Time,
        ack: &Ack,
        new: &[Range],
        connection: &mut Connection,
    ) -> Option<Duration> {
        dispatch!(self, p => p.on_ack(now, ack, new, connection))
    }

    #[inline]
    fn detect_losses(
        &mut self,
        now: Time,
        connection: &Connection,
        lost: &mut Vec<u64>,
    ) -> Option<TimeoutKind> {
        dispatch!(self, p => p.detect_losses(now, connection, lost))
    }

    #[inline]
    fn loss_time(&self) -> Option<Time> {
        dispatch!(self, p => p.loss_time())
    }

    #[inline]
    fn timeout_at(&self, connection: &Connection) -> Time {
        dispatch!(self, p => p.timeout_at(connection))
    }

    fn on_timeout(&mut self, now: Time, connection: &Connection, lost: &mut Vec<u64>) -> Expiry {
        dispatch!(self, p => p.on_timeout(now, connection, lost))
    }

    #[inline]
    fn on_sent(&mut self, now: Time, segment: Option<u64>, connection: &Connection) {
        dispatch!(self, p => p.on_sent(now, segment, connection));
    }

    fn on_repeating_probe(&mut self, original: u64) {
        dispatch!(self, p => p.on_repeating_probe(original));
    }

    #[inline]
    fn needs_settled(&self) -> bool {
        dispatch!(self, p => p.needs_settled())
    }

    #[inline]
    fn paces_by_window(&self) -> bool {
        dispatch!(self, p => p.paces_by_window())
    }
}

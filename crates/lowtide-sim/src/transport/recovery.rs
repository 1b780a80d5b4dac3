//! Loss recovery as the sender sees it, whatever the protocol.

use lowtide_cc::controller::TimeoutKind;
use lowtide_cc::units::{Duration, Time};

use super::TransportConfig;
use super::connection::Connection;
use super::quic::Quic;
use super::ranges::Range;
use super::receiver::Ack;
use super::tcp::Tcp;

/// Which segment a probe repeats when there is nothing else to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repeat {
    Oldest,
    Newest,
}

/// What to do now that nothing has come back for too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expiry {
    /// Send so many packets, whatever window and pacer say.
    Probe { packets: usize, repeat: Repeat },
    /// What was found lost is all that was in flight.
    Timeout(TimeoutKind),
}

/// How a protocol learns what arrived, what is lost, and when to ask. It marks the scoreboard and
/// tells the driver; reporting and sending are the sender's.
pub(super) trait LossRecovery {
    /// The lowest number that an acknowledgment can still newly cover: of packets (QUIC) or
    /// segments (TCP).
    fn first_unacked(&self, connection: &Connection) -> u64;

    /// An acknowledgment covers `new` for the first time. Returns the RTT sample that it gives.
    fn on_ack(
        &mut self,
        now: Time,
        ack: &Ack,
        new: &[Range],
        connection: &mut Connection,
    ) -> Option<Duration>;

    /// Appends the numbers of all transmissions that are lost now, and sets
    /// [`loss_time`](Self::loss_time) for the next. Returns what they amount to.
    fn detect_losses(
        &mut self,
        now: Time,
        connection: &Connection,
        lost: &mut Vec<u64>,
    ) -> Option<TimeoutKind>;

    /// When the oldest transmission in flight will count as lost, if nothing else happens.
    fn loss_time(&self) -> Option<Time>;

    /// When to act if nothing comes back: PTO, TLP or RTO.
    fn timeout_at(&self, connection: &Connection) -> Time;

    /// That time has come. Appends to `lost` what a timeout gives up.
    fn on_timeout(&mut self, connection: &Connection, lost: &mut Vec<u64>) -> Expiry;

    /// The probe that left repeats the data of transmission `original`.
    fn on_repeating_probe(&mut self, _original: u64) {}

    /// Whether settled transmissions must be remembered.
    fn needs_settled(&self) -> bool {
        false
    }

    /// Whether a controller without a pacing rate is paced by its window (RFC 9002 §7.7).
    fn paces_by_window(&self) -> bool;
}

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
            TransportConfig::Tcp {
                min_rto,
                delayed_ack,
                ..
            } => Self::Tcp(Tcp::new(min_rto, delayed_ack)),
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

    fn on_timeout(&mut self, connection: &Connection, lost: &mut Vec<u64>) -> Expiry {
        dispatch!(self, p => p.on_timeout(connection, lost))
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

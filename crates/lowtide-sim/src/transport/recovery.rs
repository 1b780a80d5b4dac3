//! Loss recovery as the sender sees it, whatever the protocol.

use lowtide_cc::controller::TimeoutKind;
use lowtide_cc::units::{Duration, Time};

use super::TransportConfig;
use super::connection::Connection;
use super::expiry::Expiry;
use super::quic::Quic;
use super::ranges::Range;
use super::receiver::Ack;
use super::tcp::Tcp;

/// How a protocol learns what arrived, what is lost, and when to ask. It marks the scoreboard and
/// tells the driver; reporting and sending are the sender's.
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

    /// The lowest number that an acknowledgment can still newly cover: of packets (QUIC) or
    /// segments (TCP).
    #[inline]
    pub(super) fn first_unacked(&self, connection: &Connection) -> u64 {
        match self {
            Self::Quic(_) => connection.board.first_number(),
            Self::Tcp(_) => connection.board.first_segment(),
        }
    }

    /// An acknowledgment covers `new` for the first time. Returns the RTT sample that it gives.
    #[inline]
    pub(super) fn on_ack(
        &mut self,
        now: Time,
        ack: &Ack,
        new: &[Range],
        connection: &mut Connection,
    ) -> Option<Duration> {
        match self {
            Self::Quic(quic) => quic.on_ack(now, ack, new, connection),
            Self::Tcp(tcp) => tcp.on_ack(now, ack, new, connection),
        }
    }

    /// Appends the numbers of all transmissions that are lost now, and sets
    /// [`loss_time`](Self::loss_time) for the next. Returns what they amount to.
    #[inline]
    pub(super) fn detect_losses(
        &mut self,
        now: Time,
        connection: &Connection,
        lost: &mut Vec<u64>,
    ) -> Option<TimeoutKind> {
        match self {
            Self::Quic(quic) => quic.detect_losses(now, connection, lost),
            Self::Tcp(tcp) => {
                tcp.detect_losses(now, connection, lost);
                None
            }
        }
    }

    /// When the oldest transmission in flight will count as lost, if nothing else happens.
    #[inline]
    pub(super) fn loss_time(&self) -> Option<Time> {
        match self {
            Self::Quic(quic) => quic.loss_time(),
            Self::Tcp(tcp) => tcp.loss_time(),
        }
    }

    /// When to act if nothing comes back: PTO, TLP or RTO.
    #[inline]
    pub(super) fn timeout_at(&self, connection: &Connection) -> Time {
        match self {
            Self::Quic(quic) => quic.timeout_at(connection),
            Self::Tcp(tcp) => tcp.timeout_at(connection),
        }
    }

    /// Acts on the timer. Appends to `lost` what a timeout gives up.
    pub(super) fn on_timeout(
        &mut self,
        now: Time,
        connection: &Connection,
        lost: &mut Vec<u64>,
    ) -> Expiry {
        match self {
            Self::Quic(quic) => quic.on_timeout(),
            Self::Tcp(tcp) => tcp.on_timeout(now, connection, lost),
        }
    }

    /// A packet is about to leave: new data, or `segment` again.
    #[inline]
    pub(super) fn on_sent(&mut self, now: Time, segment: Option<u64>, connection: &Connection) {
        if let Self::Tcp(tcp) = self {
            tcp.on_sent(now, segment, connection);
        }
    }

    /// The probe that left repeats the data of transmission `original`.
    pub(super) fn on_repeating_probe(&mut self, original: u64) {
        if let Self::Tcp(tcp) = self {
            tcp.on_repeating_probe(original);
        }
    }

    /// Whether settled transmissions must be remembered.
    #[inline]
    pub(super) fn needs_settled(&self) -> bool {
        matches!(self, Self::Tcp(tcp) if tcp.needs_settled())
    }

    /// Whether a controller without a pacing rate is paced by its window (RFC 9002 §7.7). Linux does so
    /// only if told to.
    #[inline]
    pub(super) fn paces_by_window(&self) -> bool {
        matches!(self, Self::Quic(_))
    }
}

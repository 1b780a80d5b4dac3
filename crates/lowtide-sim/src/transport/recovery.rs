//! Loss recovery as the sender sees it, independent of the protocol.

use lowtide_cc::controller::TimeoutKind;
use lowtide_cc::units::{Duration, Time};

use super::connection::Connection;
use super::ranges::Range;
use super::receiver::Ack;

/// Which segment a probe repeats when there is nothing else to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repeat {
    Oldest,
    Newest,
}

/// What to do when nothing has come back for too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expiry {
    /// Send this many packets, regardless of window and pacer.
    Probe { packets: usize, repeat: Repeat },
    /// Everything that was in flight has been declared lost: TCP's.
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
    fn on_timeout(&mut self, now: Time, connection: &Connection, lost: &mut Vec<u64>) -> Expiry;

    /// A packet is about to leave: new data, or `segment` again.
    fn on_sent(&mut self, _now: Time, _segment: Option<u64>, _connection: &Connection) {}

    /// The probe that left repeats the data of transmission `original`.
    fn on_repeating_probe(&mut self, _original: u64) {}

    /// Whether settled transmissions must be remembered.
    fn needs_settled(&self) -> bool {
        false
    }

    /// Whether a controller without a pacing rate is paced by its window (RFC 9002 §7.7).
    fn paces_by_window(&self) -> bool;
}

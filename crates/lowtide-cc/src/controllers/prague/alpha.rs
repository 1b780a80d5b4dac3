//! α: the smoothed share of packets that queues on the path mark.

use crate::controller::{AckEvent, PacketSent};
use crate::units::{Duration, Time};

/// Weight of a virtual round's share (draft §2.3.2: g = 1/16).
const GAIN: f64 = 1.0 / 16.0;

/// Measures the share of a virtual round: at least a window, and at least a virtual round-trip time.
#[derive(Clone, Copy, Debug)]
pub(super) struct MarkedShare {
    /// The smoothed share, `0..=1`.
    pub(super) alpha: f64,
    /// Packets of this virtual round, and the marked ones among them.
    acked: u64,
    marked: u64,
    began: Time,
    /// One more than the newest packet's number.
    pub(super) next_number: u64,
    /// Packets from here on were sent after it began.
    first_of_round: u64,
    /// Whether there was a mark; without one nothing is known of the path (Linux `saw_ce`).
    seen: bool,
}

impl MarkedShare {
    /// A share as if all were marked, until the first mark comes: it ends slow start and halves the
    /// window, by the rule of draft §2.4.2.
    pub(super) fn new(now: Time) -> Self {
        Self {
            alpha: 1.0,
            acked: 0,
            marked: 0,
            began: now,
            next_number: 0,
            first_of_round: 0,
            seen: false,
        }
    }

    pub(super) fn on_packet_sent(&mut self, sent: &PacketSent) {
        self.next_number = self.next_number.max(sent.number.saturating_add(1));
    }

    pub(super) fn on_marks(&mut self, marked: u64) {
        self.marked = self.marked.saturating_add(marked);
        self.seen |= marked > 0;
    }

    /// The share of a virtual round of `virtual_rtt`, when one ends.
    pub(super) fn on_ack(&mut self, ack: &AckEvent<'_>, virtual_rtt: Duration) -> Option<f64> {
        self.acked = self.acked.saturating_add(ack.packets.len() as u64);
        let newest = ack.packets.last().map_or(0, |p| p.number);
        let ends = newest >= self.first_of_round && ack.now.since(self.began) >= virtual_rtt;
        ends.then(|| {
            // What a peer says of marks may exceed what it acknowledges.
            let share = (self.marked as f64 / self.acked.max(1) as f64).min(1.0);
            if self.seen {
                self.alpha += GAIN * (share - self.alpha);
            }
            (self.acked, self.marked) = (0, 0);
            self.began = ack.now;
            self.first_of_round = self.next_number;
            share
        })
    }
}

//! `extra_acked`: how far acknowledgments run ahead of the bandwidth, so that the window bears the
//! silences between their bunches (§5.5.9).

use super::model::Model;
use crate::controller::AckEvent;
use crate::filter::{Maximum, Windowed};
use crate::units::{Bytes, Time};

/// Rounds that an excess counts (`ExtraAckedFilterLen`).
const WINDOW_ROUNDS: u64 = 10;
/// The same in Startup, where the bandwidth is not known yet.
const STARTUP_WINDOW_ROUNDS: u64 = 1;

#[derive(Clone, Copy, Debug)]
pub(super) struct Aggregation {
    extra: Windowed<Bytes, Maximum>,
    began_at: Time,
    acked: Bytes,
}

impl Aggregation {
    pub(super) fn new(now: Time) -> Self {
        Self {
            extra: Windowed::new(STARTUP_WINDOW_ROUNDS),
            began_at: now,
            acked: Bytes::ZERO,
        }
    }

    /// A new interval: idle time is no aggregation. (The draft sets only the interval's begin on an
    /// idle restart; what was acknowledged before it would then count as excess.)
    pub(super) fn restart(&mut self, now: Time) {
        self.began_at = now;
        self.acked = Bytes::ZERO;
    }

    /// `UpdateACKAggregation`.
    #[inline]
    pub(super) fn on_ack(&mut self, ack: &AckEvent<'_>, model: &Model) {
        let mut expected = model.bandwidth.volume_in(ack.now.since(self.began_at));
        if self.acked <= expected {
            self.restart(ack.now);
            expected = Bytes::ZERO;
        }
        self.acked += ack.bytes_acked;
        self.extra.set_window(if model.full_pipe {
            WINDOW_ROUNDS
        } else {
            STARTUP_WINDOW_ROUNDS
        });
        let extra = (self.acked - expected).min(model.cwnd);
        self.extra.update(model.rounds.count(), extra);
    }

    /// The largest excess.
    pub(super) fn extra_acked(&self) -> Bytes {
        self.extra.get().unwrap_or(Bytes::ZERO)
    }
}

//! `extra_acked`: how far acknowledgments run ahead of the bandwidth, so that the window bears the
//! silences between their bunches (§5.5.9).

use super::model::Model;
use crate::controller::AckEvent;
use crate::estimators::{Maximum, Windowed};
use crate::units::{Bytes, Time};

/// Rounds that an excess counts (`ExtraAckedFilterLen`).
const WINDOW_ROUNDS: u64 = 10;
/// Rounds that an excess counts in Startup, where the bandwidth is not known yet.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;
    use crate::controller::AckedPacket;
    use crate::delivery_rate::RateSample;
    use crate::events::{MSS, ack, at, packet, rate_sample};
    use crate::units::{Duration, Rate};

    /// One packet a millisecond in bunches of `bunch`; a round is 30 packets.
    fn acknowledge(aggregation: &mut Aggregation, model: &mut Model, rounds: u64, bunch: u64) {
        for _ in 0..rounds * 30 / bunch {
            let delivered = model.rounds.delivered() + MSS * bunch;
            let bytes = MSS * bunch;
            let packets = [AckedPacket {
                bytes,
                ..packet(0, Time::ZERO)
            }];
            let ack = AckEvent {
                bytes_acked: bytes,
                rate_sample: Some(RateSample {
                    prior_delivered: delivered - MSS * 30,
                    total_delivered: delivered,
                    ..rate_sample(model.bandwidth)
                }),
                ..ack(at(delivered.get() / MSS.get()), Duration::ZERO, &packets)
            };
            model.rounds.on_ack(&ack);
            aggregation.on_ack(&ack, model);
        }
    }

    #[test]
    fn the_largest_bunch_counts_for_ten_rounds_and_in_startup_for_one() {
        let mut model = Model::new(&Config::for_datagram(MSS), 3);
        // Twice what is sent, so that what came early is soon forgotten.
        model.bandwidth = Rate::from_bytes_per_sec(2_000_000);
        model.cwnd = MSS * 60;
        let mut aggregation = Aggregation::new(Time::ZERO);
        acknowledge(&mut aggregation, &mut model, 2, 15);
        assert_eq!(aggregation.extra_acked(), MSS * 15);
        acknowledge(&mut aggregation, &mut model, 3, 1);
        assert_eq!(aggregation.extra_acked(), MSS, "in Startup");
        model.full_pipe = true;
        acknowledge(&mut aggregation, &mut model, 2, 15);
        acknowledge(&mut aggregation, &mut model, 9, 1);
        assert_eq!(aggregation.extra_acked(), MSS * 15);
        acknowledge(&mut aggregation, &mut model, 3, 1);
        assert_eq!(aggregation.extra_acked(), MSS);
        model.cwnd = MSS * 10;
        acknowledge(&mut aggregation, &mut model, 1, 15);
        assert_eq!(aggregation.extra_acked(), MSS * 10, "the window at most");
    }
}

//! ACK aggregation: WiFi, cellular and offload deliver acknowledgments in bunches, between which a
//! window of twice the BDP can run dry. The window grows by the largest excess of what was
//! acknowledged over what the bandwidth explains (Linux `bbr_update_ack_aggregation`).

use super::model::Model;
use crate::controller::AckEvent;
use crate::units::{Bytes, Duration, Time};

/// Rounds of each of the two windows, whose maximum covers 5 to 10 rounds (Linux
/// `bbr_extra_acked_win_rtts`).
const WINDOW_ROUNDS: u32 = 5;
/// The most time that aggregation is believed to last (Linux `bbr_extra_acked_max_us`).
const MAX_DURATION: Duration = Duration::from_millis(100);
/// Volume after which an epoch starts anew, so that an early error fades (Linux
/// `bbr_ack_epoch_acked_reset_thresh`: 2^20 packets).
const EPOCH_RESET_PACKETS: u64 = 1 << 20;

/// Measures how far acknowledgments run ahead of the bandwidth.
#[derive(Clone, Copy, Debug)]
pub(super) struct Aggregation {
    extra: [Bytes; 2],
    current: usize,
    rounds: u32,
    epoch_began_at: Time,
    epoch_acked: Bytes,
}

impl Aggregation {
    pub(super) fn new(now: Time) -> Self {
        Self {
            extra: [Bytes::ZERO; 2],
            current: 0,
            rounds: 0,
            epoch_began_at: now,
            epoch_acked: Bytes::ZERO,
        }
    }

    /// Idle time is no aggregation.
    pub(super) fn on_idle_restart(&mut self, now: Time) {
        self.epoch_began_at = now;
        self.epoch_acked = Bytes::ZERO;
    }

    #[inline]
    pub(super) fn on_ack(&mut self, ack: &AckEvent<'_>, model: &Model, cwnd: Bytes) {
        if ack.rate_sample.is_none() {
            return;
        }
        if model.rounds.starts_now() {
            self.rounds += 1;
            if self.rounds >= WINDOW_ROUNDS {
                self.rounds = 0;
                self.current = 1 - self.current;
                self.extra[self.current] = Bytes::ZERO;
            }
        }
        let mut expected = model
            .bandwidth
            .volume_in(ack.now.since(self.epoch_began_at));
        let is_large =
            self.epoch_acked + ack.bytes_acked >= model.max_datagram * EPOCH_RESET_PACKETS;
        if self.epoch_acked <= expected || is_large {
            self.on_idle_restart(ack.now);
            expected = Bytes::ZERO;
        }
        self.epoch_acked += ack.bytes_acked;
        let extra = (self.epoch_acked - expected).min(cwnd);
        let slot = &mut self.extra[self.current];
        *slot = extra.max(*slot);
    }

    /// Bytes added to the window for aggregated acknowledgments.
    pub(super) fn allowance(&self, model: &Model) -> Bytes {
        if !model.full_pipe {
            return Bytes::ZERO;
        }
        self.extra[0]
            .max(self.extra[1])
            .min(model.bandwidth.volume_in(MAX_DURATION))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;
    use crate::controller::AckedPacket;
    use crate::events::{MSS, ack, at, packet, rate_sample};
    use crate::units::Rate;

    /// `count` acknowledgments of `packets` packets each, `gap_ms` apart.
    fn allowance(count: u64, packets: u64, gap_ms: u64, model: &Model) -> Bytes {
        let mut aggregation = Aggregation::new(Time::ZERO);
        for n in 1..=count {
            let bytes = MSS * packets;
            let acked = [AckedPacket {
                bytes,
                ..packet(n, Time::ZERO)
            }];
            let ack = AckEvent {
                bytes_acked: bytes,
                rate_sample: Some(rate_sample(model.bandwidth)),
                ..ack(at(n * gap_ms), Duration::ZERO, &acked)
            };
            aggregation.on_ack(&ack, model, MSS * 100);
        }
        aggregation.allowance(model)
    }

    #[test]
    fn the_window_grows_by_what_was_acknowledged_beyond_the_bandwidth() {
        let mut model = Model::new(&Config::for_datagram(MSS));
        model.full_pipe = true;
        model.bandwidth = Rate::from_bytes_per_sec(1_000_000);
        assert_eq!(allowance(50, 1, 1, &model), MSS, "one by one");
        assert_eq!(allowance(50, 20, 20, &model), MSS * 20, "in bunches");
        // Faster than the estimate by a tenth: of 11 packets in the 10 ms after the first, one.
        model.bandwidth = Rate::from_bytes_per_sec(900_000);
        assert_eq!(allowance(11, 1, 1, &model), MSS * 2);
        assert_eq!(allowance(50, 200, 1, &model), Bytes::new(90_000), "100 ms");
        model.full_pipe = false;
        assert_eq!(allowance(50, 20, 20, &model), Bytes::ZERO);
    }
}

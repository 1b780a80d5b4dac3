//! `inflight_longterm`: the most that could be in flight without losing too much, as probes have
//! shown (§5.3.3.5, §5.5.10.2).

use super::Bbr3;
use super::model::Model;
use super::phase::Phase;
use crate::controller::LostPacket;
use crate::delivery_rate::RateSample;
use crate::units::{Bytes, Time};

/// Loss in a round that a probe may cause (`LossThresh`, §2.8).
const LOSS_THRESHOLD: f64 = 0.02;
/// Multiplicative decrease at most, as CUBIC's (`Beta`).
pub(super) const BETA: f64 = 0.7;
/// Share of the bound that is left to others while cruising (`Headroom`).
const HEADROOM: f64 = 0.15;
/// The growth of a round doubles this often at most.
const MAX_DOUBLINGS: u32 = 30;

/// `IsInflightTooHigh` (§5.5.10.2), without its case for hosts that have no selective acknowledgments: `lost` of
/// `sent_inflight` were lost in a round.
pub(super) fn is_inflight_too_high(lost: Bytes, sent_inflight: Bytes) -> bool {
    lost.as_f64() > sent_inflight.as_f64() * LOSS_THRESHOLD
}

/// `InflightAtLoss`: the flight, up to a point within this packet, at which the share of lost data
/// passed the threshold.
fn inflight_at_loss(packet: &LostPacket) -> Bytes {
    let before = packet.sent_inflight - packet.bytes;
    let lost_before = packet.lost - packet.bytes;
    let prefix = (LOSS_THRESHOLD * before.as_f64() - lost_before.as_f64()) / (1.0 - LOSS_THRESHOLD);
    // Where the earlier losses had already passed it, none of this packet (Linux
    // `bbr_hi_from_loss`); the draft's formula would go below the flight before it.
    before + Bytes::new(prefix.max(0.0) as u64)
}

/// The bound and its growth.
#[derive(Clone, Copy, Debug)]
pub(super) struct LongTerm {
    /// [`Bytes::MAX`]: none is known.
    pub(super) inflight: Bytes,
    /// Acknowledged since the bound last grew (`bw_probe_up_acked`).
    acked: Bytes,
    /// The bound grows by a packet each time this much is acknowledged (`probe_up_acked_per_inc`).
    acked_per_packet: Bytes,
    /// Rounds of growth in this UP (`bw_probe_up_rounds`).
    doublings: u32,
}

impl LongTerm {
    pub(super) fn new() -> Self {
        Self {
            inflight: Bytes::MAX,
            acked: Bytes::ZERO,
            acked_per_packet: Bytes::MAX,
            doublings: 0,
        }
    }

    /// `InflightWithHeadroom` (§5.3.3.9).
    pub(super) fn with_headroom(&self, model: &Model) -> Bytes {
        if self.inflight == Bytes::MAX {
            return Bytes::MAX;
        }
        let headroom = self.inflight.mul_f64(HEADROOM).max(model.max_datagram);
        (self.inflight - headroom).max(model.min_pipe())
    }

    pub(super) fn stop_growth(&mut self) {
        self.acked_per_packet = Bytes::MAX;
    }

    pub(super) fn restart_growth(&mut self) {
        self.doublings = 0;
        self.acked = Bytes::ZERO;
    }

    /// `RaiseInflightLongtermSlope`: 1, 2, 4, … packets in the rounds of UP.
    pub(super) fn steepen(&mut self, model: &Model) {
        let packets = 1_u64 << self.doublings;
        self.doublings = (self.doublings + 1).min(MAX_DOUBLINGS);
        self.acked_per_packet = Bytes::new(model.cwnd.get() / packets).max(model.max_datagram);
    }

    /// Raises the bound where the sampled packet met more in flight without too much loss, and in
    /// UP where the window met the bound (the second half of `AdaptLongTermModel`).
    pub(super) fn raise(
        &mut self,
        acked: Bytes,
        sample: &RateSample,
        cwnd_limited: bool,
        model: &Model,
    ) {
        if self.inflight == Bytes::MAX || is_inflight_too_high(sample.lost, sample.sent_inflight) {
            return;
        }
        self.inflight = self.inflight.max(sample.sent_inflight);
        if model.phase == Phase::Up && cwnd_limited && model.cwnd >= self.inflight {
            self.grow(acked, model);
        }
    }

    /// `ProbeInflightLongtermUpward`.
    fn grow(&mut self, acked: Bytes, model: &Model) {
        self.acked += acked;
        let packets = self.acked.get() / self.acked_per_packet.get();
        self.acked -= self.acked_per_packet * packets;
        self.inflight += model.max_datagram * packets;
        if model.rounds.starts_now() {
            self.steepen(model);
        }
    }
}

impl Bbr3 {
    /// `HandleLostPacket`, but for `NoteLoss`.
    pub(super) fn judge_probe_by_loss(&mut self, now: Time, packet: &LostPacket) {
        if self.cycle.has_probe_samples() && is_inflight_too_high(packet.lost, packet.sent_inflight)
        {
            self.on_inflight_too_high(now, inflight_at_loss(packet), packet.app_limited);
        }
    }

    /// `HandleInflightTooHigh`: `inflight` was too much.
    pub(super) fn on_inflight_too_high(&mut self, now: Time, inflight: Bytes, app_limited: bool) {
        self.cycle.set_too_high();
        if !app_limited {
            let least = self.model.target_inflight().mul_f64(BETA);
            self.long_term.inflight = inflight.max(least);
        }
        if self.model.phase == Phase::Up {
            self.undo.on_leave(Phase::Up);
            self.start_down(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::{MSS, lost, rate_sample};
    use crate::units::Rate;

    fn flight_at_loss(sent_inflight: u64, lost_since: u64) -> u64 {
        let packet = LostPacket {
            sent_inflight: Bytes::new(sent_inflight),
            lost: Bytes::new(lost_since),
            ..lost(0, Time::ZERO)
        };
        inflight_at_loss(&packet).get()
    }

    #[test]
    fn the_flight_at_loss_is_where_two_percent_were_lost() {
        // 99 000 bytes in flight before it, 1000 of them lost: 2 % are passed where
        // 1000 + x = 0.02 (99 000 + x), x = 980 / 0.98.
        assert_eq!(flight_at_loss(100_000, 2000), 100_000);
        // 79 000 before it, 1000 lost: x = 580 / 0.98 = 591.8.
        assert_eq!(flight_at_loss(80_000, 2000), 79_591);
        // 50 000 before it and 5000 lost: the line was passed long ago.
        assert_eq!(flight_at_loss(51_000, 6000), 50_000);
        assert!(is_inflight_too_high(Bytes::new(2001), Bytes::new(100_000)));
        assert!(!is_inflight_too_high(Bytes::new(2000), Bytes::new(100_000)));
    }

    #[test]
    fn in_up_the_bound_grows_by_1_2_4_8_packets_a_round() {
        let config = crate::Config::for_datagram(MSS);
        let mut model = Model::new(&config, 3);
        model.phase = Phase::Up;
        model.cwnd = Bytes::new(64_000);
        let mut bound = LongTerm::new();
        bound.inflight = model.cwnd;
        bound.restart_growth();
        let mut grown = std::vec::Vec::new();
        for _ in 0..4 {
            bound.steepen(&model);
            let before = bound.inflight;
            for _ in 0..64 {
                bound.grow(MSS, &model);
            }
            grown.push((bound.inflight - before).get() / 1000);
        }
        assert_eq!(grown, [1, 2, 4, 8]);
        let mut sample = RateSample {
            lost: Bytes::new(3000),
            sent_inflight: Bytes::new(100_000),
            ..rate_sample(Rate::ZERO)
        };
        // More in flight raises it only where not too much of it was lost.
        bound.raise(Bytes::ZERO, &sample, false, &model);
        assert!(bound.inflight < sample.sent_inflight);
        sample.lost = MSS;
        bound.raise(Bytes::ZERO, &sample, false, &model);
        assert_eq!(bound.inflight, sample.sent_inflight);
        // Cruising leaves 15 % of it to others.
        assert_eq!(bound.with_headroom(&model), Bytes::new(85_000));
    }
}
